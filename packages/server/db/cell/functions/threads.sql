-- Replies and quotes. Lock order: the caller has locked the head; then threads, thread_users by uid.

/*
 * Finds the message that another one of the same conversation replies to or quotes, if its sender
 * can see it. The head is locked.
 */
create or replace function find_referenced_message(h conversations, p_sender text, p_id bigint, p_reply boolean)
returns messages
language plpgsql as $$
declare
  m messages;
begin
  select * into m from messages where app_no = h.app_no and id = p_id;
  if found and m.conversation <> h.no then
    -- `unseen`: the sender doesn't take part there, so the error must not reveal the message.
    perform refuse(case when p_reply then 'ERR_WRONG_MESSAGE_THREAD' else 'ERR_BAD_REQUEST' end,
      jsonb_build_object('reason', 'The quoted message belongs to another conversation.', 'id', p_id,
        'unseen', not exists (select from inbox i
          where i.app_no = h.app_no and i.conversation = m.conversation and i.uid = p_sender
            and (i.kind = 'user' or i.scope is not null))));
  end if;
  if not found or m.id <= h.purged_id
    or m.id <= (select cleared_id from inbox
      where app_no = h.app_no and conversation = h.no and uid = p_sender)
    or exists (select from users
      where app_no = h.app_no and uid = m.sender and removed_at is not null)
  then
    perform refuse('ERR_MESSAGE_ID_NOT_FOUND', jsonb_build_object('id', p_id));
  end if;
  return m;
end $$;

/* Finds the message that another one replies to, if it accepts replies. */
create or replace function find_parent(h conversations, p_sender text, p_id bigint) returns messages
language plpgsql as $$
declare
  m messages := find_referenced_message(h, p_sender, p_id, true);
begin
  if m.parent_id is not null then perform refuse('ERR_MESSAGE_THREAD_NESTING'); end if;
  if m.category in ('action', 'call') then perform refuse('ERR_WRONG_MESSAGE_THREAD_CATEGORY'); end if;
  return m;
end $$;

/* Counts a stored reply to m, and adds its sender and the thread's author to the users of the thread. */
create or replace function add_reply(h conversations, p_sender text, m messages, p_id bigint) returns void
language plpgsql as $$
begin
  insert into threads as t
    (app_no, parent_id, conversation, replies, last_id, updated_second)
  values (h.app_no, m.id, h.no, 1, p_id, id_second(p_id))
  on conflict (app_no, parent_id) do update set
    replies = t.replies + 1, last_id = greatest(t.last_id, excluded.last_id),
    updated_second = greatest(t.updated_second, excluded.updated_second);
  -- In a 1:1 conversation the other user too, even without a message in the thread.
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

/* Returns a quoted message as the message that quotes it shows it. */
create or replace function quote_message(h conversations, p_sender text, p_id bigint) returns jsonb
language plpgsql as $$
declare
  m messages := find_referenced_message(h, p_sender, p_id, false);
begin
  if m.deleted_at is not null then
    perform refuse('ERR_MESSAGE_ID_NOT_FOUND', jsonb_build_object('id', p_id));
  end if;
  if m.category in ('action', 'call') then
    perform refuse('ERR_MESSAGE_ACTION_NOT_ALLOWED',
      '{"devMessage": "You can''t quote a message that the service wrote."}');
  end if;
  return message_snapshot(m, h);
end $$;

/* A message with the records that it shows, as events carry it. */
create or replace function message_snapshot(m messages, h conversations) returns jsonb
language plpgsql stable as $$
declare
  v_receiver jsonb;
begin
  v_receiver := coalesce(entity_record(h.app_no, h.kind, receiver_of(m, h)), '{}');
  if h.kind = 'user' then
    v_receiver := v_receiver
      || jsonb_build_object('conversationId', conversation_id(h.kind, h.one, h.other));
  end if;
  return message_record(m, h) || jsonb_build_object('data', with_mentions(m.data, (
      select jsonb_object_agg(key, coalesce(entity_record(h.app_no, 'user', key), value))
      from jsonb_each(m.data -> 'mentions')))
    || jsonb_build_object('entities', jsonb_build_object(
      'sender', jsonb_build_object('entityType', 'user',
        'entity', coalesce(entity_record(h.app_no, 'user', m.sender), '{}')),
      'receiver', jsonb_build_object('entityType', h.kind, 'entity', v_receiver))));
end $$;
