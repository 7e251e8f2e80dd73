-- Calls. A call changes only under the lock of its conversation's head, after that of the users who act
-- (send.sql has the whole order).

/* Whether somebody can still answer or is in the call. After the ring timeout it is over, even before the job says so. */
create or replace function is_active(c calls) returns boolean
language sql volatile
return c.status = 'ongoing' or c.status = 'initiated' and c.initiated_at > clock_timestamp() - interval '45 seconds';

/* Whether a user sees a call: as a participant who didn't delete it, or as a member of the group that meets. */
create or replace function sees_call(c calls, p_uid text) returns boolean
language sql stable
return coalesce(
  (select not p.hidden from call_participants p
   where p.app_no = c.app_no and p.call_id = c.id and p.uid = p_uid and p.no = 0),
  c.kind = 'group' and c.mode = 'meet' and exists (select from inbox i
    where i.app_no = c.app_no and i.uid = p_uid and i.kind = 'group' and i.with_id = c.receiver
      and i.scope is not null));

/*
 * Adds the message about a change of a call whose head is locked, and returns its record. It has no event of its own.
 * p_call is the call as the message shows it.
 */
create or replace function append_call(
  p_app_no int, p_conversation bigint, p_by text, p_type text, p_action text, p_call jsonb, p_moves boolean
) returns jsonb
language plpgsql as $$
declare
  h conversations;
  m messages;
  v_kind text := p_call ->> 'receiverType';
  v_by jsonb := entity_record(p_app_no, 'user', p_by);
  v_for jsonb := entity_record(p_app_no, v_kind, p_call ->> 'callReceiver');
  v_on jsonb := jsonb_build_object('entity', p_call, 'entityType', 'call');
begin
  select * into h from conversations where app_no = p_app_no and no = p_conversation;
  h := advance_head(p_app_no, h.kind, h.one, h.other, p_moves, p_moves, null, null, null);
  m := insert_message(h, p_by, 'call', p_type, jsonb_build_object('action', p_action, 'entities', jsonb_build_object(
      'by', jsonb_build_object('entity', small_record(v_by), 'entityType', 'user'),
      'on', v_on,
      'for', jsonb_build_object('entity', small_record(v_for), 'entityType', v_kind))),
    '{}', null, null, null, p_moves, p_moves);
  return jsonb_set(message_record(m, h), '{data,entities}', jsonb_build_object(
    'by', jsonb_build_object('entity', v_by, 'entityType', 'user'),
    'on', v_on,
    'for', jsonb_build_object('entity', v_for, 'entityType', v_kind)));
end $$;

/* Lets a job take a user out of calls that the user may not be in any more, if the user is in any. */
create or replace function leave_calls(p_app_no int, p_uid text) returns void
language plpgsql as $$
begin
  if exists (select from call_participants
    where app_no = p_app_no and uid = p_uid and state in ('waiting', 'ongoing'))
  then
    perform enqueue_job(p_app_no, 'calls.leave', jsonb_build_object('uid', p_uid));
  end if;
end $$;

/* Deletes at most p_limit calls of a conversation with their participants, and returns how many. */
create or replace function sweep_calls(p_app_no int, p_conversation bigint, p_limit int) returns int
language plpgsql as $$
declare
  v_ids bigint[];
begin
  v_ids := array(select id from calls
    where app_no = p_app_no and conversation = p_conversation limit p_limit);
  if v_ids = '{}' then return 0; end if;
  delete from call_files where app_no = p_app_no and call_id = any (v_ids);
  delete from call_connections where app_no = p_app_no and call_id = any (v_ids);
  delete from call_participants where app_no = p_app_no and call_id = any (v_ids);
  delete from calls where app_no = p_app_no and id = any (v_ids);
  perform add_total(p_app_no, 'calls', -cardinality(v_ids));
  return cardinality(v_ids);
end $$;

/* Deletes at most p_limit places of a removed user in calls of groups, and the calls that the user started. */
create or replace function sweep_calls_of_user(p_app_no int, p_uid text, p_limit int) returns int
language plpgsql as $$
declare
  v_ids bigint[];
  v_joined bigint[];
  v_started bigint[];
begin
  v_ids := array(select call_id from call_participants where app_no = p_app_no and uid = p_uid limit p_limit);
  if v_ids = '{}' then return 0; end if;
  v_joined := array(select call_id from call_participants
    where app_no = p_app_no and uid = p_uid and call_id = any (v_ids) and joined_at is not null);
  v_started := array(select id from calls where app_no = p_app_no and id = any (v_ids) and initiator = p_uid);
  update call_recordings set uid = null where app_no = p_app_no and call_id = any (v_ids) and uid = p_uid;
  -- Transcriptions have what everybody said who was in the call.
  delete from call_files where app_no = p_app_no and (
    call_id = any (v_started) or call_id = any (v_ids) and uid = p_uid
    or call_id = any (v_joined) and kind = 'transcription');
  delete from call_connections where app_no = p_app_no and (
    call_id = any (v_started) or call_id = any (v_ids) and uid = p_uid);
  delete from call_participants where app_no = p_app_no and (
    call_id = any (v_started) or call_id = any (v_ids) and uid = p_uid);
  -- After their participants, as whoever ends a call.
  update calls c set
    recorded = exists (select from call_files f
      where f.app_no = p_app_no and f.call_id = c.id and f.kind = 'recording'),
    transcribed = exists (select from call_files f
      where f.app_no = p_app_no and f.call_id = c.id and f.kind = 'transcription')
  where c.app_no = p_app_no and c.id = any (v_ids) and (c.recorded or c.transcribed);
  delete from calls where app_no = p_app_no and id = any (v_started);
  perform add_total(p_app_no, 'calls', -cardinality(v_started));
  return cardinality(v_ids);
end $$;

/*
 * A device says that it is still in a call, or waits for an answer. From the first time on, a job watches the call: only
 * devices that say so can be missed. No lock but that of the row: it changes nothing that others see.
 */
create or replace function see_device(p_app_no int, p_call bigint, p_uid text, p_device text) returns void
language plpgsql as $$
declare
  v_seen timestamptz;
begin
  select seen_at into v_seen from call_participants
  where app_no = p_app_no and call_id = p_call and uid = p_uid and device_id = p_device
    and state in ('waiting', 'ongoing')
  for no key update;
  if not found then return; end if;
  update call_participants set seen_at = clock_timestamp()
  where app_no = p_app_no and call_id = p_call and uid = p_uid and device_id = p_device
    and state in ('waiting', 'ongoing');
  -- One job watches all devices of the call.
  if v_seen is null and not exists (select from call_participants
    where app_no = p_app_no and call_id = p_call and (uid, device_id) <> (p_uid, p_device)
      and state in ('waiting', 'ongoing') and seen_at is not null)
  then
    perform enqueue_job(p_app_no, 'calls.lost', jsonb_build_object('id', p_call::text), interval '15 seconds');
  end if;
end $$;

/* Lets a job convert what was recorded of a call. */
create or replace function convert_recordings(p_app_no int, p_call bigint, p_room uuid) returns void
language plpgsql as $$
begin
  perform enqueue_job(p_app_no, 'calls.convert', jsonb_build_object('id', p_call::text, 'room', p_room),
    p_dedupe_key => p_call::text);
end $$;

/* A connection that is gone ends what is recorded of it, whatever deletes it. The media server drops it, too. */
create or replace function end_recordings() returns trigger
language plpgsql as $$
declare
  v_room uuid;
begin
  update call_recordings set ended_at = coalesce(ended_at, clock_timestamp()), told = true
  where app_no = old.app_no and call_id = old.call_id and connection = old.id and (ended_at is null or not told)
  returning room into v_room;
  if found then perform convert_recordings(old.app_no, old.call_id, v_room); end if;
  return null;
end $$;
