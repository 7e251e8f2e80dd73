-- Messages that moderation holds back, and their release. A held message has taken its id, its place and its running
-- count, so it is counted with the head and left out by a row of `uncounted`, like a deleted one.
-- Lock order: as in send.sql; reviews after held_messages.

/* What the record of a message shows of a verdict. */
create or replace function moderation_of(p_verdict jsonb) returns jsonb
language sql immutable
return jsonb_strip_nulls(jsonb_build_object('status', p_verdict -> 'status', 'rule',
  case when p_verdict ? 'rule' then jsonb_build_object('id', p_verdict #> '{rule,id}', 'name', p_verdict #> '{rule,name}')
  end));

/* The content of a held message as its sender and moderators see it. */
create or replace function held_data(k held_messages) returns jsonb
language sql stable
return k.data || jsonb_build_object('moderation',
  jsonb_strip_nulls(jsonb_build_object('status', k.status, 'rule', k.rule)));

/* The content of a message that was only checked, with the result. */
create or replace function checked_data(c checked_messages) returns jsonb
language sql stable
return case when c.status is null then c.data else c.data || jsonb_build_object('moderation',
  jsonb_strip_nulls(jsonb_build_object('status', c.status, 'rule', c.rule))) end;

/* A held message as if it were a row of messages, for the functions that print one. */
create or replace function as_message(k held_messages) returns messages
language plpgsql stable as $$
declare
  m messages;
begin
  m.app_no := k.app_no;
  m.id := k.id;
  m.conversation := k.conversation;
  m.sender := k.sender;
  m.category := k.category;
  m.type := k.type;
  m.data := held_data(k);
  m.tags := k.tags;
  m.muid := k.muid;
  m.parent_id := k.parent_id;
  m.quoted_id := k.quoted_id;
  m.counts := k.counts;
  m.shows := k.shows;
  m.counted := k.counted;
  return m;
end $$;

/*
 * Holds the message that a head was advanced to. Views don't change, but both users of a 1:1 conversation get an inbox
 * row, by which the removal of a user finds the head.
 */
create or replace function hold_message(
  h conversations, p_sender text, p_category text, p_type text, p_data jsonb, p_tags text[],
  p_muid text, p_parent bigint, p_quoted bigint, p_counts boolean, p_shows boolean, p_verdict jsonb
) returns messages
language plpgsql as $$
declare
  k held_messages;
begin
  insert into held_messages
    (app_no, id, conversation, sender, category, type, data, tags, muid, parent_id, quoted_id,
     counts, shows, counted, status, checks, rule)
  values
    (h.app_no, h.last_id, h.no, p_sender, p_category, p_type, p_data, p_tags, p_muid, p_parent, p_quoted,
     p_counts, p_shows, h.counted, p_verdict ->> 'status', p_verdict -> 'checks', moderation_of(p_verdict) -> 'rule')
  returning * into k;
  if k.status = 'disapproved' then perform add_review(k, p_verdict, null); end if;
  if k.checks <> '[]' then
    perform enqueue_job(h.app_no, 'moderation.check', jsonb_build_object('id', k.id::text));
  end if;
  update conversations set removed = removed + 1 where app_no = h.app_no and no = h.no;
  if p_counts then
    insert into uncounted (app_no, conversation, id) values (h.app_no, h.no, k.id);
  end if;
  if h.kind = 'user' and h.stored = 1 then
    if h.one <> 'app_system' then perform open_view(h, h.one, h.other, 0, false); end if;
    if h.other <> h.one and h.other <> 'app_system' then
      perform open_view(h, h.other, h.one, 0, false);
    end if;
  end if;
  return as_message(k);
end $$;

/*
 * Adds a disapproved message to those that moderators review, and runs the other actions of the rule. Whatever
 * disapproves a message by a rule comes here.
 */
create or replace function add_review(k held_messages, p_verdict jsonb, p_reason text) returns void
language plpgsql as $$
begin
  insert into reviews as r
    (app_no, message_id, sender, rule_id, rule_name, revision_id, condition, found, actions, reason)
  values (k.app_no, k.id, k.sender, p_verdict #>> '{rule,id}', p_verdict #>> '{rule,name}',
    p_verdict #>> '{rule,revisionId}', (p_verdict ->> 'condition')::int, p_verdict ->> 'text',
    coalesce(array(select jsonb_array_elements_text(p_verdict -> 'actions')), '{}'), p_reason)
  on conflict (app_no, message_id) do update set
    rule_id = excluded.rule_id, rule_name = excluded.rule_name, revision_id = excluded.revision_id,
    condition = excluded.condition, found = excluded.found, actions = excluded.actions,
    reason = excluded.reason, blocked_at = excluded.blocked_at, updated_at = excluded.updated_at,
    reviewed_at = null, decision = null;
  if p_verdict -> 'actions' ?| array['kickUser', 'banUser', 'blockUser', 'deactivateUser'] then
    perform enqueue_rule_actions(k.app_no, k.id, p_verdict);
  end if;
end $$;

/*
 * Enqueues what a rule does to the sender of a held message, with the input of the job moderation.act. In a 1:1
 * conversation there is no group to kick or ban from, and in a group nobody to block the sender.
 */
create or replace function enqueue_rule_actions(p_app_no int, p_id bigint, p_verdict jsonb) returns void
language sql as $$
  select enqueue_job(p_app_no, 'moderation.act', jsonb_build_object('uid', k.sender,
    'reason', 'The rule "' || (p_verdict #>> '{rule,name}') || '" blocked a message.', 'actions', does.actions))
  from held_messages k join conversations h on h.app_no = k.app_no and h.no = k.conversation
    cross join lateral (select jsonb_agg(
      case a.action
        when 'kickUser' then jsonb_build_object('does', 'kick', 'guid', h.one)
        when 'banUser' then jsonb_build_object('does', 'ban', 'guid', h.one)
        when 'blockUser' then jsonb_build_object('does', 'block', 'by', receiver_of(as_message(k), h))
        else '{"does": "deactivate"}' end order by a.nth) as actions
      from jsonb_array_elements_text(p_verdict -> 'actions') with ordinality a (action, nth)
      where case a.action when 'kickUser' then h.kind = 'group' when 'banUser' then h.kind = 'group'
        when 'blockUser' then h.kind = 'user' and h.one <> h.other else a.action = 'deactivateUser' end) does
  where k.app_no = p_app_no and k.id = p_id and k.sender <> 'app_system' and does.actions is not null
    -- An agent says what users make it say. It would be gone for all of them.
    and not exists (select from users u where u.app_no = p_app_no and u.uid = k.sender and u.role = '@agentic')
$$;

/* What webhooks are told about a rule that disapproved a message: the contract's `moderation`. */
create or replace function review_record(r reviews) returns jsonb
language sql stable
return jsonb_strip_nulls(jsonb_build_object(
  'condition', jsonb_build_object('id', r.condition, 'found', r.found), 'reason', r.reason,
  'rule', case when r.rule_id is not null then jsonb_build_object('id', r.rule_id, 'name', r.rule_name,
    'revisionId', r.revision_id, 'action', r.actions, 'blockedAt', unix(r.blocked_at)) end));

/* Announces a message that was held when it was sent. p_event is what message.sent would carry. */
create or replace function announce_held(h conversations, m messages, p_verdict jsonb, p_event text) returns void
language sql as $$
  insert into event_bodies (app_no, type, key, payload, to_first)
  select h.app_no, 'message.held', 'conversation:' || h.no, p_event::json,
    case when m.sender = 'app_system' then '' else 'user:' || m.sender end;
  insert into event_bodies (app_no, type, key, payload)
  select h.app_no, 'moderation.blocked', 'conversation:' || h.no,
    (p_event::jsonb || jsonb_build_object('moderation', jsonb_build_array(review_record(r))))::json
  from reviews r
  where p_verdict ->> 'status' = 'disapproved' and r.app_no = h.app_no and r.message_id = m.id;
$$;

/* Why a held message can't be released any more, or null. */
create or replace function refuse_release(k held_messages, h conversations) returns text
language plpgsql stable as $$
declare
  m messages := as_message(k);
begin
  if k.sender <> 'app_system' and not exists (select from users
    where app_no = k.app_no and uid = k.sender and deactivated_at is null and removed_at is null)
  then
    return 'The sender was deleted or deactivated.';
  end if;
  if h.kind = 'user' then
    if not exists (select from users
      where app_no = k.app_no and uid = receiver_of(m, h) and deactivated_at is null and removed_at is null)
    then
      return 'The receiver was deleted or deactivated.';
    end if;
    if k.sender <> 'app_system' and (h.blocked_one or h.blocked_other) then
      return 'One of the two users blocks the other.';
    end if;
    return null;
  end if;
  if not exists (select from groups where app_no = k.app_no and guid = h.one and removed_at is null) then
    return 'The group was deleted.';
  end if;
  if k.sender <> 'app_system' and not exists (select from inbox
    where app_no = k.app_no and uid = k.sender and kind = 'group' and with_id = h.one and scope is not null)
  then
    return case when exists (select from bans
      where app_no = k.app_no and guid = h.one and uid = k.sender and (until is null or until > now()))
      then 'The sender was banned from the group.' else 'The sender is no longer a member of the group.' end;
  end if;
  return null;
end $$;

/*
 * Releases a held message: from now on everyone sees it at its place. It counts as unread for those whose mark is before it,
 * and it becomes the last message if none after it is shown. `held` is false if it isn't held; `refused`
 * says why it can't be released.
 */
create or replace function release_message(
  p_app_no int, p_id bigint, out held boolean, out refused text, out message jsonb, out conversation bigint
)
language plpgsql as $$
declare
  k held_messages;
  h conversations;
  m messages;
  v_parent messages;
  v_mentioned text[];
  v_receiver text;
begin
  select * into k from held_messages where app_no = p_app_no and id = p_id and not delivered;
  held := k.id is not null;
  if not held then return; end if;
  if k.data ? 'mentions' then
    v_mentioned := array(select jsonb_object_keys(coalesce(
      lock_mentioned_users(p_app_no, array(select jsonb_object_keys(k.data -> 'mentions'))), '{}')));
  end if;
  select * into h from conversations where app_no = p_app_no and no = k.conversation for no key update;
  select * into k from held_messages where app_no = p_app_no and id = p_id for update;
  held := k.id is not null and h.no is not null and k.id > h.purged_id;
  if not held then return; end if;
  conversation := h.no;
  refused := refuse_release(k, h);
  if refused is not null then return; end if;

  delete from held_messages where app_no = p_app_no and id = p_id;
  insert into messages
    (app_no, id, conversation, sender, category, type, data, tags, muid, parent_id, quoted_id,
     counts, shows, counted, updated_at)
  values
    (p_app_no, p_id, h.no, k.sender, k.category, k.type,
     k.data || '{"moderation": {"status": "approved"}}', k.tags, k.muid, k.parent_id, k.quoted_id,
     k.counts, k.shows, k.counted, clock_timestamp())
  returning * into m;
  if p_id <= (select search_upto from apps where app_no = p_app_no) then
    perform add_search_changes(p_app_no, array[p_id]);
  end if;
  v_receiver := receiver_of(m, h);
  if k.counts then
    delete from uncounted u where u.app_no = p_app_no and u.conversation = h.no and u.id = p_id;
    update inbox set own_since = own_since + 1
    where app_no = p_app_no and uid = k.sender and kind = h.kind and with_id = v_receiver
      and (kind = 'user' or scope is not null) and read_id < p_id;
  end if;
  h := show_released(h, m, v_receiver);
  if k.parent_id is not null then
    select * into v_parent from messages p where p.app_no = p_app_no and p.id = k.parent_id;
    if v_parent.id is not null then perform add_reply(h, k.sender, v_parent, p_id); end if;
  end if;
  if v_mentioned <> '{}' then perform add_mentions(p_app_no, p_id, v_mentioned); end if;

  message := message_snapshot(m, h);
  if k.quoted_id is not null then
    message := message || jsonb_build_object('quotedMessage', coalesce((
      select message_snapshot(q, h) from messages q where q.app_no = p_app_no and q.id = k.quoted_id),
      jsonb_build_object('id', k.quoted_id::text)));
  end if;
  insert into event_bodies (app_no, type, key, payload, to_first, to_second, active_uid, counts_as)
  values (p_app_no, 'message.sent', 'conversation:' || h.no, json_build_object('message', message),
    h.kind || ':' || v_receiver,
    case when h.kind = 'user' and k.sender not in ('app_system', v_receiver) then 'user:' || k.sender end,
    case when k.sender <> 'app_system' and message #>> '{data,entities,sender,entity,role}' <> '@agentic'
      then k.sender end,
    'messages.' || h.kind || '.' || k.category);
  if v_mentioned <> '{}' then
    insert into event_bodies (app_no, type, key, payload)
    select p_app_no, 'user.mentioned', 'conversation:' || h.no,
      json_build_object('uid', uid, 'message', message)
    from mention_recipients(h, k.sender, v_mentioned) uid;
  end if;
end $$;

/*
 * Updates the head and the views for a released message. Who cleared the conversation after it was sent never sees
 * it, so their views stay hidden.
 */
create or replace function show_released(h conversations, m messages, p_receiver text) returns conversations
language plpgsql as $$
declare
  i inbox;
  n conversations;
  v_hidden int := 0;
  v_views int := 0;
  v_free int := 0;
begin
  if not m.shows or m.id < h.shown_id then
    update conversations set removed = removed - 1, created_second = case when m.shows
      then least(created_second, id_second(m.id)) else created_second end
    where app_no = h.app_no and no = h.no
    returning * into n;
    return n;
  end if;
  -- Who cleared past this message also cleared past the one that is shown: if nobody did, no member is read.
  if h.kind = 'user' or h.shown_id = 0 or h.hidden > 0 then
    select count(*) into v_hidden from inbox
    where app_no = h.app_no and conversation = h.no and (kind = 'user' or scope is not null)
      and cleared_id >= m.id;
  end if;
  update conversations set
    removed = removed - 1, shown_id = m.id, shown_sender = null, shown_data = null, shown_muid = null,
    hidden = v_hidden,
    created_second = least(coalesce(created_second, id_second(m.id)), id_second(m.id)),
    updated_before = updated_second, updated_second = greatest(updated_second, unix(m.updated_at)),
    delivered_at = first_mark(h, m, p_receiver, 'delivered'), read_at = first_mark(h, m, p_receiver, 'read')
  where app_no = h.app_no and no = h.no
  returning * into n;
  if h.kind = 'group' then
    perform add_total(h.app_no, 'views.group', case when h.shown_id > 0 then h.hidden - v_hidden else (
      select members_count from groups where app_no = h.app_no and guid = h.one) - v_hidden end);
    return n;
  end if;
  update direct_views v set updated_second = n.updated_second
  from (values (h.one, h.other, h.blocked_one), (h.other, h.one, h.blocked_other))
    as side (uid, with_id, blocked)
  where v.app_no = h.app_no and v.uid = side.uid and v.blocked = side.blocked
    and v.updated_second = h.updated_second and v.with_id = side.with_id;
  for i in
    update inbox set visible = true, created_second = id_second(m.id)
    where app_no = h.app_no and conversation = h.no and kind = 'user' and not visible and cleared_id < m.id
    returning *
  loop
    insert into direct_views (app_no, uid, blocked, updated_second, with_id)
    values (h.app_no, i.uid, i.blocked, n.updated_second, i.with_id);
    perform add_views(h.app_no, i.uid, 1, case when i.blocked then 0 else 1 end);
    v_views := v_views + 1;
    v_free := v_free + case when i.blocked then 0 else 1 end;
  end loop;
  perform add_app_views(h.app_no, v_views, v_free);
  return n;
end $$;

/* When the receiver of a 1:1 message first had a mark at or after it. */
create or replace function first_mark(h conversations, m messages, p_receiver text, p_kind text) returns timestamptz
language sql stable
return case when h.kind = 'user' and h.one <> h.other then (
  select k.at from marks k
  where k.app_no = h.app_no and k.conversation = h.no and k.uid = p_receiver and k.kind = p_kind and k.upto_id >= m.id
  order by k.upto_id limit 1) end;

/* Disapproves a held message, by a rule or for another reason. Its head is locked. Null: it isn't held. */
create or replace function disapprove_message(p_app_no int, p_id bigint, p_verdict jsonb, p_reason text)
returns held_messages
language plpgsql as $$
declare
  k held_messages;
begin
  update held_messages set status = 'disapproved', checks = null, rule = moderation_of(p_verdict) -> 'rule'
  where app_no = p_app_no and id = p_id
  returning * into k;
  if found then perform add_review(k, p_verdict, p_reason); end if;
  return k;
end $$;

/*
 * Deletes held messages whose head is locked. They stay in `uncounted`: the head has counted them, and nobody else
 * ever will.
 */
create or replace function delete_held(p_app_no int, p_ids bigint[]) returns int
language plpgsql as $$
declare
  v_deleted int;
begin
  if p_ids = '{}' then return 0; end if;
  delete from reviews where app_no = p_app_no and message_id = any (p_ids);
  perform release_files(p_app_no, p_ids);
  with gone as (
    delete from held_messages where app_no = p_app_no and id = any (p_ids) returning id, sender, muid
  ), forgotten as (
    delete from muids u using gone g
    where u.app_no = p_app_no and u.sender = g.sender and u.muid = g.muid and u.message_id = g.id
  )
  select count(*) into v_deleted from gone;
  return v_deleted;
end $$;

/*
 * Holds a message that everyone saw: they see it as deleted from now on. Its head is locked. Null: it was deleted
 * before. p_decision: what a moderator has decided, or null if one has to.
 */
create or replace function withhold_message(p_app_no int, p_id bigint, p_reason text, p_decision text)
returns messages
language plpgsql as $$
declare
  m messages;
  k held_messages;
  v_files text[] := array(select file_id from file_references where app_no = p_app_no and message_id = p_id);
begin
  select * into m from messages where app_no = p_app_no and id = p_id and deleted_at is null;
  if not found then return null; end if;
  insert into held_messages
    (app_no, id, conversation, sender, category, type, data, tags, muid, parent_id, quoted_id,
     counts, shows, counted, status, delivered)
  values
    (p_app_no, p_id, m.conversation, m.sender, m.category, m.type, m.data - 'moderation', m.tags, m.muid, m.parent_id,
     m.quoted_id, m.counts, m.shows, m.counted, 'disapproved', true)
  returning * into k;
  perform add_review(k, null, p_reason);
  if p_decision is not null then
    update reviews set decision = p_decision, reviewed_at = updated_at
    where app_no = p_app_no and message_id = p_id;
  end if;
  m := delete_message(p_app_no, p_id, 'app_system', false);
  -- They stay as long as the message can be restored.
  if v_files <> '{}' then perform refer_files(p_app_no, p_id, v_files); end if;
  return m;
end $$;

/*
 * Shows a message again that was withheld after everyone saw it. Its reactions, saves and pin are gone. `message` is null
 * if there is no such message.
 */
create or replace function restore_message(p_app_no int, p_id bigint, out message jsonb, out conversation bigint)
language plpgsql as $$
declare
  k held_messages;
  h conversations;
  m messages;
  v_mentioned text[];
begin
  select * into k from held_messages where app_no = p_app_no and id = p_id and delivered;
  if k.data ? 'mentions' then
    v_mentioned := array(select jsonb_object_keys(coalesce(
      lock_mentioned_users(p_app_no, array(select jsonb_object_keys(k.data -> 'mentions'))), '{}')));
  end if;
  select * into h from conversations where app_no = p_app_no and no = k.conversation for no key update;
  delete from held_messages where app_no = p_app_no and id = p_id and delivered returning * into k;
  if not found or k.id <= h.purged_id then return; end if;
  -- Later, the sweep would delete new reactions and saves too.
  loop
    exit when sweep_deleted_message(p_app_no, p_id, 1000);
  end loop;
  update messages set
    data = k.data || '{"moderation": {"status": "approved"}}', quoted_id = k.quoted_id,
    deleted_at = null, deleted_by = null, updated_at = clock_timestamp()
  where app_no = p_app_no and id = p_id
  returning * into m;
  conversation := h.no;
  if m.counts then
    delete from uncounted u where u.app_no = p_app_no and u.conversation = h.no and u.id = p_id;
    update inbox set own_since = own_since + 1
    where app_no = p_app_no and uid = m.sender and kind = h.kind and with_id = receiver_of(m, h)
      and (kind = 'user' or scope is not null) and read_id < p_id;
  end if;
  if m.parent_id is not null then
    update threads set replies = replies + 1 where app_no = p_app_no and parent_id = m.parent_id;
  end if;
  if v_mentioned <> '{}' then perform add_mentions(p_app_no, p_id, v_mentioned); end if;
  message := message_snapshot(m, h);
end $$;
