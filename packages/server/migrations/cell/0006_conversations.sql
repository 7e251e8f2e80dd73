-- Groups and their members, conversations, messages and marks. docs/decisions/0010-conversations.md
-- tells why views of two are pushed and views of groups are pulled.
--
-- Locks are taken in this order: idempotency and muids, users by uid, the line of a
-- group's senders, conversations, messages, inbox by uid, threads (0007_threads.sql),
-- view_totals by uid, totals, outbox. A message is changed under the lock of its conversation
-- alone. Sweeps and whoever blocks several lock more than one
-- conversation, in an order of their own: a deadlock of theirs is run again.

-- Drawn under the conversation's lock: ids grow in the order of its messages. cache 1, or each
-- session would draw from a block of its own.
create sequence message_ids cache 1;
create sequence conversation_nos;

-- Functions like this one are put into the statements that use them, if they are declared no more
-- constant than what they call; a call of its own would cost more than they do.
create function unix(p_at timestamptz) returns bigint
language sql immutable parallel safe
return floor(date_part('epoch', p_at at time zone 'UTC'))::bigint;

create table groups (
  app_no int not null,
  guid text collate "C" not null,
  name text not null,
  name_key text collate "C" not null generated always as (fold_name(name)) stored,
  type text not null check (type in ('public', 'private', 'password')),
  -- argon2id, of groups that are joined with a password.
  password_hash text,
  icon text,
  description text,
  -- A member with the scope `admin`, or app_system, which is no member.
  owner text collate "C" not null,
  metadata jsonb,
  tags text[] not null default '{}',
  members_count int not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz,
  updated_by text,
  -- What lists are ordered by: the seconds that records show.
  created_second bigint not null generated always as (unix(created_at)) stored,
  changed_second bigint not null generated always as (unix(coalesce(updated_at, created_at))) stored,
  -- Set: gone for everyone, the id stays taken until all that is the group's is swept.
  removed_at timestamptz,
  primary key (app_no, guid)
) with (fillfactor = 80);
create index groups_removed on groups (app_no, guid) where removed_at is not null;

create table bans (
  app_no int not null,
  guid text collate "C" not null,
  uid text collate "C" not null,
  -- What the user was before; null for somebody who was no member.
  scope text,
  joined_at timestamptz,
  banned_at timestamptz not null default clock_timestamp(),
  primary key (app_no, guid, uid)
);
create index bans_list on bans (app_no, guid, banned_at, uid);
create index bans_user on bans (app_no, uid);

-- The head of a conversation: what is the same for all who take part.
create table conversations (
  app_no int not null,
  no bigint not null default nextval('conversation_nos'),
  kind text collate "C" not null check (kind in ('user', 'group')),
  -- Of two users the one that sorts first, and the other; of a group its guid, and ''.
  one text collate "C" not null,
  other text collate "C" not null,
  last_seq bigint not null default 0,
  last_at timestamptz not null default '-infinity',
  -- The newest message that moves views; the second of its time is `updatedAt`, and never goes back.
  shown_seq bigint not null default 0,
  shown_id bigint,
  created_second bigint,
  updated_second bigint not null default 0,
  -- How many messages counted as unread, ever.
  counted bigint not null default 0,
  -- Members whose view is hidden since they cleared it, while others have one.
  hidden int not null default 0,
  -- Messages up to here are gone for everyone, and swept while `purging`.
  purged_seq bigint not null default 0,
  purging boolean not null default false,
  primary key (app_no, no),
  unique (app_no, kind, one, other)
) with (fillfactor = 50);
create index conversations_purging on conversations (app_no, no) where purging;

create table messages (
  app_no int not null,
  id bigint not null,
  conversation bigint not null,
  -- 1, 2, 3 … in its conversation.
  seq bigint not null,
  sender text collate "C" not null,
  category text not null,
  type text not null,
  data jsonb not null,
  tags text[] not null default '{}',
  muid text,
  -- The message that this one replies to, and the one that it quotes.
  parent_id bigint,
  quoted_id bigint,
  -- Decided when it is sent: whether it counts as unread, and whether it moves views.
  counts boolean not null,
  shows boolean not null,
  -- How many counting messages there are up to this one, with it.
  counted bigint not null,
  sent_at timestamptz not null,
  updated_at timestamptz not null,
  edited_at timestamptz,
  edited_by text,
  deleted_at timestamptz,
  deleted_by text,
  -- For all who take part.
  pinned_at timestamptz,
  pinned_by text,
  -- Whether anybody ever reacted to it, or saved it: else there is nothing of that to look for.
  reacted boolean not null default false,
  saved boolean not null default false,
  primary key (app_no, id)
);
create unique index messages_seq on messages (app_no, conversation, seq);
create index messages_sender on messages (app_no, conversation, sender, seq);
-- What a user sent, wherever.
create index messages_from on messages (app_no, sender, id);
create index messages_replies on messages (app_no, parent_id, seq) where parent_id is not null;

-- Messages that are gone, while what users left at them (0008_reactions.sql) is being swept.
create table gone_messages (
  app_no int not null,
  id bigint not null,
  primary key (app_no, id)
);

-- Counting messages that were deleted: unread counts leave them out.
create table uncounted (
  app_no int not null,
  conversation bigint not null,
  seq bigint not null,
  primary key (app_no, conversation, seq)
);

-- The caller's own ids of messages: a second send with the same one finds the first.
create table muids (
  app_no int not null,
  sender text collate "C" not null,
  muid text collate "C" not null,
  -- One send to several receivers makes one message for each; '' for a send to one.
  target text collate "C" not null,
  message_id bigint,
  primary key (app_no, sender, muid, target)
);

-- A user's side of a conversation. Of a group it is the membership's row too, kept when the user
-- leaves (scope is null then).
create table inbox (
  app_no int not null,
  uid text collate "C" not null,
  kind text collate "C" not null,
  -- The other user, or the group.
  with_id text collate "C" not null,
  conversation bigint not null,
  -- Read up to here, and how many counting messages that were.
  read_seq bigint not null default 0,
  read_counted bigint not null default 0,
  -- Own counting messages after read_seq that are not deleted.
  own_since bigint not null default 0,
  -- What is up to here the user has cleared away.
  cleared_seq bigint not null default 0,
  tags text[] not null default '{}',
  pinned_at timestamptz,
  -- Of two users only: whether there is a view, whether its owner blocks the other, and its times.
  visible boolean not null default false,
  blocked boolean not null default false,
  created_second bigint,
  updated_second bigint not null default 0,
  -- Of groups only.
  scope text check (scope in ('admin', 'moderator', 'participant')),
  joined_at timestamptz,
  primary key (app_no, uid, kind, with_id)
) with (fillfactor = 70);
create index inbox_direct on inbox (app_no, uid, blocked, updated_second desc, with_id)
where kind = 'user' and visible;
create index inbox_memberships on inbox (app_no, uid, with_id)
where kind = 'group' and scope is not null;
-- Members in the order of lists, apart by scope so that the few admins of many are found.
create index inbox_members on inbox (app_no, conversation, scope, joined_at, uid)
where scope is not null;
-- Everyone who has a row, for removals.
create index inbox_conversation on inbox (app_no, conversation, uid);

create index inbox_pinned on inbox (app_no, uid) where pinned_at is not null;

-- What the app pins for everyone: a group, or everyone's conversation with a user.
create table app_pins (
  app_no int not null,
  place int not null,
  kind text not null check (kind in ('user', 'group')),
  id text collate "C" not null,
  pinned_at timestamptz not null default now(),
  primary key (app_no, kind, id)
);

-- How many views of conversations between two a user has, and how many without those blocked.
create table view_totals (
  app_no int not null,
  uid text collate "C" not null,
  visible int not null default 0,
  unblocked int not null default 0,
  primary key (app_no, uid)
) with (fillfactor = 50);

-- Who had received or read up to which message when: a row for each step forward.
create table marks (
  app_no int not null,
  conversation bigint not null,
  uid text collate "C" not null,
  kind text collate "C" not null check (kind in ('delivered', 'read')),
  seq bigint not null,
  at timestamptz not null default clock_timestamp(),
  primary key (app_no, conversation, uid, kind, seq)
);

-- How far old marks are thinned, in the order of their key (no place: all were looked at), and when
-- that was begun. One row.
create table mark_thinning (
  place jsonb,
  began_at timestamptz not null default '-infinity'
);
insert into mark_thinning default values;

alter table idempotency add column message_id bigint;

/* Ends the transaction with an error of the interface; its values fill the error's text, `devMessage` goes with it. */
create function refuse(p_code text, p_values jsonb default '{}') returns void
language plpgsql as $$
begin
  raise exception using errcode = 'LQ002', message = p_code, detail = p_values::text;
end $$;

create function conversation_id(p_kind text, p_one text, p_other text) returns text
language sql immutable parallel safe
return case p_kind when 'group' then 'group_' || p_one else p_one || '_user_' || p_other end;

-- Whether a device of theirs is connected: 0012_presence.sql. In the user's own row, since every record of a user shows it;
-- no index has it, so that a change touches none.
alter table users add column online boolean not null default false;

/*
 * A user as others see it (areas/users/record.ts does the same for answers). As text: a send puts two
 * of them into its message, and building jsonb that is only printed costs several times as much.
 * concat leaves out what is null.
 */
create function user_json(u users) returns text
language sql stable
return concat(
  '{"uid":', to_json(u.uid), ',"name":', to_json(u.name),
  ',"avatar":' || to_json(u.avatar)::text, ',"link":' || to_json(u.link)::text,
  ',"role":', to_json(case when u.role = 'default' then u.role
    else shown_role(u.app_no, u.role) end),
  case when u.online then ',"status":"online"' else ',"status":"offline"' end,
  ',"statusMessage":' || to_json(u.status_message)::text,
  ',"lastActiveAt":' || unix(u.last_active_at), ',"createdAt":' || unix(u.created_at),
  ',"updatedAt":' || unix(u.updated_at), ',"deactivatedAt":' || unix(u.deactivated_at),
  ',"metadata":' || (u.metadata - '@private')::text, '}');

create function user_record(u users) returns jsonb
language sql stable
return user_json(u)::jsonb;

/* Acts for the app itself; it has no row. */
create function system_record(p_app_no int) returns jsonb
language sql stable
return (select jsonb_build_object('uid', 'app_system', 'name', 'System', 'role', 'default',
    'status', 'offline', 'createdAt', unix(created_at))
  from apps where app_no = p_app_no);

/* A group as it is for everyone (areas/groups/record.ts does the same for answers). */
create function group_json(g groups) returns text
language sql stable
return concat(
  '{"guid":', to_json(g.guid), ',"name":', to_json(g.name), ',"type":"', g.type, '"',
  ',"description":' || to_json(g.description)::text, ',"icon":' || to_json(g.icon)::text,
  ',"owner":', to_json(g.owner), ',"membersCount":', g.members_count,
  ',"conversationId":', to_json('group_' || g.guid), ',"createdAt":', unix(g.created_at),
  ',"updatedAt":' || unix(g.updated_at), ',"updatedBy":' || to_json(g.updated_by)::text,
  ',"metadata":' || g.metadata::text, '}');

create function group_record(g groups) returns jsonb
language sql stable
return group_json(g)::jsonb;

/* What a message keeps of a user or group, for when it is gone. */
create function small_record(p_record jsonb) returns jsonb
language sql immutable
return jsonb_strip_nulls(jsonb_build_object('uid', p_record -> 'uid', 'guid', p_record -> 'guid',
  'name', p_record -> 'name'));

create function receiver_of(m messages, h conversations) returns text
language sql immutable
return case when h.kind = 'group' or m.sender <> h.one then h.one else h.other end;

/* A message without what is read at answer time (areas/messages/record.ts adds it). */
create function message_record(m messages, h conversations) returns jsonb
language sql stable
return jsonb_strip_nulls(jsonb_build_object(
    'id', m.id::text, 'muid', m.muid, 'conversationId', conversation_id(h.kind, h.one, h.other),
    'sender', m.sender, 'receiverType', h.kind, 'receiver', receiver_of(m, h),
    'category', m.category, 'type', m.type,
    'parentId', m.parent_id::text, 'quotedMessageId', m.quoted_id::text,
    'tags', case when m.tags <> '{}' then to_jsonb(m.tags) end,
    'sentAt', unix(m.sent_at), 'updatedAt', unix(m.updated_at),
    'editedAt', unix(m.edited_at), 'editedBy', m.edited_by,
    'deletedAt', unix(m.deleted_at), 'deletedBy', m.deleted_by))
  || jsonb_build_object('data', m.data);

/*
 * Writers spread over 16 rows: they seldom wait for each other. One transaction keeps to one row, or
 * two that change a total several times would wait in a circle.
 */
create function add_total(p_app_no int, p_what text, p_change bigint) returns void
language plpgsql as $$
begin
  if p_change = 0 then return; end if;
  insert into totals as t (app_no, what, shard, total)
  values (p_app_no, p_what, pg_current_xact_id()::text::bigint % 16, p_change)
  on conflict (app_no, what, shard) do update set total = t.total + excluded.total;
end $$;

/* Views of conversations between two came or went, or their owner blocked or released the other. */
create function add_views(p_app_no int, p_uid text, p_visible int, p_unblocked int) returns void
language sql as $$
  insert into view_totals as t (app_no, uid, visible, unblocked)
  values (p_app_no, p_uid, p_visible, p_unblocked)
  on conflict (app_no, uid) do update
  set visible = t.visible + excluded.visible, unblocked = t.unblocked + excluded.unblocked
$$;

/* The same for the app: once in a transaction, after all users. */
create function add_app_views(p_app_no int, p_visible bigint, p_unblocked bigint) returns void
language plpgsql as $$
begin
  perform add_total(p_app_no, 'views.user', p_visible);
  perform add_total(p_app_no, 'views.user.unblocked', p_unblocked);
end $$;

/* Makes the head of two users' conversation where there is none, and locks it. */
create function open_conversation(p_app_no int, p_uid text, p_with text) returns conversations
language plpgsql as $$
declare
  v_one text := least(p_uid collate "C", p_with collate "C");
  v_other text := greatest(p_uid collate "C", p_with collate "C");
  v_head conversations;
begin
  loop
    select * into v_head from conversations
    where app_no = p_app_no and kind = 'user' and one = v_one and other = v_other;
    if not found or v_head.last_seq = 0 then
      -- Whoever removes one of the two locks the heads that its inbox leads to: this one has no
      -- inbox rows yet, so the users must stay until it has.
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
    -- It went while we waited for it.
    exit when found;
  end loop;
  return v_head;
end $$;

/*
 * Makes one side of a conversation between two visible, or writes its first row. Returns how many
 * views came by it: all, and those not blocked.
 */
create function open_view(
  h conversations, p_uid text, p_with text, p_own int, p_shows boolean,
  out visible int, out unblocked int
)
language plpgsql as $$
declare
  v_blocked boolean;
begin
  insert into inbox as i
    (app_no, uid, kind, with_id, conversation, own_since, visible, blocked,
     created_second, updated_second)
  values
    (h.app_no, p_uid, 'user', p_with, h.no, p_own, p_shows,
     exists (select from blocks where app_no = h.app_no and uid = p_uid and blocked_uid = p_with),
     h.updated_second, h.updated_second)
  on conflict (app_no, uid, kind, with_id) do update set
    own_since = i.own_since + excluded.own_since, visible = excluded.visible,
    created_second = excluded.created_second, updated_second = excluded.updated_second
  where not i.visible
  returning i.blocked into v_blocked;
  visible := case when found and p_shows then 1 else 0 end;
  unblocked := case when v_blocked then 0 else visible end;
end $$;

/*
 * Moves a head on to its next message, which locks it: one statement for both. The id is drawn in
 * the order of the conversation, since an update that had to wait computes its values again. Returns
 * the head as it is then, of two users made where there is none; null if a group has none. `hidden`
 * is how many views come with the message.
 */
create function move_head(
  p_app_no int, p_kind text, p_one text, p_other text, p_counts boolean, p_shows boolean
) returns conversations
language plpgsql as $$
declare
  h conversations;
  v_shown_seq bigint;
  v_hidden int;
  v_now timestamptz;
  v_xid xid8;
begin
  if p_kind = 'group' and p_shows then
    select shown_seq, hidden into v_shown_seq, v_hidden from conversations
    where app_no = p_app_no and kind = 'group' and one = p_one and other = p_other
    for no key update;
    -- The views that come with this message: all with the first, else those cleared.
    if v_shown_seq = 0 then
      select members_count into v_hidden from groups where app_no = p_app_no and guid = p_one;
    end if;
  end if;
  -- Before the id is drawn: who sees a higher one knows whom to wait for (areas/messages/indexing.ts).
  v_xid := pg_current_xact_id();
  v_now := clock_timestamp();
  loop
    update conversations set
      last_seq = last_seq + 1,
      last_at = greatest(last_at, v_now),
      counted = counted + p_counts::int,
      shown_seq = case when p_shows then last_seq + 1 else shown_seq end,
      shown_id = case when p_shows then nextval('message_ids') else shown_id end,
      created_second = case when p_shows then coalesce(created_second, unix(greatest(last_at, v_now)))
        else created_second end,
      updated_second = case when p_shows then unix(greatest(last_at, v_now)) else updated_second end,
      hidden = case when p_shows then 0 else hidden end
    where app_no = p_app_no and kind = p_kind and one = p_one and other = p_other
    returning * into h;
    exit when found or p_kind = 'group';
    perform open_conversation(p_app_no, p_one, p_other);
  end loop;
  if p_kind = 'user' and h.last_seq = 1 then
    -- A head that a block made: whoever removes one of the two finds heads by the inbox, and not
    -- this one. So the users must stay until their rows are there.
    perform from users
    where app_no = p_app_no and uid in (p_one, p_other) and removed_at is null
    order by uid for share;
  end if;
  h.hidden := coalesce(v_hidden, 0);
  return h;
end $$;

/*
 * Stores the message that a head was moved on to, and moves the views. Nothing is written per member
 * of a group.
 */
create function store_message(
  h conversations, p_sender text, p_category text, p_type text, p_data jsonb, p_tags text[],
  p_muid text, p_parent bigint, p_quoted bigint, p_counts boolean, p_shows boolean
) returns bigint
language plpgsql as $$
declare
  v_id bigint := case when p_shows then h.shown_id else nextval('message_ids') end;
  v_own int := p_counts::int;
  v_moved int;
  -- Views that came, and those of them that are not blocked, of either side.
  v_one int := 0;
  v_one_free int := 0;
  v_other int := 0;
  v_other_free int := 0;
begin
  insert into messages
    (app_no, id, conversation, seq, sender, category, type, data, tags, muid,
     parent_id, quoted_id, counts, shows, counted, sent_at, updated_at)
  values
    (h.app_no, v_id, h.no, h.last_seq, p_sender, p_category, p_type, p_data, p_tags, p_muid,
     p_parent, p_quoted, p_counts, p_shows, h.counted, h.last_at, h.last_at);

  if h.kind = 'group' then
    if p_counts then
      update inbox set own_since = own_since + 1
      where app_no = h.app_no and uid = p_sender and kind = 'group' and with_id = h.one
        and scope is not null;
    end if;
    if p_shows then perform add_total(h.app_no, 'views.group', h.hidden); end if;
    return v_id;
  end if;

  update inbox i set
    updated_second = case when p_shows then h.updated_second else i.updated_second end,
    own_since = i.own_since + case when i.uid = p_sender then v_own else 0 end
  from (values (h.one, h.other), (h.other, h.one)) as side (uid, with_id)
  where i.app_no = h.app_no and i.uid = side.uid and i.kind = 'user' and i.with_id = side.with_id
    -- Not plainly `visible`: the index of those would be read for all views of a user.
    and coalesce(i.visible, false);
  get diagnostics v_moved = row_count;
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
  return v_id;
end $$;

/*
 * One send, one call. A retry (by Idempotency-Key or muid) waits here for its twin, and gets the id
 * of the message that was sent; `message` is null then.
 */
create function send_message(
  p_app_no int, p_kind text, p_sender text, p_receiver text,
  p_category text, p_type text, p_data jsonb, p_tags text[], p_muid text, p_target text,
  p_credential bytea, p_key text, p_request_hash bytea,
  p_parent bigint default null, p_quoted bigint default null, p_mentions text[] default null,
  p_shows boolean default true,
  out message_id bigint, out message text
)
language plpgsql as $$
declare
  h conversations;
  v_actor text := case when p_sender = 'app_system' then '' else p_sender end;
  -- A reply never counts, nor does what moves no view.
  v_counts boolean := p_parent is null and p_shows;
  v_hash bytea;
  v_entities text;
  v_quoted text;
  v_mentions jsonb;
  v_kept jsonb := p_data;
  v_shown jsonb := p_data;
begin
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
      v_mentions := hold_mentioned(p_app_no, p_mentions);
      v_kept := with_mentions(p_data, small_records(v_mentions));
      v_shown := with_mentions(p_data, v_mentions);
    end if;
    if p_kind = 'user' then
      h := move_head(p_app_no, 'user', least(p_sender collate "C", p_receiver collate "C"),
        greatest(p_sender collate "C", p_receiver collate "C"), v_counts, p_shows);
      v_entities := check_direct(p_app_no, p_sender, p_receiver);
    else
      -- Many who wait for one row all wake up whenever it changes; here they stand in line. Nobody
      -- else takes this lock, so whoever has the head need not wait for it.
      perform pg_advisory_xact_lock(p_app_no, hashtext(p_receiver));
      h := move_head(p_app_no, 'group', p_receiver, '', v_counts, p_shows);
      if h.no is null then
        perform refuse('ERR_GUID_NOT_FOUND', jsonb_build_object('guid', p_receiver));
      end if;
      v_entities := check_group(p_app_no, p_sender, p_receiver);
    end if;
    message_id := store_message(h, p_sender, p_category, p_type, v_kept, p_tags, p_muid,
      p_parent, p_quoted, v_counts, p_shows);
    if p_parent is not null then perform add_reply(h, p_sender, p_parent, message_id); end if;
    if p_quoted is not null then v_quoted := quote_message(h, p_sender, p_quoted)::text; end if;
    if v_mentions is not null then
      perform add_mentions(h.app_no, message_id, array(select jsonb_object_keys(v_mentions)));
    end if;
    if p_muid is not null then
      update muids u set message_id = send_message.message_id
      where u.app_no = p_app_no and u.sender = p_sender and u.muid = p_muid
        and u.target = p_target;
    end if;
    -- As message_record makes it, of a message that nobody has changed yet.
    message := concat(
      '{"id":"', message_id, '"', ',"muid":' || to_json(p_muid)::text,
      ',"conversationId":', to_json(conversation_id(h.kind, h.one, h.other)),
      ',"sender":', to_json(p_sender), ',"receiverType":"', p_kind, '"',
      ',"receiver":', to_json(p_receiver),
      ',"category":', to_json(p_category), ',"type":', to_json(p_type),
      ',"tags":' || case when p_tags <> '{}' then to_json(p_tags)::text end,
      ',"parentId":"' || p_parent || '"', ',"quotedMessageId":"' || p_quoted || '"',
      ',"quotedMessage":' || v_quoted,
      ',"sentAt":', case when p_shows then h.updated_second else unix(h.last_at) end,
      ',"updatedAt":', case when p_shows then h.updated_second else unix(h.last_at) end,
      ',"data":{"entities":', v_entities, case when v_shown <> '{}' then ', ' end,
      substr(v_shown::text, 2), '}');
  end if;

  if p_key is not null then
    update idempotency i set message_id = send_message.message_id
    where i.app_no = p_app_no and i.credential = p_credential and i.uid = v_actor
      and i.key = p_key;
  end if;
  if message is not null then
    insert into outbox (app_no, type, key, payload, to_first, to_second)
    values (p_app_no, 'message.sent', 'conversation:' || h.no,
      ('{"message":' || message || '}')::json, p_kind || ':' || p_receiver,
      case when p_kind = 'user' and p_sender not in ('app_system', p_receiver)
        then 'user:' || p_sender end);
    if v_mentions is not null then
      insert into outbox (app_no, type, key, payload)
      select p_app_no, 'user.mentioned', 'conversation:' || h.no,
        concat('{"uid":', to_json(uid), ',"message":', message, '}')::json
      from told_of_mention(h, p_sender, array(select jsonb_object_keys(v_mentions))) uid;
    end if;
  end if;
end $$;

/* The records of both, as JSON, if the sender may write to the receiver. Blocks do not bind the app. */
create function check_direct(p_app_no int, p_sender text, p_receiver text) returns text
language plpgsql as $$
declare
  v_sender text;
  v_receiver text;
  v_mine boolean;
  v_theirs boolean;
  v_friends_only boolean;
begin
  select case when s.uid is not null then user_json(s) end,
    case when r.uid is not null then user_json(r) end,
    exists (select from blocks
      where app_no = p_app_no and uid = p_sender and blocked_uid = p_receiver),
    exists (select from blocks
      where app_no = p_app_no and uid = p_receiver and blocked_uid = p_sender),
    (select x.settings ->> 'sendMessagesTo' = 'friendsOnly' from roles x
     where x.app_no = p_app_no and x.role = case
       when s.role = 'default' then s.role else shown_role(p_app_no, s.role) end)
  into v_sender, v_receiver, v_mine, v_theirs, v_friends_only
  from (select) one
    left join users s on s.app_no = p_app_no and s.uid = p_sender
      and s.deactivated_at is null and s.removed_at is null
    left join users r on r.app_no = p_app_no and r.uid = p_receiver
      and r.deactivated_at is null and r.removed_at is null;
  v_sender := sender_json(p_app_no, p_sender, v_sender);
  if v_receiver is null then
    perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', p_receiver));
  end if;
  if p_sender <> p_receiver and p_sender <> 'app_system' then
    if v_mine then
      perform refuse('ERR_BLOCKED_RECEIVER', jsonb_build_object('uid', p_receiver));
    elsif v_theirs then
      perform refuse('ERR_BLOCKED_SENDER', jsonb_build_object('uid', p_receiver));
    end if;
    if v_friends_only and not exists (select from friends
      where app_no = p_app_no and uid = p_sender and friend_uid = p_receiver)
    then
      perform refuse('ERR_PERMISSION_DENIED');
    end if;
  end if;
  return concat('{"sender":{"entity":', v_sender, ',"entityType":"user"},"receiver":{"entity":',
    left(v_receiver, -1), ',"conversationId":', to_json(conversation_id('user',
      least(p_sender collate "C", p_receiver collate "C"),
      greatest(p_sender collate "C", p_receiver collate "C"))),
    '},"entityType":"user"}}');
end $$;

/* The records of both, as JSON, if the sender may write to the group: members, and the app. */
create function check_group(p_app_no int, p_sender text, p_guid text) returns text
language plpgsql as $$
declare
  v_sender text;
  v_group text;
  v_joined boolean;
begin
  select case when s.uid is not null then user_json(s) end,
    case when g.guid is not null then group_json(g) end, i.scope is not null
  into v_sender, v_group, v_joined
  from (select) one
    left join users s on s.app_no = p_app_no and s.uid = p_sender
      and s.deactivated_at is null and s.removed_at is null
    left join groups g on g.app_no = p_app_no and g.guid = p_guid and g.removed_at is null
    left join inbox i on i.app_no = p_app_no and i.uid = p_sender and i.kind = 'group'
      and i.with_id = p_guid;
  v_sender := sender_json(p_app_no, p_sender, v_sender);
  if v_group is null then
    perform refuse('ERR_GUID_NOT_FOUND', jsonb_build_object('guid', p_guid));
  end if;
  if p_sender <> 'app_system' and not v_joined then
    if exists (select from bans where app_no = p_app_no and guid = p_guid and uid = p_sender) then
      perform refuse('ERR_BANNED_GROUPMEMBER');
    end if;
    perform refuse('ERR_GROUP_NOT_JOINED');
  end if;
  return concat('{"sender":{"entity":', v_sender, ',"entityType":"user"},"receiver":{"entity":',
    v_group, ',"entityType":"group"}}');
end $$;

/* The sender's record as it was found; the app has no row. */
create function sender_json(p_app_no int, p_uid text, p_found text) returns text
language plpgsql stable as $$
begin
  if p_uid = 'app_system' then return system_record(p_app_no)::text; end if;
  if p_found is null then
    perform refuse('ERR_UID_NOT_FOUND', jsonb_build_object('uid', p_uid));
  end if;
  return p_found;
end $$;

/*
 * Makes a user a member of a group whose head is locked. The mark is set before the message that
 * tells of it; what was sent while the user was away does not count.
 */
create function add_member(p_app_no int, p_guid text, p_uid text, p_scope text) returns inbox
language plpgsql as $$
declare
  h conversations;
  i inbox;
begin
  select * into h from conversations
  where app_no = p_app_no and kind = 'group' and one = p_guid and other = '';
  insert into inbox as old
    (app_no, uid, kind, with_id, conversation, read_seq, read_counted, scope, joined_at)
  values
    (p_app_no, p_uid, 'group', p_guid, h.no, h.last_seq, h.counted, p_scope, clock_timestamp())
  on conflict (app_no, uid, kind, with_id) do update set
    read_seq = excluded.read_seq, read_counted = excluded.read_counted, own_since = 0,
    scope = excluded.scope, joined_at = excluded.joined_at
  returning * into i;
  update groups set members_count = members_count + 1 where app_no = p_app_no and guid = p_guid;
  perform count_member(h, i, 1);
  return i;
end $$;

/* Ends a membership in a group whose head is locked. Returns null if there was none. */
create function remove_member(p_app_no int, p_guid text, p_uid text) returns inbox
language plpgsql as $$
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
  return i;
end $$;

/* A member's view came or went with the member: it is counted with the app's, or with the hidden. */
create function count_member(h conversations, i inbox, p_change int) returns void
language plpgsql as $$
begin
  if h.shown_seq > i.cleared_seq then
    perform add_total(h.app_no, 'views.group', p_change);
  elsif h.shown_seq > 0 then
    update conversations set hidden = hidden + p_change where app_no = h.app_no and no = h.no;
  end if;
end $$;

/* Tells a conversation between two that one blocks the other, or no longer does. Its head is locked. */
create function set_blocked(p_app_no int, p_uid text, p_with text, p_blocked boolean) returns void
language plpgsql as $$
declare
  v_visible boolean;
begin
  update inbox set blocked = p_blocked
  where app_no = p_app_no and uid = p_uid and kind = 'user' and with_id = p_with
    and blocked <> p_blocked
  returning visible into v_visible;
  if v_visible then
    perform add_views(p_app_no, p_uid, 0, case when p_blocked then -1 else 1 end);
    perform add_app_views(p_app_no, 0, case when p_blocked then -1 else 1 end);
  end if;
end $$;

/* Clears a user's view of a conversation whose head is locked. Returns whether there was one. */
create function clear_view(p_app_no int, p_conversation bigint, p_uid text) returns boolean
language plpgsql as $$
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
    cleared_seq = h.last_seq, read_seq = h.last_seq, read_counted = h.counted, own_since = 0,
    tags = '{}', pinned_at = null, visible = false
  where app_no = p_app_no and uid = p_uid and kind = i.kind and with_id = i.with_id;
  if i.visible then
    perform add_views(p_app_no, p_uid, -1, case when i.blocked then 0 else -1 end);
    perform add_app_views(p_app_no, -1, case when i.blocked then 0 else -1 end);
  elsif i.scope is not null and h.shown_seq > i.cleared_seq then
    update conversations set hidden = hidden + 1 where app_no = p_app_no and no = p_conversation;
    perform add_total(p_app_no, 'views.group', -1);
  end if;
  return i.visible or (i.scope is not null and h.shown_seq > i.cleared_seq);
end $$;

/* Clears the views of all who take part in a conversation whose head is locked. */
create function clear_views(p_app_no int, p_conversation bigint) returns void
language plpgsql as $$
declare
  h conversations;
  v_seen bigint;
begin
  select * into h from conversations where app_no = p_app_no and no = p_conversation;
  if h.kind = 'user' then
    perform clear_view(p_app_no, p_conversation, uid)
    from unnest(array[h.one, h.other]) as uid order by uid;
    return;
  end if;
  select count(*) into v_seen from inbox
  where app_no = p_app_no and conversation = p_conversation and scope is not null
    and cleared_seq < h.shown_seq;
  update inbox set
    cleared_seq = h.last_seq, read_seq = h.last_seq, read_counted = h.counted, own_since = 0,
    tags = '{}', pinned_at = null
  where app_no = p_app_no and conversation = p_conversation and scope is not null;
  update conversations set hidden = hidden + v_seen
  where app_no = p_app_no and no = p_conversation;
  perform add_total(p_app_no, 'views.group', -v_seen);
end $$;

/*
 * The newest message in a part of a conversation that somebody else sent. Of two the others are known.
 * Of a group 1,000 messages are looked at: whoever wrote as many without a mark would pay for all of
 * them at each; its next mark past somebody else's tells of those before, too.
 */
create function newest_of_others(h conversations, p_uid text, p_after bigint, p_upto bigint)
returns messages
language plpgsql as $$
declare
  m messages;
begin
  if h.kind = 'group' then
    select * into m from (
      select * from messages
      where app_no = h.app_no and conversation = h.no and seq > p_after and seq <= p_upto
      order by seq desc limit 1000) looked
    where sender <> p_uid order by seq desc limit 1;
  else
    select sent.* into m
    from unnest(array[h.one, h.other, 'app_system']) as other (uid) cross join lateral (
      select * from messages
      where app_no = h.app_no and conversation = h.no and sender = other.uid
        and seq > p_after and seq <= p_upto
      order by seq desc limit 1) sent
    where other.uid <> p_uid order by sent.seq desc limit 1;
  end if;
  return m;
end $$;

/*
 * Moves a user's mark. The inbox row is locked first, the head is read after it: a send of the
 * user's own waits for the row, so it is counted either by us or by itself.
 *
 * What others are told of it is a receipt: a row in `marks` at the newest message of somebody else,
 * if that is past the row before. Between two of whom one blocks the other there is none.
 */
create function mark_conversation(
  p_app_no int, p_uid text, p_kind text, p_with text, p_what text, p_message_id bigint,
  out receipt boolean, out moved boolean, out conversation bigint, out at timestamptz,
  -- Of a receipt the message that it stands at, else the one that the mark was moved to.
  out message_id bigint, out sender text,
  -- Of a receipt in a group, who sent the newest of the messages that it covers.
  out senders text[]
)
language plpgsql as $$
declare
  i inbox;
  h conversations;
  m messages;
  v_seq bigint;
  v_counted bigint;
  v_marked bigint;
begin
  receipt := false;
  moved := false;
  select * into i from inbox
  where app_no = p_app_no and uid = p_uid and kind = p_kind and with_id = p_with
  for no key update;
  if not found or (p_kind = 'group' and i.scope is null) then
    perform refuse('ERR_CONVERSATION_NOT_ACCESSIBLE');
  end if;
  select * into h from conversations c where c.app_no = p_app_no and c.no = i.conversation;
  if h.shown_seq <= i.cleared_seq then perform refuse('ERR_CONVERSATION_NOT_ACCESSIBLE'); end if;
  conversation := h.no;
  at := clock_timestamp();

  if p_message_id is null then
    v_seq := h.last_seq;
    v_counted := h.counted;
    select * into m from messages k
    where k.app_no = p_app_no and k.conversation = h.no and k.seq <= h.last_seq
    order by k.seq desc limit 1;
  else
    select * into m from messages k where k.app_no = p_app_no and k.id = p_message_id;
    if not found or m.conversation <> h.no or m.seq <= i.cleared_seq then
      -- Whether the user takes part there decides what a device is told.
      perform refuse(
        case when m.conversation <> h.no then 'ERR_BAD_REQUEST' else 'ERR_MESSAGE_ID_NOT_FOUND' end,
        jsonb_build_object('id', p_message_id, 'reason', 'The message is of another conversation.',
          'unseen', not exists (select from inbox o
            where o.app_no = p_app_no and o.conversation = m.conversation and o.uid = p_uid
              and (o.kind = 'user' or o.scope is not null))));
    end if;
    -- It was sent after the head was read: the mark goes no further than that.
    v_seq := least(m.seq, h.last_seq);
    v_counted := least(m.counted, h.counted);
  end if;
  message_id := m.id;
  sender := m.sender;

  if p_what = 'unread' then
    if v_seq >= i.read_seq then return; end if;
  else
    -- What was read was delivered. Each from the end of the index: of both together all would be read.
    v_marked := coalesce(greatest(
      (select max(k.seq) from marks k where k.app_no = p_app_no and k.conversation = h.no
        and k.uid = p_uid and k.kind = 'read'),
      (select max(k.seq) from marks k where k.app_no = p_app_no and k.conversation = h.no
        and k.uid = p_uid and k.kind = p_what)), 0);
    if v_seq > v_marked and not (h.kind = 'user' and exists (
      select from blocks b where b.app_no = p_app_no
        and (b.uid, b.blocked_uid) in ((h.one, h.other), (h.other, h.one))))
    then
      m := newest_of_others(h, p_uid, v_marked, v_seq);
    else
      m := null;
    end if;
    if m.seq is not null then
      insert into marks (app_no, conversation, uid, kind, seq, at)
      values (p_app_no, h.no, p_uid, p_what, m.seq, mark_conversation.at);
      receipt := true;
      message_id := m.id;
      sender := m.sender;
      if h.kind = 'group' then
        senders := array(
          select distinct k.sender from (
            select c.sender from messages c
            where c.app_no = p_app_no and c.conversation = h.no and c.seq > v_marked
              and c.seq <= m.seq
            order by c.seq desc limit 100) k
          where k.sender not in (p_uid, 'app_system'));
      end if;
    end if;
    if p_what = 'delivered' or v_seq <= i.read_seq then return; end if;
  end if;

  moved := true;
  update inbox set read_seq = v_seq, read_counted = v_counted,
    own_since = case when v_seq = h.last_seq then 0 else (
      select count(*) from messages k
      where k.app_no = p_app_no and k.conversation = h.no and k.sender = p_uid
        and k.seq > v_seq and k.counts and k.deleted_at is null) end
  where app_no = p_app_no and uid = p_uid and kind = p_kind and with_id = p_with;
end $$;

/*
 * Looks at the next p_limit marks in the order of their key: of those that a user made in a
 * conversation on a day more than 90 days ago the last stays. Returns whether there are more to look
 * at; then it begins anew, a day after it last did.
 */
create function thin_marks(p_limit int) returns boolean
language plpgsql as $$
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
    select ctid as tid, app_no, conversation, uid, kind, seq, at from marks
    where (app_no, conversation, uid, kind, seq)
      >= ((t.place ->> 0)::int, (t.place ->> 1)::bigint, t.place ->> 2, t.place ->> 3,
        (t.place ->> 4)::bigint)
    order by app_no, conversation, uid, kind, seq limit p_limit
  ), followed as (
    select tid, at, lead(at) over (
      partition by app_no, conversation, uid, kind order by seq) as next_at
    from looked
  ), gone as (
    -- Who sweeps them locks them in another order: nobody is waited for.
    delete from marks where ctid = any (array(
      select k.ctid from marks k where k.ctid = any (array(
        select tid from followed
        where at < date_trunc('day', now(), 'UTC') - interval '90 days'
          and date_trunc('day', at, 'UTC') = date_trunc('day', next_at, 'UTC')))
      for update skip locked))
  )
  -- The last one is looked at again, beside what comes after it.
  select jsonb_build_array(app_no, conversation, uid, kind, seq) into v_next from looked
  order by app_no, conversation, uid, kind, seq offset p_limit - 1;
  update mark_thinning set place = v_next, began_at = t.began_at;
  return v_next is not null;
end $$;

/*
 * A message of a conversation whose head is locked is deleted. One that counted is left out of the
 * unread counts from now on. Returns null if it is not there any more.
 */
create function delete_message(p_app_no int, p_id bigint, p_by text, p_permanent boolean)
returns messages
language plpgsql as $$
declare
  m messages;
begin
  select * into m from messages where app_no = p_app_no and id = p_id for no key update;
  if not found then return null; end if;
  if m.counts and m.deleted_at is null then
    insert into uncounted (app_no, conversation, seq) values (p_app_no, m.conversation, m.seq);
    update inbox i set own_since = own_since - 1
    from conversations c
    where c.app_no = p_app_no and c.no = m.conversation
      and i.app_no = p_app_no and i.uid = m.sender and i.kind = c.kind
      and i.with_id = receiver_of(m, c) and i.read_seq < m.seq;
  end if;
  if m.parent_id is not null and m.deleted_at is null then
    update threads set replies = replies - 1 where app_no = p_app_no and parent_id = m.parent_id;
  end if;
  delete from mentions where app_no = p_app_no and message_id = p_id;
  delete from interactions where app_no = p_app_no and message_id = p_id;
  if m.reacted or m.saved then
    insert into gone_messages (app_no, id) values (p_app_no, p_id) on conflict do nothing;
  end if;
  if p_permanent then
    perform forget_messages(p_app_no, array[p_id]);
    delete from messages where app_no = p_app_no and id = p_id;
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

/* Removes at most p_limit messages of a conversation up to p_seq, and returns how many. */
create function sweep_messages(p_app_no int, p_conversation bigint, p_seq bigint, p_limit int)
returns int
language plpgsql as $$
declare
  v_ids bigint[];
begin
  with gone as (
    delete from messages where ctid = any (array(
      select ctid from messages
      where app_no = p_app_no and conversation = p_conversation and seq <= p_seq
      order by seq limit p_limit))
    returning id, sender, muid, reacted or saved as has_more
  ), more as (
    insert into gone_messages (app_no, id) select p_app_no, id from gone where has_more
    on conflict do nothing
  ), forgotten as (
    delete from muids u using gone g
    where u.app_no = p_app_no and u.sender = g.sender and u.muid = g.muid and u.message_id = g.id
  )
  select array_agg(id) into v_ids from gone;
  perform forget_messages(p_app_no, v_ids);
  return coalesce(cardinality(v_ids), 0);
end $$;

/* The same for the messages of one sender in a group: those that counted are left out from now on. */
create function sweep_sender(p_app_no int, p_conversation bigint, p_uid text, p_limit int)
returns int
language plpgsql as $$
declare
  v_ids bigint[];
begin
  with gone as (
    delete from messages where ctid = any (array(
      select ctid from messages
      where app_no = p_app_no and conversation = p_conversation and sender = p_uid
      order by seq limit p_limit))
    returning id, seq, sender, muid, parent_id, deleted_at is null as there, counts,
      reacted or saved as has_more
  ), more as (
    insert into gone_messages (app_no, id) select p_app_no, id from gone where has_more
    on conflict do nothing
  ), forgotten as (
    delete from muids u using gone g
    where u.app_no = p_app_no and u.sender = g.sender and u.muid = g.muid and u.message_id = g.id
  ), left_out as (
    insert into uncounted (app_no, conversation, seq)
    select p_app_no, p_conversation, seq from gone where counts and there
  ), replies as (
    update threads t set replies = t.replies - g.replies
    from (select parent_id, count(*) as replies from gone
      where parent_id is not null and there group by parent_id) g
    where t.app_no = p_app_no and t.parent_id = g.parent_id
  )
  select array_agg(id) into v_ids from gone;
  perform forget_messages(p_app_no, v_ids);
  return coalesce(cardinality(v_ids), 0);
end $$;

/*
 * Removes at most about p_limit rows of a conversation whose head is locked, the head last, and
 * returns how many; fewer than p_limit: it is gone.
 */
create function sweep_conversation(p_app_no int, p_conversation bigint, p_limit int) returns int
language plpgsql as $$
declare
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
  -- Both views of two users go at once, with the head: who removes one of them finds it by that view.
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
      perform add_views(p_app_no, i.uid, -1, case when i.blocked then 0 else -1 end);
      v_gone := v_gone + 1;
      v_free := v_free + case when i.blocked then 0 else 1 end;
    end if;
  end loop;
  perform add_app_views(p_app_no, -v_gone, -v_free);
  if exists (select from inbox where app_no = p_app_no and conversation = p_conversation) then
    return p_limit;
  end if;
  delete from conversations where app_no = p_app_no and no = p_conversation;
  return v_done;
end $$;

/* Removes at most p_limit rows of a removed group, the group last. Returns whether it is gone. */
create function sweep_group(p_app_no int, p_guid text, p_limit int) returns boolean
language plpgsql as $$
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
  if v_done + v_part >= p_limit then return false; end if;
  delete from groups where app_no = p_app_no and guid = p_guid and removed_at is not null;
  return true;
end $$;

/* Removes at most p_limit messages that were purged from a conversation. */
create function sweep_purged(p_app_no int, p_conversation bigint, p_limit int) returns boolean
language plpgsql as $$
declare
  h conversations;
begin
  select * into h from conversations where app_no = p_app_no and no = p_conversation
  for no key update;
  if not found then return true; end if;
  if sweep_messages(p_app_no, h.no, h.purged_seq, p_limit) >= p_limit then return false; end if;
  delete from uncounted
  where app_no = p_app_no and conversation = h.no and seq <= h.purged_seq;
  delete from thread_users u
  where u.app_no = p_app_no and u.conversation = h.no and not exists (
    select from messages m where m.app_no = p_app_no and m.id = u.parent_id);
  update conversations set purging = false where app_no = p_app_no and no = h.no;
  return true;
end $$;

/*
 * Removes at most about p_limit rows of a removed user: its conversations with others, what it wrote
 * in groups, memberships, reactions and saves, tokens and relations; the user last. Returns whether it is gone.
 */
create function sweep_user(p_app_no int, p_uid text, p_limit int) returns boolean
language plpgsql as $$
declare
  i inbox;
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
      v_left := v_left - sweep_sender(p_app_no, i.conversation, p_uid, v_left);
      if v_left > 0 then
        delete from marks
        where app_no = p_app_no and conversation = i.conversation and uid = p_uid;
        -- What a removed group counted is counted no more.
        if exists (select from groups
          where app_no = p_app_no and guid = i.with_id and removed_at is null)
        then
          perform remove_member(p_app_no, i.with_id, p_uid);
          update groups set owner = 'app_system'
          where app_no = p_app_no and guid = i.with_id and owner = p_uid;
        end if;
        delete from inbox
        where app_no = p_app_no and uid = p_uid and kind = 'group' and with_id = i.with_id;
        v_left := v_left - 1;
      end if;
    end if;
    if v_left <= 0 then return false; end if;
  end loop;

  v_left := v_left - sweep_reactions(p_app_no, p_uid, v_left);
  if v_left <= 0 then return false; end if;
  delete from bans where ctid = any (array(
    select ctid from bans where app_no = p_app_no and uid = p_uid limit v_left));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from auth_tokens where ctid = any (array(
    select ctid from auth_tokens where app_no = p_app_no and uid = p_uid limit v_left));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  v_left := v_left - sweep_traces(p_app_no, p_uid, v_left);
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

  -- A block makes a head where there was none, which no inbox leads to.
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
      and c.last_seq = 0
  )
  select count(*) into v_done from gone;
  v_left := v_left - v_done;

  if v_left <= 0 then return false; end if;
  delete from view_totals where app_no = p_app_no and uid = p_uid;
  delete from users where app_no = p_app_no and uid = p_uid and removed_at is not null;
  return true;
end $$;

/* Adds a message that tells what somebody did, and returns its record. It has no event of its own. */
create function append_action(
  p_app_no int, p_conversation bigint, p_sender text, p_type text, p_data jsonb, p_moves boolean
) returns jsonb
language plpgsql as $$
declare
  h conversations;
  v_id bigint;
begin
  select * into h from conversations where app_no = p_app_no and no = p_conversation;
  h := move_head(p_app_no, h.kind, h.one, h.other, p_moves, p_moves);
  v_id := store_message(
    h, p_sender, 'action', p_type, p_data, '{}', null, null, null, p_moves, p_moves);
  return (select message_record(m, h) from messages m where m.app_no = p_app_no and m.id = v_id);
end $$;

/*
 * The newest place in a conversation whose message has at most this id, or was sent in this second
 * at the latest. Both grow with seq, and the message itself may be gone: found by halving.
 */
create function seq_upto(p_app_no int, p_conversation bigint, p_id bigint, p_second bigint)
returns bigint
language plpgsql stable as $$
declare
  v_low bigint := 0;
  v_high bigint;
  v_middle bigint;
  m record;
begin
  select last_seq + 1 into v_high from conversations
  where app_no = p_app_no and no = p_conversation;
  while v_high - v_low > 1 loop
    v_middle := (v_low + v_high) / 2;
    select seq, id, sent_at into m from messages
    where app_no = p_app_no and conversation = p_conversation and seq >= v_middle
    order by seq limit 1;
    if found and (case when p_id is null then unix(m.sent_at) <= p_second else m.id <= p_id end) then
      v_low := m.seq;
    else
      v_high := v_middle;
    end if;
  end loop;
  return v_low;
end $$;

/*
 * Blocks others, or no longer does, in the order of their conversations' keys; returns those for
 * whom that is new. The heads are locked, so that no message is sent meanwhile; one that a block made
 * goes with the last block between the two.
 */
create function set_blocks(p_app_no int, p_uid text, p_others text[], p_blocked boolean)
returns setof text
language plpgsql as $$
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
      insert into blocks (app_no, uid, blocked_uid) values (p_app_no, p_uid, v_other)
      on conflict do nothing;
    else
      delete from blocks where app_no = p_app_no and uid = p_uid and blocked_uid = v_other;
    end if;
    if found then
      perform set_blocked(p_app_no, p_uid, v_other, p_blocked);
      return next v_other;
    end if;
    if not p_blocked and h.last_seq = 0 and not exists (select from blocks
      where app_no = p_app_no and uid = v_other and blocked_uid = p_uid)
    then
      delete from conversations where app_no = p_app_no and no = h.no;
    end if;
  end loop;
end $$;

/*
 * Adds the message that tells of a change of a membership, with all concerned as they are after it.
 * The group's head is locked.
 */
create function append_member_action(
  p_app_no int, p_guid text, p_by text, p_on text, p_action text, p_extras jsonb, p_moves boolean
) returns jsonb
language plpgsql as $$
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
  v_by := coalesce(v_by, system_record(p_app_no));
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

-- Most writes have an id by the time they announce: for them the trigger is not called.
drop trigger outbox_assign_xid on outbox;
create trigger outbox_assign_xid before insert on outbox
for each statement when (pg_current_xact_id_if_assigned() is null)
execute function outbox_assign_xid();

-- The orders of lists, apart by type: whoever may not see private groups never walks over them.
create index groups_changed on groups (app_no, type, changed_second, guid)
where removed_at is null;
create index groups_name on groups (app_no, type, name_key, guid) where removed_at is null;
create index groups_created on groups (app_no, type, created_second, guid)
where removed_at is null;
create index groups_guid on groups (app_no, type, guid) where removed_at is null;
-- What lists are filtered by, for values that few groups have.
create index groups_updated on groups (app_no, changed_second)
where removed_at is null and updated_at is not null;
-- Each member that comes or goes writes to all indexes of its group for this one's sake.
create index groups_size on groups (app_no, members_count) where removed_at is null;
create index groups_search on groups
using gin (app_no, name_key gin_trgm_ops, (string_to_array(name_key, null)))
with (gin_pending_list_limit = 1024);
create index groups_tags on groups using gin (app_no, tags) where tags <> '{}';
