-- Erasure of a user (docs/privacy.md): what the removal of a user leaves in other places. Every function works on a batch
-- and can be repeated. Lock order: conversations by number, then messages.

/*
 * Replaces what a JSON value says about a user. Records keep only what is no secret, with the name of a deleted user,
 * and the uid becomes p_as. Texts that people wrote stay, but for mentions of the user. If the result equals the
 * value, the value doesn't name the user.
 */
create or replace function without_user(p_value jsonb, p_uid text, p_as text, p_key text default '') returns jsonb
language plpgsql immutable parallel safe as $$
declare
  v_text text;
begin
  case jsonb_typeof(p_value)
  when 'object' then
    if p_value ->> 'uid' = p_uid then
      p_value := p_value - '{avatar,link,statusMessage,metadata,tags,lastActiveAt,connection,reason,remark}'::text[];
      if p_value ? 'name' then p_value := p_value || '{"name": "Deleted user"}'; end if;
    end if;
    -- A message of the user inside of another one, as a quote.
    if p_as <> p_uid and p_value ->> 'sender' = p_uid and p_value ? 'data' then
      p_value := (p_value - '{muid,tags,metadata}'::text[]) || '{"data": {}}';
    end if;
    return (
      select coalesce(jsonb_object_agg(
        case when key = p_uid then p_as else key end, without_user(value, p_uid, p_as, key)), '{}')
      from jsonb_each(p_value));
  when 'array' then
    return (
      select coalesce(jsonb_agg(without_user(value, p_uid, p_as, p_key) order by nth), '[]')
      from jsonb_array_elements(p_value) with ordinality e (value, nth));
  when 'string' then
    v_text := p_value #>> '{}';
    -- What can't be a uid: a uid may be any word, such as `text`.
    if v_text = p_uid and p_key <> all ('{text,name,description,type,category,receiverType,kind,action,status,state,scope,
      oldScope,newScope,role,reaction,mimeType,extension,entityType,messageType,messageCategory,region,platform}')
    then
      return to_jsonb(p_as);
    end if;
    -- Markers of mentions are found in any case, as when they are sent.
    if strpos(v_text, '<@') > 0 then
      return to_jsonb(regexp_replace(v_text, '<@uid:' || p_uid || '>', '<@uid:' || p_as || '>', 'gi'));
    end if;
    return p_value;
  else
    return p_value;
  end case;
end $$;

/*
 * Removes a user from the next p_limit messages of others after p_after: those that mention the user, action messages,
 * and messages that the user edited, deleted or pinned. p_which says which index to walk. Returns the last id that was
 * looked at; null if that was all.
 */
create or replace function erase_from_messages(
  p_app_no int, p_uid text, p_as text, p_which text, p_after bigint, p_limit int
) returns bigint
language plpgsql as $$
declare
  v_ids bigint[];
begin
  if p_which = 'mentions' then
    v_ids := array(select message_id from mentions
      where app_no = p_app_no and uid = p_uid and message_id > p_after order by message_id limit p_limit);
  elsif p_which = 'actions' then
    v_ids := array(select id from (
        (select id from messages
         where app_no = p_app_no and category = 'action' and id > p_after order by id limit p_limit)
        union all
        (select id from messages
         where app_no = p_app_no and category = 'call' and id > p_after order by id limit p_limit)) written
      order by id limit p_limit);
  elsif p_which = 'changed' then
    v_ids := array(select id from messages
      where app_no = p_app_no and updated_at is not null and id > p_after order by id limit p_limit);
  end if;
  perform from conversations c
  where c.app_no = p_app_no and c.no = any (array(
    select m.conversation from messages m
    where m.app_no = p_app_no and m.id = any (v_ids) and (
      p_uid in (m.edited_by, m.deleted_by, m.pinned_by) or strpos(lower(m.data::text), p_uid) > 0)))
  order by c.no for no key update;
  update messages m set data = n.data,
    edited_by = case when m.edited_by = p_uid then p_as else m.edited_by end,
    deleted_by = case when m.deleted_by = p_uid then p_as else m.deleted_by end,
    pinned_by = case when m.pinned_by = p_uid then p_as else m.pinned_by end
  from (
    select id, without_user(data, p_uid, p_as) as data from messages
    where app_no = p_app_no and id = any (v_ids) and (
      p_uid in (edited_by, deleted_by, pinned_by) or strpos(lower(data::text), p_uid) > 0)
  ) n
  where m.app_no = p_app_no and m.id = n.id
    and (n.data <> m.data or p_as <> p_uid and p_uid in (m.edited_by, m.deleted_by, m.pinned_by));
  if p_which = 'mentions' and p_as <> p_uid then
    delete from mentions where app_no = p_app_no and uid = p_uid and message_id = any (v_ids);
  end if;
  return case when cardinality(v_ids) = p_limit then v_ids[p_limit] end;
end $$;

/*
 * Forgets the muids of the next p_limit messages of a user after p_after that were imported: the app chose them, but they can
 * say something about the user. Returns the last id that was looked at; null if that was all.
 */
create or replace function erase_imported_muids(p_app_no int, p_uid text, p_after bigint, p_limit int) returns bigint
language plpgsql as $$
declare
  v_last bigint;
  v_seen int;
begin
  with looked as materialized (
    select id, muid from messages
    where app_no = p_app_no and sender = p_uid and id > p_after order by id limit p_limit
  ), gone as (
    delete from muids u using looked m
    where u.app_no = p_app_no and u.sender = '' and u.muid = 'muid:' || m.muid and u.target = '' and u.message_id = m.id
  )
  select max(id), count(*) into v_last, v_seen from looked;
  return case when v_seen = p_limit then v_last end;
end $$;

/*
 * The same for what is in a user's 1:1 conversations: the next p_limit messages after p_after of the conversation with p_with,
 * or of the next one if p_after is -1. Returns where to go on; nothing if that was all.
 */
create or replace function erase_received_muids(p_app_no int, p_uid text, p_with text, p_after bigint, p_limit int)
returns table (other text, last bigint)
language plpgsql as $$
declare
  v_conversation bigint;
  v_seen int;
begin
  select i.with_id, i.conversation into other, v_conversation from inbox i
  where i.app_no = p_app_no and i.uid = p_uid and i.kind = 'user'
    and i.with_id >= p_with and (p_after >= 0 or i.with_id > p_with)
  order by i.with_id limit 1;
  if other is null then return; end if;
  with looked as materialized (
    select m.id, m.muid from messages m
    where m.app_no = p_app_no and m.conversation = v_conversation
      and m.id > case when other = p_with then p_after else 0 end
    order by m.id limit p_limit
  ), gone as (
    delete from muids u using looked m
    where u.app_no = p_app_no and u.sender = '' and u.muid = 'muid:' || m.muid and u.target = '' and u.message_id = m.id
  )
  select max(l.id), count(*) into last, v_seen from looked l;
  if v_seen < p_limit then last := -1; end if;
  return next;
end $$;

/*
 * Deletes what the app's next import after p_after reports about a user: lines that were refused, and sums of 1:1
 * conversations. If it isn't over, it learns of the erasure, and refuses the user's lines from now on. Returns the import;
 * null if there is none.
 */
create or replace function erase_import(p_app_no int, p_erasure bigint, p_uid text, p_after bigint) returns bigint
language plpgsql as $$
declare
  v_id bigint;
begin
  select id into v_id from imports where app_no = p_app_no and id > p_after order by id limit 1 for no key update;
  if v_id is null then return null; end if;
  update imports set erasures = erasures || p_erasure
  where app_no = p_app_no and id = v_id and state not in ('done', 'cancelled') and p_erasure <> all (erasures);
  delete from import_problems
  where app_no = p_app_no and import_id = v_id
    and message ~* ('(^|[^a-z0-9_-])' || p_uid || '(?![a-z0-9_-])');
  delete from import_sums
  where app_no = p_app_no and import_id = v_id and kind = 'conversation'
    and (starts_with(conversation, p_uid || '_user_') or right(conversation, length(p_uid) + 6) = '_user_' || p_uid);
  return v_id;
end $$;

/*
 * Deletes exports of a user and of the user's 1:1 conversations. Those in the file store expire, and the sweep deletes them
 * with their objects. Exports of the whole app and of groups stay until they expire.
 */
create or replace function erase_exports(p_app_no int, p_uid text) returns void
language plpgsql as $$
declare
  e record;
begin
  for e in
    select id, in_store from exports x
    where app_no = p_app_no and (uid = p_uid or exists (
      select from conversations c
      where c.app_no = p_app_no and c.no = x.conversation and c.kind = 'user' and p_uid in (c.one, c.other)))
    order by id for update
  loop
    if e.in_store then
      update exports set uid = null, place = null, created_at = '-infinity' where app_no = p_app_no and id = e.id;
    else
      delete from export_parts where app_no = p_app_no and export_id = e.id;
      delete from exports where app_no = p_app_no and id = e.id;
    end if;
    perform cancel_job(p_app_no, e.id);
  end loop;
end $$;

/* The segments of the search index with texts that name a user or that the user wrote. */
create or replace function segments_of_user(p_app_no int, p_uid text) returns setof bigint
language sql stable as $$
  select upto_id from search_segments s
  where app_no = p_app_no and (exists (
      select from messages m
      where m.app_no = p_app_no and m.sender = p_uid and m.id > s.after_id and m.id <= s.upto_id)
    or exists (
      select from mentions k
      where k.app_no = p_app_no and k.uid = p_uid and k.message_id > s.after_id and k.message_id <= s.upto_id))
$$;

/*
 * Empties the profile of a user whose messages stay, and deletes at most p_limit rows in each table that only the user
 * needs. The user is deactivated. Returns how many rows changed; 0 means that nothing is left.
 */
create or replace function erase_profile(p_app_no int, p_uid text, p_limit int) returns int
language plpgsql as $$
declare
  v_done int := 0;
  v_part int;
  k record;
begin
  update users set name = 'Deleted user', avatar = null, avatar_file = null, link = null, status_message = null,
    metadata = null, tags = '{}', last_active_at = null
  where app_no = p_app_no and uid = p_uid and (name <> 'Deleted user' or avatar is not null or link is not null
    or status_message is not null or metadata is not null or tags <> '{}' or last_active_at is not null);
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  update inbox set tags = '{}' where app_no = p_app_no and uid = p_uid and tags <> '{}';
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  update sanctions set reason = '' where app_no = p_app_no and uid = p_uid and reason <> '';
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  update flags set remark = null where app_no = p_app_no and uid = p_uid and remark is not null;
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  update subject_flags set remark = null
  where app_no = p_app_no and remark is not null and (uid = p_uid or kind = 'user' and subject = p_uid);
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  delete from saves where ctid = any (array(
    select ctid from saves where app_no = p_app_no and uid = p_uid limit p_limit));
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  update call_participants set device_id = null
  where app_no = p_app_no and uid = p_uid and device_id is not null;
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  delete from call_connections c using call_participants p
  where p.app_no = p_app_no and p.uid = p_uid and c.app_no = p_app_no and c.call_id = p.call_id and c.uid = p_uid;
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  update call_recordings r set uid = null from call_participants p
  where p.app_no = p_app_no and p.uid = p_uid and r.app_no = p_app_no and r.call_id = p.call_id and r.uid = p_uid;
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  delete from call_files f using call_participants p
  where p.app_no = p_app_no and p.uid = p_uid and f.app_no = p_app_no and f.call_id = p.call_id and f.uid = p_uid;
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  delete from checked_messages where ctid = any (array(
    select ctid from checked_messages where app_no = p_app_no and sender = p_uid limit p_limit));
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  delete from notification_mutes where app_no = p_app_no and uid = p_uid;
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  delete from notification_batches where app_no = p_app_no and uid = p_uid;
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  v_done := v_done + remove_agent_runs(p_app_no, p_uid, p_limit);
  delete from notification_users where app_no = p_app_no and uid = p_uid;
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  for k in
    select id, conversation from held_messages
    where app_no = p_app_no and sender = p_uid order by conversation limit p_limit
  loop
    perform from conversations where app_no = p_app_no and no = k.conversation for no key update;
    v_done := v_done + delete_held(p_app_no, array[k.id]);
  end loop;
  return v_done;
end $$;

/* Files of a user that goes lose the names that the user gave them. The sweep deletes those that nobody refers to. */
create or replace function erase_files(p_app_no int, p_uid text) returns void
language sql as $$
  update files set name = 'file' where app_no = p_app_no and uid = p_uid and name <> 'file'
$$;

/* Deletes the addresses of a user that get nothing more, unless another user has the same address. */
create or replace function erase_addresses(p_app_no int, p_uid text) returns void
language sql as $$
  delete from suppressed_addresses s using notification_users u
  where u.app_no = p_app_no and u.uid = p_uid and s.app_no = p_app_no and s.address in (u.email, u.phno)
    and not exists (
      select from notification_users o
      where o.app_no = p_app_no and o.uid <> p_uid and s.address in (o.email, o.phno))
$$;

/*
 * Deletes and changes at most p_limit rows in each of the other tables that name a user. p_as is the uid that takes the
 * user's place; if it is the same, the user stays as somebody without a name. Returns how many rows changed in the table with
 * the most; less than p_limit means that nothing is left.
 */
create or replace function erase_rows(p_app_no int, p_uid text, p_as text, p_limit int) returns int
language plpgsql as $$
declare
  v_gone boolean := p_as <> p_uid;
  v_most int := 0;
  v_part int;
  j record;
begin
  if v_gone then
    delete from muids where ctid = any (array(
      select ctid from muids where app_no = p_app_no and sender = p_uid limit p_limit));
    get diagnostics v_part = row_count;
    v_most := greatest(v_most, v_part);
    delete from muids where ctid = any (array(
      select ctid from muids where app_no = p_app_no and target = 'user:' || p_uid and target <> '' limit p_limit));
    get diagnostics v_part = row_count;
    v_most := greatest(v_most, v_part);
    update groups set updated_by = p_as where app_no = p_app_no and guid = any (array(
      select guid from groups where app_no = p_app_no and updated_by = p_uid limit p_limit));
    get diagnostics v_part = row_count;
    v_most := greatest(v_most, v_part);
    update receipt_floors set
      ahead_id = case when ahead_uid = p_uid then 0 else ahead_id end,
      ahead_uid = case when ahead_uid <> p_uid then ahead_uid end, laggards = array_remove(laggards, p_uid)
    where app_no = p_app_no and (ahead_uid = p_uid or p_uid = any (laggards));
    update moderation_rules set filters = without_user(filters, p_uid, p_as)
    where app_no = p_app_no and strpos(filters::text, p_uid) > 0 and without_user(filters, p_uid, p_as) <> filters;
  end if;
  delete from presence where app_no = p_app_no and uid = p_uid;
  delete from idempotency where ctid = any (array(
    select ctid from idempotency where app_no = p_app_no and uid = p_uid limit p_limit));
  get diagnostics v_part = row_count;
  v_most := greatest(v_most, v_part);
  update rule_previews p set samples = coalesce((
      select jsonb_agg(s order by nth) from jsonb_array_elements(p.samples) with ordinality e (s, nth)
      where exists (select from messages m
        where m.app_no = p_app_no and m.id = (s ->> 'id')::bigint and m.sender <> p_uid)), '[]')
  where app_no = p_app_no and exists (
    select from jsonb_array_elements(p.samples) s where not exists (
      select from messages m where m.app_no = p_app_no and m.id = (s ->> 'id')::bigint and m.sender <> p_uid));
  update rule_previews set rule = without_user(rule, p_uid, p_as)
  where app_no = p_app_no and strpos(rule::text, p_uid) > 0 and without_user(rule, p_uid, p_as) <> rule;
  delete from notification_held where app_no = p_app_no and p_uid in (uid, by_uid);
  delete from notification_deliveries where app_no = p_app_no and p_uid in (uid, by_uid);
  -- Jobs that wait are cancelled, so that the next one of their serial key can start. A user who stays still has to leave
  -- their calls; one who goes has left them.
  for j in
    select id from jobs
    where app_no = p_app_no and ended_at is null and state <> 'running' and input ->> 'uid' = p_uid
      and (v_gone or name <> 'calls.leave')
  loop
    perform cancel_job(p_app_no, j.id);
  end loop;
  return v_most;
end $$;

/*
 * Erases a user from the next p_limit rows of a table after p_after. No index says which of them name the user. Returns the last
 * id that was looked at; null if that was all.
 */
create or replace function erase_from_table(
  p_app_no int, p_uid text, p_as text, p_table text, p_after bigint, p_limit int
) returns bigint
language plpgsql as $$
declare
  v_ids bigint[];
begin
  if p_table = 'held_messages' then
    v_ids := array(select id from held_messages where app_no = p_app_no and id > p_after order by id limit p_limit);
    update held_messages set data = without_user(data, p_uid, p_as)
    where app_no = p_app_no and id = any (v_ids) and strpos(lower(data::text), p_uid) > 0
      and without_user(data, p_uid, p_as) <> data;
  elsif p_table = 'checked_messages' then
    v_ids := array(select id from checked_messages where app_no = p_app_no and id > p_after order by id limit p_limit);
    update checked_messages set data = without_user(data, p_uid, p_as)
    where app_no = p_app_no and id = any (v_ids) and strpos(lower(data::text), p_uid) > 0
      and without_user(data, p_uid, p_as) <> data;
  elsif p_table = 'held_edits' then
    v_ids := array(select id from held_edits where app_no = p_app_no and id > p_after order by id limit p_limit);
    delete from held_edits e
    where e.app_no = p_app_no and e.id = any (v_ids) and (e.edited_by = p_uid or p_as <> p_uid and not exists (
      select from messages m where m.app_no = p_app_no and m.id = e.id));
    update held_edits set data = without_user(data, p_uid, p_as), mentions = array_replace(mentions, p_uid, p_as)
    where app_no = p_app_no and id = any (v_ids) and strpos(lower(data::text), p_uid) > 0
      and without_user(data, p_uid, p_as) <> data;
  elsif p_table = 'jobs' then
    v_ids := array(
      select id from jobs where app_no = p_app_no and id > p_after and ended_at is not null order by id limit p_limit);
    with gone as (
      delete from jobs where app_no = p_app_no and id = any (v_ids) and ended_at is not null
        and concat_ws(' ', input, checkpoint, error, dedupe_key, serial_key)
          ~ ('(^|[^a-z0-9_-])' || p_uid || '(?![a-z0-9_-])') returning id)
    delete from job_steps s using gone where s.app_no = p_app_no and s.job_id = gone.id;
  end if;
  return case when cardinality(v_ids) = p_limit then v_ids[p_limit] end;
end $$;

/* The same for notification_logs, whose rows go. */
create or replace function erase_notification_logs(p_app_no int, p_uid text, p_after uuid, p_limit int) returns uuid
language plpgsql as $$
declare
  v_ids uuid[] := array(
    select id from notification_logs where app_no = p_app_no and id > p_after order by id limit p_limit);
begin
  delete from notification_logs
  where app_no = p_app_no and id = any (v_ids) and p_uid in (uid, sender, receiver, reaction_sender);
  return case when cardinality(v_ids) = p_limit then v_ids[p_limit] end;
end $$;

/*
 * Erases a user from the next p_limit events of the log after p_after, up to p_upto. An event that is about the user becomes a
 * tombstone; one that others need, such as those of a group, keeps its place without the user's data. The event that
 * says that the user was deleted keeps the uid, so that servers learn of it. Returns the last position that was looked
 * at; null if that was all.
 */
create or replace function erase_events(
  p_app_no int, p_uid text, p_as text, p_after bigint, p_upto bigint, p_limit int
) returns bigint
-- The service itself can't change the log.
language plpgsql security definer
set search_path = public, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  v_last bigint;
  v_seen int := 0;
  e record;
  v_payload jsonb;
  v_rest jsonb;
  v_topic text := 'user:' || p_uid;
  v_about boolean;
  v_keeps boolean;
begin
  for e in
    select p.position, p.day, p.type, p.to_first, p.to_second, p.body_id, p.body_day, b.key, b.active_uid, b.payload
    from event_positions p cross join lateral (
      select key, active_uid, payload from event_bodies where id = p.body_id and day = p.body_day offset 0) b
    where p.app_no = p_app_no and p.position > p_after and p.position <= p_upto
    order by p.position limit p_limit
  loop
    v_last := e.position;
    v_seen := v_seen + 1;
    v_about := p_uid = e.active_uid or v_topic in (e.key, e.to_first, e.to_second);
    -- A remark about a message that is gone doesn't name its sender.
    if e.type in ('message.flagged', 'message.unflagged') and p_as <> p_uid then
      v_about := v_about or not exists (
        select from messages where app_no = p_app_no and id = (e.payload ->> 'messageId')::bigint);
    end if;
    v_about := coalesce(v_about, false);
    continue when e.type = 'event.erased' or strpos(lower(e.payload::text), p_uid) = 0 and not v_about;
    v_payload := e.payload::jsonb;
    v_rest := without_user(v_payload, p_uid, p_as);
    continue when v_rest = v_payload and not v_about;
    v_keeps := case
      when e.type = 'user.deleted' then true
      when p_as = p_uid then e.type = 'user.deactivated' or e.type like 'group.%' or e.type ~
        '^(message\.(sent|edited|deleted|restored|pinned|unpinned|reaction\..*)|conversation\.(read|delivered|cleared))$'
      when e.type like 'group.%' then e.type <> 'group.flagged'
      else e.type ~ '^message\.(sent|edited|deleted|restored|pinned|unpinned)$'
        and p_uid not in (v_payload #>> '{message,sender}', v_payload #>> '{message,receiver}')
        and p_uid is distinct from v_payload #>> '{message,data,entities,on,entity,sender}'
      end;
    if not v_keeps then
      update event_bodies set type = 'event.erased', key = '', to_first = '', to_second = null, active_uid = null,
        counts_as = null, payload = '{}'
      where id = e.body_id and day = e.body_day;
      update event_positions set type = 'event.erased', to_first = '', to_second = null
      where app_no = p_app_no and position = e.position and day = e.day;
    else
      if e.type = 'user.deleted' then v_rest := without_user(v_payload, p_uid, p_uid); end if;
      continue when v_rest = v_payload and p_as = p_uid;
      update event_bodies set payload = v_rest::json,
        active_uid = case when active_uid = p_uid and p_as <> p_uid then null else active_uid end,
        to_first = case when to_first = v_topic and p_as <> p_uid then '' else to_first end,
        to_second = case when to_second = v_topic and p_as <> p_uid then null else to_second end
      where id = e.body_id and day = e.body_day;
      update event_positions set
        to_first = case when to_first = v_topic then '' else to_first end,
        to_second = case when to_second = v_topic then null else to_second end
      where app_no = p_app_no and position = e.position and day = e.day and p_as <> p_uid
        and v_topic in (to_first, to_second);
    end if;
  end loop;
  return case when v_seen = p_limit then v_last end;
end $$;

/*
 * Deletes what webhooks still wait to send of erased events, among the next p_limit rows of the backlog after a webhook, an
 * order key and a position. An order key that waits for nothing any more isn't parked. Returns the last row that was
 * looked at; none if that was all.
 */
create or replace function erase_backlog(
  p_app_no int, p_uid text, p_after_webhook bigint, p_after_key text, p_after_position bigint, p_limit int
) returns table (webhook_no bigint, key text, pos bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  return query with looked as materialized (
    select b.webhook_no, b.key, b.position from webhook_backlog b
    where b.app_no = p_app_no and (b.webhook_no, b.key, b.position) > (p_after_webhook, p_after_key, p_after_position)
    order by b.webhook_no, b.key, b.position limit p_limit
  ), gone as (
    delete from webhook_backlog b using looked l
    where b.app_no = p_app_no and b.webhook_no = l.webhook_no and b.key = l.key and b.position = l.position
      and (l.key = 'user:' || p_uid or exists (
        select from event_positions p
        where p.app_no = p_app_no and p.position = l.position and p.type = 'event.erased'))
    returning b.webhook_no, b.key, b.position
  ), unparked as (
    delete from webhook_parked k
    where k.app_no = p_app_no
      and (k.key = 'user:' || p_uid or (k.webhook_no, k.key) in (select webhook_no, key from gone))
      and not exists (
        select from webhook_backlog b
        where b.app_no = p_app_no and b.webhook_no = k.webhook_no and b.key = k.key
          and not exists (select from gone o
            where o.webhook_no = b.webhook_no and o.key = b.key and o.position = b.position))
  )
  select l.webhook_no, l.key, l.position from looked l
  order by l.webhook_no, l.key, l.position offset p_limit - 1;
end $$;

/* The same for dead letters. */
create or replace function erase_dead_letters(
  p_app_no int, p_after_webhook bigint, p_after_position bigint, p_limit int
) returns table (webhook_no bigint, pos bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  return query with looked as materialized (
    select d.webhook_no, d.position from webhook_dead_letters d
    where d.app_no = p_app_no and (d.webhook_no, d.position) > (p_after_webhook, p_after_position)
    order by d.webhook_no, d.position limit p_limit
  ), gone as (
    delete from webhook_dead_letters d using looked l
    where d.app_no = p_app_no and d.webhook_no = l.webhook_no and d.position = l.position and d.upto = d.position
      and exists (select from event_positions p
        where p.app_no = p_app_no and p.position = d.position and p.type = 'event.erased')
  )
  select l.webhook_no, l.position from looked l order by l.webhook_no, l.position offset p_limit - 1;
end $$;

/*
 * Nobody knows what servers answered about a user, so the stored answers of the app go: those of the next p_limit deliveries after
 * a webhook and an id. Returns the last one that was looked at; no row if that was all.
 */
create or replace function erase_deliveries(
  p_app_no int, p_after_webhook bigint, p_after_id bigint, p_limit int
) returns table (webhook_no bigint, id bigint)
language plpgsql as $$
#variable_conflict use_column
begin
  return query with looked as materialized (
    select d.webhook_no, d.id, d.day, d.answer is not null as answered from webhook_deliveries d
    where d.app_no = p_app_no and (d.webhook_no, d.id) > (p_after_webhook, p_after_id)
    order by d.webhook_no, d.id limit p_limit
  ), cleared as (
    update webhook_deliveries d set answer = null from looked l
    where l.answered and d.app_no = p_app_no and d.webhook_no = l.webhook_no and d.id = l.id and d.day = l.day
  )
  select l.webhook_no, l.id from looked l order by l.webhook_no, l.id offset p_limit - 1;
end $$;
