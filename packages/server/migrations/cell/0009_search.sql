-- What lists and searches of messages are found by. docs/decisions/0014-message-lists.md tells why.

-- A conversation's messages in the order of lists over several conversations: by id.
create index messages_conversation on messages (app_no, conversation, id);

/* Text in one form, whatever its case and accents. Most is plain ASCII, where lower() does. */
create function fold_text(p_text text) returns text
language sql immutable strict parallel safe
return case when octet_length(p_text) = length(p_text) then lower(p_text) else fold_name(p_text) end;

/*
 * Text without the markers of mentions; names of those whom it mentioned when it was written, names and
 * types of files. Whatever else a caller has put into `attachments` is no fault.
 */
create function text_with_names(p_data jsonb) returns text
language sql immutable parallel safe as $$
  select concat_ws(E'\n',
    regexp_replace(p_data ->> 'text', '<@uid:[a-z0-9_-]{1,100}>', E'\n', 'gi'),
    (select string_agg(value ->> 'name', E'\n') from jsonb_each(p_data -> 'mentions')),
    (select string_agg(concat_ws(E'\n', a ->> 'name', a ->> 'mimeType'), E'\n')
     from jsonb_path_query(p_data, '$.attachments[*]') a))
$$;

/* What searches look at. Most is plain text. */
create function searched_text(p_data jsonb) returns text
language sql immutable parallel safe
return case
  when p_data ? 'attachments' or p_data ? 'mentions' or strpos(p_data ->> 'text', '<@') > 0
  then text_with_names(p_data) else p_data ->> 'text' end;

/* Every send asks this: the expression is tried on texts alone that can have a link. */
create function has_link(p_data jsonb) returns boolean
language sql immutable parallel safe
return coalesce((strpos(p_data ->> 'text', '.') > 0 or strpos(p_data ->> 'text', '://') > 0)
  and (p_data ->> 'text') ~* '(https?://|www\.)\S', false);

/* An attachment is what its mimeType says, else what its message is. */
create function attachment_kinds(p_type text, p_data jsonb) returns text[]
language sql immutable parallel safe as $$
  select array_agg(case when kind in ('image', 'video', 'audio') then kind else 'file' end)
  from (
    select coalesce(split_part(a ->> 'mimeType', '/', 1), p_type) as kind
    from jsonb_path_query(p_data, '$.attachments[*]') a
  ) attachments
$$;

-- What few messages have, in the order of lists. A plain text has none of it.
create index messages_attached on messages (app_no, id) where data ? 'attachments';
create index messages_linked on messages (app_no, id) where has_link(data);
create index messages_mentioning on messages (app_no, id) where data ? 'mentions';
create index messages_reacting on messages (app_no, id) where reacted;
create index messages_tagged on messages (app_no, id) where tags <> '{}';
create index messages_changed on messages (app_no, id) where updated_at > sent_at;
create index messages_category on messages (app_no, category, id) where category <> 'message';

/* The id of the newest message of a conversation that was sent in this second at the latest, or 0. */
create function id_upto(p_app_no int, p_conversation bigint, p_second bigint) returns bigint
language sql stable
return coalesce((select id from messages
  where app_no = p_app_no and conversation = p_conversation
    and seq <= seq_upto(p_app_no, p_conversation, null, p_second)
  order by seq desc limit 1), 0);

-- The index of texts, made by a worker (areas/messages/indexing.ts) for stretches of an app's
-- messages: ids above after_id, up to upto_id. What is newer than the last one is walked over.
create table search_segments (
  app_no int not null,
  upto_id bigint not null,
  after_id bigint not null,
  messages int not null,
  primary key (app_no, upto_id)
);

-- Which messages of a stretch hold these three characters, or end with these one or two. What is
-- found is looked at again: a list may hold messages that no longer do, or are gone.
create table search_grams (
  app_no int not null,
  gram text collate "C" not null,
  upto_id bigint not null,
  -- Distances between ids, from after_id on.
  ids bytea not null,
  primary key (app_no, gram, upto_id)
);

-- Messages that say something else than when they were indexed, or will be: found by any search.
create table search_changes (
  app_no int not null,
  id bigint not null,
  primary key (app_no, id)
);

create function note_change() returns trigger
language plpgsql as $$
begin
  insert into search_changes (app_no, id) values (new.app_no, new.id) on conflict do nothing;
  return null;
end $$;
create trigger messages_change after update of data on messages
for each row when (new.data is distinct from old.data and new.deleted_at is null)
execute function note_change();
