-- Files: what they count, and which messages, users, groups and calls refer to them.
-- Lock order: the user or group; the head and the message, if there is one; files by id; file_usage, a user's row before the app's; file_kinds.

/*
 * Adds to what an app and its user store. Returns false, and changes nothing of the app, if that is more than
 * p_quota: the caller rolls back then.
 */
create or replace function count_file(
  p_app_no int, p_uid text, p_files int, p_bytes bigint, p_quota bigint default null
) returns boolean
language plpgsql as $$
begin
  if p_uid is not null then
    insert into file_usage as u (app_no, uid, files, bytes) values (p_app_no, p_uid, p_files, p_bytes)
    on conflict (app_no, uid) do update set files = u.files + excluded.files, bytes = u.bytes + excluded.bytes;
  end if;
  insert into file_usage as u (app_no, uid, files, bytes) values (p_app_no, '', p_files, p_bytes)
  on conflict (app_no, uid) do update set files = u.files + excluded.files, bytes = u.bytes + excluded.bytes;
  return p_quota is null or (
    select bytes <= p_quota from file_usage where app_no = p_app_no and uid = '');
end $$;

/* Adds to the files of the kind that a type belongs to. */
create or replace function count_kind(p_app_no int, p_type text, p_files int, p_bytes bigint) returns void
language sql
begin atomic
  insert into file_kinds as k (app_no, kind, files, bytes)
  select p_app_no, case when kind in ('image', 'audio', 'video') then kind else 'other' end, p_files, p_bytes
  from split_part(p_type, '/', 1) kind
  on conflict (app_no, kind) do update set files = k.files + excluded.files, bytes = k.bytes + excluded.bytes;
end;

/* Records that a message refers to these files. They stay as long as a message does. */
create or replace function refer_files(p_app_no int, p_message_id bigint, p_files text[]) returns void
language plpgsql as $$
declare
  v_id text;
begin
  for v_id in select distinct id from unnest(p_files) id order by id loop
    update files set refs = refs + 1, expires_at = null
    where app_no = p_app_no and id = v_id and state = 'ready';
    if not found then perform refuse('ERR_FILE_NOT_FOUND', jsonb_build_object('id', v_id)); end if;
  end loop;
  insert into file_references (app_no, message_id, file_id)
  select distinct p_app_no, p_message_id, id from unnest(p_files) id;
end $$;

/* Removes the references of messages. The sweep deletes files that no message refers to any more. */
create or replace function release_files(p_app_no int, p_messages bigint[], p_except text[] default '{}')
returns void
language plpgsql as $$
declare
  r record;
begin
  for r in
    with gone as (
      delete from file_references
      where app_no = p_app_no and message_id = any (p_messages) and file_id <> all (p_except)
      returning file_id)
    select file_id, count(*)::int as refs from gone group by file_id order by file_id
  loop
    update files set refs = refs - r.refs,
      expires_at = case when refs = r.refs then clock_timestamp() else expires_at end
    where app_no = p_app_no and id = r.file_id;
  end loop;
end $$;

/* Makes these the files of a message that was edited. */
create or replace function replace_files(p_app_no int, p_message_id bigint, p_files text[]) returns void
language plpgsql as $$
declare
  v_new text[] := array(
    select id from unnest(p_files) id except
    select file_id from file_references where app_no = p_app_no and message_id = p_message_id);
begin
  -- New ones first: files that are released expire at once.
  perform refer_files(p_app_no, p_message_id, v_new);
  perform release_files(p_app_no, array[p_message_id], p_files);
end $$;

/*
 * Makes a user or group refer to another picture; null for none. Only pictures that are ready can be referred to. The
 * sweep deletes the old one if nothing else refers to it.
 */
create or replace function replace_picture(p_app_no int, p_old text, p_new text) returns void
language plpgsql as $$
declare
  v_id text;
begin
  for v_id in select id from unnest(array[p_old, p_new]) id where id is not null order by id loop
    if v_id = p_new then
      update files set refs = refs + 1, expires_at = null
      where app_no = p_app_no and id = v_id and state = 'ready' and picture;
      if not found then perform refuse('ERR_FILE_NOT_FOUND', jsonb_build_object('id', v_id)); end if;
    else
      update files set refs = refs - 1,
        expires_at = case when refs = 1 then clock_timestamp() else expires_at end
      where app_no = p_app_no and id = v_id;
    end if;
  end loop;
end $$;

/* Counts the pictures of users and groups, whatever changes them. The other side of an insert or delete is null. */
create or replace function count_avatar() returns trigger
language plpgsql as $$
begin
  perform replace_picture(coalesce(new.app_no, old.app_no), old.avatar_file, new.avatar_file);
  return null;
end $$;

create or replace function count_icon() returns trigger
language plpgsql as $$
begin
  perform replace_picture(coalesce(new.app_no, old.app_no), old.icon_file, new.icon_file);
  return null;
end $$;

/* Counts the recordings and transcriptions of calls, whatever deletes them. */
create or replace function count_call_file() returns trigger
language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    update files set refs = refs + 1, expires_at = null
    where app_no = new.app_no and id = new.file_id and state = 'ready' and not picture;
    if not found then perform refuse('ERR_FILE_NOT_FOUND', jsonb_build_object('id', new.file_id)); end if;
  else
    update files set refs = refs - 1,
      expires_at = case when refs = 1 then clock_timestamp() else expires_at end
    where app_no = old.app_no and id = old.file_id;
  end if;
  return null;
end $$;

/*
 * Deletes a file's row once its bytes are gone, and what it counted. While the URLs of its upload work, parts can still
 * arrive, so they are deleted once more after that.
 */
create or replace function remove_file(p_app_no int, p_id text) returns void
language plpgsql as $$
declare
  f files;
begin
  delete from files where app_no = p_app_no and id = p_id and state = 'deleting' returning * into f;
  if not found then return; end if;
  if f.upload_ends_at is not null then
    insert into removed_uploads (app_no, file_id, ends_at)
    values (p_app_no, p_id, f.upload_ends_at + interval '2 hours');
  end if;
  perform count_file(p_app_no, f.uid, -1, -f.stored);
  -- Only files that were ready have one.
  if f.sha256 is not null then perform count_kind(p_app_no, f.type, -1, -f.stored); end if;
end $$;

/*
 * Takes at most p_limit files away from a removed user. Those that nothing refers to expire at once; the others
 * belong to the app from now on.
 */
create or replace function release_files_of_user(p_app_no int, p_uid text, p_limit int) returns int
language plpgsql as $$
declare
  v_done int;
begin
  update files set uid = null, expires_at = case when refs = 0 then clock_timestamp() end
  where app_no = p_app_no and id = any (array(
    select id from files where app_no = p_app_no and uid = p_uid order by id limit p_limit));
  get diagnostics v_done = row_count;
  if v_done < p_limit then delete from file_usage where app_no = p_app_no and uid = p_uid; end if;
  return v_done;
end $$;
