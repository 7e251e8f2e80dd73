-- What searches compare, and how changed messages reach the search index. Locks: none but search_changes.

/* Folds case and accents. Most text is plain ASCII, for which lower() is enough. */
create or replace function fold_text(p_text text) returns text
language sql immutable strict parallel safe
return case when octet_length(p_text) = length(p_text) then lower(p_text) else fold_name(p_text) end;

/*
 * Returns a message's text without mention markers, followed by the names of the mentioned users at
 * the time of writing, and the names and types of its files. It accepts anything in `attachments`.
 */
create or replace function text_with_names(p_data jsonb) returns text
language sql immutable parallel safe as $$
  select concat_ws(E'\n',
    regexp_replace(p_data ->> 'text', '<@uid:[a-z0-9_-]{1,100}>', E'\n', 'gi'),
    (select string_agg(value ->> 'name', E'\n') from jsonb_each(p_data -> 'mentions')),
    (select string_agg(concat_ws(E'\n', a ->> 'name', a ->> 'mimeType'), E'\n')
     from jsonb_path_query(p_data, '$.attachments[*]') a))
$$;

/* Returns what searches compare. Most messages are plain text. */
create or replace function searched_text(p_data jsonb) returns text
language sql immutable parallel safe
return case
  when p_data ? 'attachments' or p_data ? 'mentions' or strpos(p_data ->> 'text', '<@') > 0
  then text_with_names(p_data) else p_data ->> 'text' end;

/* The kind of each attachment: by its mimeType, otherwise by the type of its message. */
create or replace function attachment_kinds(p_type text, p_data jsonb) returns text[]
language sql immutable parallel safe as $$
  select array_agg(case when kind in ('image', 'video', 'audio') then kind else 'file' end)
  from (
    select coalesce(split_part(a ->> 'mimeType', '/', 1), p_type) as kind
    from jsonb_path_query(p_data, '$.attachments[*]') a
  ) attachments
$$;

/*
 * Adds messages at or below the app's search horizon to search_changes. Call it after the insert, not
 * from a stable function: a transaction that reads the horizon before it has its xid may miss a new one,
 * and the indexer doesn't wait for it (docs/decisions/0014-message-lists.md).
 */
create or replace function add_search_changes(p_app_no int, p_ids bigint[]) returns void
language plpgsql as $$
declare
  v_upto bigint := (select search_upto from apps where app_no = p_app_no);
begin
  insert into search_changes (app_no, id)
  select p_app_no, id from unnest(p_ids) id where id <= v_upto order by id
  -- Locks a row that is there already: the indexer, which deletes it before it reads the text, waits.
  on conflict (app_no, id) do update set id = excluded.id;
end $$;

/* Does the same for an edited message. */
create or replace function add_search_change() returns trigger
language plpgsql as $$
begin
  perform add_search_changes(new.app_no, array[new.id]);
  return null;
end $$;
