-- Replies, mentions and interactions: what messages have to do with each other and with users. All is
-- written under the lock of the conversation. docs/decisions/0011-threads.md tells why so.

-- A message that has replies.
create table threads (
  app_no int not null,
  parent_id bigint not null,
  conversation bigint not null,
  parent_seq bigint not null,
  -- Without those that were deleted.
  replies int not null,
  -- The newest reply, whatever became of it.
  last_id bigint not null,
  updated_second bigint not null,
  primary key (app_no, parent_id)
) with (fillfactor = 70);
create index threads_order on threads (app_no, updated_second, parent_id);
create index threads_conversation on threads (app_no, conversation, updated_second, parent_id)
include (parent_seq);

-- Whose threads these are: of two users both; of a group whoever wrote the message or a reply, or
-- follows it.
create table thread_users (
  app_no int not null,
  uid text collate "C" not null,
  parent_id bigint not null,
  conversation bigint not null,
  direct boolean not null,
  wrote boolean not null,
  follows boolean not null,
  primary key (app_no, uid, parent_id)
);
create index thread_users_conversation on thread_users (app_no, conversation, parent_id);

-- One row for each user that a message mentions. How many are unread follows from the user's mark.
create table mentions (
  app_no int not null,
  uid text collate "C" not null,
  conversation bigint not null,
  seq bigint not null,
  message_id bigint not null,
  parent_id bigint,
  -- Not where users mention themselves.
  counts boolean not null,
  primary key (app_no, uid, conversation, seq)
);
-- What mentions a user, wherever; and whom a message mentions.
create index mentions_user on mentions (app_no, uid, message_id);
create unique index mentions_message on mentions (app_no, message_id, uid);

-- Which elements of an interactive message a user has used.
create table interactions (
  app_no int not null,
  message_id bigint not null,
  uid text collate "C" not null,
  element_id text collate "C" not null,
  at timestamptz not null default clock_timestamp(),
  primary key (app_no, message_id, uid, element_id)
);
create index interactions_user on interactions (app_no, uid);

/*
 * The records of those among these users who are there, by uid; null for none. They stay until the
 * transaction ends, so that a removal finds what is written of them: called before the head is locked.
 */
create function hold_mentioned(p_app_no int, p_uids text[]) returns jsonb
-- Not in SQL: such functions are planned anew with each call.
language plpgsql as $$
declare
  v_there jsonb;
begin
  -- Each by its key: a plan for any number of them could read all users. Of JSON the same number is
  -- always expected, so that the plan is kept.
  select jsonb_object_agg(there.uid, there.record) into v_there
  from (select value as uid from json_array_elements_text(array_to_json(p_uids))
    order by value collate "C") wanted, lateral (
    select u.uid, user_record(u) as record from users u
    where u.app_no = p_app_no and u.uid = wanted.uid and u.removed_at is null
    limit 1 for share) there;
  return v_there;
end $$;

create function small_records(p_records jsonb) returns jsonb
language sql immutable
return (select jsonb_object_agg(key, small_record(value)) from jsonb_each(p_records));

create function with_mentions(p_data jsonb, p_mentions jsonb) returns jsonb
language sql immutable
return case when p_mentions is null then p_data - 'mentions'
  else p_data || jsonb_build_object('mentions', p_mentions) end;

/* Tells users that a message mentions them, and returns those for whom that is new. */
create function add_mentions(p_app_no int, p_id bigint, p_uids text[]) returns setof text
language plpgsql as $$
begin
  return query insert into mentions (app_no, uid, conversation, seq, message_id, parent_id, counts)
  select p_app_no, mentioned, m.conversation, m.seq, m.id, m.parent_id, mentioned <> m.sender
  from messages m, unnest(p_uids) mentioned
  where m.app_no = p_app_no and m.id = p_id
  on conflict do nothing
  returning uid;
end $$;

/*
 * A message that another one of the same conversation refers to, as far as its sender can see it.
 * The head is locked.
 */
create function find_referred(h conversations, p_sender text, p_id bigint, p_reply boolean)
returns messages
language plpgsql as $$
declare
  m messages;
begin
  select * into m from messages where app_no = h.app_no and id = p_id;
  if found and m.conversation <> h.no then
    -- Whether the sender takes part there decides what a device is told.
    perform refuse(case when p_reply then 'ERR_WRONG_MESSAGE_THREAD' else 'ERR_BAD_REQUEST' end,
      jsonb_build_object('reason', 'The quoted message is of another conversation.', 'id', p_id,
        'unseen', not exists (select from inbox i
          where i.app_no = h.app_no and i.conversation = m.conversation and i.uid = p_sender
            and (i.kind = 'user' or i.scope is not null))));
  end if;
  if not found or m.seq <= h.purged_seq
    or m.seq <= (select cleared_seq from inbox
      where app_no = h.app_no and conversation = h.no and uid = p_sender)
    or exists (select from users
      where app_no = h.app_no and uid = m.sender and removed_at is not null)
  then
    perform refuse('ERR_MESSAGE_ID_NOT_FOUND', jsonb_build_object('id', p_id));
  end if;
  return m;
end $$;

/* Counts a reply that was stored, and notes who has to do with its thread now. */
create function add_reply(h conversations, p_sender text, p_parent bigint, p_id bigint)
returns void
language plpgsql as $$
declare
  m messages := find_referred(h, p_sender, p_parent, true);
begin
  if m.parent_id is not null then perform refuse('ERR_MESSAGE_THREAD_NESTING'); end if;
  if m.category = 'action' then perform refuse('ERR_WRONG_MESSAGE_THREAD_CATEGORY'); end if;
  insert into threads as t
    (app_no, parent_id, conversation, parent_seq, replies, last_id, updated_second)
  values (h.app_no, m.id, h.no, m.seq, 1, p_id, unix(h.last_at))
  on conflict (app_no, parent_id) do update set
    replies = t.replies + 1, last_id = excluded.last_id, updated_second = excluded.updated_second;
  -- Of two users the other one too, who may have written nothing.
  insert into thread_users as t (app_no, uid, parent_id, conversation, direct, wrote, follows)
  select h.app_no, uid, m.id, h.no, h.kind = 'user', bool_or(wrote), bool_or(wrote)
  from (values (p_sender, true), (m.sender, true),
    (case when h.kind = 'user' then h.one end, false),
    (case when h.kind = 'user' then h.other end, false)) concerned (uid, wrote)
  where uid <> 'app_system'
  group by uid order by uid
  on conflict (app_no, uid, parent_id) do update set
    wrote = t.wrote or excluded.wrote, follows = t.follows or t.uid = p_sender
  where (excluded.wrote and not t.wrote) or (t.uid = p_sender and not t.follows);
end $$;

/* A user or group as a message shows it; nothing of those that are gone. */
create function party_record(p_app_no int, p_kind text, p_id text) returns jsonb
language plpgsql stable as $$
declare
  v_record jsonb;
begin
  if p_kind = 'group' then
    select group_record(g) into v_record from groups g
    where g.app_no = p_app_no and g.guid = p_id and g.removed_at is null;
  elsif p_id = 'app_system' then
    v_record := system_record(p_app_no);
  else
    select user_record(u) into v_record from users u
    where u.app_no = p_app_no and u.uid = p_id and u.removed_at is null;
  end if;
  return v_record;
end $$;

/* A quoted message as the one that quotes it shows it (areas/messages/record.ts does the same). */
create function quote_message(h conversations, p_sender text, p_id bigint) returns jsonb
language plpgsql as $$
declare
  m messages := find_referred(h, p_sender, p_id, false);
  v_receiver jsonb;
begin
  if m.deleted_at is not null then
    perform refuse('ERR_MESSAGE_ID_NOT_FOUND', jsonb_build_object('id', p_id));
  end if;
  if m.category = 'action' then
    perform refuse('ERR_MESSAGE_ACTION_NOT_ALLOWED',
      '{"devMessage": "The quoted message tells of an action."}');
  end if;
  v_receiver := coalesce(party_record(h.app_no, h.kind, receiver_of(m, h)), '{}');
  if h.kind = 'user' then
    v_receiver := v_receiver
      || jsonb_build_object('conversationId', conversation_id(h.kind, h.one, h.other));
  end if;
  return message_record(m, h) || jsonb_build_object('data', with_mentions(m.data, (
      select jsonb_object_agg(key, coalesce(party_record(h.app_no, 'user', key), value))
      from jsonb_each(m.data -> 'mentions')))
    || jsonb_build_object('entities', jsonb_build_object(
      'sender', jsonb_build_object('entityType', 'user',
        'entity', coalesce(party_record(h.app_no, 'user', m.sender), '{}')),
      'receiver', jsonb_build_object('entityType', h.kind, 'entity', v_receiver))));
end $$;

/*
 * Those among mentioned users who are told of it: who can read the message, whose conversation is
 * locked, and stands in no block with the user who mentions them.
 */
create function told_of_mention(h conversations, p_by text, p_uids text[]) returns setof text
language plpgsql stable as $$
begin
  return query select mentioned from unnest(p_uids) mentioned
  where mentioned <> p_by
    and case h.kind when 'user' then mentioned in (h.one, h.other) else exists (
      select from inbox i
      where i.app_no = h.app_no and i.uid = mentioned and i.kind = 'group' and i.with_id = h.one
        and i.scope is not null) end
    and not exists (select from blocks b
      where b.app_no = h.app_no and b.uid = mentioned and b.blocked_uid = p_by)
    and not exists (select from blocks b
      where b.app_no = h.app_no and b.uid = p_by and b.blocked_uid = mentioned)
  order by mentioned collate "C";
end $$;

/*
 * Changes what a message of a conversation whose head is locked says. p_mentions are records of those
 * whom it mentions now, or null where they are as they were; returns those who are told of that: the
 * message did not mention them before, and they did not write it.
 */
create function edit_message(
  p_app_no int, p_id bigint, p_by text, p_data jsonb, p_tags text[], p_mentions jsonb
) returns setof text
language plpgsql as $$
declare
  v_uids text[] := array(select jsonb_object_keys(p_mentions));
  m messages;
  h conversations;
begin
  update messages set
    data = with_mentions(p_data, case when p_mentions is null then data -> 'mentions'
      else small_records(p_mentions) end), tags = p_tags,
    edited_at = clock_timestamp(), edited_by = p_by, updated_at = clock_timestamp()
  where app_no = p_app_no and id = p_id
  returning * into m;
  -- Among those as they were may be users who are gone.
  if p_mentions is null then return; end if;
  delete from mentions
  where app_no = p_app_no and message_id = p_id and uid <> all (v_uids);
  select * into h from conversations where app_no = p_app_no and no = m.conversation;
  return query select told
  from told_of_mention(h, p_by, array(select add_mentions(p_app_no, p_id, v_uids))) told
  where told <> m.sender;
end $$;

/* What belongs to messages that are gone. */
create function forget_messages(p_app_no int, p_ids bigint[]) returns void
language plpgsql as $$
begin
  delete from mentions where app_no = p_app_no and message_id = any (p_ids);
  delete from interactions where app_no = p_app_no and message_id = any (p_ids);
  delete from threads where app_no = p_app_no and parent_id = any (p_ids);
end $$;

/* Removes at most p_limit rows of what a removed user left at others' messages. */
create function sweep_traces(p_app_no int, p_uid text, p_limit int) returns int
language plpgsql as $$
declare
  v_left int := p_limit;
  v_done int;
begin
  delete from mentions where v_left > 0 and ctid = any (array(
    select ctid from mentions where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from thread_users where v_left > 0 and ctid = any (array(
    select ctid from thread_users where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from interactions where v_left > 0 and ctid = any (array(
    select ctid from interactions where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  return p_limit - v_left + v_done;
end $$;
