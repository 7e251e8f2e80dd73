-- Sending a message: the hottest write, one call and one transaction.
--
-- This is the lock order of everything that writes to conversations:
--   1. idempotency and muids
--   2. users by uid
--   3. the advisory lock of a group's senders
--   4. conversations (the head), calls and call_participants
--   5. messages, held_messages
--   6. inbox by uid, then direct_views
--   7. threads and thread_users
--   8. files by id
--   9. view_totals by uid, then totals
--  10. event_bodies
-- A message changes only under the lock of its head. Sweeps and set_blocks lock several heads, in an order
-- of their own: PostgreSQL may end one of them as a deadlock, and the caller runs it again.

/*
 * The first id of this microsecond. Doubles are exact enough for that, and faster than numerics. Read it
 * when the transaction has its transaction id.
 */
create or replace function tick() returns bigint
language sql volatile
return round((date_part('epoch', clock_timestamp()) - 1000000000) * 1000000)::bigint * 4;

/* Finds or creates the head of a 1:1 conversation, and locks it. */
create or replace function open_conversation(p_app_no int, p_uid text, p_with text) returns conversations
language plpgsql as $$
declare
  v_one text := least(p_uid collate "C", p_with collate "C");
  v_other text := greatest(p_uid collate "C", p_with collate "C");
  v_head conversations;
begin
  loop
    select * into v_head from conversations
    where app_no = p_app_no and kind = 'user' and one = v_one and other = v_other;
    if not found or v_head.last_id = 0 then
      -- The removal of a user locks the heads that the user's inbox rows lead to. This head has none
      -- yet, so lock the users until it has.
      perform from users
      where app_no = p_app_no and uid in (v_one, v_other) and removed_at is null
      order by uid for share;
      insert into conversations (app_no, kind, one, other)
      values (p_app_no, 'user', v_one, v_other)
      on conflict do nothing;
    end if;
    select * into v_head from conversations
    where app_no = p_app_no and kind = 'user' and one = v_one and other = v_other
    for no key update;
    -- Otherwise it was deleted while we waited for it.
    exit when found;
  end loop;
  return v_head;
end $$;

/*
 * Makes one user's view of a 1:1 conversation visible, or inserts its inbox row. Returns how many
 * views this adds: all, and unblocked ones.
 */
create or replace function open_view(
  h conversations, p_uid text, p_with text, p_own int, p_shows boolean,
  out visible int, out unblocked int
)
language plpgsql as $$
declare
  v_blocked boolean;
begin
  insert into inbox as i
    (app_no, uid, kind, with_id, conversation, own_since, visible, blocked,
     created_second)
  values
    (h.app_no, p_uid, 'user', p_with, h.no, p_own, p_shows,
     case when p_uid = h.one then h.blocked_one else h.blocked_other end, h.updated_second)
  on conflict (app_no, uid, kind, with_id) do update set
    own_since = i.own_since + excluded.own_since, visible = excluded.visible,
    created_second = excluded.created_second
  where not i.visible
  returning i.blocked into v_blocked;
  visible := case when found and p_shows then 1 else 0 end;
  if visible = 1 then
    insert into direct_views (app_no, uid, blocked, updated_second, with_id)
    values (h.app_no, p_uid, v_blocked, h.updated_second, p_with);
  end if;
  unblocked := case when v_blocked then 0 else visible end;
end $$;

/*
 * Whether the head keeps a copy of a message that mentions nobody and is no reply or quote. A long text would cost every
 * send more than it saves lists.
 */
create or replace function is_copied(p_category text, p_type text, p_tags text[], p_data text) returns boolean
language sql immutable
return p_category = 'message' and p_type = 'text' and p_tags = '{}' and octet_length(p_data) <= 500;

/*
 * Advances a head to its next message, which also locks it: one statement does both. `last_id` is
 * the id of that message: ids grow within the conversation, because an update that had to wait
 * computes its values again, and even if the clock goes back. Returns the new head; a 1:1
 * conversation gets one if it has none, a group without one returns null. `hidden` is the number of views that the message brings back.
 * p_sender, p_data and p_muid: the copy that the head keeps of the message, or nulls.
 */
create or replace function advance_head(
  p_app_no int, p_kind text, p_one text, p_other text, p_counts boolean, p_shows boolean,
  p_sender text, p_data text, p_muid text
) returns conversations
language plpgsql as $$
declare
  h conversations;
  v_shown_id bigint;
  v_hidden int;
  v_xid xid8;
  v_tick bigint;
begin
  if p_kind = 'group' and p_shows then
    select shown_id, hidden into v_shown_id, v_hidden from conversations
    where app_no = p_app_no and kind = 'group' and one = p_one and other = p_other
    for no key update;
    -- The first message brings all members a view, a later one those who cleared theirs.
    if v_shown_id = 0 then
      select members_count into v_hidden from groups where app_no = p_app_no and guid = p_one;
    end if;
  end if;
  -- Before the clock is read, so that indexing can wait for this transaction
  -- (areas/history/indexing.ts).
  v_xid := pg_current_xact_id();
  v_tick := tick();
  loop
    update conversations set
      last_id = greatest(v_tick, last_id + 1),
      stored = stored + 1,
      counted = counted + p_counts::int,
      shown_id = case when p_shows then greatest(v_tick, last_id + 1) else shown_id end,
      shown_sender = case when p_shows then p_sender else shown_sender end,
      shown_data = case when p_shows then p_data else shown_data end,
      shown_muid = case when p_shows then p_muid else shown_muid end,
      delivered_at = case when p_shows then null else delivered_at end,
      read_at = case when p_shows then null else read_at end,
      created_second = case when p_shows
        then coalesce(created_second, id_second(greatest(v_tick, last_id + 1)))
        else created_second end,
      updated_second = case when p_shows then id_second(greatest(v_tick, last_id + 1))
        else updated_second end,
      updated_before = case when p_shows then updated_second else updated_before end,
      hidden = case when p_shows then 0 else hidden end
    where app_no = p_app_no and kind = p_kind and one = p_one and other = p_other
    returning * into h;
    exit when found or p_kind = 'group';
    perform open_conversation(p_app_no, p_one, p_other);
  end loop;
  if p_kind = 'user' and h.stored = 1 then
    -- The head may come from a block, without inbox rows. The removal of a user finds heads by inbox
    -- rows, so lock the users until these exist.
    perform from users
    where app_no = p_app_no and uid in (p_one, p_other) and removed_at is null
    order by uid for share;
  end if;
  h.hidden := coalesce(v_hidden, 0);
  return h;
end $$;

/*
 * Stores the message that a head was advanced to, and updates the views. It writes nothing per
 * member of a group. Two conversations of an app may get the same id: the primary key rejects the
 * second message, and the caller runs its transaction again.
 */
create or replace function insert_message(
  h conversations, p_sender text, p_category text, p_type text, p_data jsonb, p_tags text[],
  p_muid text, p_parent bigint, p_quoted bigint, p_counts boolean, p_shows boolean
) returns messages
language plpgsql as $$
declare
  m messages;
  v_own int := p_counts::int;
  v_moved int := 0;
  -- New views of either side: all, and those that aren't blocked.
  v_one int := 0;
  v_one_free int := 0;
  v_other int := 0;
  v_other_free int := 0;
begin
  insert into messages
    (app_no, id, conversation, sender, category, type, data, tags, muid,
     parent_id, quoted_id, counts, shows, counted)
  values
    (h.app_no, h.last_id, h.no, p_sender, p_category, p_type, p_data, p_tags, p_muid, p_parent, p_quoted,
     p_counts, p_shows, h.counted)
  returning * into m;
  -- Not before the insert, which assigns the xid: see add_search_changes.
  if m.id <= (select search_upto from apps where app_no = h.app_no) then
    perform add_search_changes(h.app_no, array[m.id]);
  end if;

  if p_counts then
    -- Members and users with a view. open_view counts it for a user without one.
    update inbox set own_since = own_since + 1
    where app_no = h.app_no and uid = p_sender and kind = h.kind
      and with_id = case when h.kind = 'user' and p_sender = h.one then h.other else h.one end
      and (scope is not null or visible);
  end if;
  if h.kind = 'group' then
    if p_shows then perform add_total(h.app_no, 'views.group', h.hidden); end if;
    return m;
  end if;

  if p_shows then
    update direct_views v set updated_second = h.updated_second
    from (values (h.one, h.other, h.blocked_one), (h.other, h.one, h.blocked_other))
      as side (uid, with_id, blocked)
    where v.app_no = h.app_no and v.uid = side.uid and v.blocked = side.blocked
      and v.updated_second = h.updated_before and v.with_id = side.with_id;
    get diagnostics v_moved = row_count;
  end if;
  if v_moved < 2 then
    if h.one <> 'app_system' then
      select * into v_one, v_one_free from open_view(h, h.one, h.other,
        case when p_sender = h.one then v_own else 0 end, p_shows);
    end if;
    if h.other <> h.one and h.other <> 'app_system' then
      select * into v_other, v_other_free from open_view(h, h.other, h.one,
        case when p_sender = h.other then v_own else 0 end, p_shows);
    end if;
    if v_one > 0 then perform add_views(h.app_no, h.one, v_one, v_one_free); end if;
    if v_other > 0 then perform add_views(h.app_no, h.other, v_other, v_other_free); end if;
    perform add_app_views(h.app_no, v_one + v_other, v_one_free + v_other_free);
  end if;
  return m;
end $$;

/*
 * Refuses to send for a process whose clock, in Unix milliseconds, is far from the database's: one of
 * them is wrong, and ids carry time. Null: no process sends. The API answers as if the database were down, and logs the error.
 */
create or replace function check_clock(p_clock bigint) returns void
language plpgsql as $$
declare
  v_apart bigint := date_part('epoch', clock_timestamp()) * 1000 - p_clock;
begin
  if abs(v_apart) > 60000 then
    raise exception using errcode = 'LQ006', message = format(
      'the clocks of the database and of this process are %s seconds apart', abs(v_apart) / 1000);
  end if;
end $$;

/*
 * Sends a message in one call. A retry, found by its Idempotency-Key or muid, waits here for the
 * first request and gets the id of its message; `message` is null then. With a verdict it is held (moderation.sql).
 */
create or replace function send_message(
  p_app_no int, p_kind text, p_sender text, p_receiver text,
  p_category text, p_type text, p_data jsonb, p_tags text[], p_muid text, p_target text,
  p_credential bytea, p_key text, p_request_hash bytea,
  p_parent bigint default null, p_quoted bigint default null, p_mentions text[] default null,
  p_shows boolean default true, p_clock bigint default null, p_verdict jsonb default null,
  p_files text[] default null,
  out message_id bigint, out message text
)
language plpgsql as $$
declare
  h conversations;
  v_actor text := case when p_sender = 'app_system' then '' else p_sender end;
  -- Replies don't count as unread, but for answers of agents, nor do messages that don't update the conversation.
  v_counts boolean := p_shows and (p_parent is null or p_category = 'agentic');
  v_hash bytea;
  m messages;
  -- What check_direct_send or check_group_send returns.
  c record;
  -- The record up to the sender's presence, and after the receiver's.
  v_before text;
  v_after text;
  -- The payload of the event.
  v_event text;
  v_quoted text;
  v_mentions jsonb;
  v_kept jsonb := p_data;
  v_shown jsonb := p_data;
  -- What the head keeps of a plain message.
  v_sender text;
  v_data text;
  v_muid text;
begin
  perform check_clock(p_clock);
  if p_key is not null then
    insert into idempotency as i (app_no, credential, uid, key, request_hash)
    values (p_app_no, p_credential, v_actor, p_key, p_request_hash)
    on conflict (app_no, credential, uid, key) do update
    set request_hash = excluded.request_hash, answer_sealed = null, message_id = null,
      created_at = now()
    where i.created_at < now() - interval '24 hours';
    if not found then
      select i.request_hash, i.message_id into v_hash, send_message.message_id from idempotency i
      where i.app_no = p_app_no and i.credential = p_credential and i.uid = v_actor
        and i.key = p_key;
      if v_hash <> p_request_hash then perform refuse('ERR_IDEMPOTENCY_KEY_REUSED'); end if;
      return;
    end if;
  end if;

  if p_muid is not null then
    insert into muids (app_no, sender, muid, target)
    values (p_app_no, p_sender, p_muid, p_target)
    on conflict do nothing;
    if not found then
      select u.message_id into send_message.message_id from muids u
      where u.app_no = p_app_no and u.sender = p_sender and u.muid = p_muid
        and u.target = p_target;
    end if;
  end if;

  if message_id is null then
    if p_mentions is not null then
      v_mentions := lock_mentioned_users(p_app_no, p_mentions);
      v_kept := with_mentions(p_data, small_records(v_mentions));
      v_shown := with_mentions(p_data, v_mentions);
    end if;
    if p_mentions is null and p_parent is null and p_quoted is null
      and is_copied(p_category, p_type, p_tags, p_data::text)
    then
      v_sender := p_sender;
      v_data := p_data::text;
      v_muid := p_muid;
    end if;
    if p_kind = 'user' then
      h := advance_head(p_app_no, 'user', least(p_sender collate "C", p_receiver collate "C"),
        greatest(p_sender collate "C", p_receiver collate "C"), v_counts, p_shows and p_verdict is null,
        v_sender, v_data, v_muid);
      c := check_direct_send(p_app_no, p_sender, p_receiver, h);
    else
      -- Transactions that wait for one row all wake up whenever it changes; for an advisory lock they
      -- queue. Nothing else takes this lock, so a transaction that has the head never waits for it.
      perform pg_advisory_xact_lock(p_app_no, hashtext(p_receiver));
      h := advance_head(p_app_no, 'group', p_receiver, '', v_counts, p_shows and p_verdict is null,
        v_sender, v_data, v_muid);
      if h.no is null then
        perform refuse('ERR_GUID_NOT_FOUND', jsonb_build_object('guid', p_receiver));
      end if;
      c := check_group_send(p_app_no, p_sender, p_receiver, p_parent is not null);
    end if;
    if p_verdict is null then
      m := insert_message(h, p_sender, p_category, p_type, v_kept, p_tags, p_muid,
        p_parent, p_quoted, v_counts, p_shows);
      if p_parent is not null then
        perform add_reply(h, p_sender, find_parent(h, p_sender, p_parent), m.id);
      end if;
    else
      m := hold_message(h, p_sender, p_category, p_type, v_kept, p_tags, p_muid,
        p_parent, p_quoted, v_counts, p_shows, p_verdict);
      v_shown := v_shown || jsonb_build_object('moderation', moderation_of(p_verdict));
      if p_parent is not null then perform find_parent(h, p_sender, p_parent); end if;
    end if;
    message_id := m.id;
    if p_quoted is not null then v_quoted := quote_message(h, p_sender, p_quoted)::text; end if;
    if v_mentions is not null and p_verdict is null then
      perform add_mentions(h.app_no, message_id, array(select jsonb_object_keys(v_mentions)));
    end if;
    if p_files is not null then perform refer_files(p_app_no, message_id, p_files); end if;
    if p_muid is not null then
      update muids u set message_id = send_message.message_id
      where u.app_no = p_app_no and u.sender = p_sender and u.muid = p_muid
        and u.target = p_target;
    end if;
    v_before := message_text(m, h) || coalesce(',"quotedMessage":' || v_quoted, '')
      || ',"data":{"entities":{"sender":{"entity":' || c.sender;
    v_after := case p_kind when 'group' then '},"entityType":"group"}}' else ',"conversationId":'
        || to_json(conversation_id(h.kind, h.one, h.other))::text || '},"entityType":"user"}}' end
      || case when v_shown = '{}' then '}}' else ', ' || substr(v_shown::text, 2) || '}' end;
    message := v_before || c.sender_presence || '},"entityType":"user"},"receiver":{"entity":'
      || c.receiver || coalesce(c.receiver_presence, '') || v_after;
    -- The event shows nobody's presence.
    v_event := '{"message":' || v_before || '},"entityType":"user"},"receiver":{"entity":' || c.receiver
      || v_after || '}';
  end if;

  if p_key is not null then
    update idempotency i set message_id = send_message.message_id
    where i.app_no = p_app_no and i.credential = p_credential and i.uid = v_actor
      and i.key = p_key;
  end if;
  if message is not null and p_verdict is not null then
    perform announce_held(h, m, p_verdict, v_event);
  elsif message is not null then
    insert into event_bodies
      (app_no, type, key, payload, to_first, to_second, active_uid, counts_as)
    values (p_app_no, 'message.sent', 'conversation:' || h.no,
      v_event::json, p_kind || ':' || p_receiver,
      case when p_kind = 'user' and p_sender not in ('app_system', p_receiver)
        then 'user:' || p_sender end,
      -- The record ends with the role.
      case when p_sender <> 'app_system' and c.sender not like '%,"role":"@agentic"' then p_sender end,
      'messages.' || p_kind || '.' || p_category);
    if v_mentions is not null then
      insert into event_bodies (app_no, type, key, payload)
      select p_app_no, 'user.mentioned', 'conversation:' || h.no,
        concat('{"uid":', to_json(uid), ',', substr(v_event, 2))::json
      from mention_recipients(h, p_sender, array(select jsonb_object_keys(v_mentions))) uid;
    end if;
  end if;
end $$;

/* Sends a plain message, but fails if it has to wait for a lock for longer than 10 ms. */
create or replace function send_message_at_once(
  p_app_no int, p_kind text, p_sender text, p_receiver text,
  p_category text, p_type text, p_data jsonb, p_tags text[], p_muid text,
  p_credential bytea, p_key text, p_request_hash bytea, p_clock bigint,
  out message_id bigint, out message text
)
language plpgsql
set lock_timeout = '10ms'
as $$
begin
  select s.message_id, s.message into send_message_at_once.message_id, send_message_at_once.message
  from send_message(p_app_no, p_kind, p_sender, p_receiver, p_category, p_type, p_data, p_tags, p_muid, '',
    p_credential, p_key, p_request_hash, p_clock => p_clock) s;
end $$;

/*
 * Returns the records of sender and receiver, as user_text prints them and with their presence apart, if the
 * sender may write to the receiver. `h` is their head, if they have one. Blocks don't apply to the app.
 */
create or replace function check_direct_send(
  p_app_no int, p_sender text, p_receiver text, h conversations,
  out sender text, out sender_presence text, out receiver text, out receiver_presence text
)
language plpgsql as $$
declare
  v_special boolean;
begin
  select user_text(s), user_presence(s), user_text(r), user_presence(r),
    (select a.special_roles from apps a where a.app_no = p_app_no)
  into sender, sender_presence, receiver, receiver_presence, v_special
  from (select) one
    left join users s on s.app_no = p_app_no and s.uid = p_sender
      and s.deactivated_at is null and s.removed_at is null
    left join users r on r.app_no = p_app_no and r.uid = p_receiver
      and r.deactivated_at is null and r.removed_at is null;
  sender := sender_text(p_app_no, p_sender, sender);
  if receiver is null then
    perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', p_receiver));
  end if;
  if p_sender <> p_receiver and p_sender <> 'app_system' then
    if h.blocked_one or h.blocked_other then perform check_blocks(p_sender, h); end if;
    if v_special
      and exists (select from users s join special_roles(p_app_no) x
        on x.friends_only and x.role = shown_role(p_app_no, s.role)
        where s.app_no = p_app_no and s.uid = p_sender)
      and not exists (select from friends
        where app_no = p_app_no and uid = p_sender and friend_uid = p_receiver)
    then
      perform refuse('ERR_PERMISSION_DENIED', jsonb_build_object('details', jsonb_build_object(
        'permission', jsonb_build_array('sendMessage.mode'))));
    end if;
  end if;
end $$;

/* The same for a group, to which members and the app may write. */
create or replace function check_group_send(
  p_app_no int, p_sender text, p_guid text, p_replies boolean default false,
  out sender text, out sender_presence text, out receiver text, out receiver_presence text
)
language plpgsql as $$
declare
  v_scope text;
  v_rules jsonb;
begin
  select user_text(s), user_presence(s), group_text(g), i.scope,
    scope_rules(g.permissions, g.owner, i.scope, p_sender)
  into sender, sender_presence, receiver, v_scope, v_rules
  from (select) one
    left join users s on s.app_no = p_app_no and s.uid = p_sender
      and s.deactivated_at is null and s.removed_at is null
    left join groups g on g.app_no = p_app_no and g.guid = p_guid and g.removed_at is null
    left join inbox i on i.app_no = p_app_no and i.uid = p_sender and i.kind = 'group'
      and i.with_id = p_guid;
  sender := sender_text(p_app_no, p_sender, sender);
  if receiver is null then
    perform refuse('ERR_GUID_NOT_FOUND', jsonb_build_object('guid', p_guid));
  end if;
  if p_sender <> 'app_system' and v_scope is null then
    if exists (select from bans where app_no = p_app_no and guid = p_guid and uid = p_sender
      and (until is null or until > now()))
    then
      perform refuse('ERR_BANNED_GROUPMEMBER');
    end if;
    perform refuse('ERR_GROUP_NOT_JOINED');
  end if;
  if v_rules is not null then
    perform check_scope_rule(v_rules, v_scope, 'sendMessage');
    if p_replies then perform check_scope_rule(v_rules, v_scope, 'sendThreadedMessage'); end if;
  end if;
end $$;

/*
 * The explicit permissions of a user with this scope in a group: null if there are none, and for the owner, whom
 * they don't bind.
 */
create or replace function scope_rules(p_permissions jsonb, p_owner text, p_scope text, p_uid text) returns jsonb
language sql immutable
return case when p_permissions is not null and p_owner <> p_uid then p_permissions -> p_scope end;

/* Refuses what a permission of a scope denies. */
create or replace function check_scope_rule(p_rules jsonb, p_scope text, p_permission text) returns void
language plpgsql as $$
begin
  if p_rules #>> array[p_permission, 'value'] = 'deny' then
    perform refuse('ERR_PERMISSION_DENIED', jsonb_build_object('details', jsonb_build_object(
      'permission', jsonb_build_array(p_permission), 'scope', jsonb_build_array(p_scope))));
  end if;
end $$;

/* Returns the sender's record as it was found; the app has no row. */
create or replace function sender_text(p_app_no int, p_uid text, p_found text) returns text
language plpgsql stable as $$
begin
  if p_uid = 'app_system' then return system_text(p_app_no); end if;
  if p_found is null then
    perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', p_uid));
  end if;
  return p_found;
end $$;

/* Adds an action message, and returns its record. It has no event of its own. */
create or replace function append_action(
  p_app_no int, p_conversation bigint, p_sender text, p_type text, p_data jsonb, p_moves boolean
) returns jsonb
language plpgsql as $$
declare
  h conversations;
  m messages;
begin
  select * into h from conversations where app_no = p_app_no and no = p_conversation;
  h := advance_head(p_app_no, h.kind, h.one, h.other, p_moves, p_moves, null, null, null);
  m := insert_message(
    h, p_sender, 'action', p_type, p_data, '{}', null, null, null, p_moves, p_moves);
  return message_record(m, h);
end $$;
