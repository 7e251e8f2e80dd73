-- Reactions to messages.
-- Lock order: the advisory lock of the message's reactions, the head (for the first reaction alone), the
-- message, the user's inbox row, reactions, reaction_counts, event_bodies.

/*
 * Locks a message and the user's inbox row until the transaction ends: nobody can delete the
 * message or remove the user from the group meanwhile.
 */
create or replace function lock_message(
  p_app_no int, p_id bigint, p_uid text,
  out conversation bigint, out category text, out deleted boolean
)
language plpgsql as $$
begin
  select m.conversation, m.category, m.deleted_at is not null
  into lock_message.conversation, lock_message.category, deleted
  from messages m where m.app_no = p_app_no and m.id = p_id for share;
  if not found then
    perform refuse('ERR_MESSAGE_ID_NOT_FOUND', jsonb_build_object('id', p_id));
  end if;
  perform from inbox i
  where i.app_no = p_app_no and i.conversation = lock_message.conversation and i.uid = p_uid
    and (i.kind = 'user' or i.scope is not null)
  for share;
  if not found then
    perform refuse('ERR_MESSAGE_NO_ACCESS', jsonb_build_object('id', p_id));
  end if;
end $$;

/* Announces that a reaction was added or removed. */
create or replace function announce_reaction(p_type text, h conversations, r reactions) returns void
language sql as $$
  insert into event_bodies (app_no, type, key, to_first, to_second, payload)
  select r.app_no, p_type, 'conversation:' || h.no,
    case when h.kind = 'group' then 'group:' || h.one else 'user:' || r.uid end,
    case when h.kind = 'user' then nullif('user:' || case when r.uid = h.one then h.other else h.one end,
      'user:' || r.uid) end, concat(
    '{"reaction":{"id":"', r.id, '","messageId":"', r.message_id, '"',
    ',"reaction":', to_json(r.reaction), ',"uid":', to_json(r.uid),
    ',"reactedAt":', unix(r.reacted_at), ',"reactedBy":', user_snapshot(u), '}',
    ',"conversationId":', to_json(conversation_id(h.kind, h.one, h.other)),
    ',"receiverType":"', h.kind, '","receiver":', to_json(receiver_of(m, h)),
    ',"parentMessageId":"' || m.parent_id || '"',
    ',"messageCategory":', to_json(m.category), ',"messageType":', to_json(m.type), '}')::json
  from users u, messages m
  where u.app_no = r.app_no and u.uid = r.uid and m.app_no = r.app_no and m.id = r.message_id
$$;

/*
 * Flags a message with its first reaction. Every change of a message needs its head's lock; sweeps
 * rely on that.
 */
create or replace function flag_reacted(p_app_no int, p_id bigint) returns void
language plpgsql as $$
declare
  v_conversation bigint;
begin
  select conversation into v_conversation from messages
  where app_no = p_app_no and id = p_id and not reacted;
  if not found then return; end if;
  perform from conversations where app_no = p_app_no and no = v_conversation for no key update;
  update messages set reacted = true where app_no = p_app_no and id = p_id and deleted_at is null;
end $$;

/*
 * Users who react to one message queue for an advisory lock: if they waited for its row, each change
 * would wake all of them. It may be the same lock as that of a group's senders (send.sql), if the
 * hashes are equal. Nobody takes either while holding a head, so this only makes one wait.
 */
create or replace function lock_reactions(p_app_no int, p_id bigint) returns void
language sql
return pg_advisory_xact_lock(p_app_no, hashint8(p_id));

/*
 * Adds a user's reaction to a message, which can have p_most different ones. Repeating it does
 * nothing.
 */
create or replace function add_reaction(
  p_app_no int, p_id bigint, p_uid text, p_reaction text, p_most int
) returns void
language plpgsql as $$
declare
  m record;
  h conversations;
  r reactions;
begin
  perform lock_reactions(p_app_no, p_id);
  perform flag_reacted(p_app_no, p_id);
  m := lock_message(p_app_no, p_id, p_uid);
  if m.deleted or m.category not in ('message', 'custom') then
    perform refuse('ERR_MESSAGE_ACTION_NOT_ALLOWED', jsonb_build_object('devMessage',
      case when m.deleted then 'The message was deleted.'
        else 'Only text, media and custom messages accept reactions.' end));
  end if;
  select * into h from conversations where app_no = p_app_no and no = m.conversation;
  perform check_blocks(p_uid, h);

  insert into reactions (app_no, uid, message_id, reaction, id)
  values (p_app_no, p_uid, p_id, p_reaction, greatest(tick(), 1 + (
    select max(id) from reactions where app_no = p_app_no and message_id = p_id)))
  on conflict (app_no, uid, message_id, reaction) do nothing
  returning * into r;
  if not found then return; end if;
  update reaction_counts set count = count + 1
  where app_no = p_app_no and message_id = p_id and reaction = p_reaction;
  if not found then
    if (select count(*) from reaction_counts where app_no = p_app_no and message_id = p_id) >= p_most
    then
      perform refuse('ERR_PLAN_QUOTA_RESTRICTION',
        jsonb_build_object('limit', p_most, 'what', 'different reactions per message'));
    end if;
    insert into reaction_counts (app_no, message_id, reaction, count, first_id)
    values (p_app_no, p_id, p_reaction, 1, r.id);
  end if;
  perform announce_reaction('message.reaction.added', h, r);
end $$;

/* Counts one user less for a reaction. */
create or replace function uncount_reaction(r reactions) returns void
language plpgsql as $$
declare
  v_left int;
begin
  update reaction_counts c set count = c.count - 1
  where c.app_no = r.app_no and c.message_id = r.message_id and c.reaction = r.reaction
  returning c.count into v_left;
  if v_left = 0 then
    delete from reaction_counts c
    where c.app_no = r.app_no and c.message_id = r.message_id and c.reaction = r.reaction;
  end if;
end $$;

/* Removes a user's reaction, if there is one. */
create or replace function remove_reaction(p_app_no int, p_id bigint, p_uid text, p_reaction text) returns void
language plpgsql as $$
declare
  m record;
  h conversations;
  r reactions;
begin
  perform lock_reactions(p_app_no, p_id);
  m := lock_message(p_app_no, p_id, p_uid);
  if m.deleted then return; end if;
  delete from reactions
  where app_no = p_app_no and uid = p_uid and message_id = p_id and reaction = p_reaction
  returning * into r;
  if not found then return; end if;
  perform uncount_reaction(r);
  select * into h from conversations where app_no = p_app_no and no = m.conversation;
  perform announce_reaction('message.reaction.removed', h, r);
end $$;
