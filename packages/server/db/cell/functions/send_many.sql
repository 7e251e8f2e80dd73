-- Sending many messages in one call and a handful of statements.
--
-- Locks: heads, without waiting for any unless there is only one; inbox; direct_views; idempotency and muids in the
-- order of their keys; event_bodies. Nothing here waits while another transaction waits for one of these heads, except for a request
-- with the same idempotency key or muid, which PostgreSQL ends as a deadlock or a duplicate. Then nothing is stored,
-- and the caller sends the messages one by one.

/*
 * Sends those of these messages that need nothing but what every send needs, and returns their ids and records. It
 * leaves all others to send_message, which decides about them and says why it refuses one:
 *   - messages to a conversation that is new, locked by another transaction, or cleared by somebody;
 *   - messages that their senders may not send, or that need a closer look: blocks, special roles, permissions of
 *     scopes, a user or group that isn't there;
 *   - messages with an idempotency key or muid that is known.
 *
 * p_messages: a JSON array of messages, which are no replies and quotes, mention nobody and update the conversation.
 * p_waits: whether to wait for the head. All messages are of one conversation then.
 * `n` is the place of a message in this call. `one` and `other` name its conversation as its head does.
 *
 * All lookups are nested loops over indexes: with the planner's guess for the size of a JSON array, and tables that
 * were empty when it planned, others would look cheaper.
 */
create or replace function send_messages(p_clock bigint, p_messages json, p_waits boolean default false)
returns table (n int, id bigint, message text)
language plpgsql
set plan_cache_mode = force_generic_plan
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
#variable_conflict use_column
declare
  -- Before the clock is read, so that indexing can wait for this transaction (areas/history/indexing.ts).
  v_xid xid8 := pg_current_xact_id();
  v_tick bigint;
  v_locked int[];
  v_apps int[];
  -- Apps with special roles, and the highest search horizon.
  v_special int[];
  v_upto bigint;
begin
  perform check_clock(p_clock);
  if p_waits then
    perform from json_to_record(p_messages->0) as i (app int, kind text, one text, other text)
      join conversations h
        on h.app_no = i.app and h.kind = i.kind and h.one = i.one and h.other = i.other
    for no key update of h;
  end if;
  select array_agg(locked.n), array_agg(distinct locked.app) into v_locked, v_apps from (
    select i.n, i.app from json_to_recordset(p_messages) as i (n int, app int, kind text, one text, other text)
      join conversations h
        on h.app_no = i.app and h.kind = i.kind and h.one = i.one and h.other = i.other
    for no key update of h skip locked
  ) locked;
  v_tick := tick();
  select max(search_upto), array_agg(app_no) filter (where special_roles) into v_upto, v_special
  from apps where app_no = any (v_apps);
  -- Messages below the search horizon need an entry in search_changes. The clock must have been set back.
  if v_tick <= v_upto then return; end if;

  return query with ready as (
    select i.*, h.no, h.last_id, h.counted as counted_before, h.updated_second as second_before,
      s.role as sender_role,
      s.card || ',"role":' || to_json(s.role)::text as sender_text, user_presence(s) as sender_presence,
      coalesce(r.text, g.text) as receiver_text, coalesce(r.presence, '') as receiver_presence
    from json_to_recordset(p_messages) as i (
        n int, app int, kind text, one text, other text, sender text, receiver text,
        category text, type text, data json, tags text[], muid text,
        credential text, key text, hash text)
      join conversations h
        on h.app_no = i.app and h.kind = i.kind and h.one = i.one and h.other = i.other
      join users s on s.app_no = i.app and s.uid = i.sender
        and s.deactivated_at is null and s.removed_at is null
      left join lateral (
        select u.card || ',"role":' || to_json(u.role)::text as text, user_presence(u) as presence, u.role
        from users u
        where i.kind = 'user' and u.app_no = i.app and u.uid = i.receiver
          and u.deactivated_at is null and u.removed_at is null
        offset 0) r on true
      left join lateral (
        select group_text(c) as text
        from groups c join inbox o
          on o.app_no = i.app and o.uid = i.sender and o.kind = 'group' and o.with_id = i.receiver
        where i.kind = 'group' and c.app_no = i.app and c.guid = i.receiver and c.removed_at is null
          and o.scope is not null
          and (c.permissions is null or c.permissions #>> array[o.scope, 'sendMessage', 'value'] is distinct from 'deny')
        offset 0) g on true
    where i.n = any (v_locked)
      and h.shown_id > 0 and h.hidden = 0 and not h.blocked_one and not h.blocked_other
      and coalesce(r.text, g.text) is not null
      and not coalesce(i.app = any (v_special) and exists (
        select from special_roles(i.app) x
        where x.role in (s.role, r.role) and (x.removed or i.kind = 'user')), false)
      -- Not `exists`: PostgreSQL might read the whole table for it.
      and case when i.key is null then true else (
        select false from idempotency k
        where k.app_no = i.app and k.credential = decode(i.credential, 'hex') and k.uid = i.sender
          and k.key = i.key) is null end
      and case when i.muid is null then true else (
        select false from muids k
        where k.app_no = i.app and k.sender = i.sender and k.muid = i.muid and k.target = '') is null end
  ), numbered as (
    select r.*, greatest(v_tick, r.last_id + 1) + r.n as id,
      r.counted_before + row_number() over (partition by r.app, r.no order by r.n) as counted
    from ready r
  ), sent as materialized (
    select r.*,
      sent_message_text(r.id, r.kind, r.one, r.other, r.sender, r.receiver, r.category, r.type, r.tags, r.muid)
        || ',"data":{"entities":{"sender":{"entity":' || r.sender_text as before,
      case r.kind when 'group' then '},"entityType":"group"}}' else ',"conversationId":'
        || to_json(conversation_id(r.kind, r.one, r.other))::text || '},"entityType":"user"}}' end
      || case r.data::text when '{}' then '}}' else ',' || substr(r.data::text, 2) || '}' end as after
    from numbered r
  ), moved as (
    update conversations h set
      last_id = m.id, shown_id = m.id, updated_second = id_second(m.id), updated_before = h.updated_second,
      stored = h.stored + m.messages, counted = h.counted + m.messages,
      shown_sender = case when m.copied then m.sender end,
      shown_data = case when m.copied then m.data::text end,
      shown_muid = case when m.copied then m.muid end, delivered_at = null, read_at = null
    from (
      select app, no, id, sender, data, muid, is_copied(category, type, tags, data::text) as copied,
        count(*) over (partition by app, no) as messages,
        lead(id) over (partition by app, no order by id) is null as newest
      from sent) m
    where h.app_no = m.app and h.no = m.no and m.newest
  ), stored as (
    insert into messages
      (app_no, id, conversation, sender, category, type, data, tags, muid, counts, shows, counted)
    select app, id, no, sender, category, type, data::jsonb, tags, muid, true, true, counted from sent
  ), viewed as (
    update inbox v set own_since = v.own_since + m.own
    from (
      select app, kind, sender, receiver, count(*) as own from sent
      group by app, kind, sender, receiver
    ) m
    where v.app_no = m.app and v.uid = m.sender and v.kind = m.kind and v.with_id = m.receiver
  ), reordered as (
    update direct_views v set updated_second = m.second
    from (
      select app, uid, with_id, second_before, id_second(max(id)) as second from (
        select app, sender as uid, receiver as with_id, second_before, id from sent
        where kind = 'user'
        union all
        select app, receiver, sender, second_before, id from sent where kind = 'user'
      ) sides group by app, uid, with_id, second_before
    ) m
    where v.app_no = m.app and v.uid = m.uid and not v.blocked
      and v.updated_second = m.second_before and v.with_id = m.with_id
      and m.second <> m.second_before
  ), keys as (
    insert into idempotency (app_no, credential, uid, key, request_hash, message_id)
    select app, decode(credential, 'hex'), sender, key, decode(hash, 'hex'), id
    from sent where key is not null order by 1, 2, 3, 4
  ), own_ids as (
    insert into muids (app_no, sender, muid, target, message_id)
    select app, sender, muid, '', id from sent where muid is not null order by 1, 2, 3
  ), announced as (
    insert into event_bodies
      (app_no, type, key, payload, to_first, to_second, active_uid, counts_as)
    select app, 'message.sent', 'conversation:' || no,
      -- The event shows nobody's presence.
      ('{"message":' || before || '},"entityType":"user"},"receiver":{"entity":' || receiver_text || after
        || '}')::json,
      kind || ':' || receiver, case kind when 'user' then 'user:' || sender end,
      case when sender_role <> '@agentic' then sender end, 'messages.' || kind || '.' || category
    from sent order by n
  )
  select s.n, s.id, s.before || s.sender_presence || '},"entityType":"user"},"receiver":{"entity":'
    || s.receiver_text || s.receiver_presence || s.after
  from sent s;
end $$;
