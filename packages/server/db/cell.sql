CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA public;

COMMENT ON EXTENSION btree_gin IS 'support for indexing common datatypes in GIN';

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

CREATE FUNCTION public.add_app_views(p_app_no integer, p_visible bigint, p_unblocked bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform add_total(p_app_no, 'views.user', p_visible);
  perform add_total(p_app_no, 'views.user.unblocked', p_unblocked);
end $$;

CREATE SEQUENCE public.conversation_nos
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.conversations (
    app_no integer NOT NULL,
    no bigint DEFAULT nextval('public.conversation_nos'::regclass) NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    one text NOT NULL COLLATE pg_catalog."C",
    other text NOT NULL COLLATE pg_catalog."C",
    last_id bigint DEFAULT 0 NOT NULL,
    shown_id bigint DEFAULT 0 NOT NULL,
    shown_sender text COLLATE pg_catalog."C",
    shown_data text,
    shown_muid text,
    delivered_at timestamp with time zone,
    read_at timestamp with time zone,
    created_second bigint,
    updated_second bigint DEFAULT 0 NOT NULL,
    updated_before bigint DEFAULT 0 NOT NULL,
    stored bigint DEFAULT 0 NOT NULL,
    removed bigint DEFAULT 0 NOT NULL,
    counted bigint DEFAULT 0 NOT NULL,
    hidden integer DEFAULT 0 NOT NULL,
    purged_id bigint DEFAULT 0 NOT NULL,
    purged_counted bigint DEFAULT 0 NOT NULL,
    purging boolean DEFAULT false NOT NULL,
    blocked_one boolean DEFAULT false NOT NULL,
    blocked_other boolean DEFAULT false NOT NULL
)
WITH (fillfactor='50');

CREATE FUNCTION public.add_imported_marks(h public.conversations, p_ids bigint[], p_senders text[], p_delivered double precision[], p_read double precision[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  insert into marks (app_no, conversation, uid, kind, upto_id, at)
  select h.app_no, h.no, uid, kind, id, to_timestamp(at)
  from (
    select s.uid, k.kind, o.id, k.at, lead(k.at) over (partition by s.uid, k.kind order by o.id) as next_at
    from unnest(p_ids, p_senders, p_delivered, p_read) o (id, sender, delivered, read)
      cross join lateral (values ('delivered', o.delivered), ('read', o.read)) k (kind, at)
      cross join lateral (select case when o.sender = h.one then h.other else h.one end) s (uid)
    where o.id is not null and k.at is not null and h.one <> h.other and s.uid <> 'app_system'
  ) given
  where next_at is distinct from at
  on conflict do nothing;
end $$;

CREATE FUNCTION public.add_imported_muids(p_app_no integer, p_ids bigint[], p_senders text[], p_muids text[], p_wanted bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_expected int;
  v_inserted int;
begin
  with given as (
    select o.* from unnest(p_muids, p_senders, p_wanted, p_ids) o (muid, sender, old, id) where o.id is not null
  ), wanted as (
    select '' as sender, 'muid:' || muid as muid, id from given where muid is not null
    union all select sender, muid, id from given where muid is not null
    union all select '', 'id:' || old, id from given where muid is null and old <> id
  ), moved as (
    -- For replies that name the id.
    insert into muids (app_no, sender, muid, target, message_id)
    select p_app_no, '', 'id:' || old, '', id from given where muid is not null and old <> id order by old
    on conflict do nothing
  ), added as (
    insert into muids (app_no, sender, muid, target, message_id)
    select p_app_no, sender, muid, '', id from wanted order by sender, muid
    on conflict do nothing
    returning 1
  )
  select (select count(*) from wanted), (select count(*) from added) into v_expected, v_inserted;
  if v_inserted < v_expected then
    -- Another transaction was faster. The next try finds its messages.
    raise exception using errcode = 'serialization_failure', message = 'a muid was used at the same time';
  end if;
end $$;

CREATE TABLE public.inbox (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    with_id text NOT NULL COLLATE pg_catalog."C",
    conversation bigint NOT NULL,
    read_id bigint DEFAULT 0 NOT NULL,
    read_counted bigint DEFAULT 0 NOT NULL,
    own_since bigint DEFAULT 0 NOT NULL,
    cleared_id bigint DEFAULT 0 NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    pinned_at timestamp with time zone,
    visible boolean DEFAULT false NOT NULL,
    blocked boolean DEFAULT false NOT NULL,
    created_second bigint,
    scope text,
    joined_at timestamp with time zone
)
WITH (fillfactor='70');

CREATE FUNCTION public.add_member(p_app_no integer, p_guid text, p_uid text, p_scope text) RETURNS public.inbox
    LANGUAGE plpgsql
    AS $$
declare
  h conversations;
  i inbox;
begin
  select * into h from conversations
  where app_no = p_app_no and kind = 'group' and one = p_guid and other = '';
  insert into inbox as old
    (app_no, uid, kind, with_id, conversation, read_id, read_counted, scope, joined_at)
  values
    (p_app_no, p_uid, 'group', p_guid, h.no, h.last_id, h.counted, p_scope, clock_timestamp())
  on conflict (app_no, uid, kind, with_id) do update set
    read_id = excluded.read_id, read_counted = excluded.read_counted, own_since = 0,
    scope = excluded.scope, joined_at = excluded.joined_at
  returning * into i;
  update groups set members_count = members_count + 1 where app_no = p_app_no and guid = p_guid;
  perform count_member(h, i, 1);
  return i;
end $$;

CREATE FUNCTION public.add_mentions(p_app_no integer, p_id bigint, p_uids text[]) RETURNS SETOF text
    LANGUAGE plpgsql
    AS $$
begin
  return query insert into mentions (app_no, uid, conversation, message_id, parent_id, counts)
  select p_app_no, mentioned, m.conversation, m.id, m.parent_id,
    mentioned <> m.sender and not m.silent
  from messages m, unnest(p_uids) mentioned
  where m.app_no = p_app_no and m.id = p_id
  on conflict do nothing
  returning uid;
end $$;

CREATE FUNCTION public.add_reaction(p_app_no integer, p_id bigint, p_uid text, p_reaction text, p_most integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE TABLE public.messages (
    app_no integer NOT NULL,
    id bigint NOT NULL,
    conversation bigint NOT NULL,
    sender text NOT NULL COLLATE pg_catalog."C",
    category text NOT NULL,
    type text NOT NULL,
    data jsonb NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    muid text,
    parent_id bigint,
    quoted_id bigint,
    counts boolean NOT NULL,
    shows boolean NOT NULL,
    counted bigint NOT NULL,
    updated_at timestamp with time zone,
    edited_at timestamp with time zone,
    edited_by text,
    deleted_at timestamp with time zone,
    deleted_by text,
    pinned_at timestamp with time zone,
    pinned_by text,
    reacted boolean DEFAULT false NOT NULL,
    saved boolean DEFAULT false NOT NULL,
    silent boolean DEFAULT false NOT NULL
);

CREATE FUNCTION public.add_reply(h public.conversations, p_sender text, m public.messages, p_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE TABLE public.held_messages (
    app_no integer NOT NULL,
    id bigint NOT NULL,
    conversation bigint NOT NULL,
    sender text NOT NULL COLLATE pg_catalog."C",
    category text NOT NULL,
    type text NOT NULL,
    data jsonb NOT NULL,
    tags text[] NOT NULL,
    muid text,
    parent_id bigint,
    quoted_id bigint,
    counts boolean NOT NULL,
    shows boolean NOT NULL,
    counted bigint NOT NULL,
    status text NOT NULL,
    checks jsonb,
    rule jsonb,
    delivered boolean DEFAULT false NOT NULL,
    held_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT held_messages_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'disapproved'::text])))
);

CREATE FUNCTION public.add_review(k public.held_messages, p_verdict jsonb, p_reason text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.add_search_change() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform add_search_changes(new.app_no, array[new.id]);
  return null;
end $$;

CREATE FUNCTION public.add_search_changes(p_app_no integer, p_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_upto bigint := (select search_upto from apps where app_no = p_app_no);
begin
  insert into search_changes (app_no, id)
  select p_app_no, id from unnest(p_ids) id where id <= v_upto order by id
  -- Locks a row that is there already: the indexer, which deletes it before it reads the text, waits.
  on conflict (app_no, id) do update set id = excluded.id;
end $$;

CREATE FUNCTION public.add_total(p_app_no integer, p_what text, p_change bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if p_change = 0 then return; end if;
  insert into totals as t (app_no, what, shard, total)
  values (p_app_no, p_what, pg_current_xact_id()::text::bigint % 16, p_change)
  on conflict (app_no, what, shard) do update set total = t.total + excluded.total;
end $$;

CREATE FUNCTION public.add_views(p_app_no integer, p_uid text, p_visible integer, p_unblocked integer) RETURNS void
    LANGUAGE sql
    AS $$
  insert into view_totals as t (app_no, uid, visible, unblocked)
  values (p_app_no, p_uid, p_visible, p_unblocked)
  on conflict (app_no, uid) do update
  set visible = t.visible + excluded.visible, unblocked = t.unblocked + excluded.unblocked
$$;

CREATE FUNCTION public.advance_head(p_app_no integer, p_kind text, p_one text, p_other text, p_counts boolean, p_shows boolean, p_sender text, p_data text, p_muid text) RETURNS public.conversations
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.analyze_table(p_table text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
  execute format('analyze (skip_locked) public.%I', p_table);
end $$;

CREATE FUNCTION public.announce_held(h public.conversations, m public.messages, p_verdict jsonb, p_event text) RETURNS void
    LANGUAGE sql
    AS $$
  insert into event_bodies (app_no, type, key, payload, to_first)
  select h.app_no, 'message.held', 'conversation:' || h.no, p_event::json,
    case when m.sender = 'app_system' then '' else 'user:' || m.sender end;
  insert into event_bodies (app_no, type, key, payload)
  select h.app_no, 'moderation.blocked', 'conversation:' || h.no,
    (p_event::jsonb || jsonb_build_object('moderation', jsonb_build_array(review_record(r))))::json
  from reviews r
  where p_verdict ->> 'status' = 'disapproved' and r.app_no = h.app_no and r.message_id = m.id;
$$;

CREATE TABLE public.reactions (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    message_id bigint NOT NULL,
    reaction text NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL,
    reacted_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE FUNCTION public.announce_reaction(p_type text, h public.conversations, r public.reactions) RETURNS void
    LANGUAGE sql
    AS $$
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

CREATE FUNCTION public.append_action(p_app_no integer, p_conversation bigint, p_sender text, p_type text, p_data jsonb, p_moves boolean) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.append_call(p_app_no integer, p_conversation bigint, p_by text, p_type text, p_action text, p_call jsonb, p_moves boolean) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.append_member_action(p_app_no integer, p_guid text, p_by text, p_on text, p_action text, p_extras jsonb, p_moves boolean) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
declare
  v_no bigint;
  v_by jsonb;
  v_on jsonb;
  v_for jsonb;
begin
  select no into v_no from conversations
  where app_no = p_app_no and kind = 'group' and one = p_guid and other = '';
  select user_record(u) into v_by from users u where app_no = p_app_no and uid = p_by;
  select user_record(u) into v_on from users u where app_no = p_app_no and uid = p_on;
  select group_record(g) into v_for from groups g where app_no = p_app_no and guid = p_guid;
  v_by := coalesce(v_by, (system_text(p_app_no) || '}')::jsonb);
  return jsonb_set(
    append_action(p_app_no, v_no, p_by, 'groupMember',
      jsonb_strip_nulls(jsonb_build_object('action', p_action, 'extras', p_extras))
      || jsonb_build_object('entities', jsonb_build_object(
        'by', jsonb_build_object('entity', small_record(v_by), 'entityType', 'user'),
        'on', jsonb_build_object('entity', small_record(v_on), 'entityType', 'user'),
        'for', jsonb_build_object('entity', small_record(v_for), 'entityType', 'group'))),
      p_moves),
    '{data,entities}', jsonb_build_object(
      'by', jsonb_build_object('entity', v_by, 'entityType', 'user'),
      'on', jsonb_build_object('entity', v_on, 'entityType', 'user'),
      'for', jsonb_build_object('entity', v_for, 'entityType', 'group')));
end $$;

CREATE FUNCTION public.as_message(k public.held_messages) RETURNS public.messages
    LANGUAGE plpgsql STABLE
    AS $$
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

CREATE FUNCTION public.attach_partition(p_log text, p_day date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '2s'
    AS $$
declare
  v_name text := partition_name(p_log, p_day);
begin
  execute format('lock table public.%I in share update exclusive mode', p_log);
  -- Another process was faster.
  if to_regclass('public.' || v_name) is not null then return; end if;
  execute format('create table public.%I (like public.%I including all)', v_name, p_log);
  execute format('alter table public.%I attach partition public.%I for values from (%L) to (%L)',
    p_log, v_name, p_day, p_day + 1);
end $$;

CREATE FUNCTION public.attachment_kinds(p_type text, p_data jsonb) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select array_agg(case when kind in ('image', 'video', 'audio') then kind else 'file' end)
  from (
    select coalesce(split_part(a ->> 'mimeType', '/', 1), p_type) as kind
    from jsonb_path_query(p_data, '$.attachments[*]') a
  ) attachments
$_$;

CREATE FUNCTION public.batch_members() RETURNS integer
    LANGUAGE sql IMMUTABLE
    RETURN 30;

CREATE FUNCTION public.break_log(p_break_no bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_next bigint := p_break_no * 1000000000000;
  v_sequence regclass;
begin
  -- Waits for a running step, and lets no other begin.
  insert into leases (job, worker_id, epoch)
  values ('sequencer', '00000000-0000-0000-0000-000000000000', 0) on conflict do nothing;
  perform from leases where job = 'sequencer' for no key update;
  if exists (select from positions where position >= v_next) then
    raise exception 'break % is not above all positions', p_break_no;
  end if;

  insert into log_breaks (app_no, last, next)
  select app_no, coalesce(position, 0), v_next from apps left join positions using (app_no);
  insert into positions (app_no, position)
  select app_no, v_next from apps order by app_no
  on conflict (app_no) do update set position = excluded.position;

  update webhook_progress g set position = b.last from log_breaks b
  where b.app_no = g.app_no and b.next = v_next and g.position > b.last;
  update usage_progress g set position = b.last from log_breaks b
  where b.app_no = g.app_no and b.next = v_next and g.position > b.last;
  update receipt_progress g set position = b.last from log_breaks b
  where b.app_no = g.app_no and b.next = v_next and g.position > b.last;
  update notifier_progress g set position = b.last from log_breaks b
  where b.app_no = g.app_no and b.next = v_next and g.position > b.last;

  for v_sequence in
    select oid from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace
  loop
    perform setval(v_sequence, nextval(v_sequence) + 1000000000);
  end loop;
  update log_origin set break_no = p_break_no;
end $$;

CREATE FUNCTION public.cancel_job(p_app_no integer, p_id bigint) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
  j jobs;
begin
  select * into j from jobs where app_no = p_app_no and id = p_id;
  -- The end of the job before it takes the lock of the key first, and then this row.
  if j.state = 'blocked' then perform lock_serial_key(p_app_no, j.serial_key); end if;
  select * into j from jobs where app_no = p_app_no and id = p_id for update;
  if j.state = 'running' then
    update jobs set cancelling = true, again = false where app_no = p_app_no and id = p_id;
  elsif j.ended_at is null and j.id is not null then
    update jobs set state = 'cancelled', ended_at = job_clock() where app_no = p_app_no and id = p_id;
    if j.serial_key is not null then perform unblock_next_job(p_app_no, j.serial_key); end if;
    return 'cancelled';
  end if;
  return j.state;
end $$;

CREATE FUNCTION public.check_blocks(p_uid text, h public.conversations) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_other text := case when p_uid = h.one then h.other else h.one end;
begin
  if (case when p_uid = h.one then h.blocked_one else h.blocked_other end) then
    perform refuse('ERR_BLOCKED_RECEIVER', jsonb_build_object('uid', v_other));
  elsif h.blocked_one or h.blocked_other then
    perform refuse('ERR_BLOCKED_SENDER', jsonb_build_object('uid', v_other));
  end if;
end $$;

CREATE FUNCTION public.check_clock(p_clock bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_apart bigint := date_part('epoch', clock_timestamp()) * 1000 - p_clock;
begin
  if abs(v_apart) > 60000 then
    raise exception using errcode = 'LQ006', message = format(
      'the clocks of the database and of this process are %s seconds apart', abs(v_apart) / 1000);
  end if;
end $$;

CREATE FUNCTION public.check_direct_send(p_app_no integer, p_sender text, p_receiver text, h public.conversations, OUT sender text, OUT sender_presence text, OUT receiver text, OUT receiver_presence text) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.check_group_ceilings(p_app_no integer, p_guid text, p_uid text, p_limits jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if (select members_count from groups where app_no = p_app_no and guid = p_guid) >= (p_limits ->> 'members')::int then
    perform refuse('ERR_NO_VACANCY', jsonb_build_object('limit', p_limits -> 'members'));
  end if;
  if (select count(*) from inbox where app_no = p_app_no and uid = p_uid and kind = 'group' and scope is not null)
    >= (p_limits ->> 'groups')::int
  then
    perform refuse('ERR_PLAN_QUOTA_RESTRICTION',
      jsonb_build_object('limit', p_limits -> 'groups', 'what', 'groups per user'));
  end if;
end $$;

CREATE FUNCTION public.check_group_send(p_app_no integer, p_sender text, p_guid text, p_replies boolean DEFAULT false, OUT sender text, OUT sender_presence text, OUT receiver text, OUT receiver_presence text) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.check_pair(p_app_no integer, p_one text, p_two text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_missing text;
begin
  if p_one = p_two then perform refuse('ERR_CANNOT_FORM_SELF_RELATION'); end if;
  select w.uid into v_missing from unnest(array[p_one, p_two]) w (uid)
  where not exists (select from users u where u.app_no = p_app_no and u.uid = w.uid and u.removed_at is null) limit 1;
  if found then perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', v_missing)); end if;
end $$;

CREATE FUNCTION public.check_scope_rule(p_rules jsonb, p_scope text, p_permission text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if p_rules #>> array[p_permission, 'value'] = 'deny' then
    perform refuse('ERR_PERMISSION_DENIED', jsonb_build_object('details', jsonb_build_object(
      'permission', jsonb_build_array(p_permission), 'scope', jsonb_build_array(p_scope))));
  end if;
end $$;

CREATE FUNCTION public.check_user(p_app_no integer, p_uid text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if not exists (select from users where app_no = p_app_no and uid = p_uid and removed_at is null) then
    perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', p_uid));
  end if;
end $$;

CREATE TABLE public.checked_messages (
    app_no integer NOT NULL,
    id bigint NOT NULL,
    sender text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    receiver text NOT NULL COLLATE pg_catalog."C",
    category text NOT NULL,
    type text NOT NULL,
    data jsonb NOT NULL,
    muid text COLLATE pg_catalog."C",
    status text,
    rule jsonb,
    edited_at timestamp with time zone,
    CONSTRAINT checked_messages_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'group'::text]))),
    CONSTRAINT checked_messages_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'disapproved'::text])))
);

CREATE FUNCTION public.checked_data(c public.checked_messages) RETURNS jsonb
    LANGUAGE sql STABLE
    RETURN CASE WHEN ((c).status IS NULL) THEN (c).data ELSE ((c).data || jsonb_build_object('moderation', jsonb_strip_nulls(jsonb_build_object('status', (c).status, 'rule', (c).rule)))) END;

CREATE FUNCTION public.checkpoint_job(p_app_no integer, p_id bigint, p_worker uuid, p_epoch integer, p_checkpoint jsonb, p_done bigint, p_total bigint, p_step text DEFAULT NULL::text, p_result jsonb DEFAULT NULL::jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_cancelling boolean;
begin
  update jobs set
    checkpoint = coalesce(p_checkpoint, checkpoint),
    done = coalesce(p_done, done),
    total = coalesce(p_total, total),
    stepped = stepped or p_step is not null,
    tries = 1
  where app_no = p_app_no and id = p_id
    and state = 'running' and worker_id = p_worker and epoch = p_epoch
  returning cancelling into v_cancelling;
  if not found then
    raise exception 'job % of app % lost', p_id, p_app_no using errcode = 'LQ001';
  elsif v_cancelling then
    raise exception 'job % of app % cancelled', p_id, p_app_no using errcode = 'LQ004';
  end if;
  if p_step is not null then
    insert into job_steps (app_no, job_id, step, result) values (p_app_no, p_id, p_step, p_result);
  end if;
end $$;

CREATE FUNCTION public.claim_jobs(p_worker uuid, p_free integer, p_per_app integer, p_after integer, OUT v_claimed json, OUT v_last integer) RETURNS record
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
declare
  v_app int := p_after;
  v_apps int[] := '{}';
  v_wrapped boolean := false;
  v_low int;
  v_low_per_app int := greatest(p_per_app / 2, 1);
begin
  v_last := p_after;
  perform pg_advisory_xact_lock(hashtextextended('claim_jobs', 0));
  select greatest((count(*) + p_free) * 3 / 4, 1) - count(*) filter (where priority < 0) into v_low
  from jobs where state = 'running' and worker_id = p_worker;
  loop
    select app_no into v_app from jobs where state = 'ready' and app_no > v_app order by app_no limit 1;
    if not found then
      exit when v_wrapped;
      v_wrapped := true;
      v_app := -1;
      continue;
    end if;
    exit when v_wrapped and v_app > p_after;
    if v_app > 0 and not exists (select from working_apps() where app_no = v_app) then
      -- Look again in a minute.
      update jobs set state = 'waiting', run_at = job_clock() + interval '1 minute'
      where ctid = any (array(select ctid from jobs where app_no = v_app and state = 'ready'
        limit 1000 for update skip locked));
    elsif (
      select count(*) < p_per_app
        and (v_low > 0 and count(*) filter (where priority < 0) < v_low_per_app or exists (
          select from jobs where app_no = v_app and state = 'ready' and priority >= 0))
      from jobs where app_no = v_app and state = 'running') then
      v_apps := v_apps || v_app;
      v_last := v_app;
      exit when cardinality(v_apps) >= p_free;
    end if;
  end loop;
  if v_apps = '{}' then return; end if;

  with found as (
    select a.app_no, r.id, r.priority,
      v_low_per_app - n.low - row_number() over (partition by a.app_no, r.priority < 0) >= 0 as in_half
    from unnest(v_apps) a (app_no)
    cross join lateral (
      select count(*) as running, count(*) filter (where priority < 0) as low
      from jobs where app_no = a.app_no and state = 'running'
    ) n cross join lateral (
      select id, priority from jobs where app_no = a.app_no and state = 'ready'
      order by priority desc, run_at, id
      limit least(ceil(p_free::float8 / cardinality(v_apps)), p_per_app - n.running)
      for no key update skip locked
    ) r
  ), picked as (
    select app_no, id from (
      select app_no, id, priority, row_number() over (partition by priority < 0) as nth from found
      where priority >= 0 or in_half
    ) numbered
    where priority >= 0 or nth <= v_low limit p_free
  ), claimed as (
    update jobs j set state = 'running', worker_id = p_worker, epoch = epoch + 1, tries = tries + 1
    from picked where j.app_no = picked.app_no and j.id = picked.id
    returning j.*
  )
  select json_agg(json_build_object(
    'appNo', c.app_no, 'id', c.id, 'name', name, 'epoch', epoch, 'tries', tries, 'input', input,
    'checkpoint', checkpoint, 'cancelling', cancelling, 'appId', a.app_id,
    'waitedMs', extract(epoch from job_clock() - run_at) * 1000,
    'leftMs', extract(epoch from deadline - job_clock()) * 1000))
  into v_claimed from claimed c left join apps a using (app_no);
end $$;

CREATE FUNCTION public.clear_members(p_app_no integer, p_conversation bigint, p_upto bigint, p_after text, p_limit integer, OUT there boolean, OUT upto bigint, OUT last text) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  h conversations;
  v_uids text[];
  v_counted bigint;
  v_hidden int := 0;
begin
  select c.* into h from conversations c
    join groups g on g.app_no = c.app_no and g.guid = c.one and g.removed_at is null
  where c.app_no = p_app_no and c.no = p_conversation and c.kind = 'group'
  for no key update of c;
  there := found;
  if not there then return; end if;
  upto := coalesce(p_upto, h.last_id);
  -- Counted back from the head: an import of older messages raises the counts of all later ones.
  v_counted := h.counted - case when upto >= h.last_id then 0 else (
    select count(*) from messages m
    where m.app_no = p_app_no and m.conversation = h.no and m.id > upto and m.counts) + (
    select count(*) from uncounted u
    where u.app_no = p_app_no and u.conversation = h.no and u.id > upto and not exists (
      select from messages m where m.app_no = p_app_no and m.conversation = h.no and m.id = u.id)) end;
  v_uids := array(
    select i.uid from inbox i
    where i.app_no = p_app_no and i.conversation = h.no and i.scope is not null and i.uid > p_after
    order by i.uid limit p_limit);
  if upto >= h.shown_id then
    select count(*) into v_hidden from inbox i
    where i.app_no = p_app_no and i.uid = any (v_uids) and i.kind = 'group' and i.with_id = h.one
      and i.cleared_id < h.shown_id;
  end if;
  update inbox i set
    cleared_id = upto, tags = '{}', pinned_at = null, read_id = greatest(i.read_id, upto),
    read_counted = case when i.read_id > upto then i.read_counted else v_counted end,
    own_since = case when i.read_id > upto then i.own_since when upto >= h.last_id then 0 else (
      select count(*) from messages m
      where m.app_no = p_app_no and m.conversation = h.no and m.sender = i.uid
        and m.id > upto and m.counts and m.deleted_at is null) end
  where i.app_no = p_app_no and i.uid = any (v_uids) and i.kind = 'group' and i.with_id = h.one
    and i.cleared_id < upto;
  if v_hidden > 0 then
    update conversations c set hidden = c.hidden + v_hidden where c.app_no = p_app_no and c.no = h.no;
    perform add_total(p_app_no, 'views.group', -v_hidden);
  end if;
  last := case when cardinality(v_uids) = p_limit then v_uids[p_limit] end;
end $$;

CREATE FUNCTION public.clear_view(p_app_no integer, p_conversation bigint, p_uid text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  h conversations;
  i inbox;
begin
  select * into h from conversations where app_no = p_app_no and no = p_conversation;
  select * into i from inbox
  where app_no = p_app_no and conversation = p_conversation and uid = p_uid
  for no key update;
  if not found then return false; end if;
  update inbox set
    cleared_id = h.last_id, read_id = h.last_id, read_counted = h.counted, own_since = 0,
    tags = '{}', pinned_at = null, visible = false
  where app_no = p_app_no and uid = p_uid and kind = i.kind and with_id = i.with_id;
  if i.visible then
    perform remove_view(h, i);
    perform add_views(p_app_no, p_uid, -1, case when i.blocked then 0 else -1 end);
    perform add_app_views(p_app_no, -1, case when i.blocked then 0 else -1 end);
    update conversations set hidden = hidden + 1 where app_no = p_app_no and no = p_conversation;
  elsif i.scope is not null and h.shown_id > i.cleared_id then
    update conversations set hidden = hidden + 1 where app_no = p_app_no and no = p_conversation;
    perform add_total(p_app_no, 'views.group', -1);
  end if;
  return i.visible or (i.scope is not null and h.shown_id > i.cleared_id);
end $$;

CREATE FUNCTION public.connect_users(p_gateway uuid, p_users json) RETURNS void
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
begin
  perform from gateways where gateway = p_gateway and not ended for share;
  if not found then
    raise exception 'gateway % has ended', p_gateway using errcode = 'LQ003';
  end if;
  perform lock_users(p_users);
  with came as (
    insert into presence as p (app_no, uid, name_key, gateways)
    select u.app_no, u.uid, u.name_key, array[p_gateway]
    from json_to_recordset(p_users) as c (app_no int, uid text collate "C")
    join users u using (app_no, uid)
    where u.deactivated_at is null and u.removed_at is null
    on conflict (app_no, uid) do update set gateways = p.gateways || p_gateway
    where p_gateway <> all (p.gateways)
    returning app_no, uid, cardinality(gateways) = 1 as first
  ), changed as (
    update users u set online = true from came c
    where c.first and u.app_no = c.app_no and u.uid = c.uid
    returning u
  )
  insert into event_bodies (app_no, type, key, active_uid, payload)
  select (u).app_no, 'user.connection.changed', 'user:' || (u).uid,
    case when (u).role <> '@agentic' then (u).uid end, connection_payload(u, connection)
  from changed join json_to_recordset(p_users) as c (app_no int, uid text collate "C", connection json)
    on c.app_no = (u).app_no and c.uid = (u).uid;
end $$;

CREATE FUNCTION public.fold_name(name text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN lower(NORMALIZE(regexp_replace(NORMALIZE(name, NFKD), '[\u0300-\u036f]'::text, ''::text, 'g'::text), NFKC));

CREATE TABLE public.roles (
    app_no integer NOT NULL,
    role text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    description text,
    metadata jsonb,
    settings jsonb,
    permissions jsonb,
    restrictions jsonb,
    built_in boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone,
    removed_at timestamp with time zone
);

CREATE FUNCTION public.shown_role(p_app_no integer, p_role text) RETURNS text
    LANGUAGE sql STABLE STRICT
    RETURN CASE WHEN (p_role = ANY (ARRAY['default'::text, '@agentic'::text])) THEN p_role WHEN (EXISTS (SELECT FROM public.roles WHERE ((roles.app_no = shown_role.p_app_no) AND (roles.role = shown_role.p_role) AND (roles.removed_at IS NULL)))) THEN p_role ELSE 'default'::text END;

CREATE FUNCTION public.unix(p_at timestamp with time zone) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (floor(date_part('epoch'::text, (p_at AT TIME ZONE 'UTC'::text))))::bigint;

CREATE TABLE public.users (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    name_key text GENERATED ALWAYS AS (public.fold_name(name)) STORED NOT NULL COLLATE pg_catalog."C",
    avatar text,
    avatar_file text COLLATE pg_catalog."C",
    link text,
    role text NOT NULL COLLATE pg_catalog."C",
    status_message text,
    metadata jsonb,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    last_active_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    added_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone,
    deactivated_at timestamp with time zone,
    removed_at timestamp with time zone,
    online boolean DEFAULT false NOT NULL,
    bot boolean DEFAULT false NOT NULL,
    card text NOT NULL
)
WITH (fillfactor='90');

CREATE FUNCTION public.user_presence(u public.users) RETURNS text
    LANGUAGE sql STABLE
    RETURN concat(',"status":', CASE WHEN (u).online THEN '"available"'::text ELSE '"offline"'::text END, (',"lastActiveAt":'::text || (public.unix((u).last_active_at))::text));

CREATE FUNCTION public.user_text(u public.users) RETURNS text
    LANGUAGE sql STABLE
    RETURN (((u).card || ',"role":'::text) || CASE WHEN ((u).role = 'default'::text) THEN '"default"'::text ELSE (to_json(public.shown_role((u).app_no, (u).role)))::text END);

CREATE FUNCTION public.user_json(u public.users) RETURNS text
    LANGUAGE sql STABLE
    RETURN ((public.user_text(u) || public.user_presence(u)) || '}'::text);

CREATE FUNCTION public.connection_payload(u public.users, p_connection json) RETURNS json
    LANGUAGE sql
    RETURN (concat('{"user":', public.user_json(u), ',"status":"', CASE WHEN (u).online THEN 'online'::text ELSE 'offline'::text END, '","timestamp":', (floor(((1000)::double precision * date_part('epoch'::text, clock_timestamp()))))::bigint, (',"connection":'::text || (p_connection)::text), '}'))::json;

CREATE FUNCTION public.conversation_id(p_kind text, p_one text, p_other text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE p_kind WHEN 'group'::text THEN ('group_'::text || p_one) ELSE ((p_one || '_user_'::text) || p_other) END;

CREATE FUNCTION public.convert_recordings(p_app_no integer, p_call bigint, p_room uuid) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform enqueue_job(p_app_no, 'calls.convert', jsonb_build_object('id', p_call::text, 'room', p_room),
    p_dedupe_key => p_call::text);
end $$;

CREATE FUNCTION public.count_avatar() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform replace_picture(coalesce(new.app_no, old.app_no), old.avatar_file, new.avatar_file);
  return null;
end $$;

CREATE FUNCTION public.count_call_file() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.count_file(p_app_no integer, p_uid text, p_files integer, p_bytes bigint, p_quota bigint DEFAULT NULL::bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.count_icon() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  perform replace_picture(coalesce(new.app_no, old.app_no), old.icon_file, new.icon_file);
  return null;
end $$;

CREATE TABLE public.file_kinds (
    app_no integer NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    files bigint NOT NULL,
    bytes bigint NOT NULL
)
WITH (fillfactor='50');

CREATE FUNCTION public.count_kind(p_app_no integer, p_type text, p_files integer, p_bytes bigint) RETURNS void
    LANGUAGE sql
    BEGIN ATOMIC
 INSERT INTO public.file_kinds AS k (app_no, kind, files, bytes)  SELECT count_kind.p_app_no AS p_app_no,
                 CASE
                     WHEN (kind.kind = ANY (ARRAY['image'::text, 'audio'::text, 'video'::text])) THEN kind.kind
                     ELSE 'other'::text
                 END AS "case",
             count_kind.p_files AS p_files,
             count_kind.p_bytes AS p_bytes
            FROM split_part(count_kind.p_type, '/'::text, 1) kind(kind) ON CONFLICT(app_no, kind) DO UPDATE SET files = (k.files + excluded.files), bytes = (k.bytes + excluded.bytes);
END;

CREATE FUNCTION public.count_member(h public.conversations, i public.inbox, p_change integer) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if h.shown_id > i.cleared_id then
    perform add_total(h.app_no, 'views.group', p_change);
  elsif h.shown_id > 0 then
    update conversations set hidden = hidden + p_change where app_no = h.app_no and no = h.no;
  end if;
end $$;

CREATE FUNCTION public.counted_before(h public.conversations, p_id bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
declare
  m record;
begin
  select id, counted into m from messages
  where app_no = h.app_no and conversation = h.no and id < p_id order by id desc limit 1;
  if found then
    return m.counted + (select count(*) from uncounted
      where app_no = h.app_no and conversation = h.no and id > m.id and id < p_id);
  end if;
  -- The messages before it were purged: count back from the next one, or from the head.
  select id, counted - counts::int as counted into m from messages
  where app_no = h.app_no and conversation = h.no and id > p_id order by id limit 1;
  return coalesce(m.counted, h.counted) - (select count(*) from uncounted
    where app_no = h.app_no and conversation = h.no and id > p_id and (m.id is null or id < m.id));
end $$;

CREATE FUNCTION public.delete_held(p_app_no integer, p_ids bigint[]) RETURNS integer
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.delete_message(p_app_no integer, p_id bigint, p_by text, p_permanent boolean) RETURNS public.messages
    LANGUAGE plpgsql
    AS $$
declare
  m messages;
begin
  select * into m from messages where app_no = p_app_no and id = p_id for no key update;
  if not found then return null; end if;
  if m.counts and m.deleted_at is null then
    insert into uncounted (app_no, conversation, id) values (p_app_no, m.conversation, m.id);
    update inbox i set own_since = own_since - 1
    from conversations c
    where c.app_no = p_app_no and c.no = m.conversation
      and i.app_no = p_app_no and i.uid = m.sender and i.kind = c.kind
      and i.with_id = receiver_of(m, c) and i.read_id < m.id;
  end if;
  if m.parent_id is not null and m.deleted_at is null then
    update threads set replies = replies - 1 where app_no = p_app_no and parent_id = m.parent_id;
  end if;
  delete from mentions where app_no = p_app_no and message_id = p_id;
  delete from interactions where app_no = p_app_no and message_id = p_id;
  perform release_files(p_app_no, array[p_id]);
  delete from flags where app_no = p_app_no and message_id = p_id;
  if m.reacted or m.saved then
    insert into gone_messages (app_no, id) values (p_app_no, p_id) on conflict do nothing;
    perform enqueue_job(p_app_no, 'reactions.sweep');
  end if;
  if p_permanent then
    perform delete_message_references(p_app_no, array[p_id]);
    delete from messages where app_no = p_app_no and id = p_id;
    update conversations set removed = removed + 1 where app_no = p_app_no and no = m.conversation;
    delete from muids
    where app_no = p_app_no and sender = m.sender and muid = m.muid and message_id = p_id;
    m.deleted_at := coalesce(m.deleted_at, clock_timestamp());
    m.deleted_by := coalesce(m.deleted_by, p_by);
  else
    update messages
    set data = '{}', quoted_id = null, deleted_at = clock_timestamp(), deleted_by = p_by,
      updated_at = clock_timestamp(), pinned_at = null, pinned_by = null,
      reacted = false, saved = false
    where app_no = p_app_no and id = p_id
    returning * into m;
  end if;
  return m;
end $$;

CREATE FUNCTION public.delete_message_references(p_app_no integer, p_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  delete from mentions where app_no = p_app_no and message_id = any (p_ids);
  delete from interactions where app_no = p_app_no and message_id = any (p_ids);
  delete from threads where app_no = p_app_no and parent_id = any (p_ids);
  delete from flags where app_no = p_app_no and message_id = any (p_ids);
  delete from reviews where app_no = p_app_no and message_id = any (p_ids);
  perform release_files(p_app_no, p_ids);
  delete from held_messages where app_no = p_app_no and id = any (p_ids);
end $$;

CREATE FUNCTION public.disapprove_message(p_app_no integer, p_id bigint, p_verdict jsonb, p_reason text) RETURNS public.held_messages
    LANGUAGE plpgsql
    AS $$
declare
  k held_messages;
begin
  update held_messages set status = 'disapproved', checks = null, rule = moderation_of(p_verdict) -> 'rule'
  where app_no = p_app_no and id = p_id
  returning * into k;
  if found then perform add_review(k, p_verdict, p_reason); end if;
  return k;
end $$;

CREATE FUNCTION public.disconnect_users(p_gateway uuid, p_users json) RETURNS void
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
begin
  perform lock_users(p_users);
  with gone as (
    delete from presence p
    using json_to_recordset(p_users)
      as c (app_no int, uid text collate "C", connection json, idle double precision)
    where p.app_no = c.app_no and p.uid = c.uid and p.gateways = array[p_gateway]
    returning p.app_no, p.uid, c.connection, c.idle
  ), changed as (
    update users u
    set online = false, last_active_at = clock_timestamp() - make_interval(secs => g.idle)
    from gone g where u.app_no = g.app_no and u.uid = g.uid and u.removed_at is null
    returning u, g.connection
  )
  insert into event_bodies (app_no, type, key, active_uid, payload)
  select (u).app_no, 'user.connection.changed', 'user:' || (u).uid,
    case when (u).role <> '@agentic' then (u).uid end, connection_payload(u, connection)
  from changed;
  update presence p set gateways = array_remove(p.gateways, p_gateway)
  from json_to_recordset(p_users) as c (app_no int, uid text collate "C")
  where p.app_no = c.app_no and p.uid = c.uid and p_gateway = any (p.gateways);
  -- A device that is lost in a call. The job looks whether its user is back by then.
  perform enqueue_job(c.app_no, 'calls.leave', jsonb_build_object('uid', c.uid, 'offline', true), interval '10 seconds')
  from json_to_recordset(p_users) as c (app_no int, uid text collate "C")
  where exists (select from call_participants l
    where l.app_no = c.app_no and l.uid = c.uid and l.state in ('waiting', 'ongoing'));
end $$;

CREATE FUNCTION public.draw_ids(h public.conversations, p_seconds bigint[], p_wanted bigint[], p_skip boolean[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
declare
  v_size constant bigint := 4000000;
  v_kept bigint[];
  v_ids bigint[];
  v_taken bigint[] := '{}';
  v_conflicts bigint[];
begin
  v_kept := array(
    select case when w.id is null then null
      when row_number() over (partition by w.id order by w.nth) = 1 and not p_skip[w.nth]
      and id_second(w.id) = p_seconds[w.nth] and not is_id_taken(h.app_no, h.no, w.id) then w.id end
    from unnest(p_wanted) with ordinality w (id, nth) order by w.nth);
  loop
    with given as (
      select s.nth, s.second, (s.second - 1000000000) * v_size as first, v_kept[s.nth] as kept
      from unnest(p_seconds) with ordinality s (second, nth) where not p_skip[s.nth]
    ), starts as materialized (
      select g.second, coalesce(greatest(max(g.kept),
        -- It may have been deleted for good.
        case when id_second(h.last_id) = g.second then h.last_id end,
        (select m.id from messages m where m.app_no = h.app_no and m.conversation = h.no
           and m.id >= g.first and m.id < g.first + v_size order by m.id desc limit 1),
        (select k.id from held_messages k where k.app_no = h.app_no and k.conversation = h.no
           and k.id >= g.first and k.id < g.first + v_size order by k.id desc limit 1),
        (select u.id from uncounted u where u.app_no = h.app_no and u.conversation = h.no
           and u.id >= g.first and u.id < g.first + v_size order by u.id desc limit 1),
        (select max(t) from unnest(v_taken) t where t >= g.first and t < g.first + v_size)) + 1,
        g.first + floor(random() * 2097152)::bigint) as start
      from given g group by g.second, g.first
    ), drawn as (
      select g.nth, coalesce(g.kept, s.start - 1 + row_number() over (
        partition by g.second, g.kept is null order by g.nth)) as id
      from given g join starts s using (second)
    )
    select array_agg(d.id order by s.nth) into v_ids
    from generate_subscripts(p_seconds, 1) s (nth) left join drawn d on d.nth = s.nth;
    v_conflicts := taken_ids(h.app_no, h.no, array(
      select d.id from unnest(v_ids) with ordinality d (id, nth) where d.id is not null and v_kept[d.nth] is null));
    exit when v_conflicts = '{}';
    v_taken := v_taken || v_conflicts;
  end loop;
  -- A live message may have one of the last ids of its second. What comes after it takes the last free ones.
  for nth in 1 .. cardinality(v_ids) loop
    continue when v_ids[nth] is null or id_second(v_ids[nth]) = p_seconds[nth];
    v_ids[nth] := (p_seconds[nth] - 1000000000 + 1) * v_size - 1;
    while is_id_taken(h.app_no, h.no, v_ids[nth])
      or v_ids[nth] = any (v_ids[:nth - 1]) or v_ids[nth] = any (v_ids[nth + 1:])
    loop
      v_ids[nth] := v_ids[nth] - 1;
    end loop;
  end loop;
  return v_ids;
end $$;

CREATE FUNCTION public.drop_partition(p_log text, p_day date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '300ms'
    AS $$
begin
  execute format('drop table public.%I', partition_name(p_log, p_day));
end $$;

CREATE FUNCTION public.edit_message(p_app_no integer, p_id bigint, p_by text, p_data jsonb, p_tags text[], p_mentions jsonb) RETURNS SETOF text
    LANGUAGE plpgsql
    AS $$
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
  -- The unchanged mentions may include users who no longer exist.
  if p_mentions is null then return; end if;
  delete from mentions
  where app_no = p_app_no and message_id = p_id and uid <> all (v_uids);
  select * into h from conversations where app_no = p_app_no and no = m.conversation;
  return query select recipient
  from mention_recipients(h, p_by, array(select add_mentions(p_app_no, p_id, v_uids))) recipient
  where recipient <> m.sender;
end $$;

CREATE FUNCTION public.end_jobs(p_worker uuid, p_ends jsonb) RETURNS void
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
declare
  v_now timestamptz := job_clock();
  v_job record;
begin
  for v_job in
    delete from jobs j using jsonb_to_recordset(p_ends) as e (app int, id bigint, epoch int, outcome text, keep boolean)
    where j.app_no = e.app and j.id = e.id and j.state = 'running' and j.worker_id = p_worker
      and j.epoch = e.epoch and e.outcome = 'done' and not e.keep and not j.again
    returning j.app_no, j.id, j.stepped, j.serial_key
  loop
    if v_job.stepped then
      delete from job_steps where app_no = v_job.app_no and job_id = v_job.id;
    end if;
    if v_job.serial_key is not null then
      perform unblock_next_job(v_job.app_no, v_job.serial_key);
    end if;
  end loop;
  for v_job in
    with ended as (
      select j.app_no, j.id, e.error, e.delay, e.outcome, j.again,
        case
          when e.outcome = 'done' then 'done'
          when j.cancelling or e.outcome = 'cancelled' then 'cancelled'
          -- Somebody woke it before it waited.
          when e.outcome = 'released' and (e.delay is null or j.again) then 'ready'
          when e.outcome = 'released' then 'waiting'
          when e.delay is null or j.deadline <= v_now + e.delay * interval '1 ms' then 'dead'
          else 'waiting'
        end as state
      from jsonb_to_recordset(p_ends)
        as e (app int, id bigint, epoch int, outcome text, keep boolean, error text, delay int)
      join jobs j on j.app_no = e.app and j.id = e.id and j.state = 'running'
        and j.worker_id = p_worker and j.epoch = e.epoch
      where e.outcome <> 'done' or e.keep or j.again
      for no key update of j
    ), next as (
      -- A job that was enqueued again meanwhile starts from the beginning, however this run ended.
      select *, state in ('done', 'dead', 'cancelled') as over, again and state in ('done', 'dead', 'cancelled') as fresh
      from ended
    )
    update jobs j set
      state = case when next.fresh then 'ready' else next.state end,
      worker_id = null,
      -- A job that failed or was handed back goes on from its checkpoint, so what was asked for meanwhile may be behind it. One
      -- that was postponed starts at once instead, which is all that was asked for.
      again = j.again and not next.over and not (next.outcome = 'released' and next.delay is not null),
      cancelling = j.cancelling and not next.fresh,
      error = coalesce(next.error, j.error),
      run_at = case when next.state = 'waiting' then v_now + next.delay * interval '1 ms' else j.run_at end,
      ended_at = case when next.over and not next.fresh then v_now end,
      tries = case when next.fresh or next.outcome = 'done' then 0 when next.outcome = 'released' then j.tries - 1
        else j.tries end,
      checkpoint = case when not next.fresh then j.checkpoint end,
      stepped = j.stepped and not next.fresh and next.outcome <> 'done'
    from next where j.app_no = next.app_no and j.id = next.id
    returning j.app_no, j.id, j.state, j.serial_key, next.fresh or next.outcome = 'done' as unstepped
  loop
    if v_job.unstepped then
      delete from job_steps where app_no = v_job.app_no and job_id = v_job.id;
    end if;
    if v_job.serial_key is not null and v_job.state in ('done', 'dead', 'cancelled') then
      perform unblock_next_job(v_job.app_no, v_job.serial_key);
    end if;
  end loop;
end $$;

CREATE FUNCTION public.end_recordings() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
  v_room uuid;
begin
  update call_recordings set ended_at = coalesce(ended_at, clock_timestamp()), told = true
  where app_no = old.app_no and call_id = old.call_id and connection = old.id and (ended_at is null or not told)
  returning room into v_room;
  if found then perform convert_recordings(old.app_no, old.call_id, v_room); end if;
  return null;
end $$;

CREATE FUNCTION public.enqueue_agent_run(p_app_no integer, p_run uuid) RETURNS void
    LANGUAGE sql
    AS $$
  update agent_runs r set job_id = enqueue_job(p_app_no, 'agents.run', jsonb_build_object('runId', p_run),
    p_priority => -1, p_serial_key => 'agent ' || r.agent_uid || ' ' || r.thread_id)
  where r.app_no = p_app_no and r.run_id = p_run
$$;

CREATE FUNCTION public.enqueue_job(p_app_no integer, p_name text, p_input jsonb DEFAULT '{}'::jsonb, p_delay interval DEFAULT '00:00:00'::interval, p_priority integer DEFAULT 0, p_dedupe_key text DEFAULT NULL::text, p_serial_key text DEFAULT NULL::text, p_deadline timestamp with time zone DEFAULT NULL::timestamp with time zone) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_now timestamptz := job_clock();
  v_state text := case when p_delay > interval '0' then 'waiting' else 'ready' end;
  v_id bigint := tick() + nextval('job_ids') % 4;
  v_before bigint;
begin
  if p_serial_key is not null then
    perform lock_serial_key(p_app_no, p_serial_key);
    select id into v_before from jobs
    where app_no = p_app_no and serial_key = p_serial_key and ended_at is null
    order by id desc limit 1;
    if found then
      v_state := 'blocked';
      -- The order of ids is the order of the queue, also if the clock was set back.
      v_id := greatest(v_id, v_before + 1);
    end if;
  end if;
  -- An insert that may conflict costs more, so only those with a key are made that way.
  if p_dedupe_key is null then
    insert into jobs (app_no, id, name, state, priority, run_at, deadline, created_at, serial_key, input)
    values (p_app_no, v_id, p_name, v_state, p_priority, v_now + p_delay, p_deadline, v_now,
      p_serial_key, p_input);
    return v_id;
  end if;
  insert into jobs (
    app_no, id, name, state, priority, run_at, deadline, created_at, dedupe_key, serial_key, input)
  values (p_app_no, v_id, p_name, v_state, p_priority, v_now + p_delay, p_deadline, v_now, p_dedupe_key,
    p_serial_key, p_input)
  on conflict (app_no, name, dedupe_key) where dedupe_key is not null and ended_at is null
  -- Also locks rows that it doesn't change.
  do update set again = true where jobs.state = 'running'
  returning id into v_id;
  if v_id is null then
    select id into strict v_id from jobs
    where app_no = p_app_no and name = p_name and dedupe_key = p_dedupe_key and ended_at is null;
  end if;
  return v_id;
end $$;

CREATE FUNCTION public.enqueue_rule_actions(p_app_no integer, p_id bigint, p_verdict jsonb) RETURNS void
    LANGUAGE sql
    AS $$
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

CREATE FUNCTION public.entity_record(p_app_no integer, p_kind text, p_id text) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_record jsonb;
begin
  if p_kind = 'group' then
    select group_record(g) into v_record from groups g
    where g.app_no = p_app_no and g.guid = p_id and g.removed_at is null;
  elsif p_id = 'app_system' then
    v_record := system_text(p_app_no) || '}';
  else
    select user_record(u) into v_record from users u
    where u.app_no = p_app_no and u.uid = p_id and u.removed_at is null;
  end if;
  return v_record;
end $$;

CREATE FUNCTION public.erase_addresses(p_app_no integer, p_uid text) RETURNS void
    LANGUAGE sql
    AS $$
  delete from suppressed_addresses s using notification_users u
  where u.app_no = p_app_no and u.uid = p_uid and s.app_no = p_app_no and s.address in (u.email, u.phno)
    and not exists (
      select from notification_users o
      where o.app_no = p_app_no and o.uid <> p_uid and s.address in (o.email, o.phno))
$$;

CREATE FUNCTION public.erase_backlog(p_app_no integer, p_uid text, p_after_webhook bigint, p_after_key text, p_after_position bigint, p_limit integer) RETURNS TABLE(webhook_no bigint, key text, pos bigint)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.erase_dead_letters(p_app_no integer, p_after_webhook bigint, p_after_position bigint, p_limit integer) RETURNS TABLE(webhook_no bigint, pos bigint)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.erase_deliveries(p_app_no integer, p_after_webhook bigint, p_after_id bigint, p_limit integer) RETURNS TABLE(webhook_no bigint, id bigint)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.erase_events(p_app_no integer, p_uid text, p_as text, p_after bigint, p_upto bigint, p_limit integer) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $_$
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
end $_$;

CREATE FUNCTION public.erase_exports(p_app_no integer, p_uid text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.erase_files(p_app_no integer, p_uid text) RETURNS void
    LANGUAGE sql
    AS $$
  update files set name = 'file' where app_no = p_app_no and uid = p_uid and name <> 'file'
$$;

CREATE FUNCTION public.erase_from_messages(p_app_no integer, p_uid text, p_as text, p_which text, p_after bigint, p_limit integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.erase_from_table(p_app_no integer, p_uid text, p_as text, p_table text, p_after bigint, p_limit integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.erase_import(p_app_no integer, p_erasure bigint, p_uid text, p_after bigint) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.erase_imported_muids(p_app_no integer, p_uid text, p_after bigint, p_limit integer) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.erase_notification_logs(p_app_no integer, p_uid text, p_after uuid, p_limit integer) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
declare
  v_ids uuid[] := array(
    select id from notification_logs where app_no = p_app_no and id > p_after order by id limit p_limit);
begin
  delete from notification_logs
  where app_no = p_app_no and id = any (v_ids) and p_uid in (uid, sender, receiver, reaction_sender);
  return case when cardinality(v_ids) = p_limit then v_ids[p_limit] end;
end $$;

CREATE FUNCTION public.erase_profile(p_app_no integer, p_uid text, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.erase_received_muids(p_app_no integer, p_uid text, p_with text, p_after bigint, p_limit integer) RETURNS TABLE(other text, last bigint)
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.erase_rows(p_app_no integer, p_uid text, p_as text, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.expire_messages(p_app_no integer, p_conversation bigint, p_before bigint, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
  v_upto bigint;
  v_counted bigint;
  v_done int;
begin
  perform from conversations where app_no = p_app_no and no = p_conversation for no key update;
  select id, counted into v_upto, v_counted from (
    select id, counted from messages
    where app_no = p_app_no and conversation = p_conversation and id < p_before order by id limit p_limit) oldest
  order by id desc limit 1;
  if not found then
    -- Only held ones are left.
    select id, counted into v_upto, v_counted from held_messages
    where app_no = p_app_no and conversation = p_conversation and id < p_before order by id desc limit 1;
    if not found then return 0; end if;
  end if;
  perform from inbox
  where app_no = p_app_no and conversation = p_conversation and uid = any (array(
    select sender from messages
    where app_no = p_app_no and conversation = p_conversation and id <= v_upto))
  order by uid for no key update;
  update inbox i set own_since = i.own_since - gone.n
  from (
    select m.sender, count(*) as n from messages m join inbox o
      on o.app_no = p_app_no and o.conversation = p_conversation and o.uid = m.sender
    where m.app_no = p_app_no and m.conversation = p_conversation and m.id <= v_upto and m.id > o.read_id
      and m.counts and m.deleted_at is null
    group by m.sender
  ) gone
  where i.app_no = p_app_no and i.conversation = p_conversation and i.uid = gone.sender;
  v_done := sweep_messages(p_app_no, p_conversation, v_upto, p_limit);
  delete from uncounted where app_no = p_app_no and conversation = p_conversation and id <= v_upto;
  delete from thread_users where app_no = p_app_no and conversation = p_conversation and parent_id <= v_upto;
  update conversations set purged_id = greatest(purged_id, v_upto), purged_counted = greatest(purged_counted, v_counted)
  where app_no = p_app_no and no = p_conversation;
  return greatest(v_done, 1);
end $$;

CREATE FUNCTION public.find_imported(h public.conversations, p_items jsonb, p_ids bigint[], p_id bigint, p_muid text, p_parent boolean) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_id bigint;
begin
  if p_id is null and p_muid is null then return null; end if;
  select p_ids[o.nth] into v_id from jsonb_array_elements(p_items) with ordinality o (i, nth)
  where p_ids[o.nth] is not null
    and case when p_muid is not null then o.i ->> 'muid' = p_muid else (o.i ->> 'id')::bigint = p_id end
    and not (p_parent and (o.i ?| array['parent', 'parentMuid'] or o.i ->> 'category' in ('action', 'call')))
  limit 1;
  if v_id is not null then return v_id; end if;
  select u.message_id into v_id from muids u
  where u.app_no = h.app_no and u.sender = '' and u.target = ''
    and u.muid = case when p_muid is not null then 'muid:' || p_muid else 'id:' || p_id end;
  select m.id into v_id from messages m
  where m.app_no = h.app_no and m.id = coalesce(v_id, p_id) and m.conversation = h.no and m.id > h.purged_id
    and not (p_parent and (m.parent_id is not null or m.category in ('action', 'call')));
  return v_id;
end $$;

CREATE FUNCTION public.find_parent(h public.conversations, p_sender text, p_id bigint) RETURNS public.messages
    LANGUAGE plpgsql
    AS $$
declare
  m messages := find_referenced_message(h, p_sender, p_id, true);
begin
  if m.parent_id is not null then perform refuse('ERR_MESSAGE_THREAD_NESTING'); end if;
  if m.category in ('action', 'call') then perform refuse('ERR_WRONG_MESSAGE_THREAD_CATEGORY'); end if;
  return m;
end $$;

CREATE FUNCTION public.find_referenced_message(h public.conversations, p_sender text, p_id bigint, p_reply boolean) RETURNS public.messages
    LANGUAGE plpgsql
    AS $$
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

CREATE TABLE public.marks (
    app_no integer NOT NULL,
    conversation bigint NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    upto_id bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE FUNCTION public.first_mark(h public.conversations, m public.messages, p_receiver text, p_kind text) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    RETURN CASE WHEN (((h).kind = 'user'::text) AND ((h).one <> (h).other)) THEN (SELECT k.at FROM public.marks k WHERE ((k.app_no = (first_mark.h).app_no) AND (k.conversation = (first_mark.h).no) AND (k.uid = first_mark.p_receiver) AND (k.kind = first_mark.p_kind) AND (k.upto_id >= (first_mark.m).id)) ORDER BY k.upto_id LIMIT 1) ELSE NULL::timestamp with time zone END;

CREATE FUNCTION public.flag_reacted(p_app_no integer, p_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_conversation bigint;
begin
  select conversation into v_conversation from messages
  where app_no = p_app_no and id = p_id and not reacted;
  if not found then return; end if;
  perform from conversations where app_no = p_app_no and no = v_conversation for no key update;
  update messages set reacted = true where app_no = p_app_no and id = p_id and deleted_at is null;
end $$;

CREATE FUNCTION public.fold_text(p_text text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN CASE WHEN (octet_length(p_text) = length(p_text)) THEN lower(p_text) ELSE public.fold_name(p_text) END;

CREATE FUNCTION public.forget_copies() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  update conversations h set shown_sender = null, shown_data = null, shown_muid = null
  from changed m
  where h.app_no = m.app_no and h.no = m.conversation and h.shown_id = m.id and h.shown_data is not null;
  return null;
end $$;

CREATE FUNCTION public.gives_receipts(i public.inbox) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN (((i).scope IS NOT NULL) AND (EXISTS (SELECT FROM public.users u WHERE ((u.app_no = (gives_receipts.i).app_no) AND (u.uid = (gives_receipts.i).uid) AND (u.deactivated_at IS NULL) AND (u.removed_at IS NULL) AND (NOT u.bot)))));

CREATE TABLE public.groups (
    app_no integer NOT NULL,
    guid text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    name_key text GENERATED ALWAYS AS (public.fold_name(name)) STORED NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL,
    password_hash text,
    icon text,
    icon_file text COLLATE pg_catalog."C",
    description text,
    owner text NOT NULL COLLATE pg_catalog."C",
    permissions jsonb,
    metadata jsonb,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    members_count integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone,
    updated_by text,
    created_second bigint GENERATED ALWAYS AS (public.unix(created_at)) STORED NOT NULL,
    changed_second bigint GENERATED ALWAYS AS (public.unix(COALESCE(updated_at, created_at))) STORED NOT NULL,
    removed_at timestamp with time zone,
    card text NOT NULL,
    CONSTRAINT groups_type_check CHECK ((type = ANY (ARRAY['public'::text, 'private'::text, 'password'::text])))
)
WITH (fillfactor='80');

CREATE FUNCTION public.group_card(g public.groups) RETURNS text
    LANGUAGE sql STABLE
    RETURN concat('{"guid":', to_json((g).guid), ',"name":', to_json((g).name), ',"type":"', (g).type, '"', (',"description":'::text || (to_json((g).description))::text), (',"icon":'::text || (to_json((g).icon))::text), ',"owner":', to_json((g).owner), ',"conversationId":', to_json(('group_'::text || (g).guid)), ',"createdAt":', public.unix((g).created_at), (',"updatedAt":'::text || (public.unix((g).updated_at))::text), (',"updatedBy":'::text || (to_json((g).updated_by))::text), (',"metadata":'::text || ((g).metadata)::text));

CREATE FUNCTION public.group_text(g public.groups) RETURNS text
    LANGUAGE sql STABLE
    RETURN (((g).card || ',"membersCount":'::text) || (g).members_count);

CREATE FUNCTION public.group_json(g public.groups) RETURNS text
    LANGUAGE sql STABLE
    RETURN (public.group_text(g) || '}'::text);

CREATE FUNCTION public.group_record(g public.groups) RETURNS jsonb
    LANGUAGE sql STABLE
    RETURN (public.group_json(g))::jsonb;

CREATE FUNCTION public.has_link(p_data jsonb) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN COALESCE((((strpos((p_data ->> 'text'::text), '.'::text) > 0) OR (strpos((p_data ->> 'text'::text), '://'::text) > 0)) AND ((p_data ->> 'text'::text) ~* '(https?://|www\.)\S'::text)), false);

CREATE FUNCTION public.has_many_runs(p_app_no integer, p_uid text, p_open integer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select count(*) = p_open from (
    select from agent_runs where app_no = p_app_no and uid = p_uid and ended_at is null limit p_open) runs
$$;

CREATE FUNCTION public.held_data(k public.held_messages) RETURNS jsonb
    LANGUAGE sql STABLE
    RETURN ((k).data || jsonb_build_object('moderation', jsonb_strip_nulls(jsonb_build_object('status', (k).status, 'rule', (k).rule))));

CREATE FUNCTION public.hold_message(h public.conversations, p_sender text, p_category text, p_type text, p_data jsonb, p_tags text[], p_muid text, p_parent bigint, p_quoted bigint, p_counts boolean, p_shows boolean, p_verdict jsonb) RETURNS public.messages
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.id_second(p_id bigint) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((p_id / 4000000) + 1000000000);

CREATE FUNCTION public.id_time(p_id bigint) RETURNS timestamp with time zone
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN (('2001-09-09 01:46:40'::timestamp without time zone + (((p_id / 4))::double precision * '00:00:00.000001'::interval)) AT TIME ZONE 'UTC'::text);

CREATE FUNCTION public.import_block(p_app_no integer, p_pair jsonb, p_limits jsonb) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
  perform check_pair(p_app_no, p_pair ->> 'uid', p_pair ->> 'blockedUid');
  perform set_blocks(p_app_no, p_pair ->> 'uid', array[p_pair ->> 'blockedUid'], true,
    coalesce(to_timestamp((p_pair ->> 'createdAt')::float8), now()));
  if not found then return false; end if;
  if (select count(*) from blocks b where b.app_no = p_app_no and b.uid = p_pair ->> 'uid')
    > (p_limits ->> 'blocks')::int
  then
    perform refuse('ERR_PLAN_QUOTA_RESTRICTION',
      jsonb_build_object('limit', p_limits -> 'blocks', 'what', 'blocked users per user'));
  end if;
  return true;
end $$;

CREATE FUNCTION public.import_conversations(p_app_no integer, p_conversations jsonb) RETURNS TABLE(conversation integer, nth integer, id bigint, code text, detail text)
    LANGUAGE plpgsql
    AS $$
declare
  r record;
begin
  for r in select o.nth::int as no, o.c from jsonb_array_elements(p_conversations) with ordinality o (c, nth) loop
    return query select r.no, m.nth, m.id, m.code, m.detail
    from import_messages(p_app_no, r.c ->> 'kind', r.c ->> 'one', r.c ->> 'other', r.c -> 'items') m;
  end loop;
end $$;

CREATE FUNCTION public.import_friend(p_app_no integer, p_pair jsonb, p_limits jsonb) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_uids text[] := array[p_pair ->> 'uid', p_pair ->> 'friendUid'];
begin
  perform check_pair(p_app_no, v_uids[1], v_uids[2]);
  insert into friends (app_no, uid, friend_uid, created_at)
  select p_app_no, pair.uid, pair.friend_uid, coalesce(to_timestamp((p_pair ->> 'createdAt')::float8), now())
  from (values (v_uids[1], v_uids[2]), (v_uids[2], v_uids[1])) pair (uid, friend_uid)
  on conflict do nothing;
  if not found then return false; end if;
  if exists (select from unnest(v_uids) w (uid) where (
    select count(*) from friends f where f.app_no = p_app_no and f.uid = w.uid) > (p_limits ->> 'friends')::int)
  then
    perform refuse('ERR_PLAN_QUOTA_RESTRICTION',
      jsonb_build_object('limit', p_limits -> 'friends', 'what', 'friends per user'));
  end if;
  return true;
end $$;

CREATE FUNCTION public.import_group(p_app_no integer, p_group jsonb, p_limits jsonb, p_parent boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_guid text := p_group ->> 'guid';
  v_owner text := coalesce(p_group ->> 'owner', 'app_system');
  v_created timestamptz := coalesce(to_timestamp((p_group ->> 'createdAt')::float8), now());
begin
  if p_parent and exists (select from groups where app_no = p_app_no and guid = v_guid) then return; end if;
  if v_owner <> 'app_system' then
    perform from users where app_no = p_app_no and uid = v_owner and removed_at is null for no key update;
    if not found then perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', v_owner)); end if;
  end if;
  insert into groups
    (app_no, guid, name, type, password_hash, icon, description, owner, permissions, metadata, tags, created_at,
     updated_at)
  values (p_app_no, v_guid, p_group ->> 'name', p_group ->> 'type', p_group ->> 'passwordHash', p_group ->> 'icon',
    p_group ->> 'description', v_owner, p_group -> 'permissions', p_group -> 'metadata',
    coalesce(array(select jsonb_array_elements_text(p_group -> 'tags')), '{}'), v_created,
    to_timestamp((p_group ->> 'updatedAt')::float8))
  on conflict do nothing;
  if not found then
    if p_parent then return; end if;
    perform refuse('ERR_GUID_ALREADY_EXISTS', jsonb_build_object('guid', v_guid));
  end if;
  insert into conversations (app_no, kind, one, other) values (p_app_no, 'group', v_guid, '');
  if v_owner <> 'app_system' then
    perform check_group_ceilings(p_app_no, v_guid, v_owner, p_limits);
    perform add_member(p_app_no, v_guid, v_owner, 'admin');
    update inbox set joined_at = coalesce(to_timestamp((p_group ->> 'ownerJoinedAt')::float8), v_created)
    where app_no = p_app_no and uid = v_owner and kind = 'group' and with_id = v_guid;
  end if;
  perform add_total(p_app_no, 'groups', 1);
end $$;

CREATE FUNCTION public.import_member(p_app_no integer, p_member jsonb, p_limits jsonb) RETURNS timestamp with time zone
    LANGUAGE plpgsql
    AS $$
declare
  v_guid text := p_member ->> 'guid';
  v_uid text := p_member ->> 'uid';
  v_joined timestamptz := to_timestamp((p_member ->> 'joinedAt')::float8);
  v_until timestamptz := to_timestamp((p_member ->> 'bannedUntil')::float8);
  g groups;
  i inbox;
begin
  perform from users where app_no = p_app_no and uid = v_uid and removed_at is null for no key update;
  if not found then perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', v_uid)); end if;
  perform from conversations where app_no = p_app_no and kind = 'group' and one = v_guid and other = ''
  for no key update;
  select * into g from groups where app_no = p_app_no and guid = v_guid and removed_at is null;
  if not found then perform refuse('ERR_GUID_NOT_FOUND', jsonb_build_object('guid', v_guid)); end if;
  if unix(v_joined) < unix(g.created_at) or v_joined > now() then perform refuse('ERR_IMPORT_INVALID_JOINEDAT'); end if;
  if exists (select from inbox
    where app_no = p_app_no and uid = v_uid and kind = 'group' and with_id = v_guid and scope is not null)
  then
    perform refuse('ERR_ALREADY_JOINED', jsonb_build_object('uid', v_uid));
  end if;
  if exists (select from bans
    where app_no = p_app_no and guid = v_guid and uid = v_uid and (until is null or until > now()))
  then
    perform refuse(case when (p_member -> 'isBanned')::boolean then 'ERR_ALREADY_BANNED' else 'ERR_BANNED_GROUPMEMBER' end,
      jsonb_build_object('uid', v_uid));
  end if;
  if (p_member -> 'isBanned')::boolean then
    -- It has ended since the export.
    if v_until <= now() then perform refuse('THERE'); end if;
    insert into bans (app_no, guid, uid, scope, joined_at, banned_at, until)
    values (p_app_no, v_guid, v_uid, p_member ->> 'scope', v_joined,
      coalesce(to_timestamp((p_member ->> 'bannedAt')::float8), clock_timestamp()), v_until)
    on conflict (app_no, guid, uid) do update set scope = excluded.scope, joined_at = excluded.joined_at,
      banned_at = excluded.banned_at, until = excluded.until;
    return v_joined;
  end if;
  perform check_group_ceilings(p_app_no, v_guid, v_uid, p_limits);
  i := add_member(p_app_no, v_guid, v_uid, coalesce(p_member ->> 'scope', 'participant'));
  if v_joined is null then return i.joined_at; end if;
  update inbox set joined_at = v_joined
  where app_no = p_app_no and uid = v_uid and kind = 'group' and with_id = v_guid;
  return v_joined;
end $$;

CREATE FUNCTION public.import_messages(p_app_no integer, p_kind text, p_one text, p_other text, p_items jsonb) RETURNS TABLE(nth integer, id bigint, code text, detail text)
    LANGUAGE plpgsql
    AS $_$
#variable_conflict use_column
declare
  h conversations;
  v_direct boolean := p_kind = 'user';
  -- The items by field: reading them from JSON in each statement costs more (docs/measurements/imports.md).
  v_senders text[];
  v_muids text[];
  v_wanted bigint[];
  v_seconds bigint[];
  v_shows boolean[];
  v_deleted boolean[];
  v_delivered float8[];
  v_read float8[];
  v_mentions boolean;
  v_refers boolean;
  v_mentioned text[] := '{}';
  v_known text[];
  v_records jsonb;
  v_codes text[];
  v_details text[];
  v_there bigint[];
  v_ids bigint[];
  -- From 1: an array that is filled from the middle would begin there.
  v_count int := jsonb_array_length(p_items);
  v_parents bigint[] := array_fill(null::bigint, array[v_count]);
  v_quoted bigint[] := v_parents;
  -- Counting messages before each imported one, if there are stored messages after the first.
  v_before bigint[];
  v_counting bigint[];
  v_lowest bigint;
  v_missing text;
  r record;
begin
  select array_agg(i.sender), array_agg(i.muid), array_agg(i.id), array_agg(i.second), array_agg(i.shows),
    array_agg(i.deleted is not null), array_agg(i.delivered), array_agg(i.read), bool_or(i.mentions is not null),
    bool_or(coalesce(i.parent, i."parentMuid", i.quoted, i."quotedMuid") is not null)
  into v_senders, v_muids, v_wanted, v_seconds, v_shows, v_deleted, v_delivered, v_read, v_mentions, v_refers
  from jsonb_to_recordset(p_items) as i (
    sender text, muid text, id bigint, second bigint, shows boolean, deleted float8, delivered float8, read float8,
    mentions jsonb, parent text, "parentMuid" text, quoted text, "quotedMuid" text);
  if v_mentions then
    v_mentioned := array(
      select distinct uid from jsonb_array_elements(p_items) i, jsonb_array_elements_text(i -> 'mentions') uid);
  end if;
  v_known := array(
    select u.uid from users u
    where u.app_no = p_app_no and u.removed_at is null and u.uid = any (
      v_mentioned || array(select distinct s from unnest(v_senders) s)
      || case when v_direct then array[p_one, p_other] else '{}' end)
    order by u.uid for share) || 'app_system'::text;
  if v_direct then
    select uid into v_missing from unnest(array[p_one, p_other]) uid where uid <> all (v_known) limit 1;
    if v_missing is null then h := open_conversation(p_app_no, p_one, p_other); end if;
  else
    select * into h from conversations c
    where c.app_no = p_app_no and c.kind = 'group' and c.one = p_one and c.other = '' for no key update;
    if not exists (select from groups g where g.app_no = p_app_no and g.guid = p_one and g.removed_at is null) then
      v_missing := p_one;
    end if;
  end if;
  if v_missing is not null then
    return query select n, null::bigint, case when v_direct then 'ERR_UID_NOT_FOUND' else 'ERR_GUID_NOT_FOUND' end, v_missing
    from generate_series(1, v_count) n;
    return;
  end if;

  with given as (
    select o.* from unnest(v_senders, v_muids, v_wanted, v_seconds) with ordinality o (sender, muid, id, second, nth)
  ), known as (
    select g.*,
      g.muid is not null and row_number() over (partition by g.muid order by g.nth) > 1
        or g.muid is null and row_number() over (partition by g.muid, g.id order by g.nth) > 1 as again,
      case when g.muid is not null then coalesce(
        (select u.message_id from muids u where u.app_no = p_app_no and u.sender = '' and u.muid = 'muid:' || g.muid
           and u.target = ''),
        (select u.message_id from muids u where u.app_no = p_app_no and u.sender = g.sender and u.muid = g.muid
           and u.target = ''),
        -- A live message with several receivers.
        (select u.message_id from muids u where u.app_no = p_app_no and u.sender = g.sender and u.muid = g.muid
           and u.target = p_kind || ':' || case when v_direct and g.sender = p_one then p_other else p_one end))
      end as of_muid,
      -- A message without a muid is known by its id.
      case when g.muid is null then coalesce(
        (select m.id from messages m where m.app_no = p_app_no and m.id = g.id and m.conversation = h.no
           and m.sender = g.sender and m.muid is null),
        (select u.message_id from muids u where u.app_no = p_app_no and u.sender = '' and u.muid = 'id:' || g.id
           and u.target = ''))
      end as of_id
    from given g
  )
  select
    array_agg(case
      when k.sender <> all (v_known) then 'ERR_UID_NOT_FOUND'
      when h.purged_id > 0 and k.second <= id_second(h.purged_id) then 'PURGED'
      when k.again or k.of_muid is not null or k.of_id is not null then 'ERR_IMPORT_MUID_ALREADY_EXISTS' end
      order by k.nth),
    array_agg(case when k.sender <> all (v_known) then k.sender else k.muid end order by k.nth),
    array_agg(coalesce(k.of_muid, k.of_id) order by k.nth)
  into v_codes, v_details, v_there
  from known k;
  v_ids := draw_ids(h, v_seconds, v_wanted, array(select c is not null from unnest(v_codes) c));
  for r in
    select o.nth::int as nth, o.i from jsonb_array_elements(p_items) with ordinality o (i, nth)
    where v_refers and o.i ?| array['parent', 'parentMuid', 'quoted', 'quotedMuid'] and v_ids[o.nth] is not null
  loop
    v_parents[r.nth] := find_imported(h, p_items, v_ids, (r.i ->> 'parent')::bigint, r.i ->> 'parentMuid', true);
    v_quoted[r.nth] := find_imported(h, p_items, v_ids, (r.i ->> 'quoted')::bigint, r.i ->> 'quotedMuid', false);
    if r.i ?| array['parent', 'parentMuid'] and v_parents[r.nth] is null then
      v_codes[r.nth] := 'ERR_MESSAGE_ID_NOT_FOUND';
      v_details[r.nth] := coalesce(r.i ->> 'parentMuid', r.i ->> 'parent');
      v_ids[r.nth] := null;
    elsif id_second(v_parents[r.nth]) > (r.i ->> 'second')::bigint then
      v_codes[r.nth] := 'OLDER';
      v_ids[r.nth] := null;
    end if;
    -- Lists expect that a reply has a higher id. One that was to keep its own may not.
    while v_ids[r.nth] <= v_parents[r.nth]
      or v_ids[r.nth] = any (v_ids[:r.nth - 1] || v_ids[r.nth + 1:]) or is_id_taken(p_app_no, h.no, v_ids[r.nth])
    loop
      v_ids[r.nth] := greatest(v_ids[r.nth], v_parents[r.nth]) + 1;
    end loop;
    if id_second(v_ids[r.nth]) > (r.i ->> 'second')::bigint then
      v_codes[r.nth] := 'OLDER';
      v_ids[r.nth] := null;
    end if;
  end loop;

  select min(d.id) into v_lowest from unnest(v_ids) d (id);
  if v_lowest is not null then
    if v_mentioned <> '{}' then v_records := lock_mentioned_users(p_app_no, v_mentioned); end if;
    if v_direct then
      v_counting := array(
        select o.id from unnest(v_ids, v_shows, v_parents, v_deleted) o (id, shows, parent, deleted)
        where o.id is not null and o.shows and o.parent is null and not o.deleted
        order by 1);
    end if;
    if v_lowest < h.last_id then
      v_before := array(
        select case when d.id is not null then counted_before(h, d.id) end
        from unnest(v_ids) with ordinality d (id, nth) order by d.nth);
      if cardinality(v_counting) > 0 then
        update messages m set counted = m.counted + width_bucket(m.id, v_counting)
        where m.app_no = p_app_no and m.conversation = h.no and m.id > v_counting[1];
        update held_messages k set counted = k.counted + width_bucket(k.id, v_counting)
        where k.app_no = p_app_no and k.conversation = h.no and k.id > v_counting[1];
      end if;
    end if;
    insert into messages
      (app_no, id, conversation, sender, category, type, data, tags, muid, parent_id, quoted_id, counts, shows,
       counted, silent, updated_at, edited_at, edited_by, deleted_at, deleted_by, pinned_at, pinned_by)
    select p_app_no, d.id, h.no, i.sender, i.category, i.type,
      case when i.mentions is null then i.data else with_mentions(i.data, (
        select jsonb_object_agg(k.key, small_record(k.value)) from jsonb_each(v_records) k
        where i.mentions ? k.key)) end,
      coalesce(i.tags, '{}'), i.muid, v_parents[d.nth], v_quoted[d.nth],
      coalesce(v_counting[n.rank] = d.id, false), i.shows,
      coalesce(v_before[d.nth], h.counted) + n.rank,
      not v_direct, to_timestamp(i.updated), to_timestamp(i.edited), i.edited_by, to_timestamp(i.deleted),
      i.deleted_by, to_timestamp(i.pinned), i.pinned_by
    from rows from (jsonb_to_recordset(p_items) as (
        sender text, category text, type text, data jsonb, tags text[], muid text, mentions jsonb, shows boolean,
        updated float8, edited float8, "editedBy" text, deleted float8, "deletedBy" text, pinned float8,
        "pinnedBy" text)) with ordinality
        i (sender, category, type, data, tags, muid, mentions, shows, updated, edited, edited_by, deleted,
          deleted_by, pinned, pinned_by, nth)
      join unnest(v_ids) with ordinality d (id, nth) on d.nth = i.nth and d.id is not null
      cross join lateral (
        select case when cardinality(v_counting) > 0 then width_bucket(d.id, v_counting) else 0 end as rank) n
    order by d.id;
    -- Not before the insert, which assigns the xid: see add_search_changes.
    if v_lowest <= (select a.search_upto from apps a where a.app_no = p_app_no) then
      perform add_search_changes(p_app_no, array(select d.id from unnest(v_ids) d (id) where d.id is not null));
    end if;
    perform show_imported(h, v_ids, v_senders, v_shows, v_delivered, v_read, v_counting);
    for r in
      select m.id, m.sender, m.deleted_at, p as parent from unnest(v_parents) with ordinality o (parent, nth)
        join messages m on m.app_no = p_app_no and m.id = v_ids[o.nth]
        join messages p on p.app_no = p_app_no and p.id = o.parent
      where o.parent is not null order by m.id
    loop
      perform add_reply(h, r.sender, r.parent, r.id);
      if r.deleted_at is not null then
        update threads set replies = replies - 1 where app_no = p_app_no and parent_id = (r.parent).id;
      end if;
    end loop;
    if v_records is not null then
      perform add_mentions(p_app_no, v_ids[o.nth], array(
        select uid from jsonb_array_elements_text(o.i -> 'mentions') uid where v_records ? uid))
      from jsonb_array_elements(p_items) with ordinality o (i, nth)
      where o.i ? 'mentions' and not o.i ? 'deleted' and v_ids[o.nth] is not null;
    end if;
    perform add_imported_muids(p_app_no, v_ids, v_senders, v_muids, v_wanted);
    if jsonb_path_exists(p_items, '$[*].files') then
      -- Files of the app itself stay as long as the message. Those of another app are unknown here.
      perform refer_files(p_app_no, v_ids[o.nth], f.ids)
      from jsonb_array_elements(p_items) with ordinality o (i, nth) cross join lateral (
        select array(select x.id from files x where x.app_no = p_app_no and x.state = 'ready'
          and x.id in (select jsonb_array_elements_text(o.i -> 'files'))) as ids) f
      where o.i ? 'files' and v_ids[o.nth] is not null and f.ids <> '{}';
    end if;
  end if;
  return query select s.n, coalesce(v_ids[s.n], v_there[s.n]), v_codes[s.n], v_details[s.n]
  from generate_series(1, v_count) s (n);
end $_$;

CREATE FUNCTION public.import_reaction(p_app_no integer, p_reaction jsonb, p_limits jsonb) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_id bigint := message_of_item(p_app_no, p_reaction);
  v_wanted bigint := (p_reaction ->> 'id')::bigint;
  v_uid text := p_reaction ->> 'uid';
  r reactions;
begin
  perform flag_reacted(p_app_no, v_id);
  perform from messages
  where app_no = p_app_no and id = v_id and deleted_at is null and category in ('message', 'custom') for share;
  if not found then
    perform refuse('ERR_MESSAGE_ID_NOT_FOUND', jsonb_build_object('id', coalesce(p_reaction ->> 'muid', p_reaction ->> 'messageId')));
  end if;
  perform from users where app_no = p_app_no and uid = v_uid and removed_at is null for share;
  if not found then perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', v_uid)); end if;
  if exists (select from reactions where app_no = p_app_no and message_id = v_id and id = v_wanted) then
    v_wanted := null;
  end if;
  insert into reactions (app_no, uid, message_id, reaction, id, reacted_at)
  values (p_app_no, v_uid, v_id, p_reaction ->> 'reaction', coalesce(v_wanted, greatest(tick(), 1 + (
      select max(id) from reactions where app_no = p_app_no and message_id = v_id))),
    coalesce(to_timestamp((p_reaction ->> 'reactedAt')::float8), clock_timestamp()))
  on conflict (app_no, uid, message_id, reaction) do nothing
  returning * into r;
  if not found then return false; end if;
  insert into reaction_counts as c (app_no, message_id, reaction, count, first_id)
  values (p_app_no, v_id, r.reaction, 1, r.id)
  on conflict (app_no, message_id, reaction) do update set
    count = c.count + 1, first_id = least(c.first_id, excluded.first_id);
  if (select count(*) from reaction_counts where app_no = p_app_no and message_id = v_id)
    > (p_limits ->> 'reactions')::int
  then
    perform refuse('ERR_PLAN_QUOTA_RESTRICTION',
      jsonb_build_object('limit', p_limits -> 'reactions', 'what', 'different reactions per message'));
  end if;
  return true;
end $$;

CREATE FUNCTION public.import_records(p_app_no integer, p_kind text, p_items jsonb, p_limits jsonb, p_parent boolean) RETURNS TABLE(nth integer, code text, detail text)
    LANGUAGE plpgsql
    AS $$
declare
  r record;
begin
  if p_kind = 'reaction' then
    -- Before any head, as everyone who reacts.
    perform lock_reactions(p_app_no, m.id) from (
      select distinct message_of_item(p_app_no, i) as id from jsonb_array_elements(p_items) i order by 1) m;
  end if;
  if p_kind in ('friend', 'block', 'sanction', 'save', 'view') then
    -- Before any head. Blocks lock heads in the order of their keys.
    perform from users u where u.app_no = p_app_no and u.uid = any (array(
      select uid from jsonb_array_elements(p_items) i
        cross join lateral (values (i ->> 'uid'), (i ->> 'friendUid'), (i ->> 'blockedUid')) w (uid)))
    order by u.uid for no key update;
  end if;
  for r in
    select o.nth::int as nth, o.i as item from jsonb_array_elements(p_items) with ordinality o (i, nth)
    order by case when p_kind = 'block' then
      array[least(o.i ->> 'uid', o.i ->> 'blockedUid' collate "C"), greatest(o.i ->> 'uid', o.i ->> 'blockedUid' collate "C")]
      end, o.nth
  loop
    nth := r.nth;
    code := null;
    detail := null;
    begin
      case p_kind
        when 'role' then perform import_role(p_app_no, r.item, p_limits);
        when 'user' then perform import_user(p_app_no, r.item, p_parent, p_limits);
        when 'group' then perform import_group(p_app_no, r.item, p_limits, p_parent);
        when 'member' then perform import_member(p_app_no, r.item, p_limits);
        when 'friend' then code := case when not import_friend(p_app_no, r.item, p_limits) then 'THERE' end;
        when 'block' then code := case when not import_block(p_app_no, r.item, p_limits) then 'THERE' end;
        when 'sanction' then code := case when not import_sanction(p_app_no, r.item) then 'THERE' end;
        when 'save' then code := case when not import_save(p_app_no, r.item, p_limits) then 'THERE' end;
        when 'view' then code := case when not import_view(p_app_no, r.item, p_limits) then 'THERE' end;
        else code := case when not import_reaction(p_app_no, r.item, p_limits) then 'THERE' end;
      end case;
    exception when sqlstate 'LQ002' then
      get stacked diagnostics code = message_text, detail = pg_exception_detail;
    end;
    return next;
  end loop;
end $$;

CREATE FUNCTION public.import_role(p_app_no integer, p_role jsonb, p_limits jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  -- As all writes to roles: their number is exact.
  perform from apps where app_no = p_app_no for no key update;
  if (p_role -> 'builtIn')::boolean then
    update roles set name = p_role ->> 'name', description = p_role ->> 'description', metadata = p_role -> 'metadata',
      settings = nullif(p_role -> 'settings', 'null'), permissions = nullif(p_role -> 'permissions', 'null'),
      restrictions = p_role -> 'restrictions',
      updated_at = coalesce(to_timestamp((p_role ->> 'updatedAt')::float8), now())
    where app_no = p_app_no and role = p_role ->> 'role' and built_in and updated_at is null;
  else
    insert into roles
      (app_no, role, name, description, metadata, settings, permissions, restrictions, created_at, updated_at)
    values (p_app_no, p_role ->> 'role', p_role ->> 'name', p_role ->> 'description', p_role -> 'metadata',
      nullif(p_role -> 'settings', 'null'), nullif(p_role -> 'permissions', 'null'), p_role -> 'restrictions',
      coalesce(to_timestamp((p_role ->> 'createdAt')::float8), now()), to_timestamp((p_role ->> 'updatedAt')::float8))
    on conflict do nothing;
  end if;
  if not found then perform refuse('ERR_ROLE_ALREADY_EXISTS', jsonb_build_object('role', p_role ->> 'role')); end if;
  if (select count(*) from roles where app_no = p_app_no and not built_in and removed_at is null)
    > (p_limits ->> 'roles')::int
  then
    perform refuse('ERR_PLAN_QUOTA_RESTRICTION', jsonb_build_object('limit', p_limits -> 'roles', 'what', 'roles per app'));
  end if;
  -- Every process reads the rules of the app again: forgetRules in areas/roles/actions.ts.
  insert into revocations (app_no, kind, id) values (p_app_no, 'app', 'rules ' || gen_random_uuid());
end $$;

CREATE FUNCTION public.import_sanction(p_app_no integer, p_sanction jsonb) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_uid text := p_sanction ->> 'uid';
  v_guid text := coalesce(p_sanction ->> 'guid', '');
  v_until timestamptz := to_timestamp((p_sanction ->> 'until')::float8);
  v_created timestamptz := coalesce(to_timestamp((p_sanction ->> 'createdAt')::float8), now());
  v_id bigint;
begin
  if v_until <= now() then return false; end if;
  perform check_user(p_app_no, v_uid);
  if v_guid <> '' then
    if not exists (select from groups where app_no = p_app_no and guid = v_guid and removed_at is null) then
      perform refuse('ERR_GUID_NOT_FOUND', jsonb_build_object('guid', v_guid));
    end if;
    if p_sanction ->> 'sanction' = 'ban'
      and not exists (select from bans where app_no = p_app_no and guid = v_guid and uid = v_uid)
    then
      perform refuse('ERR_NOT_A_BANNED_USER', jsonb_build_object('uid', v_uid));
    end if;
  end if;
  insert into sanctions as s (app_no, id, uid, kind, guid, until, reason, created_at, updated_at)
  values (p_app_no, greatest(tick(), 1 + (select max(id) from sanctions where app_no = p_app_no)), v_uid,
    p_sanction ->> 'sanction', v_guid, v_until, p_sanction ->> 'reason', v_created,
    coalesce(to_timestamp((p_sanction ->> 'updatedAt')::float8), v_created))
  -- One that has ended is there until its job has run.
  on conflict (app_no, uid, kind, guid) do update set
    until = excluded.until, reason = excluded.reason, created_at = excluded.created_at, updated_at = excluded.updated_at
  where s.until <= now()
  returning s.id into v_id;
  if v_id is null then return false; end if;
  -- As sanctionChange in platform/cells/revocations.ts.
  insert into revocations (app_no, kind, id) values (p_app_no, 'app', 'sanction ' || v_uid || ' ' || gen_random_uuid());
  if v_until is not null then
    perform enqueue_job(p_app_no, 'sanctions.end', jsonb_build_object('id', v_id::text), v_until - clock_timestamp());
  end if;
  return true;
end $$;

CREATE FUNCTION public.import_save(p_app_no integer, p_save jsonb, p_limits jsonb) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_id bigint := message_of_item(p_app_no, p_save);
  v_uid text := p_save ->> 'uid';
  m messages;
begin
  perform check_user(p_app_no, v_uid);
  select * into m from messages where app_no = p_app_no and id = v_id and deleted_at is null
    and category not in ('action', 'call');
  if found and not m.saved then
    perform from conversations where app_no = p_app_no and no = m.conversation for no key update;
    update messages set saved = true where app_no = p_app_no and id = v_id and deleted_at is null;
  end if;
  perform from messages where app_no = p_app_no and id = m.id and deleted_at is null for share;
  if not found then
    perform refuse('ERR_MESSAGE_ID_NOT_FOUND', jsonb_build_object('id', coalesce(p_save ->> 'muid', p_save ->> 'messageId')));
  end if;
  insert into saves (app_no, uid, message_id, saved_at)
  values (p_app_no, v_uid, v_id, coalesce(to_timestamp((p_save ->> 'savedAt')::float8), clock_timestamp()))
  on conflict do nothing;
  if not found then return false; end if;
  -- As saves.count: messages that the user can't see any more don't count.
  if (select count(*) from saves s
        join messages k on k.app_no = s.app_no and k.id = s.message_id and k.deleted_at is null
        join inbox i on i.app_no = s.app_no and i.conversation = k.conversation and i.uid = s.uid
      where s.app_no = p_app_no and s.uid = v_uid and k.id > i.cleared_id and (i.kind = 'user' or i.scope is not null))
    > (p_limits ->> 'saved')::int
  then
    perform refuse('ERR_SAVED_MESSAGES_LIMIT_EXCEEDED', jsonb_build_object('limit', p_limits -> 'saved'));
  end if;
  return true;
end $$;

CREATE FUNCTION public.import_user(p_app_no integer, p_user jsonb, p_parent boolean, p_limits jsonb DEFAULT '{}'::jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_bot boolean := coalesce((p_user -> 'bot')::boolean, false);
  v_role text := coalesce(p_user ->> 'role', 'default');
  v_gone timestamptz := to_timestamp((p_user ->> 'deactivatedAt')::float8);
begin
  if p_parent and exists (select from users where app_no = p_app_no and uid = p_user ->> 'uid') then return; end if;
  -- As for new bots: their number is exact.
  if v_bot then perform from apps where app_no = p_app_no for no key update; end if;
  if v_role <> 'default' then
    perform from roles where app_no = p_app_no and role = v_role and removed_at is null for share;
    if not found then perform refuse('ERR_ROLE_NOT_FOUND', jsonb_build_object('role', v_role)); end if;
  end if;
  insert into users
    (app_no, uid, name, avatar, link, role, status_message, metadata, tags, created_at, updated_at, last_active_at,
     deactivated_at, bot)
  select p_app_no, p_user ->> 'uid', p_user ->> 'name', p_user ->> 'avatar', p_user ->> 'link', v_role,
    p_user ->> 'statusMessage', p_user -> 'metadata',
    coalesce(array(select jsonb_array_elements_text(p_user -> 'tags')), '{}'),
    coalesce(to_timestamp((p_user ->> 'createdAt')::float8), now()), to_timestamp((p_user ->> 'updatedAt')::float8),
    to_timestamp((p_user ->> 'lastActiveAt')::float8), v_gone, v_bot
  where p_user ->> 'uid' not in ('app_system', 'app_erased')
  on conflict do nothing;
  if not found then
    if p_parent then return; end if;
    perform refuse('ERR_UID_ALREADY_EXISTS', jsonb_build_object('uid', p_user ->> 'uid'));
  end if;
  if v_bot and (select count(*) from users where app_no = p_app_no and bot and removed_at is null)
    > (p_limits ->> 'bots')::int
  then
    perform refuse('ERR_PLAN_QUOTA_RESTRICTION', jsonb_build_object('limit', p_limits -> 'bots', 'what', 'bots per app'));
  end if;
  perform add_total(p_app_no, case when v_gone is null then 'users.active' else 'users.deactivated' end, 1);
end $$;

CREATE FUNCTION public.import_view(p_app_no integer, p_view jsonb, p_limits jsonb) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_uid text := p_view ->> 'uid';
  v_pinned timestamptz := to_timestamp((p_view ->> 'pinnedAt')::float8);
  i inbox;
begin
  perform check_user(p_app_no, v_uid);
  select o.* into i from inbox o join conversations h on h.app_no = o.app_no and h.no = o.conversation
  where o.app_no = p_app_no and o.uid = v_uid and o.kind = p_view ->> 'receiverType' and o.with_id = p_view ->> 'receiver'
    and h.shown_id > o.cleared_id and (o.kind = 'user' or o.scope is not null)
  for no key update of o;
  if not found then perform refuse('ERR_CONVERSATION_NOT_ACCESSIBLE'); end if;
  if i.tags <> '{}' or i.pinned_at is not null then return false; end if;
  update inbox set tags = coalesce(array(select jsonb_array_elements_text(p_view -> 'tags')), '{}'), pinned_at = v_pinned
  where app_no = p_app_no and uid = v_uid and kind = i.kind and with_id = i.with_id;
  if v_pinned is not null
    and (select count(*) from inbox where app_no = p_app_no and uid = v_uid and pinned_at is not null)
      > (p_limits ->> 'pins')::int
  then
    perform refuse('ERR_PINNED_CONVERSATIONS_LIMIT_EXCEEDED');
  end if;
  return true;
end $$;

CREATE FUNCTION public.insert_message(h public.conversations, p_sender text, p_category text, p_type text, p_data jsonb, p_tags text[], p_muid text, p_parent bigint, p_quoted bigint, p_counts boolean, p_shows boolean) RETURNS public.messages
    LANGUAGE plpgsql
    AS $$
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

CREATE TABLE public.calls (
    app_no integer NOT NULL,
    id bigint NOT NULL,
    conversation bigint NOT NULL,
    kind text NOT NULL,
    receiver text NOT NULL COLLATE pg_catalog."C",
    initiator text NOT NULL COLLATE pg_catalog."C",
    type text NOT NULL,
    mode text NOT NULL,
    status text NOT NULL,
    mid uuid DEFAULT gen_random_uuid() NOT NULL,
    joined integer DEFAULT 0 NOT NULL,
    initiated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    lone_since timestamp with time zone,
    media_server text,
    media_lost_at timestamp with time zone,
    media_version integer DEFAULT 0 NOT NULL,
    recording_since timestamp with time zone,
    recorded boolean DEFAULT false NOT NULL,
    transcribed boolean DEFAULT false NOT NULL,
    CONSTRAINT calls_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'group'::text]))),
    CONSTRAINT calls_mode_check CHECK ((mode = ANY (ARRAY['call'::text, 'meet'::text, 'presenter'::text]))),
    CONSTRAINT calls_status_check CHECK ((status = ANY (ARRAY['initiated'::text, 'ongoing'::text, 'ended'::text, 'unanswered'::text, 'rejected'::text, 'cancelled'::text, 'busy'::text]))),
    CONSTRAINT calls_type_check CHECK ((type = ANY (ARRAY['audio'::text, 'video'::text])))
);

CREATE FUNCTION public.is_active(c public.calls) RETURNS boolean
    LANGUAGE sql
    RETURN (((c).status = 'ongoing'::text) OR (((c).status = 'initiated'::text) AND ((c).initiated_at > (clock_timestamp() - '00:00:45'::interval))));

CREATE FUNCTION public.is_copied(p_category text, p_type text, p_tags text[], p_data text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    RETURN ((p_category = 'message'::text) AND (p_type = 'text'::text) AND (p_tags = '{}'::text[]) AND (octet_length(p_data) <= 500));

CREATE FUNCTION public.is_for_person(p_app_no integer, p_agent text, p_uid text, p_message bigint) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select exists (select from agent_handovers
      where app_no = p_app_no and agent_uid = p_agent and uid = p_uid and closed_at is null)
    or coalesce((select upto_id from agent_handovers
      where app_no = p_app_no and agent_uid = p_agent and uid = p_uid and upto_id is not null
      order by upto_id desc limit 1) >= p_message, false)
$$;

CREATE FUNCTION public.taken_ids(p_app_no integer, p_conversation bigint, p_ids bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql STABLE
    AS $$
begin
  -- Each by its key: a plan for any number of ids could scan all messages.
  return array(
    select w.id from unnest(p_ids) w (id) cross join lateral (
      select from messages where app_no = p_app_no and id = w.id
      union all select from held_messages where app_no = p_app_no and id = w.id
      union all select from gone_messages where app_no = p_app_no and id = w.id
      union all select from uncounted where app_no = p_app_no and conversation = p_conversation and id = w.id
      limit 1) there);
end $$;

CREATE FUNCTION public.is_id_taken(p_app_no integer, p_conversation bigint, p_id bigint) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN (public.taken_ids(p_app_no, p_conversation, ARRAY[p_id]) <> '{}'::bigint[]);

CREATE FUNCTION public.is_replay(p_app_no integer, p_run uuid) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select exists (select from agent_replays where app_no = p_app_no and replay_id = p_run)
$$;

CREATE FUNCTION public.job_clock() RETURNS timestamp with time zone
    LANGUAGE sql
    RETURN clock_timestamp();

CREATE FUNCTION public.keep_agent_run(p_app_no integer, p_run uuid) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
  perform from agent_runs where app_no = p_app_no and run_id = p_run for key share;
  if found then return true; end if;
  perform from agent_replays where app_no = p_app_no and replay_id = p_run for key share;
  return found;
end $$;

CREATE FUNCTION public.leave_calls(p_app_no integer, p_uid text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if exists (select from call_participants
    where app_no = p_app_no and uid = p_uid and state in ('waiting', 'ongoing'))
  then
    perform enqueue_job(p_app_no, 'calls.leave', jsonb_build_object('uid', p_uid));
  end if;
end $$;

CREATE FUNCTION public.lexeme_query(p_lexeme text) RETURNS tsquery
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (((''''::text || replace(replace(p_lexeme, '\'::text, '\\'::text), ''''::text, ''''''::text)) || ''''::text))::tsquery;

CREATE FUNCTION public.lock_handed_over(p_app_no integer, p_conversation bigint, p_agent text, p_uid text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
begin
  perform from conversations where app_no = p_app_no and no = p_conversation for no key update;
  return exists (select from agent_handovers
    where app_no = p_app_no and agent_uid = p_agent and uid = p_uid and closed_at is null);
end $$;

CREATE FUNCTION public.lock_lease(p_job text, p_worker uuid, p_epoch bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform from leases
  where job = p_job and worker_id = p_worker and epoch = p_epoch
  for no key update;
  if not found or not exists (
    select from workers where worker_id = p_worker and expires_at > clock_timestamp()
  ) then
    raise exception 'lease on % lost', p_job using errcode = 'LQ001';
  end if;
end $$;

CREATE FUNCTION public.lock_mentioned_users(p_app_no integer, p_uids text[]) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
declare
  v_there jsonb;
begin
  -- Look up each user by key: a plan for any number of them could scan all users. For JSON the planner
  -- always expects the same number of elements, so it keeps the plan.
  select jsonb_object_agg(there.uid, there.record) into v_there
  from (select value as uid from json_array_elements_text(array_to_json(p_uids))
    order by value collate "C") wanted, lateral (
    select u.uid, user_record(u) as record from users u
    where u.app_no = p_app_no and u.uid = wanted.uid and u.removed_at is null
    limit 1 for share) there;
  return v_there;
end $$;

CREATE FUNCTION public.lock_message(p_app_no integer, p_id bigint, p_uid text, OUT conversation bigint, OUT category text, OUT deleted boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.lock_reactions(p_app_no integer, p_id bigint) RETURNS void
    LANGUAGE sql
    RETURN pg_advisory_xact_lock(p_app_no, hashint8(p_id));

CREATE FUNCTION public.lock_runs_of_user(p_app_no integer, p_uid text) RETURNS void
    LANGUAGE sql
    RETURN pg_advisory_xact_lock(hashtextextended(('runs '::text || p_uid), (p_app_no)::bigint));

CREATE FUNCTION public.lock_serial_key(p_app_no integer, p_key text) RETURNS void
    LANGUAGE sql
    RETURN pg_advisory_xact_lock(hashtextextended(p_key, ((p_app_no)::bigint + 1)));

CREATE FUNCTION public.lock_users(p_users json) RETURNS void
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
begin
  perform from users u
  where (u.app_no, u.uid) in (
    select app_no, uid from json_to_recordset(p_users) as c (app_no int, uid text collate "C"))
  order by u.app_no, u.uid for no key update;
end $$;

CREATE FUNCTION public.log_after(p_app_no integer, p_after bigint, OUT base bigint, OUT upto bigint, OUT lost_after bigint) RETURNS record
    LANGUAGE plpgsql STABLE
    AS $$
declare
  b record;
begin
  base := p_after;
  for b in
    select last, next from log_breaks where app_no = p_app_no and next > p_after order by last
  loop
    if b.last < base then
      lost_after := b.last;
      return;
    elsif b.last > base then
      upto := b.last;
      return;
    end if;
    base := b.next;
  end loop;
end $$;

CREATE FUNCTION public.logged_events(p_app_no integer, p_after bigint, p_limit integer, p_upto bigint DEFAULT '9223372036854775807'::bigint, p_types text[] DEFAULT NULL::text[], p_since bigint[] DEFAULT NULL::bigint[]) RETURNS TABLE("position" bigint, type text, key text, payload json, at timestamp with time zone, day date, active_uid text, counts_as text)
    LANGUAGE plpgsql STABLE
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
#variable_conflict use_column
begin
  return query
  select position, type, key, payload, at, day, active_uid, counts_as from events
  where app_no = p_app_no and position > p_after and position <= p_upto
    and (p_types is null or type = any (p_types))
    and (p_since is null or position > p_since[array_position(p_types, type)])
  order by position limit p_limit;
end $$;

CREATE FUNCTION public.mark_conversation(p_app_no integer, p_uid text, p_kind text, p_with text, p_what text, p_message_id bigint, OUT receipt boolean, OUT moved boolean, OUT conversation bigint, OUT at timestamp with time zone, OUT message_id bigint, OUT sender text, OUT senders text[]) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  i inbox;
  h conversations;
  m messages;
  s messages;
  v_upto bigint;
  v_counted bigint;
  v_marked bigint;
begin
  receipt := false;
  moved := false;
  if p_kind = 'user' then
    select * into h from conversations c
    where c.app_no = p_app_no and c.kind = 'user' and c.one = least(p_uid collate "C", p_with collate "C")
      and c.other = greatest(p_uid collate "C", p_with collate "C")
    for no key update;
  end if;
  select * into i from inbox
  where app_no = p_app_no and uid = p_uid and kind = p_kind and with_id = p_with
  for no key update;
  if not found or (p_kind = 'group' and i.scope is null) then
    perform refuse('ERR_CONVERSATION_NOT_ACCESSIBLE');
  end if;
  if p_kind = 'group' then
    select * into h from conversations c where c.app_no = p_app_no and c.no = i.conversation;
  end if;
  if h.shown_id <= i.cleared_id then perform refuse('ERR_CONVERSATION_NOT_ACCESSIBLE'); end if;
  conversation := h.no;
  at := clock_timestamp();

  if p_message_id is null then
    v_upto := h.last_id;
    v_counted := h.counted;
    select * into m from messages k
    where k.app_no = p_app_no and k.conversation = h.no and k.id <= h.last_id
    order by k.id desc limit 1;
    -- A held message at the end stays unmarked, so that it is unread when it is released.
    if m.id is distinct from h.last_id and exists (select from held_messages k
      where k.app_no = p_app_no and k.conversation = h.no and k.id > coalesce(m.id, 0))
    then
      v_upto := coalesce(m.id, i.read_id);
      v_counted := coalesce(m.counted, i.read_counted);
    end if;
  else
    select * into m from messages k where k.app_no = p_app_no and k.id = p_message_id;
    if not found or m.conversation <> h.no or m.id <= i.cleared_id then
      -- `unseen`: the user doesn't take part there, so the error must not reveal the message.
      perform refuse(
        case when m.conversation <> h.no then 'ERR_BAD_REQUEST' else 'ERR_MESSAGE_ID_NOT_FOUND' end,
        jsonb_build_object('id', p_message_id, 'reason', 'The message belongs to another conversation.',
          'unseen', not exists (select from inbox o
            where o.app_no = p_app_no and o.conversation = m.conversation and o.uid = p_uid
              and (o.kind = 'user' or o.scope is not null))));
    end if;
    -- If it was sent after the head was read, the mark stops at the head.
    v_upto := least(m.id, h.last_id);
    v_counted := least(m.counted, h.counted);
  end if;
  message_id := m.id;
  sender := m.sender;

  if p_what = 'unread' then
    if v_upto >= i.read_id then return; end if;
  else
    -- A message that was read was delivered. Two lookups at the end of the index: one for both kinds
    -- would read all marks.
    v_marked := coalesce(greatest(
      (select max(k.upto_id) from marks k where k.app_no = p_app_no and k.conversation = h.no
        and k.uid = p_uid and k.kind = 'read'),
      (select max(k.upto_id) from marks k where k.app_no = p_app_no and k.conversation = h.no
        and k.uid = p_uid and k.kind = p_what)), 0);
    if v_upto > v_marked and not h.blocked_one and not h.blocked_other then
      m := newest_of_others(h, p_uid, v_marked, v_upto);
    else
      m := null;
    end if;
    if m.id is not null then
      -- No other kind gets into the table: the column is never null.
      insert into marks (app_no, conversation, uid, kind, upto_id, at)
      values (p_app_no, h.no, p_uid, case when p_what in ('delivered', 'read') then p_what end, m.id,
        mark_conversation.at);
      if h.kind = 'user' and h.one <> h.other and m.id >= h.shown_id then
        s := m;
        if m.id > h.shown_id then
          select * into s from messages k where k.app_no = p_app_no and k.id = h.shown_id;
        end if;
        if receiver_of(s, h) = p_uid then
          update conversations c set
            delivered_at = case p_what when 'delivered' then coalesce(c.delivered_at, mark_conversation.at)
              else c.delivered_at end,
            read_at = case p_what when 'read' then coalesce(c.read_at, mark_conversation.at) else c.read_at end
          where c.app_no = p_app_no and c.no = h.no;
        end if;
      end if;
      m := message_of_receipt(h, p_uid, v_marked, m);
    end if;
    if m.id is not null then
      receipt := true;
      message_id := m.id;
      sender := m.sender;
      if h.kind = 'group' then
        senders := array(
          select distinct k.sender from (
            select c.sender from messages c
            where c.app_no = p_app_no and c.conversation = h.no and c.id > v_marked
              and c.id <= m.id and (c.category <> 'action' or c.type <> 'message')
            order by c.id desc limit 100) k
          where k.sender not in (p_uid, 'app_system'));
      end if;
    end if;
    if p_what = 'delivered' or v_upto <= i.read_id then return; end if;
  end if;

  moved := true;
  update inbox set read_id = v_upto, read_counted = v_counted,
    own_since = case when v_upto = h.last_id then 0 else (
      select count(*) from messages k
      where k.app_no = p_app_no and k.conversation = h.no and k.sender = p_uid
        and k.id > v_upto and k.counts and k.deleted_at is null) end
  where app_no = p_app_no and uid = p_uid and kind = p_kind and with_id = p_with;
end $$;

CREATE FUNCTION public.mention_recipients(h public.conversations, p_by text, p_uids text[]) RETURNS SETOF text
    LANGUAGE plpgsql STABLE
    AS $$
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

CREATE TABLE public.muids (
    app_no integer NOT NULL,
    sender text NOT NULL COLLATE pg_catalog."C",
    muid text NOT NULL COLLATE pg_catalog."C",
    target text NOT NULL COLLATE pg_catalog."C",
    message_id bigint
);

CREATE FUNCTION public.message_of_item(p_app_no integer, p_item jsonb) RETURNS bigint
    LANGUAGE sql STABLE
    RETURN COALESCE((SELECT u.message_id FROM public.muids u WHERE ((u.app_no = message_of_item.p_app_no) AND (u.sender = ''::text) AND (u.target = ''::text) AND (u.muid = COALESCE(('muid:'::text || (message_of_item.p_item ->> 'muid'::text)), ('id:'::text || (message_of_item.p_item ->> 'messageId'::text)))))), ((p_item ->> 'messageId'::text))::bigint);

CREATE FUNCTION public.message_of_receipt(h public.conversations, p_uid text, p_after bigint, p_newest public.messages) RETURNS public.messages
    LANGUAGE plpgsql
    AS $$
declare
  m messages;
begin
  if p_newest.category <> 'action' or p_newest.type <> 'message' then return p_newest; end if;
  select * into m from (
    select * from messages
    where app_no = h.app_no and conversation = h.no and id > p_after and id < p_newest.id
    order by id desc limit 1000) looked
  where sender <> p_uid and (category <> 'action' or type <> 'message')
  order by id desc limit 1;
  return m;
end $$;

CREATE FUNCTION public.receiver_of(m public.messages, h public.conversations) RETURNS text
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN (((h).kind = 'group'::text) OR ((m).sender = (h).other)) THEN (h).one WHEN ((m).sender = (h).one) THEN (h).other ELSE COALESCE(((m).data #>> '{entities,for,entity,uid}'::text[]), (h).one) END;

CREATE FUNCTION public.message_text(m public.messages, h public.conversations) RETURNS text
    LANGUAGE sql STABLE
    RETURN concat('{"id":"', (m).id, '"', (',"muid":'::text || (to_json((m).muid))::text), ',"conversationId":', to_json(public.conversation_id((h).kind, (h).one, (h).other)), ',"sender":', to_json((m).sender), ',"receiverType":"', (h).kind, '","receiver":', to_json(public.receiver_of(m, h)), ',"category":', to_json((m).category), ',"type":', to_json((m).type), ((',"parentId":"'::text || ((m).parent_id)::text) || '"'::text), ((',"quotedMessageId":"'::text || ((m).quoted_id)::text) || '"'::text), (',"tags":'::text || (CASE WHEN (((m).tags <> '{}'::text[]) AND ((m).deleted_at IS NULL)) THEN to_json((m).tags) ELSE NULL::json END)::text), ',"sentAt":', public.id_second((m).id), ',"updatedAt":', COALESCE(public.unix((m).updated_at), public.id_second((m).id)), (',"editedAt":'::text || (public.unix((m).edited_at))::text), (',"editedBy":'::text || (to_json((m).edited_by))::text), (',"deletedAt":'::text || (public.unix((m).deleted_at))::text), (',"deletedBy":'::text || (to_json((m).deleted_by))::text), (',"pinnedAt":'::text || (public.unix((m).pinned_at))::text), (',"pinnedBy":'::text || (to_json((m).pinned_by))::text));

CREATE FUNCTION public.message_record(m public.messages, h public.conversations) RETURNS jsonb
    LANGUAGE sql STABLE
    RETURN (concat(public.message_text(m, h), ',"data":', (m).data, '}'))::jsonb;

CREATE FUNCTION public.message_snapshot(m public.messages, h public.conversations) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
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

CREATE FUNCTION public.moderation_of(p_verdict jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    RETURN jsonb_strip_nulls(jsonb_build_object('status', (p_verdict -> 'status'::text), 'rule', CASE WHEN (p_verdict ? 'rule'::text) THEN jsonb_build_object('id', (p_verdict #> '{rule,id}'::text[]), 'name', (p_verdict #> '{rule,name}'::text[])) ELSE NULL::jsonb END));

CREATE FUNCTION public.newest_of_others(h public.conversations, p_uid text, p_after bigint, p_upto bigint) RETURNS public.messages
    LANGUAGE plpgsql
    AS $$
declare
  m messages;
begin
  if h.kind = 'group' then
    select * into m from (
      select * from messages
      where app_no = h.app_no and conversation = h.no and id > p_after and id <= p_upto
      order by id desc limit 1000) looked
    where sender <> p_uid order by id desc limit 1;
  else
    select sent.* into m
    from unnest(array[h.one, h.other, 'app_system']) as other (uid) cross join lateral (
      select * from messages
      where app_no = h.app_no and conversation = h.no and sender = other.uid
        and id > p_after and id <= p_upto
      order by id desc limit 1) sent
    where other.uid <> p_uid order by sent.id desc limit 1;
  end if;
  return m;
end $$;

CREATE FUNCTION public.next_job_time(p_every integer, p_at time without time zone, p_zone text, p_days smallint[], p_after timestamp with time zone) RETURNS timestamp with time zone
    LANGUAGE sql STABLE
    RETURN CASE WHEN (p_every IS NOT NULL) THEN (date_bin(make_interval(secs => (p_every)::double precision), p_after, '1970-01-01 00:00:00+00'::timestamp with time zone) + make_interval(secs => (p_every)::double precision)) ELSE (SELECT min(((d.day + next_job_time.p_at) AT TIME ZONE next_job_time.p_zone)) AS min FROM generate_series(0, 8) n(n), LATERAL (SELECT (((next_job_time.p_after AT TIME ZONE next_job_time.p_zone))::date + n.n) AS day) d WHERE (((next_job_time.p_days IS NULL) OR (EXTRACT(isodow FROM d.day) = ANY ((next_job_time.p_days)::numeric[]))) AND (((d.day + next_job_time.p_at) AT TIME ZONE next_job_time.p_zone) > next_job_time.p_after))) END;

CREATE FUNCTION public.open_conversation(p_app_no integer, p_uid text, p_with text) RETURNS public.conversations
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.open_view(h public.conversations, p_uid text, p_with text, p_own integer, p_shows boolean, OUT visible integer, OUT unblocked integer) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.partition_name(p_log text, p_day date) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
  if p_log not in ('event_bodies', 'event_positions', 'webhook_deliveries', 'notification_logs') then
    raise exception '% is not a log', p_log using errcode = 'invalid_parameter_value';
  end if;
  return p_log || to_char(p_day, '_YYYYMMDD');
end $$;

CREATE FUNCTION public.purge_app(p_app_no integer, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    AS $_$
declare
  v_table regclass;
  v_rows int;
  v_gone boolean;
begin
  delete from event_bodies b using (
    (select body_id as id, body_day as day from event_positions
     where app_no = p_app_no order by position limit p_limit)
    union all
    (select id, day from outbox where app_no = p_app_no limit p_limit)
  ) gone
  where b.id = gone.id and b.day = gone.day;
  get diagnostics v_rows = row_count;
  v_gone := v_rows = 0;
  delete from event_positions where app_no = p_app_no and position in (
    select position from event_positions where app_no = p_app_no order by position limit p_limit);
  get diagnostics v_rows = row_count;
  v_gone := v_gone and v_rows = 0;
  for v_table in
    select c.oid::regclass
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'app_no'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and not c.relispartition and c.relname not in ('apps', 'event_bodies', 'event_positions')
    order by c.relname
  loop
    execute format(
      'delete from %1$s where app_no = $1 and ctid = any (array('
      'select ctid from %1$s where app_no = $1 limit $2))', v_table)
    using p_app_no, p_limit;
    get diagnostics v_rows = row_count;
    v_gone := v_gone and v_rows = 0;
  end loop;
  if v_gone then delete from apps where app_no = p_app_no; end if;
  return v_gone;
end $_$;

CREATE FUNCTION public.queue_fanouts(p_job text, p_worker uuid, p_epoch bigint, p_app_no integer, p_types text[], p_limit integer, OUT queued integer, OUT more boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  v_after bigint;
  v_read int;
  v_to bigint;
  v_reached bigint;
  v_mails boolean;
  stretch record;
begin
  perform lock_lease(p_job, p_worker, p_epoch);
  queued := 0;
  more := false;
  select position into v_after from notifier_progress where app_no = p_app_no for no key update;
  select * into stretch from stretch_after(p_app_no, v_after);
  if stretch.last is null then return; end if;
  v_to := stretch.upto;
  if stretch.kept then
    v_mails := exists (select from notification_providers p
      where p.app_no = p_app_no and p.channel in ('email', 'sms') and p.enabled);
    with found as materialized (
      select position, type, key, payload, at
      from logged_events(p_app_no, stretch.base, p_limit, v_to, p_types)
    ), stored as (
      insert into notification_fanouts (app_no, position, key)
      select p_app_no, f.position, f.key from found f
      where f.at > now() - interval '24 hours'
        and (f.type not in ('conversation.read', 'conversation.mark.moved') or exists (
          select from notification_shown s
          where s.app_no = p_app_no and s.conversation = split_part(f.key, 'conversation:', 2)::bigint
            and s.uid = f.payload ->> 'uid'))
      returning 1
    ), batched as materialized (
      select start_batches(p_app_no, split_part(f.key, 'conversation:', 2)::bigint,
        (f.payload #>> '{message,id}')::bigint)
      from found f
      where v_mails and f.type = 'message.sent' and f.at > now() - interval '24 hours'
    )
    select (select count(*) from found), (select max(position) from found), (select count(*) from stored)
    from (select count(*) from batched) b
    into v_read, v_reached, queued;
    if v_read = p_limit then v_to := v_reached; end if;
  end if;
  update notifier_progress set position = v_to where app_no = p_app_no;
  more := v_to < stretch.last;
end $$;

CREATE FUNCTION public.quote_message(h public.conversations, p_sender text, p_id bigint) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.reached_id(i public.inbox, p_kind text) RETURNS bigint
    LANGUAGE sql STABLE
    RETURN GREATEST((i).read_id, (SELECT max(k.upto_id) AS max FROM public.marks k WHERE ((k.app_no = (reached_id.i).app_no) AND (k.conversation = (reached_id.i).conversation) AND (k.uid = (reached_id.i).uid) AND (k.kind = 'read'::text))), CASE WHEN (p_kind = 'delivered'::text) THEN (SELECT max(k.upto_id) AS max FROM public.marks k WHERE ((k.app_no = (reached_id.i).app_no) AND (k.conversation = (reached_id.i).conversation) AND (k.uid = (reached_id.i).uid) AND (k.kind = 'delivered'::text))) ELSE NULL::bigint END);

CREATE FUNCTION public.record_activity(p_app_no integer, p_day date, p_uids text[]) RETURNS void
    LANGUAGE sql
    SET enable_seqscan TO 'off'
    AS $$
  with users as materialized (
    select distinct uid collate "C" as uid from unnest(p_uids) u (uid)
  ), old as (
    select uid, a.day from users join usage_activity a using (uid)
    where a.app_no = p_app_no and a.day < p_day
  ), back as (
    update usage_activity a set day = p_day from old
    where a.app_no = p_app_no and a.uid = old.uid
    returning old.day as before
  ), fresh as (
    insert into usage_activity (app_no, uid, day)
    select p_app_no, uid, p_day from users
    on conflict do nothing
    returning date '-infinity' as before
  )
  insert into usage_returns as r (app_no, day, before, users)
  select p_app_no, p_day, before, count(*)
  from (select before from back union all select before from fresh) active group by before
  on conflict (app_no, day, before) do update set users = r.users + excluded.users
$$;

CREATE FUNCTION public.record_deliveries(p_job text, p_worker uuid, p_epoch bigint, p_app_no integer, p_webhook bigint, p_stored bigint, p_position bigint, p_batch json, OUT hopeless boolean, OUT restarted boolean) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  v_failures int := (p_batch ->> 'failures')::int;
  v_succeeded boolean := (p_batch ->> 'succeeded')::boolean;
  v_waiting boolean := (p_batch ->> 'waiting')::boolean;
  v_wait double precision := (p_batch ->> 'waitSeconds')::double precision;
  v_probes int := coalesce((p_batch ->> 'probes')::int, 0);
  v_failed boolean := exists (
    select from json_to_recordset(p_batch -> 'attempts') as a (status int)
    where coalesce(a.status, 0) not between 200 and 299);
  v_waited boolean;
  v_id bigint;
begin
  perform lock_lease(p_job, p_worker, p_epoch);
  select waits_until is not null, position <> p_stored into v_waited, restarted from webhook_progress
  where app_no = p_app_no and webhook_no = p_webhook for no key update;
  if not found or restarted then return; end if;
  -- The first failure of a wait has probes = 1. Any later one finds the wait here, unless it was ended.
  restarted := v_waiting and v_probes > 1 and not v_waited;
  if restarted then
    v_waiting := false;
    v_failures := 0;
    v_probes := 0;
  end if;

  update webhook_progress set position = p_position,
    failures = v_failures,
    failing_since = case when v_failures = 0 then null
      when v_failed and (v_succeeded or failed_at < now() - interval '2 days') then now()
      else coalesce(failing_since, now()) end,
    failed_at = case when v_failed then now() else failed_at end,
    probes = v_probes,
    waits_until = case when v_waiting then coalesce(now() + make_interval(secs => v_wait), waits_until) end
  where app_no = p_app_no and webhook_no = p_webhook
  returning v_failed and failing_since < now() - interval '5 days' into hopeless;

  -- Ids carry their time: a number that all apps share would tell one how busy the others are. The lock
  -- on webhook_progress makes them unique.
  v_id := greatest(tick(), 1 + (
    select id from webhook_deliveries where app_no = p_app_no and webhook_no = p_webhook
    order by id desc limit 1));
  insert into webhook_deliveries
    (app_no, webhook_no, id, position, type, try, status, error, duration_ms, answer, at, day)
  select p_app_no, p_webhook, v_id + a.nth - 1, a.position, a.type, a.try, a.status, a.error,
    a.ms, a.answer, to_timestamp(a.at / 1000.0), (now() at time zone 'utc')::date
  from rows from (json_to_recordset(p_batch -> 'attempts') as (position bigint, type text, try int,
    status int, error text, ms int, answer text, at bigint))
    with ordinality as a (position, type, try, status, error, ms, answer, at, nth);

  if p_batch -> 'queued' is not null then
    insert into webhook_backlog (app_no, webhook_no, key, position)
    select p_app_no, p_webhook, q.key, q.position
    from json_to_recordset(p_batch -> 'queued') as q (key text, position bigint)
    on conflict do nothing;
    insert into webhook_parked (app_no, webhook_no, key)
    select distinct p_app_no, p_webhook, q.key
    from json_to_recordset(p_batch -> 'queued') as q (key text)
    order by q.key
    on conflict do nothing;
  end if;

  if p_batch -> 'done' is not null then
    delete from webhook_backlog b
    using json_to_recordset(p_batch -> 'done') as d (key text, position bigint)
    where b.app_no = p_app_no and b.webhook_no = p_webhook
      and b.key = d.key and b.position = d.position;
    -- A replayed event that was delivered is no dead letter any more. New dead letters follow below.
    delete from webhook_dead_letters l
    using json_to_recordset(p_batch -> 'done') as d (position bigint)
    where l.app_no = p_app_no and l.webhook_no = p_webhook and l.position = d.position;
    -- Keys with more events are due now, with their first attempt.
    update webhook_parked p set tries = 0, retry_at = now()
    from (select distinct d.key from json_to_recordset(p_batch -> 'done') as d (key text)) done
    where p.app_no = p_app_no and p.webhook_no = p_webhook and p.key = done.key;
    delete from webhook_parked p
    using (select distinct d.key from json_to_recordset(p_batch -> 'done') as d (key text)) done
    where p.app_no = p_app_no and p.webhook_no = p_webhook and p.key = done.key
      and not exists (
        select from webhook_backlog b
        where b.app_no = p_app_no and b.webhook_no = p_webhook and b.key = p.key);
  end if;

  if p_batch -> 'dead' is not null then
    insert into webhook_dead_letters (app_no, webhook_no, position, upto, type, reason)
    select p_app_no, p_webhook, d.position, d.upto, d.type, d.reason
    from json_to_recordset(p_batch -> 'dead') as d (position bigint, upto bigint, type text, reason text)
    on conflict (app_no, webhook_no, position) do update
    set upto = excluded.upto, reason = excluded.reason, at = excluded.at;
  end if;

  if p_batch -> 'parked' is not null then
    update webhook_parked p
    set tries = f.tries, retry_at = now() + make_interval(secs => f.seconds)
    from json_to_recordset(p_batch -> 'parked') as f (key text, tries int, seconds double precision)
    where p.app_no = p_app_no and p.webhook_no = p_webhook and p.key = f.key;
  end if;

  -- The receiver answers again: retry all waiting keys now.
  if v_waited and not v_waiting then
    update webhook_parked set retry_at = now()
    where app_no = p_app_no and webhook_no = p_webhook and retry_at > now();
  end if;
end $$;

CREATE FUNCTION public.record_fanouts(p_job text, p_worker uuid, p_epoch bigint, p_app_no integer, p_batch json) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform lock_lease(p_job, p_worker, p_epoch);
  if p_batch -> 'begun' is not null then
    update notification_fanouts f set after_uid = b.after
    from json_to_recordset(p_batch -> 'begun') as b (position bigint, after text)
    where f.app_no = p_app_no and f.position = b.position;
  end if;
  if p_batch -> 'done' is not null then
    delete from notification_fanouts where app_no = p_app_no and position in (
      select value::bigint from json_array_elements_text(p_batch -> 'done'));
  end if;
  if p_batch -> 'held' is not null then
    insert into notification_held (app_no, uid, position, conversation, message_id, by_uid, until)
    select p_app_no, h.uid, h.position, h.conversation, h."messageId", h.by, to_timestamp(h.until / 1000.0)
    from json_to_recordset(p_batch -> 'held') as h (uid text, position bigint, conversation bigint,
      "messageId" bigint, by text, until bigint)
    on conflict (app_no, uid, position) do update set until = excluded.until;
  end if;
  if p_batch -> 'delayed' is not null then
    update notification_held h set until = to_timestamp(d."to" / 1000.0)
    from json_to_recordset(p_batch -> 'delayed') as d (uid text, until bigint, "to" bigint)
    where h.app_no = p_app_no and h.uid = d.uid and h.until <= to_timestamp(d.until / 1000.0);
  end if;
  if p_batch -> 'released' is not null then
    delete from notification_held h
    using json_to_recordset(p_batch -> 'released') as r (uid text, until bigint)
    where h.app_no = p_app_no and h.uid = r.uid and h.until <= to_timestamp(r.until / 1000.0);
  end if;
  if p_batch -> 'unshown' is not null then
    with gone as (
      select decode(u.hash, 'hex') as push_hash, u.conversation, u.ids
      from json_to_recordset(p_batch -> 'unshown') as u (hash text, conversation bigint, ids bigint[])
    ), left_over as (
      select g.push_hash, g.conversation,
        array(select id from unnest(s.ids) id where id <> all (g.ids)) as ids
      from gone g join notification_shown s on s.app_no = p_app_no and s.push_hash = g.push_hash
        and s.conversation = g.conversation
    ), removed as (
      delete from notification_shown s using left_over l
      where s.app_no = p_app_no and s.push_hash = l.push_hash and s.conversation = l.conversation
        and l.ids = '{}'
    )
    update notification_shown s set ids = l.ids from left_over l
    where s.app_no = p_app_no and s.push_hash = l.push_hash and s.conversation = l.conversation
      and l.ids <> '{}';
  end if;
  if p_batch -> 'deliveries' is not null then
    insert into notification_deliveries (app_no, channel, provider, uid, push_hash, conversation, position,
      message_id, what, by_uid, private, ids, due_at, expires_at)
    select p_app_no, d.channel, d.provider, d.uid, decode(d.hash, 'hex'), d.conversation, d.position,
      d."messageId", d.what, d.by, d.private, d.ids,
      greatest(now(), (
        select l.due_at from notification_deliveries l
        where l.app_no = p_app_no and l.uid = d.uid and l.push_hash = decode(d.hash, 'hex')
          and l.conversation = d.conversation
        order by l.id desc limit 1)),
      to_timestamp(d.expires / 1000.0)
    from rows from (json_to_recordset(p_batch -> 'deliveries') as (channel text, provider text, uid text,
      hash text, conversation bigint, position bigint, "messageId" bigint, what text, by text,
      private boolean, ids bigint[], expires bigint))
      with ordinality as d (channel, provider, uid, hash, conversation, position, "messageId", what, by,
        private, ids, expires, nth)
    order by d.nth;
  end if;
end $$;

CREATE FUNCTION public.record_notified(p_job text, p_worker uuid, p_epoch bigint, p_app_no integer, p_batch json) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform lock_lease(p_job, p_worker, p_epoch);
  if p_batch -> 'gone' is not null then
    delete from push_tokens t
    using json_to_recordset(p_batch -> 'gone') as g (hash text, before bigint)
    where t.app_no = p_app_no and t.push_hash = decode(g.hash, 'hex')
      and t.updated_at <= coalesce(to_timestamp(g.before / 1000.0), now());
  end if;
  if p_batch -> 'shown' is not null then
    -- Locked: a token that ends now would take the row with it before it is there.
    perform from push_tokens t
    where t.app_no = p_app_no and t.push_hash in (
      select d.push_hash from notification_deliveries d
      where d.app_no = p_app_no and d.id in (
        select value::bigint from json_array_elements_text(p_batch -> 'shown')))
    order by t.push_hash for key share;
    insert into notification_shown as s (app_no, push_hash, conversation, uid, ids)
    select p_app_no, d.push_hash, d.conversation, d.uid, array_agg(d.message_id order by d.id desc)
    from notification_deliveries d join push_tokens t
      on t.app_no = p_app_no and t.push_hash = d.push_hash and t.uid = d.uid
    where d.app_no = p_app_no and d.id in (
      select value::bigint from json_array_elements_text(p_batch -> 'shown'))
    group by d.push_hash, d.conversation, d.uid
    order by d.push_hash, d.conversation
    on conflict (app_no, push_hash, conversation) do update
    set uid = excluded.uid, shown_at = now(), ids = case when s.uid = excluded.uid
      then (excluded.ids || array(select id from unnest(s.ids) id where id <> all (excluded.ids)))[:100]
      else excluded.ids end;
  end if;
  if p_batch -> 'waiting' is not null then
    update notification_deliveries d
    set due_at = now() + make_interval(secs => w.seconds), tries = d.tries + (d.id = w.id)::int
    from json_to_recordset(p_batch -> 'waiting') as w (id bigint, seconds double precision)
    join notification_deliveries first on first.app_no = p_app_no and first.id = w.id
    where d.app_no = p_app_no and d.uid = first.uid and d.push_hash = first.push_hash
      and d.conversation = first.conversation and d.id >= first.id;
  end if;
  if p_batch -> 'ended' is not null then
    delete from notification_deliveries where app_no = p_app_no and id in (
      select value::bigint from json_array_elements_text(p_batch -> 'ended'));
  end if;
end $$;

CREATE FUNCTION public.refer_files(p_app_no integer, p_message_id bigint, p_files text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.refuse(p_code text, p_values jsonb DEFAULT '{}'::jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  raise exception using errcode = 'LQ002', message = p_code, detail = p_values::text;
end $$;

CREATE FUNCTION public.refuse_release(k public.held_messages, h public.conversations) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
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

CREATE FUNCTION public.release_files(p_app_no integer, p_messages bigint[], p_except text[] DEFAULT '{}'::text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.release_files_of_user(p_app_no integer, p_uid text, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.release_gateway(p_gateway uuid, p_after_app integer, p_after_uid text, p_limit integer, OUT app_no integer, OUT uid text) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  v_users json;
begin
  select json_agg(json_build_object('app_no', f.app_no, 'uid', f.uid, 'idle', f.idle)
      order by f.app_no, f.uid),
    (array_agg(f.app_no order by f.app_no desc, f.uid desc))[1],
    (array_agg(f.uid order by f.app_no desc, f.uid desc))[1]
  into v_users, app_no, uid
  from (
    select p.app_no, p.uid, date_part('epoch', clock_timestamp() - g.seen_at) as idle
    from presence p, gateways g
    where g.gateway = p_gateway and p_gateway = any (p.gateways)
      and (p.app_no, p.uid) > (p_after_app, p_after_uid)
    order by p.app_no, p.uid limit p_limit
  ) f;
  if app_no is null then
    delete from gateways where gateway = p_gateway;
  else
    perform disconnect_users(p_gateway, v_users);
  end if;
end $$;

CREATE FUNCTION public.release_message(p_app_no integer, p_id bigint, OUT held boolean, OUT refused text, OUT message jsonb, OUT conversation bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.remove_agent_runs(p_app_no integer, p_uid text, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
  v_runs uuid[];
  v_done int;
  v_part int;
begin
  v_runs := array(
    select run_id from agent_runs where app_no = p_app_no and run_id = any (array(
      (select run_id from agent_runs where app_no = p_app_no and uid = p_uid limit p_limit)
      union
      (select run_id from agent_runs where app_no = p_app_no and agent_uid = p_uid limit p_limit)
      limit p_limit))
    order by run_id for update);
  delete from agent_replays where app_no = p_app_no and replay_id = any (array(
    select replay_id from agent_replays where app_no = p_app_no and run_id = any (v_runs) limit p_limit));
  get diagnostics v_done = row_count;
  -- Somebody else may have removed some of those meanwhile.
  if not exists (select from agent_replays where app_no = p_app_no and run_id = any (v_runs)) then
    delete from agent_runs where app_no = p_app_no and run_id = any (v_runs);
    get diagnostics v_part = row_count;
    v_done := v_done + v_part;
  end if;
  delete from agent_ratings where app_no = p_app_no and uid = p_uid;
  delete from agent_handovers where ctid = any (array(
    (select ctid from agent_handovers where app_no = p_app_no and uid = p_uid limit p_limit)
    union
    (select ctid from agent_handovers where app_no = p_app_no and agent_uid = p_uid limit p_limit)
    limit p_limit));
  get diagnostics v_part = row_count;
  delete from agent_spending where app_no = p_app_no and uid = p_uid;
  return v_done + v_part;
end $$;

CREATE FUNCTION public.remove_file(p_app_no integer, p_id text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.remove_member(p_app_no integer, p_guid text, p_uid text) RETURNS public.inbox
    LANGUAGE plpgsql
    AS $$
declare
  h conversations;
  i inbox;
begin
  select * into h from conversations
  where app_no = p_app_no and kind = 'group' and one = p_guid and other = '';
  select * into i from inbox
  where app_no = p_app_no and uid = p_uid and kind = 'group' and with_id = p_guid
    and scope is not null
  for no key update;
  if not found then return null; end if;
  update inbox set scope = null, joined_at = null, pinned_at = null
  where app_no = p_app_no and uid = p_uid and kind = 'group' and with_id = p_guid;
  update groups set members_count = members_count - 1 where app_no = p_app_no and guid = p_guid;
  perform count_member(h, i, -1);
  perform leave_calls(p_app_no, p_uid);
  return i;
end $$;

CREATE FUNCTION public.remove_old_agent_runs(p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
  v_runs agent_runs[];
  v_removed int;
begin
  v_runs := array(
    select r from agent_runs r
    where ended_at is not null and ended_at < now() - interval '30 days' limit p_limit
    -- One that is being rated or replayed is removed next time.
    for update skip locked);
  delete from agent_replays p using unnest(v_runs) r where p.app_no = r.app_no and p.run_id = r.run_id;
  delete from agent_runs o using unnest(v_runs) r where o.app_no = r.app_no and o.run_id = r.run_id;
  get diagnostics v_removed = row_count;
  return v_removed;
end $$;

CREATE FUNCTION public.remove_reaction(p_app_no integer, p_id bigint, p_uid text, p_reaction text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.remove_steps_of_replay() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  delete from agent_steps where app_no = old.app_no and run_id = old.replay_id;
  return null;
end $$;

CREATE FUNCTION public.remove_steps_of_run() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  delete from agent_steps where app_no = old.app_no and run_id = old.run_id;
  return null;
end $$;

CREATE FUNCTION public.remove_view(h public.conversations, i public.inbox) RETURNS void
    LANGUAGE sql
    AS $$
  delete from direct_views
  where app_no = i.app_no and uid = i.uid and blocked = i.blocked
    and updated_second = h.updated_second and with_id = i.with_id
$$;

CREATE FUNCTION public.replace_files(p_app_no integer, p_message_id bigint, p_files text[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_new text[] := array(
    select id from unnest(p_files) id except
    select file_id from file_references where app_no = p_app_no and message_id = p_message_id);
begin
  -- New ones first: files that are released expire at once.
  perform refer_files(p_app_no, p_message_id, v_new);
  perform release_files(p_app_no, array[p_message_id], p_files);
end $$;

CREATE FUNCTION public.replace_picture(p_app_no integer, p_old text, p_new text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.reserve_agent_call(p_app_no integer, p_run uuid, p_no integer, p_attempt integer, p_kind text, p_provider text, p_model text, p_tokens bigint, p_money double precision) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
  b agent_budgets;
  s agent_spending;
  v_uid text;
  v_replay boolean := is_replay(p_app_no, p_run);
  v_now timestamptz := clock_timestamp();
  v_calls int := case when p_kind = 'agent_call' then 1 else 0 end;
  v_tokens bigint;
  v_money float8;
begin
  select * into b from agent_budgets where app_no = p_app_no;
  if p_money is null and (b.run_money is not null or b.user_day_money is not null or b.app_month_money is not null) then
    return 'budget_unpriced';
  end if;
  select uid into v_uid from agent_runs where app_no = p_app_no and run_id = p_run;
  select coalesce(sum(coalesce(charged_tokens, reserved_tokens)), 0), coalesce(sum(coalesce(charged_money, reserved_money)), 0)
  into v_tokens, v_money from agent_steps where app_no = p_app_no and run_id = p_run;
  if v_tokens + p_tokens > b.run_tokens or v_money + p_money > b.run_money then return 'budget_run'; end if;
  s := spend(p_app_no, '', date_trunc('month', v_now at time zone 'utc')::date, p_tokens, p_money, v_calls, v_replay);
  if p_kind = 'agent_call' then
    if s.calls > b.app_month_calls then return 'budget_app'; end if;
  elsif s.tokens > b.app_month_tokens or s.money > b.app_month_money then
    return 'budget_app';
  end if;
  if not v_replay then
    s := spend(p_app_no, v_uid, (v_now at time zone 'utc')::date, p_tokens, p_money, v_calls);
    if p_kind = 'agent_call' then
      if s.calls > b.user_day_calls then return 'budget_user'; end if;
    elsif s.tokens > b.user_day_tokens or s.money > b.user_day_money then
      return 'budget_user';
    end if;
  end if;
  insert into agent_steps (app_no, run_id, no, attempt, kind, provider_id, model, reserved_tokens, reserved_money, started_at)
  values (p_app_no, p_run, p_no, p_attempt, p_kind, p_provider, p_model, p_tokens, p_money, v_now);
  return null;
end $$;

CREATE FUNCTION public.reserve_embedding(p_app_no integer, p_model text, p_tokens bigint) RETURNS uuid
    LANGUAGE plpgsql
    AS $$
declare
  s agent_spending;
  v_most bigint;
  v_call uuid;
  v_now timestamptz := clock_timestamp();
  v_month date := date_trunc('month', v_now at time zone 'utc')::date;
begin
  s := spend(p_app_no, '', v_month, p_tokens, 0);
  select app_month_tokens into v_most from agent_budgets where app_no = p_app_no;
  if s.tokens > v_most then
    perform spend(p_app_no, '', v_month, -p_tokens, 0);
    return null;
  end if;
  insert into embedding_calls (app_no, model, reserved_tokens, started_at) values (p_app_no, p_model, p_tokens, v_now)
  returning call_id into v_call;
  return v_call;
end $$;

CREATE FUNCTION public.restore_message(p_app_no integer, p_id bigint, OUT message jsonb, OUT conversation bigint) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.retry_job(p_app_no integer, p_id bigint) RETURNS text
    LANGUAGE plpgsql
    AS $$
declare
  j jobs;
begin
  select * into j from jobs where app_no = p_app_no and id = p_id;
  if j.serial_key is not null then perform lock_serial_key(p_app_no, j.serial_key); end if;
  update jobs set
    state = case when exists (select from jobs
      where app_no = p_app_no and serial_key = j.serial_key and ended_at is null)
      then 'blocked' else 'ready' end,
    tries = 0, cancelling = false, run_at = job_clock(), deadline = null, ended_at = null
  where app_no = p_app_no and id = p_id and state in ('dead', 'cancelled')
  returning * into j;
  if not found then select * into j from jobs where app_no = p_app_no and id = p_id; end if;
  return j.state;
exception when unique_violation then
  return 'duplicate';
end $$;

CREATE TABLE public.reviews (
    app_no integer NOT NULL,
    message_id bigint NOT NULL,
    sender text NOT NULL COLLATE pg_catalog."C",
    rule_id text,
    rule_name text,
    revision_id text,
    condition integer,
    found text,
    actions text[] DEFAULT '{}'::text[] NOT NULL,
    reason text,
    blocked_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    reviewed_at timestamp with time zone,
    decision text,
    reviewed_by text,
    note text,
    CONSTRAINT reviews_decision_check CHECK ((decision = ANY (ARRAY['approved'::text, 'rejected'::text])))
);

CREATE FUNCTION public.review_record(r public.reviews) RETURNS jsonb
    LANGUAGE sql STABLE
    RETURN jsonb_strip_nulls(jsonb_build_object('condition', jsonb_build_object('id', (r).condition, 'found', (r).found), 'reason', (r).reason, 'rule', CASE WHEN ((r).rule_id IS NOT NULL) THEN jsonb_build_object('id', (r).rule_id, 'name', (r).rule_name, 'revisionId', (r).revision_id, 'action', (r).actions, 'blockedAt', public.unix((r).blocked_at)) ELSE NULL::jsonb END));

CREATE FUNCTION public.revise_agent(p_app_no integer, p_uid text, p_operator text, p_key bytea, p_restores integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
  v_no int;
  v_content jsonb;
  v_before jsonb;
begin
  select g.revision, g.definition || jsonb_build_object('name', g.name), r.content into v_no, v_content, v_before
  from agents g
  left join agent_revisions r on r.app_no = g.app_no and r.agent_uid = g.uid and r.no = g.revision
  where g.app_no = p_app_no and g.uid = p_uid;
  if v_content = v_before then return v_no; end if;
  v_no := v_no + 1;
  insert into agent_revisions (app_no, agent_uid, no, content, changed, operator, api_key, restores)
  values (p_app_no, p_uid, v_no, v_content,
    array(select field from jsonb_object_keys(v_before || v_content) field
      where v_before -> field is distinct from v_content -> field order by field),
    p_operator,
    case when p_operator is null then (select name from api_keys where app_no = p_app_no and key_hash = p_key) end,
    p_restores);
  update agents set revision = v_no where app_no = p_app_no and uid = p_uid;
  delete from agent_revisions where app_no = p_app_no and agent_uid = p_uid and no <= v_no - 200;
  return v_no;
end $$;

CREATE FUNCTION public.roll_up_usage(p_app_no integer, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
  v_settled date := utc_day(clock_timestamp() - interval '1 minute');
  v_from bigint;
  v_taken int;
  v_active json;
  v_day date;
  v_uids text[];
begin
  insert into usage_progress (app_no, position) values (p_app_no, 0) on conflict do nothing;
  select position into v_from from usage_progress where app_no = p_app_no for update;

  with taken as materialized (
    select position, type, at, day, active_uid, counts_as
    from logged_events(p_app_no, v_from, p_limit)
  ), days as (
    insert into usage_days as d (app_no, day, what, count)
    select p_app_no, utc_day(at), what, count(*)
    from taken, lateral (values (type), (counts_as)) w (what)
    where what is not null group by 2, 3 order by 2, 3
    on conflict (app_no, day, what) do update set count = d.count + excluded.count
  ), steps as (
    insert into usage_steps as s (app_no, at, what, count)
    select p_app_no, date_bin('5 minutes', at, 'epoch'), type, count(*)
    from taken where type in ('message.sent', 'conversation.delivered', 'conversation.read')
    group by 2, 3 order by 2, 3
    on conflict (app_no, at, what) do update set count = s.count + excluded.count
  ), moved as (
    -- At the end of the log, it moves to the app's position: after a break, no event may have that number.
    update usage_progress u set position = last.position
    from (select greatest(max(t.position), case when count(*) < p_limit then (
      select p.position from positions p where p.app_no = p_app_no) end) as position from taken t) last
    where u.app_no = p_app_no and last.position > u.position
  )
  select count(*), json_agg(json_build_object('day', day, 'uid', active_uid))
    filter (where active_uid is not null)
  into v_taken, v_active from taken;

  for v_day, v_uids in
    select day, array_agg(uid) from json_to_recordset(coalesce(v_active, '[]')) as a (day date, uid text)
    group by day order by day
  loop
    perform record_activity(p_app_no, v_day, v_uids);
  end loop;
  if v_taken = p_limit then return v_taken; end if;

  for v_day, v_uids in
    with seen as (
      delete from usage_seen where app_no = p_app_no and day <= v_settled returning day, uid
    )
    select day, array_agg(uid) from seen group by day order by day
  loop
    perform record_activity(p_app_no, v_day, v_uids);
  end loop;
  return v_taken;
end $$;

CREATE FUNCTION public.schedule_job(p_app_no integer, p_key text, p_name text, p_input jsonb, p_every integer, p_at time without time zone DEFAULT NULL::time without time zone, p_zone text DEFAULT NULL::text, p_days smallint[] DEFAULT NULL::smallint[]) RETURNS void
    LANGUAGE sql
    AS $$
  insert into job_schedules as s (app_no, key, name, input, every_seconds, at, zone, days, next_at)
  values (p_app_no, p_key, p_name, p_input, p_every, p_at, p_zone, p_days,
    next_job_time(p_every, p_at, p_zone, p_days, job_clock()))
  on conflict (app_no, key) do update set name = excluded.name, input = excluded.input,
    every_seconds = excluded.every_seconds, at = excluded.at, zone = excluded.zone, days = excluded.days,
    next_at = excluded.next_at
  where (s.name, s.input, s.every_seconds, s.at, s.zone, s.days) is distinct from
    (excluded.name, excluded.input, excluded.every_seconds, excluded.at, excluded.zone, excluded.days)
$$;

CREATE FUNCTION public.scope_rules(p_permissions jsonb, p_owner text, p_scope text, p_uid text) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN ((p_permissions IS NOT NULL) AND (p_owner <> p_uid)) THEN (p_permissions -> p_scope) ELSE NULL::jsonb END;

CREATE FUNCTION public.search_knowledge(p_app_no integer, p_agent text, p_words text, p_candidates integer, p_limit integer) RETURNS TABLE(chunk_id uuid, score double precision)
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_known uuid[];
  v_total float8;
  v_terms tsquery[] := '{}';
  v_weights float8[] := '{}';
  v_any tsquery;
  v_wanted tsquery;
  v_together int := 1;
  v_sum int := 0;
  v_few boolean;
  v_more boolean;
  -- Embeddings rank 200, but common words make no better candidates for them.
  v_enough constant int := least(p_limit, 20);
  term record;
begin
  select array_agg(s.source_id), sum(s.chunks)
  into v_known, v_total
  from agent_sources k
  join knowledge_sources s on s.app_no = k.app_no and s.source_id = k.source_id
  where k.app_no = p_app_no and k.agent_uid = p_agent;
  if v_known is null then return; end if;
  for term in
    select asked.q, counted.n
    from (
      select lexeme_query(lexeme) as q from unnest(to_tsvector('english', p_words)) order by positions[1] limit 32
    ) asked
    cross join lateral (
      select count(*)::int as n from (
        select from knowledge_chunks c where c.app_no = p_app_no and c.words @@ asked.q
        limit p_candidates + 1
      ) found
    ) counted
    where counted.n > 0
    order by counted.n
  loop
    v_terms := v_terms || term.q;
    v_weights := v_weights || ln(1 + greatest(v_total - term.n, 0.5) / term.n);
    v_any := coalesce(v_any || term.q, term.q);
    if v_wanted is null then
      v_wanted := term.q;
      v_sum := term.n;
    elsif v_sum + term.n <= p_candidates then
      v_wanted := v_wanted || term.q;
      v_sum := v_sum + term.n;
    elsif v_sum > p_candidates and v_together < 3 then
      v_wanted := v_wanted && term.q;
      v_together := v_together + 1;
    end if;
  end loop;
  v_few := v_total <= p_candidates;
  if v_few then v_wanted := v_any; end if;
  v_more := not v_few and (
    select count(*) < v_enough from (
      select from knowledge_chunks c
      where c.app_no = p_app_no and c.words @@ v_wanted and c.source_id = any (v_known) limit v_enough) found);
  return query
    select found.chunk_id, (
      select sum(w.weight * ts_rank('{0.4, 0.4, 0.4, 1}', found.words, w.term, 1))::float8
      from unnest(v_terms, v_weights) w (term, weight))
    from (
      -- A copy, or each word would unpack the stored value again.
      select c.chunk_id, c.source_id, c.page_id, ts_filter(c.words, '{a,d}') as words from (
        -- By the index of the sources: common words are in chunks of all agents.
        select * from knowledge_chunks where v_few and app_no = p_app_no and source_id = any (v_known) offset 0
      ) c where c.words @@ v_wanted
      union all
      (select c.chunk_id, c.source_id, c.page_id, ts_filter(c.words, '{a,d}') from knowledge_chunks c
       where not v_few and c.app_no = p_app_no and c.words @@ v_wanted and c.source_id = any (v_known)
       limit p_candidates)
      union all
      (select c.chunk_id, c.source_id, c.page_id, ts_filter(c.words, '{a,d}') from knowledge_chunks c
       where v_more and c.app_no = p_app_no and c.words @@ v_any and not c.words @@ v_wanted
         and c.source_id = any (v_known)
       limit p_candidates)
    ) found
    -- Chunks of a page that was excluded are deleted a moment later.
    where found.page_id is null or exists (select from knowledge_pages p
      where p.app_no = p_app_no and p.source_id = found.source_id and p.page_id = found.page_id and p.chunks > 0)
    order by 2 desc, 1
    limit p_limit;
end $$;

CREATE FUNCTION public.text_with_names(p_data jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $_$
  select concat_ws(E'\n',
    regexp_replace(p_data ->> 'text', '<@uid:[a-z0-9_-]{1,100}>', E'\n', 'gi'),
    (select string_agg(value ->> 'name', E'\n') from jsonb_each(p_data -> 'mentions')),
    (select string_agg(concat_ws(E'\n', a ->> 'name', a ->> 'mimeType'), E'\n')
     from jsonb_path_query(p_data, '$.attachments[*]') a))
$_$;

CREATE FUNCTION public.searched_text(p_data jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ((p_data ? 'attachments'::text) OR (p_data ? 'mentions'::text) OR (strpos((p_data ->> 'text'::text), '<@'::text) > 0)) THEN public.text_with_names(p_data) ELSE (p_data ->> 'text'::text) END;

CREATE FUNCTION public.see_device(p_app_no integer, p_call bigint, p_uid text, p_device text) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE TABLE public.call_participants (
    app_no integer NOT NULL,
    call_id bigint NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    no smallint DEFAULT 0 NOT NULL,
    state text NOT NULL,
    device_id text,
    joined_at timestamp with time zone,
    left_at timestamp with time zone,
    seen_at timestamp with time zone,
    hidden boolean DEFAULT false NOT NULL,
    CONSTRAINT call_participants_state_check CHECK ((state = ANY (ARRAY['invited'::text, 'waiting'::text, 'ongoing'::text, 'ended'::text, 'unanswered'::text, 'rejected'::text])))
);

CREATE FUNCTION public.sees_call(c public.calls, p_uid text) RETURNS boolean
    LANGUAGE sql STABLE
    RETURN COALESCE((SELECT (NOT p.hidden) FROM public.call_participants p WHERE ((p.app_no = (sees_call.c).app_no) AND (p.call_id = (sees_call.c).id) AND (p.uid = sees_call.p_uid) AND (p.no = 0))), (((c).kind = 'group'::text) AND ((c).mode = 'meet'::text) AND (EXISTS (SELECT FROM public.inbox i WHERE ((i.app_no = (sees_call.c).app_no) AND (i.uid = sees_call.p_uid) AND (i.kind = 'group'::text) AND (i.with_id = (sees_call.c).receiver) AND (i.scope IS NOT NULL))))));

CREATE FUNCTION public.segments_of_user(p_app_no integer, p_uid text) RETURNS SETOF bigint
    LANGUAGE sql STABLE
    AS $$
  select upto_id from search_segments s
  where app_no = p_app_no and (exists (
      select from messages m
      where m.app_no = p_app_no and m.sender = p_uid and m.id > s.after_id and m.id <= s.upto_id)
    or exists (
      select from mentions k
      where k.app_no = p_app_no and k.uid = p_uid and k.message_id > s.after_id and k.message_id <= s.upto_id))
$$;

CREATE FUNCTION public.send_message(p_app_no integer, p_kind text, p_sender text, p_receiver text, p_category text, p_type text, p_data jsonb, p_tags text[], p_muid text, p_target text, p_credential bytea, p_key text, p_request_hash bytea, p_parent bigint DEFAULT NULL::bigint, p_quoted bigint DEFAULT NULL::bigint, p_mentions text[] DEFAULT NULL::text[], p_shows boolean DEFAULT true, p_clock bigint DEFAULT NULL::bigint, p_verdict jsonb DEFAULT NULL::jsonb, p_files text[] DEFAULT NULL::text[], OUT message_id bigint, OUT message text) RETURNS record
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.send_message_at_once(p_app_no integer, p_kind text, p_sender text, p_receiver text, p_category text, p_type text, p_data jsonb, p_tags text[], p_muid text, p_credential bytea, p_key text, p_request_hash bytea, p_clock bigint, OUT message_id bigint, OUT message text) RETURNS record
    LANGUAGE plpgsql
    SET lock_timeout TO '10ms'
    AS $$
begin
  select s.message_id, s.message into send_message_at_once.message_id, send_message_at_once.message
  from send_message(p_app_no, p_kind, p_sender, p_receiver, p_category, p_type, p_data, p_tags, p_muid, '',
    p_credential, p_key, p_request_hash, p_clock => p_clock) s;
end $$;

CREATE FUNCTION public.send_messages(p_clock bigint, p_messages json, p_waits boolean DEFAULT false) RETURNS TABLE(n integer, id bigint, message text)
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_seqscan TO 'off'
    AS $$
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

CREATE FUNCTION public.sender_text(p_app_no integer, p_uid text, p_found text) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if p_uid = 'app_system' then return system_text(p_app_no); end if;
  if p_found is null then
    perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', p_uid));
  end if;
  return p_found;
end $$;

CREATE FUNCTION public.sent_message_text(p_id bigint, p_kind text, p_one text, p_other text, p_sender text, p_receiver text, p_category text, p_type text, p_tags text[], p_muid text) RETURNS text
    LANGUAGE sql STABLE
    RETURN concat('{"id":"', p_id, '"', (',"muid":'::text || (to_json(p_muid))::text), ',"conversationId":', to_json(public.conversation_id(p_kind, p_one, p_other)), ',"sender":', to_json(p_sender), ',"receiverType":"', p_kind, '","receiver":', to_json(p_receiver), ',"category":', to_json(p_category), ',"type":', to_json(p_type), (',"tags":'::text || (CASE WHEN (p_tags <> '{}'::text[]) THEN to_json(p_tags) ELSE NULL::json END)::text), ',"sentAt":', public.id_second(p_id), ',"updatedAt":', public.id_second(p_id));

CREATE FUNCTION public.sequence_events(p_worker uuid, p_epoch bigint, p_limit integer, INOUT place tid, p_started timestamp with time zone DEFAULT NULL::timestamp with time zone, OUT taken integer, OUT live text) RETURNS record
    LANGUAGE plpgsql
    SET plan_cache_mode TO 'force_generic_plan'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
declare
  v_day date := (clock_timestamp() at time zone 'utc')::date;
  -- A day earlier, in case the clock was put back.
  v_since date;
  v_horizon bigint;
  v_xid bigint;
  v_ids bigint[];
  v_last bigint;
  v_taken int8multirange;
  s sequencer_progress;
begin
  if pg_postmaster_start_time() <> p_started then
    raise exception 'the log of this server is not checked yet' using errcode = 'LQ005';
  end if;
  taken := 0;

  -- Idle polls write nothing and use no transaction id.
  select * into s from sequencer_progress where ctid = place;
  if not found then
    select p.ctid into place from sequencer_progress p;
    select * into s from sequencer_progress where ctid = place;
  end if;
  v_since := least(s.since, v_day) - 1;
  if not exists (select from event_bodies where id > s.taken and day between v_since and v_day + 1)
    and not exists (
      select from unnest(s.gaps + s.watched) gap join event_bodies b
        on b.id >= lower(gap) and b.id < upper(gap) and b.day between v_since and v_day + 1)
    and (s.stamp is not null or isempty(s.gaps) and s.since >= v_day)
    and (s.stamp is null or s.stamp >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
      and s.stamp < pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
  then
    return;
  end if;

  perform lock_lease('sequencer', p_worker, p_epoch);
  v_xid := pg_current_xact_id()::text::bigint;
  v_horizon := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  select * into s from sequencer_progress where ctid = place;
  if not found then
    place := null;
    return;
  end if;
  v_since := least(s.since, v_day) - 1;

  with found as materialized (
    select * from (
      (select id, app_no, day, at, type, key, to_first, to_second, payload from event_bodies
       where id > s.taken and day between v_since and v_day + 1 order by id limit p_limit)
      union all
      (select b.* from unnest(s.gaps + s.watched) gap cross join lateral (
         select id, app_no, day, at, type, key, to_first, to_second, payload from event_bodies
         where id >= lower(gap) and id < upper(gap) and day between v_since and v_day + 1
         order by id limit p_limit
       ) b order by id limit p_limit)
    ) candidates
    order by id limit p_limit
  ), counted as (
    select app_no, count(*) as n from found group by app_no
  ), advanced as (
    insert into positions as p (app_no, position)
    select app_no, n from counted order by app_no
    on conflict (app_no) do update set position = p.position + excluded.position
    returning app_no, position
  ), started as (
    select app_no, position - n as before from advanced join counted using (app_no)
  ), placed as materialized (
    select found.*, before + row_number() over (partition by app_no order by id) as position
    from found join started using (app_no)
  ), stored as (
    insert into event_positions (app_no, position, body_id, body_day, type, to_first, to_second, day)
    select app_no, position, id, day, type, to_first, to_second, v_day from placed
  )
  select count(*), coalesce(array_agg(id), '{}'), coalesce(max(id), 0), string_agg(concat(
    app_no, ' {"position":', position, ',"type":"', type, '","key":', to_json(key),
    ',"at":', floor(date_part('epoch', at)), ',"payload":', payload, E'}\x1e'), '')
  into taken, v_ids, v_last, live from placed;

  -- Usually there are no gaps.
  if not isempty(s.gaps + s.watched) or v_last - s.taken <> taken and taken > 0 then
    v_taken := (select coalesce(range_agg(int8range(id, id + 1)), '{}') from unnest(v_ids) id);
    s.gaps := s.gaps - v_taken;
    s.watched := s.watched - v_taken;
  end if;

  -- A step that hit its limit proves nothing about the remaining bodies.
  if taken < p_limit then
    if s.stamp < v_horizon then
      s.watched := '{}';
      s.since := greatest(s.since, s.stamp_day);
      s.stamp := null;
    end if;
    if s.stamp is null or s.stamp > v_xid then
      s.watched := s.watched + s.gaps;
      s.gaps := '{}';
      s.stamp := case when isempty(s.watched) and s.since >= v_day then null else v_xid end;
      s.stamp_day := v_day;
    end if;
  end if;

  if v_last > s.taken then
    -- These are found after the stamp was drawn, so they wait for the next one.
    if v_taken is not null then
      s.gaps := s.gaps + (int8multirange(int8range(s.taken + 1, v_last + 1)) - v_taken);
    end if;
    s.taken := v_last;
  end if;
  update sequencer_progress set taken = s.taken, gaps = s.gaps, watched = s.watched,
    stamp = s.stamp, stamp_day = s.stamp_day, since = s.since
  where ctid = place returning ctid into place;
end $$;

CREATE FUNCTION public.set_blocks(p_app_no integer, p_uid text, p_others text[], p_blocked boolean, p_at timestamp with time zone DEFAULT now()) RETURNS SETOF text
    LANGUAGE plpgsql
    AS $$
declare
  v_other text;
  h conversations;
begin
  for v_other in
    select o from unnest(p_others) o
    where p_blocked or exists (select from blocks
      where app_no = p_app_no and uid = p_uid and blocked_uid = o)
    order by least(o collate "C", p_uid collate "C"), greatest(o collate "C", p_uid collate "C")
  loop
    h := open_conversation(p_app_no, p_uid, v_other);
    if p_blocked then
      insert into blocks (app_no, uid, blocked_uid, created_at) values (p_app_no, p_uid, v_other, p_at)
      on conflict do nothing;
    else
      delete from blocks where app_no = p_app_no and uid = p_uid and blocked_uid = v_other;
    end if;
    if found then
      update conversations set
        blocked_one = case when p_uid = one then p_blocked else blocked_one end,
        blocked_other = case when p_uid = other then p_blocked else blocked_other end
      where app_no = p_app_no and no = h.no;
      perform set_view_blocked(h, p_uid, v_other, p_blocked);
      if p_blocked then
        perform leave_calls(p_app_no, p_uid);
        perform leave_calls(p_app_no, v_other);
      end if;
      return next v_other;
    end if;
    if not p_blocked and h.last_id = 0
      and not (case when p_uid = h.one then h.blocked_other else h.blocked_one end)
    then
      delete from conversations where app_no = p_app_no and no = h.no;
    end if;
  end loop;
end $$;

CREATE FUNCTION public.set_group_card() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.card := group_card(new);
  return new;
end $$;

CREATE FUNCTION public.set_special_roles() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
  v_app_no int := coalesce(new.app_no, old.app_no);
begin
  perform from apps where app_no = v_app_no for no key update;
  update apps set special_roles = not special_roles
  where app_no = v_app_no and special_roles <> exists (select from special_roles(v_app_no));
  return null;
end $$;

CREATE FUNCTION public.set_user_card() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.card := user_card(new);
  return new;
end $$;

CREATE FUNCTION public.set_view_blocked(h public.conversations, p_uid text, p_with text, p_blocked boolean) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_visible boolean;
begin
  update inbox set blocked = p_blocked
  where app_no = h.app_no and uid = p_uid and kind = 'user' and with_id = p_with
    and blocked <> p_blocked
  returning visible into v_visible;
  if v_visible then
    update direct_views set blocked = p_blocked
    where app_no = h.app_no and uid = p_uid and blocked = not p_blocked
      and updated_second = h.updated_second and with_id = p_with;
    perform add_views(h.app_no, p_uid, 0, case when p_blocked then -1 else 1 end);
    perform add_app_views(h.app_no, 0, case when p_blocked then -1 else 1 end);
  end if;
end $$;

CREATE FUNCTION public.settle_agent_call(p_app_no integer, p_run uuid, p_no integer, p_attempt integer, p_state text, p_error text, p_input integer, p_output integer, p_tokens bigint, p_money double precision, p_calls jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  c agent_steps;
  v_uid text;
  v_tokens bigint;
  v_money float8;
begin
  -- The run before its steps, in the same order as a removal.
  select uid into v_uid from agent_runs where app_no = p_app_no and run_id = p_run for key share;
  update agent_steps set state = p_state, text = null, calls = p_calls, error = p_error, input_tokens = p_input,
    output_tokens = p_output, charged_tokens = coalesce(p_tokens, reserved_tokens),
    charged_money = coalesce(p_money, reserved_money), ended_at = clock_timestamp()
  where app_no = p_app_no and run_id = p_run and no = p_no and attempt = p_attempt and state = 'running'
  returning * into c;
  if not found then return; end if;
  v_tokens := c.charged_tokens - c.reserved_tokens;
  v_money := coalesce(c.charged_money - c.reserved_money, 0);
  if v_tokens = 0 and v_money = 0 then return; end if;
  perform spend(p_app_no, '', date_trunc('month', c.started_at at time zone 'utc')::date, v_tokens, v_money, 0,
    is_replay(p_app_no, p_run));
  if v_uid is not null then
    perform spend(p_app_no, v_uid, (c.started_at at time zone 'utc')::date, v_tokens, v_money);
  end if;
end $$;

CREATE FUNCTION public.settle_embedding(p_app_no integer, p_call uuid, p_tokens bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  c embedding_calls;
begin
  update embedding_calls set charged_tokens = p_tokens
  where app_no = p_app_no and call_id = p_call and charged_tokens is null
  returning * into c;
  if found and c.reserved_tokens <> p_tokens then
    perform spend(p_app_no, '', date_trunc('month', c.started_at at time zone 'utc')::date, p_tokens - c.reserved_tokens, 0);
  end if;
end $$;

CREATE FUNCTION public.show_imported(h public.conversations, p_ids bigint[], p_senders text[], p_shows boolean[], p_delivered double precision[], p_read double precision[], p_counting bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  i inbox;
  m messages;
  side record;
  v_rows int;
  v_last bigint;
  v_shows bigint[];
  v_shown bigint := h.shown_id;
  v_second bigint := h.updated_second;
  v_read bigint;
  v_hidden int := h.hidden;
  v_visible boolean;
  v_views int := 0;
  v_free int := 0;
  v_copied boolean := false;
begin
  select count(*), max(o.id), array_agg(o.id order by o.id) filter (where o.shows)
  into v_rows, v_last, v_shows
  from unnest(p_ids, p_shows) o (id, shows) where o.id is not null;
  if v_shows is not null and v_shows[cardinality(v_shows)] > h.shown_id then
    v_shown := v_shows[cardinality(v_shows)];
    v_second := greatest(v_second, id_second(v_shown));
  end if;
  select * into m from messages where app_no = h.app_no and id = v_shown;
  v_copied := m.id is not null and is_copied(m.category, m.type, m.tags, m.data::text) and m.updated_at is null
    and m.deleted_at is null and m.pinned_at is null and m.parent_id is null and m.quoted_id is null
    and not m.reacted and not m.saved and not m.data ? 'mentions';

  if h.kind = 'group' then
    if v_shown > h.shown_id and (h.shown_id = 0 or h.hidden > 0) then
      select count(*) into v_hidden from inbox
      where app_no = h.app_no and conversation = h.no and scope is not null and cleared_id >= v_shown;
      perform add_total(h.app_no, 'views.group', case when h.shown_id > 0 then h.hidden - v_hidden else (
        select members_count from groups where app_no = h.app_no and guid = h.one) - v_hidden end);
    end if;
  else
    perform add_imported_marks(h, p_ids, p_senders, p_delivered, p_read);
    v_hidden := 0;
    for side in
      select distinct on (uid) uid, with_id, blocked from (values
        (h.one, h.other, h.blocked_one), (h.other, h.one, h.blocked_other)) s (uid, with_id, blocked)
      where uid <> 'app_system' order by uid
    loop
      insert into inbox (app_no, uid, kind, with_id, conversation, blocked)
      values (h.app_no, side.uid, 'user', side.with_id, h.no, side.blocked)
      on conflict do nothing;
      select * into i from inbox
      where app_no = h.app_no and uid = side.uid and kind = 'user' and with_id = side.with_id
      for no key update;
      select max(o.id) into v_read from unnest(p_ids, p_senders, p_read) o (id, sender, at)
      where o.id > i.read_id and o.at is not null and o.sender <> side.uid;
      v_visible := v_shown > i.cleared_id;
      update inbox set
        read_id = coalesce(v_read, i.read_id),
        read_counted = case when v_read is not null then (
            select k.counted from messages k where k.app_no = h.app_no and k.id = v_read)
          else i.read_counted + (select count(*) from unnest(p_counting) c where c <= i.read_id) end,
        own_since = (case when v_read is null then i.own_since + (
            select count(*) from unnest(p_ids, p_senders) o (id, sender)
            where o.id > i.read_id and o.sender = side.uid and cardinality(p_counting) > 0
              and p_counting[width_bucket(o.id, p_counting)] = o.id)
          else (select count(*) from messages k
            where k.app_no = h.app_no and k.conversation = h.no and k.sender = side.uid and k.id > v_read
              and k.counts and k.deleted_at is null) end),
        visible = v_visible,
        created_second = least(case when i.visible then i.created_second end, (
          select id_second(min(c)) from unnest(v_shows) c where c > i.cleared_id))
      where app_no = h.app_no and uid = side.uid and kind = 'user' and with_id = side.with_id;
      if not v_visible then
        v_hidden := v_hidden + 1;
      elsif i.visible then
        if v_second > h.updated_second then
          update direct_views set updated_second = v_second
          where app_no = h.app_no and uid = i.uid and blocked = i.blocked and updated_second = h.updated_second
            and with_id = i.with_id;
        end if;
      else
        insert into direct_views (app_no, uid, blocked, updated_second, with_id)
        values (h.app_no, i.uid, i.blocked, v_second, i.with_id);
        perform add_views(h.app_no, i.uid, 1, case when i.blocked then 0 else 1 end);
        v_views := v_views + 1;
        v_free := v_free + case when i.blocked then 0 else 1 end;
      end if;
    end loop;
    perform add_app_views(h.app_no, v_views, v_free);
  end if;

  update conversations set
    last_id = greatest(h.last_id, v_last), stored = h.stored + v_rows,
    counted = h.counted + coalesce(cardinality(p_counting), 0),
    shown_id = v_shown, updated_second = v_second,
    updated_before = case when v_second > h.updated_second then h.updated_second else h.updated_before end,
    created_second = least(h.created_second, id_second(v_shows[1])),
    hidden = v_hidden,
    shown_sender = case when v_copied then m.sender end,
    shown_data = case when v_copied then m.data::text end,
    shown_muid = case when v_copied then m.muid end,
    delivered_at = case when m.id is null then h.delivered_at else first_mark(h, m, receiver_of(m, h), 'delivered') end,
    read_at = case when m.id is null then h.read_at else first_mark(h, m, receiver_of(m, h), 'read') end
  where app_no = h.app_no and no = h.no;
end $$;

CREATE FUNCTION public.show_released(h public.conversations, m public.messages, p_receiver text) RETURNS public.conversations
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.small_record(p_record jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    RETURN jsonb_strip_nulls(jsonb_build_object('uid', (p_record -> 'uid'::text), 'guid', (p_record -> 'guid'::text), 'name', (p_record -> 'name'::text)));

CREATE FUNCTION public.small_records(p_records jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    RETURN (SELECT jsonb_object_agg(jsonb_each.key, public.small_record(jsonb_each.value)) AS jsonb_object_agg FROM jsonb_each(small_records.p_records) jsonb_each(key, value));

CREATE FUNCTION public.special_roles(p_app_no integer) RETURNS TABLE(role text, removed boolean, friends_only boolean)
    LANGUAGE sql STABLE
    BEGIN ATOMIC
 SELECT r.role,
     (r.removed_at IS NOT NULL),
     (NOT ((r.settings ->> 'sendMessagesTo'::text) IS DISTINCT FROM 'friendsOnly'::text))
    FROM public.roles r
   WHERE ((r.app_no = special_roles.p_app_no) AND ((r.removed_at IS NOT NULL) OR ((r.settings ->> 'sendMessagesTo'::text) = 'friendsOnly'::text)));
END;

CREATE TABLE public.agent_spending (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    period date NOT NULL,
    tokens bigint NOT NULL,
    money double precision NOT NULL,
    calls bigint DEFAULT 0 NOT NULL,
    replay_tokens bigint DEFAULT 0 NOT NULL,
    replay_money double precision DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

CREATE FUNCTION public.spend(p_app_no integer, p_uid text, p_period date, p_tokens bigint, p_money double precision, p_calls integer DEFAULT 0, p_replay boolean DEFAULT false) RETURNS public.agent_spending
    LANGUAGE sql
    AS $$
  insert into agent_spending as s (app_no, uid, period, tokens, money, calls, replay_tokens, replay_money)
  values (p_app_no, p_uid, p_period, p_tokens, coalesce(p_money, 0), p_calls,
    case when p_replay then p_tokens else 0 end, case when p_replay then coalesce(p_money, 0) else 0 end)
  on conflict (app_no, uid, period) do update set tokens = s.tokens + excluded.tokens, money = s.money + excluded.money,
    calls = s.calls + excluded.calls, replay_tokens = s.replay_tokens + excluded.replay_tokens,
    replay_money = s.replay_money + excluded.replay_money
  returning *
$$;

CREATE TABLE public.agent_runs (
    app_no integer NOT NULL,
    run_id uuid DEFAULT gen_random_uuid() NOT NULL,
    agent_uid text NOT NULL COLLATE pg_catalog."C",
    uid text NOT NULL COLLATE pg_catalog."C",
    conversation bigint NOT NULL,
    guid text COLLATE pg_catalog."C",
    message_id bigint NOT NULL,
    thread_id bigint NOT NULL,
    job_id bigint,
    revision integer,
    state text DEFAULT 'queued'::text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    error text,
    answer_id bigint,
    waiting_since timestamp with time zone,
    waited_ms double precision DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone
);

CREATE FUNCTION public.start_agent_run(p_app_no integer, p_message bigint, p_conversation bigint, p_guid text, p_uid text, p_thread bigint, p_agent text, p_open integer) RETURNS public.agent_runs
    LANGUAGE plpgsql
    AS $$
declare
  v_many boolean := has_many_runs(p_app_no, p_uid, p_open);
  v_run agent_runs;
begin
  insert into agent_runs (app_no, agent_uid, uid, conversation, guid, message_id, thread_id, state, reason, ended_at)
  values (p_app_no, p_agent, p_uid, p_conversation, p_guid, p_message, p_thread,
    case when v_many then 'failed' else 'queued' end, case when v_many then 'too_many_runs' end,
    case when v_many then clock_timestamp() end)
  on conflict (app_no, message_id, agent_uid) do nothing
  returning * into v_run;
  if v_run.state = 'queued' then perform enqueue_agent_run(p_app_no, v_run.run_id); end if;
  return v_run;
end $$;

CREATE FUNCTION public.start_agent_runs(p_job text, p_worker uuid, p_epoch bigint, p_app_no integer, p_limit integer, p_open integer, OUT started integer, OUT more boolean, OUT refused uuid[]) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  v_run agent_runs;
  v_after bigint;
  v_to bigint;
  v_read int;
  v_reached bigint;
  v_asked json;
  stretch record;
  q record;
begin
  perform lock_lease(p_job, p_worker, p_epoch);
  started := 0;
  more := false;
  refused := '{}';
  select position into v_after from agent_progress where app_no = p_app_no for no key update;
  select * into stretch from stretch_after(p_app_no, v_after);
  if stretch.last is null then return; end if;
  v_to := stretch.upto;
  if stretch.kept then
    with found as materialized (
      select position, payload -> 'message' as message, at
      from logged_events(p_app_no, stretch.base, p_limit, v_to, '{message.sent}')
    )
    select count(*), max(position), json_agg(message order by position) filter (
      where at > now() - interval '24 hours'
        and message ->> 'category' = 'message' and message ->> 'type' = 'text'
        and case message ->> 'receiverType' when 'user' then exists (select from agents g
            where g.app_no = p_app_no and g.uid = message ->> 'receiver' and g.active)
          else message -> 'data' -> 'mentions' is not null end)
    into v_read, v_reached, v_asked
    from found;
    if v_read = p_limit then v_to := v_reached; end if;
  end if;
  perform lock_runs_of_user(p_app_no, uid)
  from (select distinct m ->> 'sender' as uid from json_array_elements(v_asked) m order by uid) senders;
  for q in
    select m.id, m.conversation, m.sender, coalesce(m.parent_id, m.id) as thread, g.uid as agent,
      case h.kind when 'group' then h.one end as guid
    from json_array_elements(v_asked) with ordinality asked (message, nth)
    join messages m on m.app_no = p_app_no and m.id = (asked.message ->> 'id')::bigint and m.deleted_at is null
    join conversations h on h.app_no = p_app_no and h.no = m.conversation
    join users u on u.app_no = p_app_no and u.uid = m.sender
    cross join lateral unnest(case h.kind when 'user' then array[asked.message ->> 'receiver'] else array(
      select mention_recipients(h, m.sender, array(select json_object_keys(asked.message -> 'data' -> 'mentions')))) end
    ) addressed (uid)
    join agents g on g.app_no = p_app_no and g.uid = addressed.uid and g.active
    where (m.muid is null or not starts_with(m.muid, 'agent-tool-'))
      and (h.kind = 'user' or g.definition ->> 'answersMentions' = 'true')
      and (u.role <> '@agentic' or g.definition ->> 'answersAgents' = 'true')
      and (h.kind = 'group' or not is_for_person(p_app_no, g.uid, m.sender, m.id))
    order by asked.nth, g.uid
  loop
    v_run := start_agent_run(p_app_no, q.id, q.conversation, q.guid, q.sender, q.thread, q.agent, p_open);
    if v_run.state = 'queued' then started := started + 1; end if;
    if v_run.state = 'failed' then refused := refused || v_run.run_id; end if;
  end loop;
  update agent_progress set position = v_to where app_no = p_app_no;
  more := v_to < stretch.last;
end $$;

CREATE FUNCTION public.start_batches(p_app_no integer, p_conversation bigint, p_message_id bigint) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
  v_kind text;
  v_sender text;
  v_batch record;
  v_started int := 0;
begin
  select h.kind, m.sender into v_kind, v_sender
  from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
  where m.app_no = p_app_no and m.id = p_message_id and m.conversation = p_conversation
    and m.deleted_at is null and m.category not in ('action', 'call');
  if not found then return 0; end if;
  if v_kind = 'group' and (
    select count(*) from (
      select from inbox i where i.app_no = p_app_no and i.conversation = p_conversation and i.scope is not null
      limit batch_members() + 1) members) > batch_members() then
    return 0;
  end if;
  for v_batch in
    with channels as (
      select p.channel,
        -- An app's own server may know addresses that we don't.
        bool_or(p.kind = 'custom' and not coalesce(
          (p.details ->> 'useStoredEmailID')::boolean, (p.details ->> 'useStoredPhNo')::boolean, false)) as anyone,
        coalesce((select (s.settings #>> array['preferences', p.channel, 'intervalInSeconds'])::int
          from notification_settings s where s.app_no = p_app_no), 7200) as seconds
      from notification_providers p
      where p.app_no = p_app_no and p.channel in ('email', 'sms') and p.enabled
      group by p.channel
    )
    insert into notification_batches as b (app_no, uid, channel, conversation, first_id, due_at)
    select p_app_no, i.uid, c.channel, p_conversation, p_message_id,
      job_clock() + make_interval(secs => c.seconds)
    from channels c cross join inbox i
    left join notification_users u on u.app_no = i.app_no and u.uid = i.uid
    where i.app_no = p_app_no and i.conversation = p_conversation and i.uid <> v_sender
      and (v_kind = 'user' or i.scope is not null)
      and (c.anyone or case c.channel when 'email' then u.email else u.phno end is not null)
    order by i.uid, c.channel
    on conflict (app_no, uid, channel, conversation) do update
      set first_id = excluded.first_id, due_at = excluded.due_at
      where b.due_at is null and b.covered_id < excluded.first_id
    returning b.uid, b.channel, b.due_at
  loop
    perform enqueue_job(p_app_no, 'notifications.batch',
      jsonb_build_object('uid', v_batch.uid, 'channel', v_batch.channel, 'conversation', p_conversation),
      v_batch.due_at - job_clock());
    v_started := v_started + 1;
  end loop;
  return v_started;
end $$;

CREATE FUNCTION public.stretch_after(p_app_no integer, p_after bigint, OUT base bigint, OUT upto bigint, OUT kept boolean, OUT last bigint) RETURNS record
    LANGUAGE plpgsql STABLE
    AS $$
declare
  a record;
begin
  select position into last from positions where app_no = p_app_no and position > p_after;
  if last is null then return; end if;
  select * into a from log_after(p_app_no, p_after);
  base := a.base;
  upto := coalesce(a.lost_after, least(a.base + 5000, a.upto, last));
  kept := a.lost_after is null;
  if kept and last > base and not exists (
    select from event_positions where app_no = p_app_no and position = a.base + 1)
  then
    kept := false;
    upto := coalesce((select position - 1 from event_positions
      where app_no = p_app_no and position > a.base order by position limit 1), last);
  end if;
end $$;

CREATE FUNCTION public.sweep_calls(p_app_no integer, p_conversation bigint, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.sweep_calls_of_user(p_app_no integer, p_uid text, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.sweep_conversation(p_app_no integer, p_conversation bigint, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
  h conversations;
  i inbox;
  v_done int := sweep_messages(p_app_no, p_conversation, 9223372036854775807, p_limit);
  v_part int;
  v_gone int := 0;
  v_free int := 0;
begin
  if v_done >= p_limit then return p_limit; end if;
  delete from marks where ctid = any (array(
    select ctid from marks
    where app_no = p_app_no and conversation = p_conversation limit p_limit - v_done));
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  if v_done >= p_limit then return p_limit; end if;
  delete from uncounted where ctid = any (array(
    select ctid from uncounted
    where app_no = p_app_no and conversation = p_conversation limit p_limit - v_done));
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  if v_done >= p_limit then return p_limit; end if;
  delete from thread_users where ctid = any (array(
    select ctid from thread_users
    where app_no = p_app_no and conversation = p_conversation limit p_limit - v_done));
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  if v_done >= p_limit then return p_limit; end if;
  v_done := v_done + sweep_calls(p_app_no, p_conversation, p_limit - v_done);
  if v_done >= p_limit then return p_limit; end if;
  select * into h from conversations where app_no = p_app_no and no = p_conversation;
  -- Both inbox rows of a 1:1 conversation go together with the head: the removal of a user finds the
  -- head by that user's row.
  for i in
    delete from inbox where ctid = any (array(
      select ctid from inbox
      where app_no = p_app_no and conversation = p_conversation
      order by uid limit greatest(p_limit - v_done, 2)))
    returning *
  loop
    v_done := v_done + 1;
    if i.scope is not null then
      insert into former_members (app_no, uid, conversation, guid)
      values (p_app_no, i.uid, p_conversation, i.with_id);
    end if;
    if i.visible then
      perform remove_view(h, i);
      perform add_views(p_app_no, i.uid, -1, case when i.blocked then 0 else -1 end);
      v_gone := v_gone + 1;
      v_free := v_free + case when i.blocked then 0 else 1 end;
    end if;
  end loop;
  perform add_app_views(p_app_no, -v_gone, -v_free);
  if exists (select from inbox where app_no = p_app_no and conversation = p_conversation) then
    return p_limit;
  end if;
  delete from receipt_floors
  where app_no = p_app_no and kind in ('delivered', 'read') and conversation = p_conversation;
  delete from conversations where app_no = p_app_no and no = p_conversation;
  return v_done;
end $$;

CREATE FUNCTION public.sweep_deleted_message(p_app_no integer, p_id bigint, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_done int;
  v_part int;
begin
  delete from gone_messages where app_no = p_app_no and id = p_id;
  if not found then return true; end if;
  delete from reaction_counts where app_no = p_app_no and message_id = p_id;
  delete from reactions where ctid = any (array(
    select ctid from reactions where app_no = p_app_no and message_id = p_id limit p_limit));
  get diagnostics v_done = row_count;
  delete from saves where ctid = any (array(
    select ctid from saves where app_no = p_app_no and message_id = p_id limit p_limit - v_done));
  get diagnostics v_part = row_count;
  if v_done + v_part < p_limit then return true; end if;
  insert into gone_messages (app_no, id) values (p_app_no, p_id);
  return false;
end $$;

CREATE FUNCTION public.sweep_group(p_app_no integer, p_guid text, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_no bigint;
  v_done int := 0;
  v_part int;
begin
  select no into v_no from conversations
  where app_no = p_app_no and kind = 'group' and one = p_guid and other = ''
  for no key update;
  if found then v_done := sweep_conversation(p_app_no, v_no, p_limit); end if;
  if v_done >= p_limit then return false; end if;
  delete from bans where ctid = any (array(
    select ctid from bans where app_no = p_app_no and guid = p_guid limit p_limit - v_done));
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  if v_done >= p_limit then return false; end if;
  delete from checked_messages where ctid = any (array(
    select ctid from checked_messages
    where app_no = p_app_no and receiver = p_guid and kind = 'group' limit p_limit - v_done));
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  if v_done >= p_limit then return false; end if;
  delete from notification_mutes where ctid = any (array(
    select ctid from notification_mutes
    where app_no = p_app_no and kind = 'group' and with_id = p_guid limit p_limit - v_done));
  get diagnostics v_part = row_count;
  if v_done + v_part >= p_limit then return false; end if;
  delete from subject_flags where app_no = p_app_no and kind = 'group' and subject = p_guid;
  delete from sanctions where ctid = any (array(
    select ctid from sanctions where app_no = p_app_no and guid = p_guid limit p_limit - v_done - v_part));
  v_done := v_done + v_part;
  get diagnostics v_part = row_count;
  if v_done + v_part >= p_limit then return false; end if;
  delete from groups where app_no = p_app_no and guid = p_guid and removed_at is not null;
  return true;
end $$;

CREATE FUNCTION public.sweep_messages(p_app_no integer, p_conversation bigint, p_upto bigint, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
  v_ids bigint[];
  v_more boolean;
begin
  with gone as (
    delete from messages where ctid = any (array(
      select ctid from messages
      where app_no = p_app_no and conversation = p_conversation and id <= p_upto
      order by id limit p_limit))
    returning id, sender, muid, reacted or saved as has_more
  ), more as (
    insert into gone_messages (app_no, id) select p_app_no, id from gone where has_more
    on conflict do nothing
  ), forgotten as (
    delete from muids u using gone g
    where u.app_no = p_app_no and u.sender = g.sender and u.muid = g.muid and u.message_id = g.id
  )
  select array_agg(id), bool_or(has_more) into v_ids, v_more from gone;
  perform delete_held(p_app_no, array(
    select id from held_messages
    where app_no = p_app_no and conversation = p_conversation and id <= p_upto));
  if v_ids is null then return 0; end if;
  if v_more then perform enqueue_job(p_app_no, 'reactions.sweep'); end if;
  perform delete_message_references(p_app_no, v_ids);
  update conversations set removed = removed + cardinality(v_ids)
  where app_no = p_app_no and no = p_conversation;
  return cardinality(v_ids);
end $$;

CREATE FUNCTION public.sweep_purged(p_app_no integer, p_conversation bigint, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  h conversations;
begin
  select * into h from conversations where app_no = p_app_no and no = p_conversation
  for no key update;
  if not found then return true; end if;
  if sweep_messages(p_app_no, h.no, h.purged_id, p_limit) >= p_limit then return false; end if;
  delete from uncounted
  where app_no = p_app_no and conversation = h.no and id <= h.purged_id;
  delete from thread_users u
  where u.app_no = p_app_no and u.conversation = h.no and not exists (
    select from messages m where m.app_no = p_app_no and m.id = u.parent_id);
  update conversations set purging = false where app_no = p_app_no and no = h.no;
  return true;
end $$;

CREATE FUNCTION public.sweep_reactions(p_app_no integer, p_uid text, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
  r reactions;
  v_done int := 0;
  v_part int;
begin
  for r in
    delete from reactions where ctid = any (array(
      select ctid from reactions where app_no = p_app_no and uid = p_uid
      order by message_id limit p_limit))
    returning *
  loop
    perform uncount_reaction(r);
    v_done := v_done + 1;
  end loop;
  delete from saves where ctid = any (array(
    select ctid from saves where app_no = p_app_no and uid = p_uid limit p_limit - v_done));
  get diagnostics v_part = row_count;
  return v_done + v_part;
end $$;

CREATE FUNCTION public.sweep_role(p_app_no integer, p_role text, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_moved int;
begin
  perform from apps where app_no = p_app_no for no key update;
  update users set role = 'default' where app_no = p_app_no and uid = any (array(
    select uid from users where app_no = p_app_no and role = p_role and removed_at is null
    order by uid limit p_limit for no key update));
  get diagnostics v_moved = row_count;
  if v_moved = p_limit then return false; end if;
  update users set role = 'default'
  where app_no = p_app_no and role = p_role and removed_at is not null;
  delete from roles where app_no = p_app_no and role = p_role and removed_at is not null;
  return true;
end $$;

CREATE FUNCTION public.sweep_sender_messages(p_app_no integer, p_conversation bigint, p_uid text, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
declare
  v_ids bigint[];
  v_more boolean;
begin
  with gone as (
    delete from messages where ctid = any (array(
      select ctid from messages
      where app_no = p_app_no and conversation = p_conversation and sender = p_uid
      order by id limit p_limit))
    returning id, sender, muid, parent_id, deleted_at is null as there, counts,
      reacted or saved as has_more
  ), more as (
    insert into gone_messages (app_no, id) select p_app_no, id from gone where has_more
    on conflict do nothing
  ), forgotten as (
    delete from muids u using gone g
    where u.app_no = p_app_no and u.sender = g.sender and u.muid = g.muid and u.message_id = g.id
  ), left_out as (
    insert into uncounted (app_no, conversation, id)
    select p_app_no, p_conversation, id from gone where counts and there
  ), replies as (
    update threads t set replies = t.replies - g.replies
    from (select parent_id, count(*) as replies from gone
      where parent_id is not null and there group by parent_id) g
    where t.app_no = p_app_no and t.parent_id = g.parent_id
  )
  select array_agg(id), bool_or(has_more) into v_ids, v_more from gone;
  perform delete_held(p_app_no, array(
    select id from held_messages
    where app_no = p_app_no and conversation = p_conversation and sender = p_uid));
  if v_ids is null then return 0; end if;
  if v_more then perform enqueue_job(p_app_no, 'reactions.sweep'); end if;
  perform delete_message_references(p_app_no, v_ids);
  update conversations set removed = removed + cardinality(v_ids)
  where app_no = p_app_no and no = p_conversation;
  return cardinality(v_ids);
end $$;

CREATE FUNCTION public.sweep_user(p_app_no integer, p_uid text, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  i inbox;
  v_no bigint;
  v_left int := p_limit;
  v_done int;
begin
  for i in
    select * from inbox where app_no = p_app_no and uid = p_uid order by conversation limit p_limit
  loop
    perform from conversations where app_no = p_app_no and no = i.conversation for no key update;
    if i.kind = 'user' then
      v_left := v_left - sweep_conversation(p_app_no, i.conversation, v_left);
    else
      v_left := v_left - sweep_sender_messages(p_app_no, i.conversation, p_uid, v_left);
      if v_left > 0 then
        delete from marks
        where app_no = p_app_no and conversation = i.conversation and uid = p_uid;
        -- The counts of a removed group don't matter any more.
        if exists (select from groups
          where app_no = p_app_no and guid = i.with_id and removed_at is null)
        then
          perform remove_member(p_app_no, i.with_id, p_uid);
          update groups set owner = 'app_system'
          where app_no = p_app_no and guid = i.with_id and owner = p_uid;
        end if;
        delete from inbox
        where app_no = p_app_no and uid = p_uid and kind = 'group' and with_id = i.with_id;
        update receipt_floors set deleted = deleted + 1
        where app_no = p_app_no and kind in ('delivered', 'read') and conversation = i.conversation;
        -- Sends to all groups that were left so far wait for the end of this: it costs as much as so many rows.
        v_left := v_left - 20;
      end if;
    end if;
    if v_left <= 0 then return false; end if;
  end loop;

  -- An import stores messages of users who never were members of the group, without an inbox row.
  for v_no in
    select distinct m.conversation from (
      select conversation from messages where app_no = p_app_no and sender = p_uid order by id limit v_left) m
    order by m.conversation
  loop
    perform from conversations where app_no = p_app_no and no = v_no for no key update;
    v_left := v_left - sweep_sender_messages(p_app_no, v_no, p_uid, v_left);
    if v_left <= 0 then return false; end if;
  end loop;

  v_left := v_left - sweep_reactions(p_app_no, p_uid, v_left);
  if v_left <= 0 then return false; end if;
  delete from bans where ctid = any (array(
    select ctid from bans where app_no = p_app_no and uid = p_uid limit v_left));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from subject_flags where app_no = p_app_no and kind = 'user' and subject = p_uid;
  delete from subject_flags where ctid = any (array(
    select ctid from subject_flags where app_no = p_app_no and uid = p_uid limit v_left));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from sanctions where ctid = any (array(
    select ctid from sanctions where app_no = p_app_no and uid = p_uid limit v_left));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from auth_tokens where ctid = any (array(
    select ctid from auth_tokens where app_no = p_app_no and uid = p_uid limit v_left));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  v_left := v_left - sweep_user_references(p_app_no, p_uid, v_left);
  delete from notification_mutes where ctid = any (array(
    (select ctid from notification_mutes where app_no = p_app_no and uid = p_uid
     limit greatest(v_left, 0))
    union
    (select ctid from notification_mutes
     where app_no = p_app_no and kind = 'user' and with_id = p_uid limit greatest(v_left, 0))
    limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from notification_batches where ctid = any (array(
    select ctid from notification_batches where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  if v_left > 0 then v_left := v_left - remove_agent_runs(p_app_no, p_uid, v_left); end if;
  if v_left > 0 then v_left := v_left - release_files_of_user(p_app_no, p_uid, v_left); end if;
  delete from former_members where ctid = any (array(
    select ctid from former_members where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;

  delete from friends f
  where v_left > 0 and app_no = p_app_no and friend_uid = p_uid and uid in (
    select friend_uid from friends where app_no = p_app_no and uid = p_uid
    order by friend_uid limit v_left);
  delete from friends
  where v_left > 0 and app_no = p_app_no and uid = p_uid and friend_uid in (
    select friend_uid from friends where app_no = p_app_no and uid = p_uid
    order by friend_uid limit v_left);
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;

  -- A block can create a head without inbox rows.
  with gone as (
    delete from blocks where v_left > 0 and ctid = any (array(
      (select ctid from blocks where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0))
      union all
      (select ctid from blocks where app_no = p_app_no and blocked_uid = p_uid
       limit greatest(v_left, 0))
      limit greatest(v_left, 0)))
    returning least(uid, blocked_uid) as one, greatest(uid, blocked_uid) as other
  ), heads as (
    delete from conversations c using gone
    where c.app_no = p_app_no and c.kind = 'user' and c.one = gone.one and c.other = gone.other
      and c.last_id = 0
  )
  select count(*) into v_done from gone;
  v_left := v_left - v_done;

  if v_left <= 0 then return false; end if;
  delete from view_totals where app_no = p_app_no and uid = p_uid;
  delete from notification_users where app_no = p_app_no and uid = p_uid;
  delete from notification_held where app_no = p_app_no and uid = p_uid;
  delete from notification_deliveries where app_no = p_app_no and uid = p_uid;
  delete from users where app_no = p_app_no and uid = p_uid and removed_at is not null;
  return true;
end $$;

CREATE FUNCTION public.sweep_user_references(p_app_no integer, p_uid text, p_limit integer) RETURNS integer
    LANGUAGE plpgsql
    AS $$
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
  delete from flags where v_left > 0 and ctid = any (array(
    select ctid from flags where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from checked_messages where v_left > 0 and ctid = any (array(
    (select ctid from checked_messages where app_no = p_app_no and sender = p_uid limit greatest(v_left, 0))
    union
    (select ctid from checked_messages
     where app_no = p_app_no and receiver = p_uid and kind = 'user' limit greatest(v_left, 0))
    limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from interactions where v_left > 0 and ctid = any (array(
    select ctid from interactions where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  if v_left > 0 then v_left := v_left - sweep_calls_of_user(p_app_no, p_uid, v_left); end if;
  return p_limit - v_left;
end $$;

CREATE FUNCTION public.sweep_webhook(p_app_no integer, p_webhook bigint, p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_rows int;
begin
  delete from webhook_backlog where ctid = any (array(
    select ctid from webhook_backlog
    where app_no = p_app_no and webhook_no = p_webhook limit p_limit));
  get diagnostics v_rows = row_count;
  if v_rows = p_limit then return false; end if;
  delete from webhook_parked where ctid = any (array(
    select ctid from webhook_parked
    where app_no = p_app_no and webhook_no = p_webhook limit p_limit));
  get diagnostics v_rows = row_count;
  if v_rows = p_limit then return false; end if;
  delete from webhook_dead_letters where ctid = any (array(
    select ctid from webhook_dead_letters
    where app_no = p_app_no and webhook_no = p_webhook limit p_limit));
  get diagnostics v_rows = row_count;
  if v_rows = p_limit then return false; end if;
  delete from webhook_progress where app_no = p_app_no and webhook_no = p_webhook;
  delete from webhooks where app_no = p_app_no and no = p_webhook;
  return true;
end $$;

CREATE TABLE public.apps (
    app_no integer NOT NULL,
    app_id text NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL,
    ceilings jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    archived_at timestamp with time zone,
    suspended_at timestamp with time zone,
    throttle integer,
    search_upto bigint DEFAULT 0 NOT NULL,
    special_roles boolean DEFAULT false NOT NULL,
    moderation text,
    CONSTRAINT apps_throttle_check CHECK (((throttle >= 1) AND (throttle <= 99)))
);

CREATE FUNCTION public.system_text(p_app_no integer) RETURNS text
    LANGUAGE sql STABLE
    RETURN (SELECT concat('{"uid":"app_system","name":"System","role":"default","createdAt":', public.unix(apps.created_at)) AS concat FROM public.apps WHERE (apps.app_no = system_text.p_app_no));

CREATE FUNCTION public.system_json(p_app_no integer) RETURNS text
    LANGUAGE sql STABLE
    RETURN (public.system_text(p_app_no) || ',"status":"offline"}'::text);

CREATE FUNCTION public.tend_jobs(p_worker uuid, p_known jsonb, OUT v_cancelled json, OUT v_due_ms double precision) RETURNS record
    LANGUAGE plpgsql
    SET enable_seqscan TO 'off'
    AS $$
declare
  s job_schedules;
begin
  update jobs j set state = 'ready', worker_id = null
  where ctid = any (array(
    select ctid from jobs r
    where state = 'running' and case when worker_id = p_worker
      then not p_known @> jsonb_build_array(jsonb_build_object('app', app_no, 'id', id))
      else not exists (
        select from workers w where w.worker_id = r.worker_id and w.expires_at > clock_timestamp())
      end
    for no key update skip locked));
  update jobs set state = 'ready' where ctid = any (array(
    select ctid from jobs where state = 'waiting' and run_at <= job_clock()
    order by run_at limit 1000 for no key update skip locked));
  for s in
    select * from job_schedules where next_at <= job_clock()
    order by next_at limit 100 for no key update skip locked
  loop
    -- One run stands for all that were missed, and for those that overlap.
    perform enqueue_job(s.app_no, s.name, s.input, p_dedupe_key => 'schedule ' || s.key);
    -- From the time that was due if the clock was set back since: it must not come twice.
    update job_schedules set next_at =
      next_job_time(s.every_seconds, s.at, s.zone, s.days, greatest(s.next_at, job_clock()))
    where app_no = s.app_no and key = s.key;
  end loop;
  select json_agg(json_build_object('app', app_no, 'id', id)) into v_cancelled from jobs
  where state = 'running' and worker_id = p_worker and cancelling;
  select extract(epoch from least(
    (select run_at from jobs where state = 'waiting' order by run_at limit 1),
    (select next_at from job_schedules order by next_at limit 1)) - job_clock()) * 1000
  into v_due_ms;
end $$;

CREATE FUNCTION public.thin_marks(p_limit integer) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  t mark_thinning;
  v_next jsonb;
begin
  select * into t from mark_thinning for update;
  if t.place is null then
    if t.began_at > now() - interval '1 day' then return false; end if;
    t.place := '[0, 0, "", "", 0]';
    t.began_at := now();
  end if;
  with looked as materialized (
    select ctid as tid, app_no, conversation, uid, kind, upto_id, at from marks
    where (app_no, conversation, uid, kind, upto_id)
      >= ((t.place ->> 0)::int, (t.place ->> 1)::bigint, t.place ->> 2, t.place ->> 3,
        (t.place ->> 4)::bigint)
    order by app_no, conversation, uid, kind, upto_id limit p_limit
  ), followed as (
    select tid, at, lead(at) over (
      partition by app_no, conversation, uid, kind order by upto_id) as next_at
    from looked
  ), gone as (
    -- Sweeps lock marks in another order, so this skips locked ones instead of waiting.
    delete from marks where ctid = any (array(
      select k.ctid from marks k where k.ctid = any (array(
        select tid from followed
        where at < date_trunc('day', now(), 'UTC') - interval '90 days'
          and date_trunc('day', at, 'UTC') = date_trunc('day', next_at, 'UTC')))
      for update skip locked))
  )
  -- The last mark is checked again, together with the one after it.
  select jsonb_build_array(app_no, conversation, uid, kind, upto_id) into v_next from looked
  order by app_no, conversation, uid, kind, upto_id offset p_limit - 1;
  update mark_thinning set place = v_next, began_at = t.began_at;
  return v_next is not null;
end $$;

CREATE FUNCTION public.tick() RETURNS bigint
    LANGUAGE sql
    RETURN ((round(((date_part('epoch'::text, clock_timestamp()) - (1000000000)::double precision) * (1000000)::double precision)))::bigint * 4);

CREATE FUNCTION public.turn_jobs(p_worker uuid, p_ends jsonb, p_known jsonb, p_free integer, p_per_app integer, p_after integer, OUT claimed json, OUT last integer, OUT cancelled json, OUT due_ms double precision) RETURNS record
    LANGUAGE plpgsql
    AS $$
begin
  if p_ends is not null then perform end_jobs(p_worker, p_ends); end if;
  if p_known is not null then
    select v_cancelled, v_due_ms into cancelled, due_ms from tend_jobs(p_worker, p_known);
  end if;
  last := p_after;
  if p_free > 0 then
    select v_claimed, v_last into claimed, last from claim_jobs(p_worker, p_free, p_per_app, p_after);
  end if;
end $$;

CREATE FUNCTION public.unblock_next_job(p_app_no integer, p_key text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform lock_serial_key(p_app_no, p_key);
  update jobs set state = case when run_at > job_clock() then 'waiting' else 'ready' end
  where app_no = p_app_no and id = (
    select id from jobs where app_no = p_app_no and serial_key = p_key and ended_at is null
    order by id limit 1)
  and state = 'blocked' and not exists (
    select from jobs where app_no = p_app_no and serial_key = p_key and ended_at is null and state <> 'blocked');
end $$;

CREATE FUNCTION public.uncount_reaction(r public.reactions) RETURNS void
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.update_group_card() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  update groups set card = group_card(new) where app_no = new.app_no and guid = new.guid;
  return null;
end $$;

CREATE FUNCTION public.update_presence_name() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  update presence set name_key = new.name_key where app_no = new.app_no and uid = new.uid;
  return null;
end $$;

CREATE FUNCTION public.update_user_card() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  update users set card = user_card(new) where app_no = new.app_no and uid = new.uid;
  return null;
end $$;

CREATE FUNCTION public.user_card(u public.users) RETURNS text
    LANGUAGE sql STABLE
    RETURN concat('{"uid":', to_json((u).uid), ',"name":', to_json((u).name), (',"avatar":'::text || (to_json((u).avatar))::text), (',"link":'::text || (to_json((u).link))::text), (',"statusMessage":'::text || (to_json((u).status_message))::text), ',"createdAt":', public.unix((u).created_at), (',"updatedAt":'::text || (public.unix((u).updated_at))::text), (',"deactivatedAt":'::text || (public.unix((u).deactivated_at))::text), (',"metadata":'::text || (((u).metadata - '@private'::text))::text));

CREATE FUNCTION public.user_snapshot(u public.users) RETURNS text
    LANGUAGE sql STABLE
    RETURN (public.user_text(u) || '}'::text);

CREATE FUNCTION public.user_record(u public.users) RETURNS jsonb
    LANGUAGE sql STABLE
    RETURN (public.user_snapshot(u))::jsonb;

CREATE FUNCTION public.utc_day(p_at timestamp with time zone) RETURNS date
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((p_at AT TIME ZONE 'UTC'::text))::date;

CREATE FUNCTION public.wake_job(p_app_no integer, p_id bigint) RETURNS void
    LANGUAGE sql
    AS $$
  update jobs set
    again = state = 'running',
    run_at = case when state = 'waiting' then job_clock() else run_at end,
    state = case when state = 'waiting' then 'ready' else state end
  where app_no = p_app_no and id = p_id and state in ('waiting', 'running')
$$;

CREATE FUNCTION public.with_mentions(p_data jsonb, p_mentions jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE
    RETURN CASE WHEN (p_mentions IS NULL) THEN (p_data - 'mentions'::text) ELSE (p_data || jsonb_build_object('mentions', p_mentions)) END;

CREATE FUNCTION public.withhold_message(p_app_no integer, p_id bigint, p_reason text, p_decision text) RETURNS public.messages
    LANGUAGE plpgsql
    AS $$
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

CREATE FUNCTION public.without_user(p_value jsonb, p_uid text, p_as text, p_key text DEFAULT ''::text) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
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

CREATE FUNCTION public.working_apps() RETURNS TABLE(app_no integer, app_id text)
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ select app_no, app_id from apps where archived_at is null and suspended_at is null $$;

CREATE TABLE public.agent_blocks (
    app_no integer NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    slug text NOT NULL COLLATE pg_catalog."C",
    definition jsonb NOT NULL,
    secret_sealed bytea,
    listed text,
    listed_digest text,
    listed_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.agent_budgets (
    app_no integer NOT NULL,
    run_tokens bigint,
    run_money double precision,
    user_day_tokens bigint,
    user_day_money double precision,
    app_month_tokens bigint,
    app_month_money double precision,
    user_day_calls bigint,
    app_month_calls bigint
);

CREATE TABLE public.agent_handovers (
    app_no integer NOT NULL,
    handover_id uuid DEFAULT gen_random_uuid() NOT NULL,
    agent_uid text NOT NULL COLLATE pg_catalog."C",
    uid text NOT NULL COLLATE pg_catalog."C",
    conversation bigint NOT NULL,
    opened_by text NOT NULL COLLATE pg_catalog."C",
    reason text,
    taken_by text,
    upto_id bigint,
    opened_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    taken_at timestamp with time zone,
    answered_at timestamp with time zone,
    hand_back_at timestamp with time zone,
    closed_at timestamp with time zone,
    closed_by text COLLATE pg_catalog."C"
);

CREATE TABLE public.agent_progress (
    app_no integer NOT NULL,
    "position" bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.agent_ratings (
    app_no integer NOT NULL,
    rating_id uuid DEFAULT gen_random_uuid() NOT NULL,
    run_id uuid NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    agent_uid text NOT NULL COLLATE pg_catalog."C",
    revision integer,
    up boolean NOT NULL,
    comment text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.agent_replays (
    app_no integer NOT NULL,
    replay_id uuid DEFAULT gen_random_uuid() NOT NULL,
    run_id uuid NOT NULL,
    mode text NOT NULL COLLATE pg_catalog."C",
    revision integer,
    changes jsonb,
    job_id bigint,
    state text DEFAULT 'queued'::text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    error text,
    answer text,
    verdict jsonb,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone
);

CREATE TABLE public.agent_revisions (
    app_no integer NOT NULL,
    agent_uid text NOT NULL COLLATE pg_catalog."C",
    no integer NOT NULL,
    content jsonb NOT NULL,
    changed text[] NOT NULL,
    operator text,
    api_key text,
    restores integer,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.agent_sources (
    app_no integer NOT NULL,
    agent_uid text NOT NULL COLLATE pg_catalog."C",
    source_id uuid NOT NULL
);

CREATE TABLE public.agent_steps (
    app_no integer NOT NULL,
    run_id uuid NOT NULL,
    no integer NOT NULL,
    attempt integer NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    state text DEFAULT 'running'::text NOT NULL COLLATE pg_catalog."C",
    provider_id text COLLATE pg_catalog."C",
    model text,
    text text,
    calls jsonb,
    tool text,
    display_name text,
    call_id text,
    arguments text,
    result text,
    waits_for text COLLATE pg_catalog."C",
    approved_at timestamp with time zone,
    input_tokens integer,
    output_tokens integer,
    reserved_tokens bigint,
    reserved_money double precision,
    charged_tokens bigint,
    charged_money double precision,
    error text,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone
);

CREATE TABLE public.agents (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    active boolean NOT NULL,
    definition jsonb NOT NULL,
    headers_sealed bytea,
    revision integer DEFAULT 0 NOT NULL,
    last_message_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone
);

CREATE TABLE public.api_keys (
    app_no integer NOT NULL,
    key_hash bytea NOT NULL,
    key_sealed bytea NOT NULL,
    name text NOT NULL,
    scope text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT api_keys_scope_check CHECK ((scope = ANY (ARRAY['authOnly'::text, 'fullAccess'::text])))
);

CREATE TABLE public.app_pins (
    app_no integer NOT NULL,
    place integer NOT NULL,
    kind text NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    pinned_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT app_pins_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'group'::text])))
);

CREATE TABLE public.auth_tokens (
    app_no integer NOT NULL,
    token_hash bytea NOT NULL,
    token_sealed bytea NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    platform text,
    user_agent text,
    app_info jsonb,
    audit_id bigint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.bans (
    app_no integer NOT NULL,
    guid text NOT NULL COLLATE pg_catalog."C",
    uid text NOT NULL COLLATE pg_catalog."C",
    scope text,
    joined_at timestamp with time zone,
    banned_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    until timestamp with time zone
);

CREATE TABLE public.blocks (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    blocked_uid text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.call_connections (
    app_no integer NOT NULL,
    call_id bigint NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    no smallint NOT NULL,
    what text NOT NULL COLLATE pg_catalog."C",
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    server text NOT NULL,
    handle text NOT NULL,
    audio boolean DEFAULT false NOT NULL,
    video boolean DEFAULT false NOT NULL
);

CREATE TABLE public.call_files (
    app_no integer NOT NULL,
    call_id bigint NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    kind text NOT NULL,
    file_id text NOT NULL COLLATE pg_catalog."C",
    uid text COLLATE pg_catalog."C",
    source text,
    type text,
    mid uuid,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT call_files_kind_check CHECK ((kind = ANY (ARRAY['recording'::text, 'transcription'::text]))),
    CONSTRAINT call_files_source_check CHECK ((source = ANY (ARRAY['camera'::text, 'screen'::text]))),
    CONSTRAINT call_files_type_check CHECK ((type = ANY (ARRAY['audio'::text, 'video'::text])))
);

CREATE TABLE public.call_recordings (
    app_no integer NOT NULL,
    call_id bigint NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    connection uuid NOT NULL,
    room uuid NOT NULL,
    uid text COLLATE pg_catalog."C",
    source text NOT NULL,
    told boolean DEFAULT false NOT NULL,
    started_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    ended_at timestamp with time zone,
    CONSTRAINT call_recordings_source_check CHECK ((source = ANY (ARRAY['camera'::text, 'screen'::text])))
);

CREATE TABLE public.check_settings (
    app_no integer NOT NULL,
    url text,
    use_basic_auth boolean NOT NULL,
    username text,
    password_sealed bytea,
    secret_sealed bytea,
    old_secret_sealed bytea,
    old_secret_until timestamp with time zone,
    timeout_ms integer NOT NULL,
    context_messages integer NOT NULL,
    on_failure text NOT NULL,
    deadline_seconds integer NOT NULL,
    models jsonb NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT check_settings_on_failure_check CHECK ((on_failure = ANY (ARRAY['approved'::text, 'disapproved'::text])))
);

CREATE TABLE public.direct_views (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    blocked boolean NOT NULL,
    updated_second bigint NOT NULL,
    with_id text NOT NULL COLLATE pg_catalog."C"
)
WITH (fillfactor='50');

CREATE TABLE public.embedding_calls (
    app_no integer NOT NULL,
    call_id uuid DEFAULT gen_random_uuid() NOT NULL,
    model text NOT NULL COLLATE pg_catalog."C",
    reserved_tokens bigint NOT NULL,
    charged_tokens bigint,
    started_at timestamp with time zone NOT NULL
);

CREATE TABLE public.erasures_done (
    app_no integer NOT NULL,
    id bigint NOT NULL
);

CREATE SEQUENCE public.event_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.event_bodies (
    id bigint DEFAULT nextval(
CASE
    WHEN (pg_current_xact_id() IS NOT NULL) THEN 'public.event_ids'::regclass
    ELSE NULL::regclass
END) NOT NULL,
    app_no integer NOT NULL,
    day date DEFAULT ((clock_timestamp() AT TIME ZONE 'utc'::text))::date NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    type text NOT NULL,
    key text NOT NULL,
    to_first text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    to_second text COLLATE pg_catalog."C",
    active_uid text COLLATE pg_catalog."C",
    counts_as text,
    payload json NOT NULL
)
PARTITION BY RANGE (day);

CREATE TABLE public.event_positions (
    "position" bigint NOT NULL,
    body_id bigint NOT NULL,
    app_no integer NOT NULL,
    day date NOT NULL,
    body_day date NOT NULL,
    type text NOT NULL,
    to_first text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    to_second text COLLATE pg_catalog."C"
)
PARTITION BY RANGE (day);

CREATE VIEW public.events AS
 SELECT p.app_no,
    p."position",
    p.type,
    b.key,
    b.payload,
    p.to_first,
    p.to_second,
    b.at,
    p.day,
    b.active_uid,
    b.counts_as
   FROM (public.event_positions p
     CROSS JOIN LATERAL ( SELECT event_bodies.key,
            event_bodies.payload,
            event_bodies.at,
            event_bodies.active_uid,
            event_bodies.counts_as
           FROM public.event_bodies
          WHERE ((event_bodies.id = p.body_id) AND (event_bodies.day = p.body_day))
         OFFSET 0) b);

CREATE TABLE public.export_parts (
    app_no integer NOT NULL,
    export_id bigint NOT NULL,
    part integer NOT NULL,
    content bytea,
    object text,
    CONSTRAINT export_parts_check CHECK ((num_nonnulls(content, object) = 1))
);
ALTER TABLE ONLY public.export_parts ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE TABLE public.exports (
    app_no integer NOT NULL,
    id bigint NOT NULL,
    uid text COLLATE pg_catalog."C",
    conversation bigint,
    from_second bigint,
    to_second bigint NOT NULL,
    in_store boolean DEFAULT false NOT NULL,
    parts integer DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    place jsonb,
    sums jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone
);

CREATE TABLE public.file_references (
    app_no integer NOT NULL,
    message_id bigint NOT NULL,
    file_id text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE public.file_usage (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    files bigint NOT NULL,
    bytes bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.files (
    app_no integer NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    uid text COLLATE pg_catalog."C",
    state text DEFAULT 'pending'::text NOT NULL,
    name text NOT NULL,
    type text NOT NULL COLLATE pg_catalog."C",
    size bigint NOT NULL,
    stored bigint NOT NULL,
    part_size integer NOT NULL,
    voice boolean DEFAULT false NOT NULL,
    picture boolean DEFAULT false NOT NULL,
    sha256 bytea,
    reason text,
    details jsonb,
    refs integer DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone,
    upload_ends_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT files_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'checking'::text, 'ready'::text, 'rejected'::text, 'deleting'::text])))
)
WITH (fillfactor='80');

CREATE TABLE public.flag_reasons (
    app_no integer NOT NULL,
    reason_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    description text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.flags (
    app_no integer NOT NULL,
    message_id bigint NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    reason_id text NOT NULL,
    remark text,
    flagged_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.former_members (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    conversation bigint NOT NULL,
    guid text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.friends (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    friend_uid text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.function_files (
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.gateways (
    gateway uuid NOT NULL,
    seen_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ended boolean DEFAULT false NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.gone_messages (
    app_no integer NOT NULL,
    id bigint NOT NULL
);

CREATE TABLE public.held_edits (
    app_no integer NOT NULL,
    id bigint NOT NULL,
    edit_no bigint NOT NULL,
    edited_by text NOT NULL COLLATE pg_catalog."C",
    data jsonb NOT NULL,
    tags text[] NOT NULL,
    mentions text[],
    files text[],
    edited_before timestamp with time zone,
    checks jsonb NOT NULL,
    held_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.idempotency (
    app_no integer NOT NULL,
    credential bytea NOT NULL,
    uid text NOT NULL,
    key text NOT NULL,
    request_hash bytea NOT NULL,
    answer_sealed bytea,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    message_id bigint
);

CREATE TABLE public.import_parts (
    app_no integer NOT NULL,
    import_id bigint NOT NULL,
    part integer NOT NULL,
    content bytea NOT NULL
);
ALTER TABLE ONLY public.import_parts ALTER COLUMN content SET STORAGE EXTERNAL;

CREATE TABLE public.import_problems (
    app_no integer NOT NULL,
    import_id bigint NOT NULL,
    part integer NOT NULL,
    line integer NOT NULL,
    code text NOT NULL,
    message text NOT NULL
);

CREATE TABLE public.import_sums (
    app_no integer NOT NULL,
    import_id bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    conversation text NOT NULL COLLATE pg_catalog."C",
    imported bigint NOT NULL,
    checksum bigint NOT NULL,
    there bigint NOT NULL,
    there_checksum bigint NOT NULL
);

CREATE TABLE public.imports (
    app_no integer NOT NULL,
    id bigint NOT NULL,
    state text DEFAULT 'open'::text NOT NULL COLLATE pg_catalog."C",
    dry_run boolean DEFAULT false NOT NULL,
    by_conversation boolean NOT NULL,
    parts integer DEFAULT 0 NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    job_id bigint,
    place jsonb,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    problems bigint DEFAULT 0 NOT NULL,
    erasures bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    started_at timestamp with time zone,
    ended_at timestamp with time zone,
    CONSTRAINT imports_state_check CHECK ((state = ANY (ARRAY['open'::text, 'started'::text, 'paused'::text, 'checked'::text, 'done'::text, 'cancelled'::text])))
);

CREATE TABLE public.interactions (
    app_no integer NOT NULL,
    message_id bigint NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    element_id text NOT NULL COLLATE pg_catalog."C",
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE SEQUENCE public.job_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.job_schedules (
    app_no integer NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    input jsonb NOT NULL,
    every_seconds integer,
    at time without time zone,
    zone text,
    days smallint[],
    next_at timestamp with time zone NOT NULL,
    CONSTRAINT job_schedules_check CHECK (
CASE
    WHEN (every_seconds IS NULL) THEN ((at IS NOT NULL) AND (zone IS NOT NULL))
    ELSE ((at IS NULL) AND (zone IS NULL) AND (days IS NULL))
END),
    CONSTRAINT job_schedules_days_check CHECK (((days <@ '{1,2,3,4,5,6,7}'::smallint[]) AND (cardinality(days) > 0))),
    CONSTRAINT job_schedules_every_seconds_check CHECK ((every_seconds > 0))
);

CREATE TABLE public.job_steps (
    app_no integer NOT NULL,
    job_id bigint NOT NULL,
    step text NOT NULL COLLATE pg_catalog."C",
    result jsonb
);

CREATE TABLE public.jobs (
    app_no integer NOT NULL,
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    state text NOT NULL COLLATE pg_catalog."C",
    priority smallint DEFAULT 0 NOT NULL,
    tries smallint DEFAULT 0 NOT NULL,
    epoch integer DEFAULT 0 NOT NULL,
    cancelling boolean DEFAULT false NOT NULL,
    again boolean DEFAULT false NOT NULL,
    stepped boolean DEFAULT false NOT NULL,
    worker_id uuid,
    run_at timestamp with time zone NOT NULL,
    deadline timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    dedupe_key text COLLATE pg_catalog."C",
    serial_key text COLLATE pg_catalog."C",
    input jsonb NOT NULL,
    checkpoint jsonb,
    done bigint,
    total bigint,
    error text,
    CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['blocked'::text, 'waiting'::text, 'ready'::text, 'running'::text, 'done'::text, 'dead'::text, 'cancelled'::text])))
)
WITH (fillfactor='70');

CREATE TABLE public.keyword_lists (
    app_no integer NOT NULL,
    list_id text NOT NULL COLLATE pg_catalog."C",
    revision integer DEFAULT 1 NOT NULL,
    name text NOT NULL,
    description text,
    category text NOT NULL,
    from_file boolean NOT NULL,
    entries text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT keyword_lists_category_check CHECK ((category = ANY (ARRAY['word'::text, 'pattern'::text, 'sentence-similarity'::text])))
);

CREATE TABLE public.knowledge_chunks (
    app_no integer NOT NULL,
    chunk_id uuid NOT NULL,
    source_id uuid NOT NULL,
    page_id uuid,
    no integer NOT NULL,
    heading text NOT NULL,
    text text NOT NULL,
    words tsvector NOT NULL
);

CREATE TABLE public.knowledge_pages (
    app_no integer NOT NULL,
    source_id uuid NOT NULL,
    page_id uuid NOT NULL,
    no integer NOT NULL,
    url text NOT NULL,
    depth integer NOT NULL,
    title text DEFAULT ''::text NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    state text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    due_at timestamp with time zone,
    tries integer DEFAULT 0 NOT NULL,
    etag text,
    last_modified text,
    digest bytea,
    chunks integer DEFAULT 0 NOT NULL,
    crawled_at timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.knowledge_sources (
    app_no integer NOT NULL,
    source_id uuid DEFAULT gen_random_uuid() NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL,
    body text,
    file_id text COLLATE pg_catalog."C",
    file_name text,
    mime_type text COLLATE pg_catalog."C",
    url text,
    depth integer,
    most_pages integer,
    indexes boolean DEFAULT true NOT NULL,
    pages integer DEFAULT 0 NOT NULL,
    links_lost boolean DEFAULT false NOT NULL,
    state text DEFAULT 'indexing'::text NOT NULL COLLATE pg_catalog."C",
    reason text COLLATE pg_catalog."C",
    revision integer DEFAULT 1 NOT NULL,
    chunks integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    updated_at timestamp with time zone NOT NULL
);

CREATE TABLE public.knowledge_vectors (
    app_no integer NOT NULL,
    chunk_id uuid NOT NULL,
    model text NOT NULL,
    dimensions integer NOT NULL,
    vector bytea NOT NULL
);
ALTER TABLE ONLY public.knowledge_vectors ALTER COLUMN vector SET STORAGE EXTERNAL;

CREATE TABLE public.leases (
    job text NOT NULL,
    worker_id uuid NOT NULL,
    epoch bigint NOT NULL
);

CREATE TABLE public.log_breaks (
    app_no integer NOT NULL,
    last bigint NOT NULL,
    next bigint NOT NULL,
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.log_origin (
    system_id text,
    timeline integer,
    wal_position bigint,
    break_no bigint DEFAULT 0 NOT NULL
);

CREATE TABLE public.mark_thinning (
    place jsonb,
    began_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL
);

CREATE TABLE public.mentions (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    conversation bigint NOT NULL,
    message_id bigint NOT NULL,
    parent_id bigint,
    counts boolean NOT NULL
);

CREATE TABLE public.migrations (
    name text NOT NULL,
    ran_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.model_providers (
    app_no integer NOT NULL,
    provider_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    kind text DEFAULT 'openai'::text NOT NULL COLLATE pg_catalog."C",
    url text NOT NULL,
    key_sealed bytea,
    input_price double precision,
    output_price double precision,
    fallback_id text COLLATE pg_catalog."C",
    fallback_model text,
    embedding_model text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.moderation_rules (
    app_no integer NOT NULL,
    rule_id text NOT NULL COLLATE pg_catalog."C",
    revision integer NOT NULL,
    active boolean NOT NULL,
    name text NOT NULL,
    description text,
    enabled boolean NOT NULL,
    action text[] NOT NULL,
    filters jsonb NOT NULL,
    conditions jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.notification_batches (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL COLLATE pg_catalog."C",
    conversation bigint NOT NULL,
    first_id bigint NOT NULL,
    due_at timestamp with time zone,
    covered_id bigint DEFAULT 0 NOT NULL,
    sent_day date,
    sent_today integer DEFAULT 0 NOT NULL,
    ended_at timestamp with time zone
);

CREATE TABLE public.notification_deliveries (
    app_no integer NOT NULL,
    id bigint NOT NULL,
    channel text NOT NULL COLLATE pg_catalog."C",
    provider text NOT NULL COLLATE pg_catalog."C",
    uid text NOT NULL COLLATE pg_catalog."C",
    push_hash bytea NOT NULL,
    conversation bigint NOT NULL,
    "position" bigint NOT NULL,
    message_id bigint NOT NULL,
    what text NOT NULL COLLATE pg_catalog."C",
    by_uid text NOT NULL COLLATE pg_catalog."C",
    private boolean NOT NULL,
    ids bigint[],
    tries integer DEFAULT 0 NOT NULL,
    due_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (fillfactor='70');

ALTER TABLE public.notification_deliveries ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.notification_deliveries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.notification_fanouts (
    app_no integer NOT NULL,
    "position" bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    after_uid text COLLATE pg_catalog."C"
);

CREATE TABLE public.notification_held (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    conversation bigint NOT NULL,
    message_id bigint NOT NULL,
    by_uid text NOT NULL COLLATE pg_catalog."C",
    until timestamp with time zone NOT NULL
);

CREATE TABLE public.notification_logging (
    app_no integer NOT NULL,
    until timestamp with time zone NOT NULL
);

CREATE TABLE public.notification_logs (
    app_no integer NOT NULL,
    id uuid NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    channel text NOT NULL,
    trigger text NOT NULL,
    message_id bigint,
    reaction_id bigint,
    category text,
    type text,
    sender text NOT NULL COLLATE pg_catalog."C",
    receiver text NOT NULL COLLATE pg_catalog."C",
    receiver_type text NOT NULL,
    reaction_sender text COLLATE pg_catalog."C",
    provider text,
    provider_id text,
    platform text,
    push_token text,
    payload jsonb,
    triggered boolean NOT NULL,
    reason text,
    success boolean,
    sent_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    day date NOT NULL
)
PARTITION BY RANGE (day);

CREATE TABLE public.notification_mutes (
    app_no integer NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    with_id text NOT NULL COLLATE pg_catalog."C",
    uid text NOT NULL COLLATE pg_catalog."C",
    until timestamp with time zone NOT NULL
);

CREATE TABLE public.notification_providers (
    app_no integer NOT NULL,
    channel text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    provider_id text NOT NULL COLLATE pg_catalog."C",
    is_default boolean NOT NULL,
    enabled boolean NOT NULL,
    details jsonb NOT NULL,
    secret_sealed bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.notification_settings (
    app_no integer NOT NULL,
    settings jsonb DEFAULT '{}'::jsonb NOT NULL
);

CREATE TABLE public.notification_shown (
    app_no integer NOT NULL,
    push_hash bytea NOT NULL,
    conversation bigint NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    ids bigint[] NOT NULL,
    shown_at timestamp with time zone DEFAULT now() NOT NULL
)
WITH (fillfactor='70');

CREATE TABLE public.notification_users (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    choices jsonb DEFAULT '{}'::jsonb NOT NULL,
    timezone text,
    email text,
    phno text
);

CREATE TABLE public.notifier_progress (
    app_no integer NOT NULL,
    shard integer GENERATED ALWAYS AS ((app_no % 64)) STORED NOT NULL,
    "position" bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.sequencer_progress (
    taken bigint DEFAULT 0 NOT NULL,
    gaps int8multirange DEFAULT '{}'::int8multirange NOT NULL,
    watched int8multirange DEFAULT '{}'::int8multirange NOT NULL,
    stamp bigint,
    stamp_day date,
    since date DEFAULT '-infinity'::date NOT NULL
);

CREATE VIEW public.outbox AS
 SELECT event_bodies.id,
    event_bodies.app_no,
    event_bodies.type,
    event_bodies.key,
    event_bodies.payload,
    event_bodies.at,
    event_bodies.day
   FROM public.event_bodies
  WHERE ((event_bodies.id > ( SELECT sequencer_progress.taken
           FROM public.sequencer_progress)) AND (event_bodies.day >= ( SELECT (sequencer_progress.since - 1)
           FROM public.sequencer_progress)))
UNION ALL
 SELECT b.id,
    b.app_no,
    b.type,
    b.key,
    b.payload,
    b.at,
    b.day
   FROM ((public.sequencer_progress p
     CROSS JOIN LATERAL unnest((p.gaps + p.watched)) gap(gap))
     CROSS JOIN LATERAL ( SELECT event_bodies.id,
            event_bodies.app_no,
            event_bodies.type,
            event_bodies.key,
            event_bodies.payload,
            event_bodies.at,
            event_bodies.day
           FROM public.event_bodies
          WHERE ((event_bodies.id >= lower(gap.gap)) AND (event_bodies.id < upper(gap.gap)) AND (event_bodies.day >= (p.since - 1)))) b);

CREATE TABLE public.positions (
    app_no integer NOT NULL,
    "position" bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.presence (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    name_key text NOT NULL COLLATE pg_catalog."C",
    gateways uuid[] NOT NULL
)
WITH (fillfactor='80');

CREATE TABLE public.push_tokens (
    app_no integer NOT NULL,
    push_hash bytea NOT NULL,
    push_sealed bytea NOT NULL,
    token_hash bytea NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    platform text NOT NULL,
    provider_id text,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.reaction_counts (
    app_no integer NOT NULL,
    message_id bigint NOT NULL,
    reaction text NOT NULL COLLATE pg_catalog."C",
    count integer NOT NULL,
    first_id bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.receipt_floors (
    app_no integer NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    conversation bigint NOT NULL,
    floor bigint NOT NULL,
    ahead_uid text COLLATE pg_catalog."C",
    ahead_id bigint DEFAULT 0 NOT NULL,
    laggards text[],
    bound bigint,
    deleted integer DEFAULT 0 NOT NULL,
    CONSTRAINT receipt_floors_kind_check CHECK ((kind = ANY (ARRAY['delivered'::text, 'read'::text])))
)
WITH (fillfactor='70');

CREATE TABLE public.receipt_progress (
    app_no integer NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    ended boolean DEFAULT false NOT NULL,
    CONSTRAINT receipt_progress_kind_check CHECK ((kind = ANY (ARRAY['delivered'::text, 'read'::text])))
)
WITH (fillfactor='50');

CREATE TABLE public.removed_uploads (
    app_no integer NOT NULL,
    file_id text NOT NULL COLLATE pg_catalog."C",
    ends_at timestamp with time zone NOT NULL
);

CREATE TABLE public.review_claims (
    app_no integer NOT NULL,
    item_id bigint NOT NULL,
    moderator text NOT NULL,
    until timestamp with time zone NOT NULL
);

CREATE TABLE public.revocations (
    at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    app_no integer NOT NULL,
    kind text NOT NULL,
    id text NOT NULL
);

CREATE TABLE public.rule_previews (
    app_no integer NOT NULL,
    id bigint NOT NULL,
    rule jsonb NOT NULL,
    after_id bigint NOT NULL,
    before_id bigint NOT NULL,
    from_second integer,
    to_second integer NOT NULL,
    most integer NOT NULL,
    checked integer DEFAULT 0 NOT NULL,
    blocked integer DEFAULT 0 NOT NULL,
    newly_blocked integer DEFAULT 0 NOT NULL,
    no_longer_blocked integer DEFAULT 0 NOT NULL,
    too_slow integer DEFAULT 0 NOT NULL,
    progress integer DEFAULT 0 NOT NULL,
    complete boolean DEFAULT false NOT NULL,
    samples jsonb DEFAULT '[]'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    ended_at timestamp with time zone
);

CREATE TABLE public.sanctions (
    app_no integer NOT NULL,
    id bigint NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL,
    guid text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    until timestamp with time zone,
    reason text NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    updated_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT sanctions_kind_check CHECK ((kind = ANY (ARRAY['mute'::text, 'ban'::text])))
);

CREATE TABLE public.saves (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    message_id bigint NOT NULL,
    saved_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);

CREATE TABLE public.search_changes (
    app_no integer NOT NULL,
    id bigint NOT NULL
);

CREATE TABLE public.search_grams (
    app_no integer NOT NULL,
    gram text NOT NULL COLLATE pg_catalog."C",
    upto_id bigint NOT NULL,
    ordinals bytea NOT NULL
);

CREATE TABLE public.search_ids (
    app_no integer NOT NULL,
    upto_id bigint NOT NULL,
    block integer NOT NULL,
    ids bytea NOT NULL
);

CREATE TABLE public.search_segments (
    app_no integer NOT NULL,
    upto_id bigint NOT NULL,
    after_id bigint NOT NULL,
    messages integer NOT NULL,
    version integer DEFAULT 1 NOT NULL
);

CREATE TABLE public.subject_flags (
    app_no integer NOT NULL,
    kind text NOT NULL,
    subject text NOT NULL COLLATE pg_catalog."C",
    uid text NOT NULL COLLATE pg_catalog."C",
    item_id bigint NOT NULL,
    reason_id text NOT NULL,
    remark text,
    flagged_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT subject_flags_kind_check CHECK ((kind = ANY (ARRAY['user'::text, 'group'::text])))
);

CREATE TABLE public.suppressed_addresses (
    app_no integer NOT NULL,
    id bigint NOT NULL,
    channel text NOT NULL COLLATE pg_catalog."C",
    address text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL,
    details text
);

CREATE TABLE public.thread_users (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    parent_id bigint NOT NULL,
    conversation bigint NOT NULL,
    direct boolean NOT NULL,
    wrote boolean NOT NULL,
    follows boolean NOT NULL
);

CREATE TABLE public.threads (
    app_no integer NOT NULL,
    parent_id bigint NOT NULL,
    conversation bigint NOT NULL,
    replies integer NOT NULL,
    last_id bigint NOT NULL,
    updated_second bigint NOT NULL
)
WITH (fillfactor='70');

CREATE TABLE public.totals (
    app_no integer NOT NULL,
    what text NOT NULL,
    shard integer NOT NULL,
    total bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.uncounted (
    app_no integer NOT NULL,
    conversation bigint NOT NULL,
    id bigint NOT NULL
);

CREATE TABLE public.usage_activity (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    day date NOT NULL
)
WITH (fillfactor='80');

CREATE TABLE public.usage_days (
    app_no integer NOT NULL,
    day date NOT NULL,
    what text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL
)
WITH (fillfactor='70');

CREATE TABLE public.usage_peaks (
    app_no integer NOT NULL,
    day date NOT NULL,
    online integer NOT NULL
)
WITH (fillfactor='70');

CREATE TABLE public.usage_progress (
    app_no integer NOT NULL,
    "position" bigint NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.usage_returns (
    app_no integer NOT NULL,
    day date NOT NULL,
    before date NOT NULL,
    users integer NOT NULL
)
WITH (fillfactor='70');

CREATE TABLE public.usage_seen (
    app_no integer NOT NULL,
    day date NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE public.usage_steps (
    app_no integer NOT NULL,
    at timestamp with time zone NOT NULL,
    what text NOT NULL COLLATE pg_catalog."C",
    count bigint NOT NULL
)
WITH (fillfactor='70');

CREATE TABLE public.view_totals (
    app_no integer NOT NULL,
    uid text NOT NULL COLLATE pg_catalog."C",
    visible integer DEFAULT 0 NOT NULL,
    unblocked integer DEFAULT 0 NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE public.webhook_backlog (
    app_no integer NOT NULL,
    webhook_no bigint NOT NULL,
    key text NOT NULL,
    "position" bigint NOT NULL
);

CREATE TABLE public.webhook_dead_letters (
    app_no integer NOT NULL,
    webhook_no bigint NOT NULL,
    "position" bigint NOT NULL,
    upto bigint NOT NULL,
    type text,
    reason text NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT webhook_dead_letters_reason_check CHECK ((reason = ANY (ARRAY['exhausted'::text, 'noRetry'::text, 'expired'::text, 'unknownType'::text])))
);

CREATE TABLE public.webhook_deliveries (
    app_no integer NOT NULL,
    webhook_no bigint NOT NULL,
    id bigint NOT NULL,
    "position" bigint NOT NULL,
    type text NOT NULL,
    try integer NOT NULL,
    status integer,
    error text,
    duration_ms integer NOT NULL,
    answer text,
    at timestamp with time zone NOT NULL,
    day date NOT NULL
)
PARTITION BY RANGE (day);

CREATE TABLE public.webhook_parked (
    app_no integer NOT NULL,
    webhook_no bigint NOT NULL,
    key text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    retry_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.webhook_progress (
    app_no integer NOT NULL,
    webhook_no bigint NOT NULL,
    "position" bigint NOT NULL,
    failures integer DEFAULT 0 NOT NULL,
    failing_since timestamp with time zone,
    failed_at timestamp with time zone,
    probes integer DEFAULT 0 NOT NULL,
    waits_until timestamp with time zone
)
WITH (fillfactor='50');

CREATE TABLE public.webhooks (
    app_no integer NOT NULL,
    no bigint NOT NULL,
    shard integer GENERATED ALWAYS AS (((no % (64)::bigint))::integer) STORED NOT NULL,
    id text NOT NULL,
    name text NOT NULL,
    url text NOT NULL,
    use_basic_auth boolean NOT NULL,
    username text,
    password_sealed bytea,
    enabled boolean NOT NULL,
    retry_on_failure boolean NOT NULL,
    triggers text[] DEFAULT '{}'::text[] NOT NULL,
    types text[] DEFAULT '{}'::text[] NOT NULL,
    since bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    secret_sealed bytea NOT NULL,
    old_secret_sealed bytea,
    old_secret_until timestamp with time zone,
    removed boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT webhooks_check CHECK ((cardinality(since) = cardinality(types)))
);

ALTER TABLE public.webhooks ALTER COLUMN no ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhooks_no_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.workers (
    worker_id uuid NOT NULL,
    expires_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE ONLY public.agent_blocks
    ADD CONSTRAINT agent_blocks_pkey PRIMARY KEY (app_no, kind, slug);

ALTER TABLE ONLY public.agent_budgets
    ADD CONSTRAINT agent_budgets_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.agent_handovers
    ADD CONSTRAINT agent_handovers_pkey PRIMARY KEY (app_no, handover_id);

ALTER TABLE ONLY public.agent_progress
    ADD CONSTRAINT agent_progress_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.agent_ratings
    ADD CONSTRAINT agent_ratings_app_no_rating_id_key UNIQUE (app_no, rating_id);

ALTER TABLE ONLY public.agent_ratings
    ADD CONSTRAINT agent_ratings_pkey PRIMARY KEY (app_no, run_id, uid);

ALTER TABLE ONLY public.agent_replays
    ADD CONSTRAINT agent_replays_pkey PRIMARY KEY (app_no, replay_id);

ALTER TABLE ONLY public.agent_revisions
    ADD CONSTRAINT agent_revisions_pkey PRIMARY KEY (app_no, agent_uid, no);

ALTER TABLE ONLY public.agent_runs
    ADD CONSTRAINT agent_runs_app_no_message_id_agent_uid_key UNIQUE (app_no, message_id, agent_uid);

ALTER TABLE ONLY public.agent_runs
    ADD CONSTRAINT agent_runs_pkey PRIMARY KEY (app_no, run_id);

ALTER TABLE ONLY public.agent_sources
    ADD CONSTRAINT agent_sources_pkey PRIMARY KEY (app_no, agent_uid, source_id);

ALTER TABLE ONLY public.agent_spending
    ADD CONSTRAINT agent_spending_pkey PRIMARY KEY (app_no, uid, period);

ALTER TABLE ONLY public.agent_steps
    ADD CONSTRAINT agent_steps_pkey PRIMARY KEY (app_no, run_id, no, attempt);

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_pkey PRIMARY KEY (app_no, uid);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (app_no, key_hash);

ALTER TABLE ONLY public.app_pins
    ADD CONSTRAINT app_pins_pkey PRIMARY KEY (app_no, kind, id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_app_id_key UNIQUE (app_id);

ALTER TABLE ONLY public.apps
    ADD CONSTRAINT apps_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.auth_tokens
    ADD CONSTRAINT auth_tokens_pkey PRIMARY KEY (app_no, token_hash);

ALTER TABLE ONLY public.bans
    ADD CONSTRAINT bans_pkey PRIMARY KEY (app_no, guid, uid);

ALTER TABLE ONLY public.blocks
    ADD CONSTRAINT blocks_pkey PRIMARY KEY (app_no, uid, blocked_uid);

ALTER TABLE ONLY public.call_connections
    ADD CONSTRAINT call_connections_pkey PRIMARY KEY (app_no, call_id, uid, no, what);

ALTER TABLE ONLY public.call_files
    ADD CONSTRAINT call_files_pkey PRIMARY KEY (app_no, call_id, id);

ALTER TABLE ONLY public.call_participants
    ADD CONSTRAINT call_participants_pkey PRIMARY KEY (app_no, call_id, uid, no);

ALTER TABLE ONLY public.call_recordings
    ADD CONSTRAINT call_recordings_pkey PRIMARY KEY (app_no, call_id, id);

ALTER TABLE ONLY public.calls
    ADD CONSTRAINT calls_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.check_settings
    ADD CONSTRAINT check_settings_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.checked_messages
    ADD CONSTRAINT checked_messages_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_app_no_kind_one_other_key UNIQUE (app_no, kind, one, other);

ALTER TABLE ONLY public.conversations
    ADD CONSTRAINT conversations_pkey PRIMARY KEY (app_no, no);

ALTER TABLE ONLY public.embedding_calls
    ADD CONSTRAINT embedding_calls_pkey PRIMARY KEY (app_no, call_id);

ALTER TABLE ONLY public.erasures_done
    ADD CONSTRAINT erasures_done_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.event_bodies
    ADD CONSTRAINT event_bodies_pkey PRIMARY KEY (id, day);

ALTER TABLE ONLY public.event_positions
    ADD CONSTRAINT event_positions_pkey PRIMARY KEY (app_no, "position", day);

ALTER TABLE ONLY public.export_parts
    ADD CONSTRAINT export_parts_pkey PRIMARY KEY (app_no, export_id, part);

ALTER TABLE ONLY public.exports
    ADD CONSTRAINT exports_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.file_kinds
    ADD CONSTRAINT file_kinds_pkey PRIMARY KEY (app_no, kind);

ALTER TABLE ONLY public.file_references
    ADD CONSTRAINT file_references_pkey PRIMARY KEY (app_no, message_id, file_id);

ALTER TABLE ONLY public.file_usage
    ADD CONSTRAINT file_usage_pkey PRIMARY KEY (app_no, uid);

ALTER TABLE ONLY public.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.flag_reasons
    ADD CONSTRAINT flag_reasons_pkey PRIMARY KEY (app_no, reason_id);

ALTER TABLE ONLY public.flags
    ADD CONSTRAINT flags_pkey PRIMARY KEY (app_no, message_id, uid);

ALTER TABLE ONLY public.former_members
    ADD CONSTRAINT former_members_pkey PRIMARY KEY (app_no, uid, conversation);

ALTER TABLE ONLY public.friends
    ADD CONSTRAINT friends_pkey PRIMARY KEY (app_no, uid, friend_uid);

ALTER TABLE ONLY public.function_files
    ADD CONSTRAINT function_files_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.gateways
    ADD CONSTRAINT gateways_pkey PRIMARY KEY (gateway);

ALTER TABLE ONLY public.gone_messages
    ADD CONSTRAINT gone_messages_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.groups
    ADD CONSTRAINT groups_pkey PRIMARY KEY (app_no, guid);

ALTER TABLE ONLY public.held_edits
    ADD CONSTRAINT held_edits_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.held_messages
    ADD CONSTRAINT held_messages_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.idempotency
    ADD CONSTRAINT idempotency_pkey PRIMARY KEY (app_no, credential, uid, key);

ALTER TABLE ONLY public.import_parts
    ADD CONSTRAINT import_parts_pkey PRIMARY KEY (app_no, import_id, part);

ALTER TABLE ONLY public.import_problems
    ADD CONSTRAINT import_problems_pkey PRIMARY KEY (app_no, import_id, part, line);

ALTER TABLE ONLY public.import_sums
    ADD CONSTRAINT import_sums_pkey PRIMARY KEY (app_no, import_id, kind, conversation);

ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (app_no, uid, kind, with_id);

ALTER TABLE ONLY public.interactions
    ADD CONSTRAINT interactions_pkey PRIMARY KEY (app_no, message_id, uid, element_id);

ALTER TABLE ONLY public.job_schedules
    ADD CONSTRAINT job_schedules_pkey PRIMARY KEY (app_no, key);

ALTER TABLE ONLY public.job_steps
    ADD CONSTRAINT job_steps_pkey PRIMARY KEY (app_no, job_id, step);

ALTER TABLE ONLY public.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.keyword_lists
    ADD CONSTRAINT keyword_lists_pkey PRIMARY KEY (app_no, list_id);

ALTER TABLE ONLY public.knowledge_chunks
    ADD CONSTRAINT knowledge_chunks_pkey PRIMARY KEY (app_no, chunk_id);

ALTER TABLE ONLY public.knowledge_pages
    ADD CONSTRAINT knowledge_pages_pkey PRIMARY KEY (app_no, source_id, page_id);

ALTER TABLE ONLY public.knowledge_sources
    ADD CONSTRAINT knowledge_sources_pkey PRIMARY KEY (app_no, source_id);

ALTER TABLE ONLY public.knowledge_vectors
    ADD CONSTRAINT knowledge_vectors_pkey PRIMARY KEY (app_no, chunk_id);

ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (job);

ALTER TABLE ONLY public.log_breaks
    ADD CONSTRAINT log_breaks_pkey PRIMARY KEY (app_no, last);

ALTER TABLE ONLY public.marks
    ADD CONSTRAINT marks_pkey PRIMARY KEY (app_no, conversation, uid, kind, upto_id);

ALTER TABLE ONLY public.mentions
    ADD CONSTRAINT mentions_pkey PRIMARY KEY (app_no, uid, conversation, message_id);

ALTER TABLE ONLY public.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.model_providers
    ADD CONSTRAINT model_providers_pkey PRIMARY KEY (app_no, provider_id);

ALTER TABLE ONLY public.moderation_rules
    ADD CONSTRAINT moderation_rules_pkey PRIMARY KEY (app_no, rule_id, revision);

ALTER TABLE ONLY public.muids
    ADD CONSTRAINT muids_pkey PRIMARY KEY (app_no, sender, muid, target);

ALTER TABLE ONLY public.notification_batches
    ADD CONSTRAINT notification_batches_pkey PRIMARY KEY (app_no, uid, channel, conversation);

ALTER TABLE ONLY public.notification_deliveries
    ADD CONSTRAINT notification_deliveries_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.notification_fanouts
    ADD CONSTRAINT notification_fanouts_pkey PRIMARY KEY (app_no, "position");

ALTER TABLE ONLY public.notification_held
    ADD CONSTRAINT notification_held_pkey PRIMARY KEY (app_no, uid, "position");

ALTER TABLE ONLY public.notification_logging
    ADD CONSTRAINT notification_logging_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.notification_logs
    ADD CONSTRAINT notification_logs_pkey PRIMARY KEY (app_no, id, day);

ALTER TABLE ONLY public.notification_mutes
    ADD CONSTRAINT notification_mutes_pkey PRIMARY KEY (app_no, kind, with_id, uid);

ALTER TABLE ONLY public.notification_providers
    ADD CONSTRAINT notification_providers_pkey PRIMARY KEY (app_no, channel, kind, provider_id);

ALTER TABLE ONLY public.notification_settings
    ADD CONSTRAINT notification_settings_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.notification_shown
    ADD CONSTRAINT notification_shown_pkey PRIMARY KEY (app_no, push_hash, conversation);

ALTER TABLE ONLY public.notification_users
    ADD CONSTRAINT notification_users_pkey PRIMARY KEY (app_no, uid);

ALTER TABLE ONLY public.notifier_progress
    ADD CONSTRAINT notifier_progress_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.positions
    ADD CONSTRAINT positions_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.presence
    ADD CONSTRAINT presence_pkey PRIMARY KEY (app_no, uid);

ALTER TABLE ONLY public.push_tokens
    ADD CONSTRAINT push_tokens_pkey PRIMARY KEY (app_no, push_hash);

ALTER TABLE ONLY public.reaction_counts
    ADD CONSTRAINT reaction_counts_pkey PRIMARY KEY (app_no, message_id, reaction);

ALTER TABLE ONLY public.reactions
    ADD CONSTRAINT reactions_pkey PRIMARY KEY (app_no, uid, message_id, reaction);

ALTER TABLE ONLY public.receipt_floors
    ADD CONSTRAINT receipt_floors_pkey PRIMARY KEY (app_no, kind, conversation);

ALTER TABLE ONLY public.receipt_progress
    ADD CONSTRAINT receipt_progress_pkey PRIMARY KEY (app_no, kind);

ALTER TABLE ONLY public.removed_uploads
    ADD CONSTRAINT removed_uploads_pkey PRIMARY KEY (app_no, file_id);

ALTER TABLE ONLY public.review_claims
    ADD CONSTRAINT review_claims_pkey PRIMARY KEY (app_no, item_id);

ALTER TABLE ONLY public.reviews
    ADD CONSTRAINT reviews_pkey PRIMARY KEY (app_no, message_id);

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_pkey PRIMARY KEY (app_no, role);

ALTER TABLE ONLY public.rule_previews
    ADD CONSTRAINT rule_previews_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.sanctions
    ADD CONSTRAINT sanctions_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.saves
    ADD CONSTRAINT saves_pkey PRIMARY KEY (app_no, uid, message_id);

ALTER TABLE ONLY public.search_changes
    ADD CONSTRAINT search_changes_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.search_grams
    ADD CONSTRAINT search_grams_pkey PRIMARY KEY (app_no, gram, upto_id);

ALTER TABLE ONLY public.search_ids
    ADD CONSTRAINT search_ids_pkey PRIMARY KEY (app_no, upto_id, block);

ALTER TABLE ONLY public.search_segments
    ADD CONSTRAINT search_segments_pkey PRIMARY KEY (app_no, upto_id);

ALTER TABLE ONLY public.subject_flags
    ADD CONSTRAINT subject_flags_pkey PRIMARY KEY (app_no, kind, subject, uid);

ALTER TABLE ONLY public.suppressed_addresses
    ADD CONSTRAINT suppressed_addresses_app_no_channel_address_key UNIQUE (app_no, channel, address);

ALTER TABLE ONLY public.suppressed_addresses
    ADD CONSTRAINT suppressed_addresses_pkey PRIMARY KEY (app_no, id);

ALTER TABLE ONLY public.thread_users
    ADD CONSTRAINT thread_users_pkey PRIMARY KEY (app_no, uid, parent_id);

ALTER TABLE ONLY public.threads
    ADD CONSTRAINT threads_pkey PRIMARY KEY (app_no, parent_id);

ALTER TABLE ONLY public.totals
    ADD CONSTRAINT totals_pkey PRIMARY KEY (app_no, what, shard);

ALTER TABLE ONLY public.uncounted
    ADD CONSTRAINT uncounted_pkey PRIMARY KEY (app_no, conversation, id);

ALTER TABLE ONLY public.usage_activity
    ADD CONSTRAINT usage_activity_pkey PRIMARY KEY (app_no, uid);

ALTER TABLE ONLY public.usage_days
    ADD CONSTRAINT usage_days_pkey PRIMARY KEY (app_no, day, what);

ALTER TABLE ONLY public.usage_peaks
    ADD CONSTRAINT usage_peaks_pkey PRIMARY KEY (app_no, day);

ALTER TABLE ONLY public.usage_progress
    ADD CONSTRAINT usage_progress_pkey PRIMARY KEY (app_no);

ALTER TABLE ONLY public.usage_returns
    ADD CONSTRAINT usage_returns_pkey PRIMARY KEY (app_no, day, before);

ALTER TABLE ONLY public.usage_seen
    ADD CONSTRAINT usage_seen_pkey PRIMARY KEY (app_no, day, uid);

ALTER TABLE ONLY public.usage_steps
    ADD CONSTRAINT usage_steps_pkey PRIMARY KEY (app_no, at, what);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (app_no, uid);

ALTER TABLE ONLY public.view_totals
    ADD CONSTRAINT view_totals_pkey PRIMARY KEY (app_no, uid);

ALTER TABLE ONLY public.webhook_backlog
    ADD CONSTRAINT webhook_backlog_pkey PRIMARY KEY (app_no, webhook_no, key, "position");

ALTER TABLE ONLY public.webhook_dead_letters
    ADD CONSTRAINT webhook_dead_letters_pkey PRIMARY KEY (app_no, webhook_no, "position");

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (app_no, webhook_no, id, day);

ALTER TABLE ONLY public.webhook_parked
    ADD CONSTRAINT webhook_parked_pkey PRIMARY KEY (app_no, webhook_no, key);

ALTER TABLE ONLY public.webhook_progress
    ADD CONSTRAINT webhook_progress_pkey PRIMARY KEY (app_no, webhook_no);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (app_no, no);

ALTER TABLE ONLY public.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (worker_id);

CREATE INDEX agent_handovers_agent ON public.agent_handovers USING btree (app_no, agent_uid, opened_at, handover_id);

CREATE INDEX agent_handovers_closed ON public.agent_handovers USING btree (closed_at) WHERE (closed_at IS NOT NULL);

CREATE UNIQUE INDEX agent_handovers_open ON public.agent_handovers USING btree (app_no, agent_uid, uid) WHERE (closed_at IS NULL);

CREATE INDEX agent_handovers_opened ON public.agent_handovers USING btree (app_no, opened_at, handover_id);

CREATE INDEX agent_handovers_overdue ON public.agent_handovers USING btree (hand_back_at) WHERE ((closed_at IS NULL) AND (hand_back_at IS NOT NULL));

CREATE INDEX agent_handovers_upto ON public.agent_handovers USING btree (app_no, agent_uid, uid, upto_id, closed_at);

CREATE INDEX agent_handovers_user ON public.agent_handovers USING btree (app_no, uid, opened_at, handover_id);

CREATE INDEX agent_handovers_waiting ON public.agent_handovers USING btree (app_no, opened_at, handover_id) WHERE (closed_at IS NULL);

CREATE INDEX agent_ratings_agent ON public.agent_ratings USING btree (app_no, agent_uid, created_at, rating_id);

CREATE INDEX agent_ratings_created ON public.agent_ratings USING btree (app_no, created_at, rating_id);

CREATE INDEX agent_ratings_user ON public.agent_ratings USING btree (app_no, uid, created_at, rating_id);

CREATE INDEX agent_replays_open ON public.agent_replays USING btree (created_at) WHERE (ended_at IS NULL);

CREATE INDEX agent_replays_run ON public.agent_replays USING btree (app_no, run_id, created_at, replay_id);

CREATE INDEX agent_runs_agent ON public.agent_runs USING btree (app_no, agent_uid, created_at, run_id);

CREATE INDEX agent_runs_created ON public.agent_runs USING btree (app_no, created_at, run_id);

CREATE INDEX agent_runs_ended ON public.agent_runs USING btree (ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX agent_runs_open ON public.agent_runs USING btree (created_at) WHERE (ended_at IS NULL);

CREATE INDEX agent_runs_open_user ON public.agent_runs USING btree (app_no, uid) WHERE (ended_at IS NULL);

CREATE INDEX agent_runs_user ON public.agent_runs USING btree (app_no, uid, created_at, run_id);

CREATE INDEX agent_sources_source ON public.agent_sources USING btree (app_no, source_id);

CREATE INDEX agent_spending_period ON public.agent_spending USING btree (period);

CREATE INDEX agents_created ON public.agents USING btree (app_no, kind, created_at);

CREATE INDEX apps_archived ON public.apps USING btree (app_no) WHERE (archived_at IS NOT NULL);

CREATE INDEX apps_restrained ON public.apps USING btree (app_no) WHERE ((suspended_at IS NOT NULL) OR (throttle IS NOT NULL));

CREATE INDEX auth_tokens_user ON public.auth_tokens USING btree (app_no, uid, created_at);

CREATE INDEX bans_list ON public.bans USING btree (app_no, guid, banned_at, uid);

CREATE INDEX bans_user ON public.bans USING btree (app_no, uid);

CREATE INDEX blocks_blocked ON public.blocks USING btree (app_no, blocked_uid, uid);

CREATE INDEX call_files_file ON public.call_files USING btree (app_no, file_id);

CREATE INDEX call_participants_active ON public.call_participants USING btree (app_no, uid) WHERE (state = ANY (ARRAY['waiting'::text, 'ongoing'::text]));

CREATE INDEX call_participants_user ON public.call_participants USING btree (app_no, uid, call_id);

CREATE INDEX calls_conversation ON public.calls USING btree (app_no, conversation);

CREATE INDEX calls_filters ON public.calls USING btree (app_no, status, type, kind, mode, id);

CREATE INDEX calls_joined ON public.calls USING btree (app_no, joined, status, type, kind, mode, id);

CREATE UNIQUE INDEX calls_of_group ON public.calls USING btree (app_no, conversation) WHERE ((kind = 'group'::text) AND (status = ANY (ARRAY['initiated'::text, 'ongoing'::text])));

CREATE INDEX calls_recorded ON public.calls USING btree (app_no, status, type, kind, mode, id) WHERE recorded;

CREATE INDEX calls_transcribed ON public.calls USING btree (app_no, status, type, kind, mode, id) WHERE transcribed;

CREATE UNIQUE INDEX checked_messages_muid ON public.checked_messages USING btree (app_no, sender, muid) WHERE (muid IS NOT NULL);

CREATE INDEX checked_messages_receiver ON public.checked_messages USING btree (app_no, receiver, id);

CREATE INDEX checked_messages_sender ON public.checked_messages USING btree (app_no, sender, id);

CREATE INDEX checked_messages_status ON public.checked_messages USING btree (app_no, status, id);

CREATE UNIQUE INDEX direct_views_order ON public.direct_views USING btree (app_no, uid, blocked, updated_second DESC, with_id);

CREATE INDEX embedding_calls_age ON public.embedding_calls USING btree (started_at);

CREATE INDEX event_positions_first ON ONLY public.event_positions USING btree (app_no, to_first, "position") WHERE (to_first <> ''::text);

CREATE INDEX event_positions_late ON ONLY public.event_positions USING btree (body_day) WHERE (body_day < day);

CREATE INDEX event_positions_second ON ONLY public.event_positions USING btree (app_no, to_second, "position") WHERE (to_second IS NOT NULL);

CREATE INDEX exports_created ON public.exports USING btree (created_at);

CREATE INDEX file_references_file ON public.file_references USING btree (app_no, file_id, message_id);

CREATE INDEX file_usage_bytes ON public.file_usage USING btree (app_no, bytes);

CREATE INDEX files_expires ON public.files USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX files_uid ON public.files USING btree (app_no, uid) WHERE (uid IS NOT NULL);

CREATE INDEX files_unready ON public.files USING btree (app_no, state, created_at) WHERE (state = ANY (ARRAY['pending'::text, 'checking'::text, 'rejected'::text]));

CREATE INDEX files_upload_ends ON public.files USING btree (upload_ends_at) WHERE (upload_ends_at IS NOT NULL);

CREATE INDEX flags_user ON public.flags USING btree (app_no, uid);

CREATE INDEX former_members_at ON public.former_members USING btree (at);

CREATE INDEX groups_changed ON public.groups USING btree (app_no, type, changed_second, guid) WHERE (removed_at IS NULL);

CREATE INDEX groups_created ON public.groups USING btree (app_no, type, created_second, guid) WHERE (removed_at IS NULL);

CREATE INDEX groups_guid ON public.groups USING btree (app_no, type, guid) WHERE (removed_at IS NULL);

CREATE INDEX groups_name ON public.groups USING btree (app_no, type, name_key, guid) WHERE (removed_at IS NULL);

CREATE INDEX groups_removed ON public.groups USING btree (app_no, guid) WHERE (removed_at IS NOT NULL);

CREATE INDEX groups_ruled ON public.groups USING btree (app_no) WHERE (permissions IS NOT NULL);

CREATE INDEX groups_search ON public.groups USING gin (app_no, name_key public.gin_trgm_ops, string_to_array(name_key, NULL::text)) WITH (gin_pending_list_limit='1024');

CREATE INDEX groups_size ON public.groups USING btree (app_no, members_count) WHERE (removed_at IS NULL);

CREATE INDEX groups_tags ON public.groups USING gin (app_no, tags) WHERE (tags <> '{}'::text[]);

CREATE INDEX groups_updated ON public.groups USING btree (app_no, changed_second) WHERE ((removed_at IS NULL) AND (updated_at IS NOT NULL));

CREATE INDEX held_edits_pending ON public.held_edits USING btree (held_at);

CREATE INDEX held_messages_conversation ON public.held_messages USING btree (app_no, conversation, id);

CREATE INDEX held_messages_pending ON public.held_messages USING btree (held_at) WHERE (status = 'pending'::text);

CREATE INDEX held_messages_sender ON public.held_messages USING btree (app_no, sender, id);

CREATE INDEX idempotency_created_at ON public.idempotency USING btree (created_at);

CREATE INDEX imports_created ON public.imports USING btree (created_at);

CREATE INDEX inbox_conversation ON public.inbox USING btree (app_no, conversation, uid);

CREATE INDEX inbox_members ON public.inbox USING btree (app_no, conversation, scope, joined_at, uid) WHERE (scope IS NOT NULL);

CREATE INDEX inbox_memberships ON public.inbox USING btree (app_no, uid, with_id) WHERE ((kind = 'group'::text) AND (scope IS NOT NULL));

CREATE INDEX inbox_pinned ON public.inbox USING btree (app_no, uid) WHERE (pinned_at IS NOT NULL);

CREATE INDEX interactions_user ON public.interactions USING btree (app_no, uid);

CREATE INDEX job_schedules_next ON public.job_schedules USING btree (next_at);

CREATE UNIQUE INDEX jobs_dedupe ON public.jobs USING btree (app_no, name, dedupe_key) WHERE ((dedupe_key IS NOT NULL) AND (ended_at IS NULL));

CREATE INDEX jobs_ended ON public.jobs USING btree (state, ended_at) WHERE (ended_at IS NOT NULL);

CREATE INDEX jobs_ready ON public.jobs USING btree (app_no, priority DESC, run_at, id) WHERE (state = 'ready'::text);

CREATE INDEX jobs_running ON public.jobs USING btree (app_no) WHERE (state = 'running'::text);

CREATE INDEX jobs_serial ON public.jobs USING btree (app_no, serial_key, id) WHERE ((serial_key IS NOT NULL) AND (ended_at IS NULL));

CREATE INDEX jobs_waiting ON public.jobs USING btree (run_at) WHERE (state = 'waiting'::text);

CREATE INDEX knowledge_chunks_page ON public.knowledge_chunks USING btree (app_no, source_id, page_id) WHERE (page_id IS NOT NULL);

CREATE INDEX knowledge_chunks_source ON public.knowledge_chunks USING btree (app_no, source_id, no);

CREATE INDEX knowledge_chunks_words ON public.knowledge_chunks USING gin (app_no, words) WITH (gin_pending_list_limit='1024');

CREATE INDEX knowledge_sources_created ON public.knowledge_sources USING btree (app_no, kind, created_at);

CREATE UNIQUE INDEX mentions_message ON public.mentions USING btree (app_no, message_id, uid);

CREATE INDEX mentions_user ON public.mentions USING btree (app_no, uid, message_id);

CREATE INDEX messages_attached ON public.messages USING btree (app_no, id) WHERE (data ? 'attachments'::text);

CREATE INDEX messages_category ON public.messages USING btree (app_no, category, id) WHERE (category <> 'message'::text);

CREATE INDEX messages_changed ON public.messages USING btree (app_no, id) WHERE (updated_at IS NOT NULL);

CREATE INDEX messages_conversation ON public.messages USING btree (app_no, conversation, id);

CREATE INDEX messages_from ON public.messages USING btree (app_no, sender, id);

CREATE INDEX messages_linked ON public.messages USING btree (app_no, id) WHERE public.has_link(data);

CREATE INDEX messages_mentioning ON public.messages USING btree (app_no, id) WHERE (data ? 'mentions'::text);

CREATE INDEX messages_pinned ON public.messages USING btree (app_no, conversation, id) WHERE (pinned_at IS NOT NULL);

CREATE INDEX messages_reacted ON public.messages USING btree (app_no, conversation, id) WHERE reacted;

CREATE INDEX messages_reacting ON public.messages USING btree (app_no, id) WHERE reacted;

CREATE INDEX messages_replies ON public.messages USING btree (app_no, parent_id, id) WHERE (parent_id IS NOT NULL);

CREATE INDEX messages_sender ON public.messages USING btree (app_no, conversation, sender, id);

CREATE INDEX messages_tagged ON public.messages USING btree (app_no, id) WHERE (tags <> '{}'::text[]);

CREATE INDEX messages_type ON public.messages USING btree (app_no, type, id) WHERE (type <> 'text'::text);

CREATE UNIQUE INDEX moderation_rules_active ON public.moderation_rules USING btree (app_no, rule_id) WHERE active;

CREATE INDEX muids_target ON public.muids USING btree (app_no, target) WHERE (target <> ''::text);

CREATE INDEX notification_batches_ended ON public.notification_batches USING btree (ended_at) WHERE (due_at IS NULL);

CREATE INDEX notification_deliveries_due ON public.notification_deliveries USING btree (app_no, channel, provider, due_at, id);

CREATE INDEX notification_deliveries_expired ON public.notification_deliveries USING btree (expires_at);

CREATE INDEX notification_deliveries_lane ON public.notification_deliveries USING btree (app_no, uid, push_hash, conversation, id);

CREATE INDEX notification_fanouts_begun ON public.notification_fanouts USING btree (app_no, key, "position") WHERE (after_uid IS NOT NULL);

CREATE INDEX notification_held_until ON public.notification_held USING btree (app_no, until);

CREATE INDEX notification_logs_message ON ONLY public.notification_logs USING btree (app_no, message_id, id);

CREATE INDEX notification_logs_user ON ONLY public.notification_logs USING btree (app_no, uid, id);

CREATE INDEX notification_mutes_user ON public.notification_mutes USING btree (app_no, uid);

CREATE UNIQUE INDEX notification_providers_default ON public.notification_providers USING btree (app_no, channel, kind) WHERE is_default;

CREATE INDEX notification_shown_at ON public.notification_shown USING btree (shown_at);

CREATE INDEX notification_shown_conversation ON public.notification_shown USING btree (app_no, conversation, uid);

CREATE INDEX notifier_progress_shard ON public.notifier_progress USING btree (shard);

CREATE INDEX presence_order ON public.presence USING btree (app_no, name_key, uid);

CREATE INDEX push_tokens_session ON public.push_tokens USING btree (app_no, token_hash);

CREATE INDEX push_tokens_user ON public.push_tokens USING btree (app_no, uid);

CREATE UNIQUE INDEX reactions_message ON public.reactions USING btree (app_no, message_id, id);

CREATE INDEX reactions_value ON public.reactions USING btree (app_no, message_id, reaction, id);

CREATE INDEX receipt_floors_deleted ON public.receipt_floors USING btree (app_no, kind) WHERE (deleted > 0);

CREATE INDEX removed_uploads_ends ON public.removed_uploads USING btree (ends_at);

CREATE INDEX reviews_done ON public.reviews USING btree (app_no, message_id) WHERE (reviewed_at IS NOT NULL);

CREATE INDEX reviews_open ON public.reviews USING btree (app_no, message_id) WHERE (reviewed_at IS NULL);

CREATE INDEX reviews_rule_done ON public.reviews USING btree (app_no, rule_id, message_id) WHERE ((reviewed_at IS NOT NULL) AND (rule_id IS NOT NULL));

CREATE INDEX reviews_rule_open ON public.reviews USING btree (app_no, rule_id, message_id) WHERE ((reviewed_at IS NULL) AND (rule_id IS NOT NULL));

CREATE INDEX reviews_sender_done ON public.reviews USING btree (app_no, sender, message_id) WHERE (reviewed_at IS NOT NULL);

CREATE INDEX reviews_sender_open ON public.reviews USING btree (app_no, sender, message_id) WHERE (reviewed_at IS NULL);

CREATE INDEX revocations_at ON public.revocations USING btree (at);

CREATE INDEX roles_special ON public.roles USING btree (app_no, role) WHERE ((removed_at IS NOT NULL) OR ((settings ->> 'sendMessagesTo'::text) = 'friendsOnly'::text));

CREATE INDEX sanctions_group ON public.sanctions USING btree (app_no, guid) WHERE (guid <> ''::text);

CREATE UNIQUE INDEX sanctions_once ON public.sanctions USING btree (app_no, uid, kind, guid);

CREATE INDEX saves_message ON public.saves USING btree (app_no, message_id);

CREATE INDEX subject_flags_item ON public.subject_flags USING btree (app_no, item_id);

CREATE INDEX subject_flags_user ON public.subject_flags USING btree (app_no, uid);

CREATE INDEX suppressed_addresses_address ON public.suppressed_addresses USING btree (app_no, address, id);

CREATE INDEX thread_users_conversation ON public.thread_users USING btree (app_no, conversation, parent_id);

CREATE INDEX threads_conversation ON public.threads USING btree (app_no, conversation, updated_second, parent_id);

CREATE INDEX threads_order ON public.threads USING btree (app_no, updated_second, parent_id);

CREATE INDEX usage_steps_at ON public.usage_steps USING btree (at);

CREATE INDEX users_active ON public.users USING btree (app_no, name_key, uid) WHERE ((deactivated_at IS NULL) AND (removed_at IS NULL));

CREATE INDEX users_bots ON public.users USING btree (app_no, uid) WHERE bot;

CREATE INDEX users_created_at ON public.users USING btree (app_no, created_at);

CREATE INDEX users_deactivated ON public.users USING btree (app_no, name_key, uid) WHERE ((deactivated_at IS NOT NULL) AND (removed_at IS NULL));

CREATE INDEX users_removed ON public.users USING btree (app_no, uid) WHERE (removed_at IS NOT NULL);

CREATE INDEX users_role ON public.users USING btree (app_no, role, uid) WHERE (removed_at IS NULL);

CREATE INDEX users_search ON public.users USING gin (app_no, substr(name_key, 2) public.gin_trgm_ops, string_to_array(substr(name_key, 2), NULL::text)) WITH (gin_pending_list_limit='1024');

CREATE INDEX users_tags ON public.users USING gin (app_no, tags) WHERE (tags <> '{}'::text[]);

CREATE INDEX users_updated_at ON public.users USING btree (app_no, updated_at) WHERE (updated_at IS NOT NULL);

CREATE INDEX webhook_dead_letters_at ON public.webhook_dead_letters USING btree (at);

CREATE INDEX webhook_deliveries_failed ON ONLY public.webhook_deliveries USING btree (app_no, webhook_no, id) WHERE ((COALESCE(status, 0) < 200) OR (COALESCE(status, 0) > 299));

CREATE INDEX webhook_parked_due ON public.webhook_parked USING btree (app_no, webhook_no, retry_at);

CREATE INDEX webhook_progress_waiting ON public.webhook_progress USING btree (app_no) WHERE (waits_until IS NOT NULL);

CREATE UNIQUE INDEX webhooks_id ON public.webhooks USING btree (app_no, id) WHERE (NOT removed);

CREATE INDEX webhooks_receipts ON public.webhooks USING btree (app_no) WHERE ((NOT removed) AND (types && '{conversation.delivered.to.all,conversation.read.by.all}'::text[]));

CREATE INDEX webhooks_shard ON public.webhooks USING btree (shard) WHERE (enabled AND (NOT removed));

CREATE TRIGGER add_search_change AFTER UPDATE OF data ON public.messages FOR EACH ROW WHEN (((new.data IS DISTINCT FROM old.data) AND (new.deleted_at IS NULL))) EXECUTE FUNCTION public.add_search_change();

CREATE TRIGGER count_avatar_of_deleted AFTER DELETE ON public.users FOR EACH ROW WHEN ((old.avatar_file IS NOT NULL)) EXECUTE FUNCTION public.count_avatar();

CREATE TRIGGER count_avatar_of_inserted AFTER INSERT ON public.users FOR EACH ROW WHEN ((new.avatar_file IS NOT NULL)) EXECUTE FUNCTION public.count_avatar();

CREATE TRIGGER count_avatar_of_updated AFTER UPDATE OF avatar_file ON public.users FOR EACH ROW WHEN ((new.avatar_file IS DISTINCT FROM old.avatar_file)) EXECUTE FUNCTION public.count_avatar();

CREATE TRIGGER count_call_file AFTER INSERT OR DELETE ON public.call_files FOR EACH ROW EXECUTE FUNCTION public.count_call_file();

CREATE TRIGGER count_icon_of_deleted AFTER DELETE ON public.groups FOR EACH ROW WHEN ((old.icon_file IS NOT NULL)) EXECUTE FUNCTION public.count_icon();

CREATE TRIGGER count_icon_of_inserted AFTER INSERT ON public.groups FOR EACH ROW WHEN ((new.icon_file IS NOT NULL)) EXECUTE FUNCTION public.count_icon();

CREATE TRIGGER count_icon_of_updated AFTER UPDATE OF icon_file ON public.groups FOR EACH ROW WHEN ((new.icon_file IS DISTINCT FROM old.icon_file)) EXECUTE FUNCTION public.count_icon();

CREATE TRIGGER end_recordings AFTER DELETE ON public.call_connections FOR EACH ROW WHEN ((old.what = ANY (ARRAY['camera'::text, 'screen'::text]))) EXECUTE FUNCTION public.end_recordings();

CREATE TRIGGER forget_copies_of_deleted AFTER DELETE ON public.messages REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.forget_copies();

CREATE TRIGGER forget_copies_of_updated AFTER UPDATE ON public.messages REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION public.forget_copies();

CREATE TRIGGER remove_steps_of_replay AFTER DELETE ON public.agent_replays FOR EACH ROW EXECUTE FUNCTION public.remove_steps_of_replay();

CREATE TRIGGER remove_steps_of_run AFTER DELETE ON public.agent_runs FOR EACH ROW EXECUTE FUNCTION public.remove_steps_of_run();

CREATE TRIGGER set_group_card BEFORE INSERT ON public.groups FOR EACH ROW EXECUTE FUNCTION public.set_group_card();

CREATE TRIGGER set_special_roles AFTER INSERT OR DELETE OR UPDATE OF removed_at, settings ON public.roles FOR EACH ROW EXECUTE FUNCTION public.set_special_roles();

CREATE TRIGGER set_user_card BEFORE INSERT ON public.users FOR EACH ROW EXECUTE FUNCTION public.set_user_card();

CREATE TRIGGER update_group_card AFTER UPDATE OF guid, name, type, description, icon, owner, created_at, updated_at, updated_by, metadata ON public.groups FOR EACH ROW EXECUTE FUNCTION public.update_group_card();

CREATE TRIGGER update_presence_name AFTER UPDATE OF name ON public.users FOR EACH ROW WHEN ((new.online AND (new.name_key <> old.name_key))) EXECUTE FUNCTION public.update_presence_name();

CREATE TRIGGER update_user_card AFTER UPDATE OF uid, name, avatar, link, status_message, created_at, updated_at, deactivated_at, metadata ON public.users FOR EACH ROW EXECUTE FUNCTION public.update_user_card();

ALTER TABLE ONLY public.agent_blocks
    ADD CONSTRAINT agent_blocks_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.agent_budgets
    ADD CONSTRAINT agent_budgets_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.agent_handovers
    ADD CONSTRAINT agent_handovers_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.agent_progress
    ADD CONSTRAINT agent_progress_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.agent_ratings
    ADD CONSTRAINT agent_ratings_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.agent_ratings
    ADD CONSTRAINT agent_ratings_app_no_run_id_fkey FOREIGN KEY (app_no, run_id) REFERENCES public.agent_runs(app_no, run_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.agent_replays
    ADD CONSTRAINT agent_replays_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.agent_revisions
    ADD CONSTRAINT agent_revisions_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.agent_runs
    ADD CONSTRAINT agent_runs_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.agent_sources
    ADD CONSTRAINT agent_sources_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.agent_spending
    ADD CONSTRAINT agent_spending_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.agents
    ADD CONSTRAINT agents_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.api_keys
    ADD CONSTRAINT api_keys_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.check_settings
    ADD CONSTRAINT check_settings_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.embedding_calls
    ADD CONSTRAINT embedding_calls_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.flag_reasons
    ADD CONSTRAINT flag_reasons_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.keyword_lists
    ADD CONSTRAINT keyword_lists_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.knowledge_sources
    ADD CONSTRAINT knowledge_sources_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.knowledge_vectors
    ADD CONSTRAINT knowledge_vectors_app_no_chunk_id_fkey FOREIGN KEY (app_no, chunk_id) REFERENCES public.knowledge_chunks(app_no, chunk_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.model_providers
    ADD CONSTRAINT model_providers_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.moderation_rules
    ADD CONSTRAINT moderation_rules_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.notification_logging
    ADD CONSTRAINT notification_logging_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.notification_providers
    ADD CONSTRAINT notification_providers_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.notification_settings
    ADD CONSTRAINT notification_settings_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.notification_shown
    ADD CONSTRAINT notification_shown_app_no_push_hash_fkey FOREIGN KEY (app_no, push_hash) REFERENCES public.push_tokens(app_no, push_hash) ON DELETE CASCADE;

ALTER TABLE ONLY public.notifier_progress
    ADD CONSTRAINT notifier_progress_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.push_tokens
    ADD CONSTRAINT push_tokens_app_no_token_hash_fkey FOREIGN KEY (app_no, token_hash) REFERENCES public.auth_tokens(app_no, token_hash) ON DELETE CASCADE;

ALTER TABLE ONLY public.roles
    ADD CONSTRAINT roles_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.suppressed_addresses
    ADD CONSTRAINT suppressed_addresses_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_app_no_fkey FOREIGN KEY (app_no) REFERENCES public.apps(app_no);
