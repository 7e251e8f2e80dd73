-- The tables of a cell, with their indexes and constraints. Functions, triggers and views are code:
-- they are in db/cell/functions/ and change there. The three functions below are the exception.
-- Columns and indexes store what they return, so they never change.
--
-- Every key and hot index of a cell begins with app_no, and nothing references across apps:
-- an app can be copied out by a filter on one column.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

/*
 * What a name is sorted and searched by: lower case, without accents and compatibility forms, so that
 * "Ädam" stands beside "adam" and is found by it. Other scripts keep their marks.
 */
create function fold_name(name text) returns text
language sql immutable strict parallel safe
return lower(normalize(regexp_replace(normalize(name, nfkd), '[\u0300-\u036f]', '', 'g'), nfkc));

-- Functions like this one are put into the statements that use them, if they are declared no more
-- constant than what they call; a call of its own would cost more than they do.
create function unix(p_at timestamptz) returns bigint
language sql immutable parallel safe
return floor(date_part('epoch', p_at at time zone 'UTC'))::bigint;

/* Every send asks this: the expression is tried on texts alone that can have a link. */
create function has_link(p_data jsonb) returns boolean
language sql immutable parallel safe
return coalesce((strpos(p_data ->> 'text', '.') > 0 or strpos(p_data ->> 'text', '://') > 0)
  and (p_data ->> 'text') ~* '(https?://|www\.)\S', false);

create table apps (
  app_no int primary key,
  app_id text not null unique,
  -- Only what differs from the defaults (core/settings.ts).
  settings jsonb not null default '{}',
  created_at timestamptz not null default now(),
  -- Set: the app was marked for removal, and nothing serves it until it is restored. The directory
  -- decides, this follows (workers/apps.ts).
  archived_at timestamptz
);
create index apps_archived on apps (app_no) where archived_at is not null;

create table api_keys (
  app_no int not null references apps,
  -- Keyed hash, for lookup; the value itself sealed, for display.
  key_hash bytea not null,
  key_sealed bytea not null,
  name text not null,
  scope text not null check (scope in ('authOnly', 'fullAccess')),
  -- Not now(): keys of one transaction keep their order.
  created_at timestamptz not null default clock_timestamp(),
  primary key (app_no, key_hash)
);

-- Jobs that must run once per cell are held by leases. A worker renews one row a second, whatever
-- number of jobs it holds; a lease is good while its worker's row has not expired by this
-- database's clock. Each change of hands raises the epoch. A job whose work must not be done twice
-- checks worker and epoch inside its own transaction (lock_lease): a process that was stopped and
-- resumed after losing its lease can do no harm. Jobs that can be repeated need no check.

create table workers (
  worker_id uuid primary key,
  expires_at timestamptz not null
) with (fillfactor = 50);

create table leases (
  job text primary key,
  worker_id uuid not null,
  epoch bigint not null
);

-- An action inserts its event into outbox in its own transaction, last, after its locks and
-- writes. The sequencer moves committed rows to events and gives them a position: 1, 2, 3 … per
-- app, without a hole. docs/decisions/0005-sequencer.md tells why nothing is skipped.

create table outbox (
  -- cache 1: ids are drawn in order by all sessions.
  id bigint generated always as identity (cache 1) primary key,
  app_no int not null,
  type text not null,
  -- What must stay in order among its like: the conversation, else the user or group concerned.
  key text not null,
  payload json not null,
  -- Under what devices find it that come back: `user:…`, `group:…`, `*` for everyone, '' for none.
  to_first text collate "C" not null default '',
  to_second text collate "C",
  at timestamptz not null default clock_timestamp()
) with (
  -- Rows live for milliseconds: clean up by count, not by a share of a table that is empty.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 20000,
  autovacuum_vacuum_insert_threshold = -1
);

create table events (
  app_no int not null,
  position bigint not null,
  type text not null,
  key text not null,
  payload json not null,
  to_first text collate "C" not null default '',
  to_second text collate "C",
  -- When it happened.
  at timestamptz not null,
  -- When it was given its position (UTC): the partition.
  day date not null,
  primary key (app_no, position, day)
) partition by range (day);
create index events_first on events (app_no, to_first, position) where to_first <> '';
create index events_second on events (app_no, to_second, position) where to_second is not null;

-- The last position given in each app.
create table positions (
  app_no int primary key,
  position bigint not null
) with (fillfactor = 50);

-- What every process must forget within a second: it reads the last half minute of this log twice
-- a second. Rows older than that are of no use and go with the hourly upkeep.
create table revocations (
  at timestamptz not null default clock_timestamp(),
  app_no int not null,
  kind text not null,
  id text not null
);
create index revocations_at on revocations (at);

-- Answers to writes that carried an Idempotency-Key, for 24 hours. Inserted first and completed
-- last in the write's own transaction: a twin waits on the row, then gets the answer.
create table idempotency (
  app_no int not null,
  -- Who asked: the hash of the credential, and the user it acted for ('' for the app itself).
  credential bytea not null,
  uid text not null,
  key text not null,
  request_hash bytea not null,
  answer_sealed bytea,
  created_at timestamptz not null default now(),
  -- Of a send: the message, whose answer is made from it.
  message_id bigint,
  primary key (app_no, credential, uid, key)
);
create index idempotency_created_at on idempotency (created_at);

-- Users, their roles and tokens, and who is whose friend or blocks whom.

create table roles (
  app_no int not null references apps,
  role text collate "C" not null,
  name text not null,
  description text,
  metadata jsonb,
  settings jsonb,
  -- Always there, and not counted among the roles of the app.
  built_in boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz,
  -- Set: gone for everyone, its holders count as `default` until they are moved.
  removed_at timestamptz,
  primary key (app_no, role)
);

create table users (
  app_no int not null,
  uid text collate "C" not null,
  name text not null,
  name_key text collate "C" not null generated always as (fold_name(name)) stored,
  avatar text,
  link text,
  role text collate "C" not null,
  status_message text,
  metadata jsonb,
  tags text[] not null default '{}',
  last_active_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz,
  deactivated_at timestamptz,
  -- Set: gone for everyone, the id stays taken until all that is theirs is swept.
  removed_at timestamptz,
  -- Whether a device of theirs is connected (presence). In the user's own row, since every record of
  -- a user shows it; no index has it, so that a change touches none.
  online boolean not null default false,
  bot boolean not null default false,
  primary key (app_no, uid)
) with (fillfactor = 90);
-- The order of lists, apart for both states so that neither walks over the other's rows.
create index users_active on users (app_no, name_key, uid)
where deactivated_at is null and removed_at is null;
create index users_deactivated on users (app_no, name_key, uid)
where deactivated_at is not null and removed_at is null;
create index users_removed on users (app_no, uid) where removed_at is not null;
-- What lists are filtered by, for values that few users have.
create index users_role on users (app_no, role, uid) where removed_at is null;
create index users_created_at on users (app_no, created_at);
create index users_updated_at on users (app_no, updated_at) where updated_at is not null;
-- Search in all but the first character: by trigrams, and for keys of one or two characters, which have none, by single
-- characters. Names that begin with a key stand together in the order of lists, where they need no search.
create index users_search on users
using gin (app_no, (substr(name_key, 2)) gin_trgm_ops, (string_to_array(substr(name_key, 2), null)))
with (gin_pending_list_limit = 1024);
create index users_tags on users using gin (app_no, tags) where tags <> '{}';
create index users_bots on users (app_no, uid) where bot;

create table auth_tokens (
  app_no int not null,
  -- Keyed hash, for lookup; the value itself sealed, for display.
  token_hash bytea not null,
  token_sealed bytea not null,
  uid text collate "C" not null,
  platform text,
  user_agent text,
  app_info jsonb,
  created_at timestamptz not null default clock_timestamp(),
  primary key (app_no, token_hash)
);
create index auth_tokens_user on auth_tokens (app_no, uid, created_at);

-- Both ways: a friendship is two rows, written together.
create table friends (
  app_no int not null,
  uid text collate "C" not null,
  friend_uid text collate "C" not null,
  created_at timestamptz not null default now(),
  primary key (app_no, uid, friend_uid)
);

create table blocks (
  app_no int not null,
  uid text collate "C" not null,
  blocked_uid text collate "C" not null,
  created_at timestamptz not null default now(),
  primary key (app_no, uid, blocked_uid)
);
create index blocks_blocked on blocks (app_no, blocked_uid, uid);

-- Totals of an app, spread over several rows so that writers seldom meet; a total is their sum.
create table totals (
  app_no int not null,
  what text not null,
  shard int not null,
  total bigint not null,
  primary key (app_no, what, shard)
) with (fillfactor = 50);

-- Groups and their members, conversations, messages and marks. docs/decisions/0010-conversations.md
-- tells why views of two are pushed and views of groups are pulled.

-- Drawn under the conversation's lock: ids grow in the order of its messages. cache 1, or each
-- session would draw from a block of its own.
create sequence message_ids cache 1;
create sequence conversation_nos;

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
create index messages_pinned on messages (app_no, conversation, id) where pinned_at is not null;
-- With reactions: for whoever looks for those alone. Reactions that were all taken back leave the mark.
create index messages_reacted on messages (app_no, conversation, seq) where reacted;
-- A conversation's messages in the order of lists over several conversations: by id.
create index messages_conversation on messages (app_no, conversation, id);
-- What few messages have, in the order of lists. A plain text has none of it.
create index messages_attached on messages (app_no, id) where data ? 'attachments';
create index messages_linked on messages (app_no, id) where has_link(data);
create index messages_mentioning on messages (app_no, id) where data ? 'mentions';
create index messages_reacting on messages (app_no, id) where reacted;
create index messages_tagged on messages (app_no, id) where tags <> '{}';
create index messages_changed on messages (app_no, id) where updated_at > sent_at;
create index messages_category on messages (app_no, category, id) where category <> 'message';

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

-- What users leave at messages: reactions, pins, saves. And the users that are bots.
-- docs/decisions/0012-reactions.md tells why counts have rows of their own.

-- Drawn while the line of those who react to the message is held: ids grow in their order.
create sequence reaction_ids;

create table reactions (
  app_no int not null,
  uid text collate "C" not null,
  message_id bigint not null,
  reaction text collate "C" not null,
  id bigint not null default nextval('reaction_ids'),
  reacted_at timestamptz not null default clock_timestamp(),
  primary key (app_no, uid, message_id, reaction)
);
create unique index reactions_message on reactions (app_no, message_id, id);
create index reactions_value on reactions (app_no, message_id, reaction, id);

-- How many users reacted with what; no row stands for none.
create table reaction_counts (
  app_no int not null,
  message_id bigint not null,
  reaction text collate "C" not null,
  count int not null,
  -- The reaction that came first: the order in which values are shown.
  first_id bigint not null,
  primary key (app_no, message_id, reaction)
) with (fillfactor = 50);

-- A list of its own for each user.
create table saves (
  app_no int not null,
  uid text collate "C" not null,
  message_id bigint not null,
  saved_at timestamptz not null default clock_timestamp(),
  primary key (app_no, uid, message_id)
);
create index saves_message on saves (app_no, message_id);

-- What lists and searches of messages are found by. docs/decisions/0014-message-lists.md tells why.

-- The index of texts, made by a worker (areas/history/indexing.ts) for stretches of an app's
-- messages: ids above after_id, up to upto_id. What is newer than the last one is walked over.
create table search_segments (
  app_no int not null,
  upto_id bigint not null,
  after_id bigint not null,
  messages int not null,
  primary key (app_no, upto_id)
);

-- Which messages of a stretch hold these three characters, or end with these one or two. What is
-- found is looked at again: a list may hold messages that no longer do, or are gone.
create table search_grams (
  app_no int not null,
  gram text collate "C" not null,
  upto_id bigint not null,
  -- Distances between ids, from after_id on.
  ids bytea not null,
  primary key (app_no, gram, upto_id)
);

-- Messages that say something else than when they were indexed, or will be: found by any search.
create table search_changes (
  app_no int not null,
  id bigint not null,
  primary key (app_no, id)
);

-- Webhooks read the event log by a cursor each. docs/decisions/0013-webhooks.md tells how nothing
-- gets lost and the order of each key is kept.

create table webhooks (
  app_no int not null references apps,
  no bigint generated always as identity,
  -- Which lease it belongs to: webhooks/<shard>.
  shard int not null generated always as ((no % 64)::int) stored,
  id text not null,
  name text not null,
  url text not null,
  use_basic_auth boolean not null,
  username text,
  password_sealed bytea,
  enabled boolean not null,
  retry_on_failure boolean not null,
  triggers text[] not null default '{}',
  -- The types of events that pull them: whoever reads the log goes by what they are then.
  types text[] not null default '{}',
  -- For each of them: what the log held when it was asked for is not sent, wherever the cursor stands.
  since bigint[] not null default '{}',
  secret_sealed bytea not null,
  -- The secret before this one, which signs beside it until then.
  old_secret_sealed bytea,
  old_secret_until timestamptz,
  -- Its rows in other tables go with the sweeps, and then this one.
  removed boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (app_no, no),
  check (cardinality(since) = cardinality(types))
);
create unique index webhooks_id on webhooks (app_no, id) where not removed;
create index webhooks_shard on webhooks (shard) where enabled and not removed;
create index webhooks_removed on webhooks (app_no, no) where removed;

-- How far a webhook has come: every event up to the position was delivered, stands in the backlog
-- or among the dead letters, or is of a type that it did not ask for.
create table webhook_progress (
  app_no int not null,
  webhook_no bigint not null,
  position bigint not null,
  -- Keys that failed one after the other, without a success between them.
  failures int not null default 0,
  failing_since timestamptz,
  failed_at timestamptz,
  -- After too many failures the whole webhook waits, and is probed now and then.
  probes int not null default 0,
  waits_until timestamptz,
  primary key (app_no, webhook_no)
) with (fillfactor = 50);
create index webhook_progress_waiting on webhook_progress (app_no) where waits_until is not null;

-- Keys whose events wait: a delivery failed, or a replay was asked for.
create table webhook_parked (
  app_no int not null,
  webhook_no bigint not null,
  key text not null,
  -- Failed tries of the first of its events.
  tries int not null default 0,
  retry_at timestamptz not null default now(),
  primary key (app_no, webhook_no, key)
);
create index webhook_parked_due on webhook_parked (app_no, webhook_no, retry_at);

-- Their events. A key has a row in webhook_parked as long as it has one here.
create table webhook_backlog (
  app_no int not null,
  webhook_no bigint not null,
  key text not null,
  position bigint not null,
  primary key (app_no, webhook_no, key, position)
);

-- Events that were given up; a range of them where the log no longer holds what they were.
create table webhook_dead_letters (
  app_no int not null,
  webhook_no bigint not null,
  position bigint not null,
  upto bigint not null,
  type text,
  reason text not null check (reason in ('exhausted', 'noRetry', 'expired')),
  at timestamptz not null default now(),
  primary key (app_no, webhook_no, position)
);
create index webhook_dead_letters_at on webhook_dead_letters (at);

create sequence webhook_delivery_ids;

-- Every try. Partitioned by day: a day is dropped as a whole.
create table webhook_deliveries (
  app_no int not null,
  webhook_no bigint not null,
  id bigint not null default nextval('webhook_delivery_ids'),
  position bigint not null,
  type text not null,
  try int not null,
  -- Of the answer; null: there was none, and `error` says why.
  status int,
  error text,
  duration_ms int not null,
  answer text,
  at timestamptz not null,
  day date not null,
  primary key (app_no, webhook_no, id, day)
) partition by range (day);
create index webhook_deliveries_failed on webhook_deliveries (app_no, webhook_no, id)
where coalesce(status, 0) not between 200 and 299;

-- Who is online: whoever has a device at some gateway process. docs/decisions/0016-presence.md tells why
-- this stands here. Rows change when users come and go, never by heartbeat: of what lives, only
-- gateways renew, one row each.
-- `users.online` is true for exactly those users that have a row in presence, and changes with one
-- event in the same transaction.

create table gateways (
  -- A process at one cell. One that was taken for dead goes on under a new id.
  gateway uuid primary key,
  seen_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  -- Set: nobody may come by it any more, and those who did are being let go.
  ended boolean not null default false
) with (fillfactor = 50);

create table presence (
  app_no int not null,
  uid text collate "C" not null,
  -- As the user's: lists of who is online are a range of one index.
  name_key text collate "C" not null,
  -- Where the user has devices: at least one.
  gateways uuid[] not null,
  primary key (app_no, uid)
) with (fillfactor = 80);
create index presence_order on presence (app_no, name_key, uid);

-- What an app uses: counts that a worker adds up from the event log, and counts that processes add
-- themselves. docs/decisions/0017-usage.md tells why so. Nothing here is read from messages.

-- How far the log of each app was added up.
create table usage_progress (
  app_no int primary key,
  position bigint not null
) with (fillfactor = 50);

-- How often something happened on a day (UTC): types of events, kinds of messages, calls by operation and status.
create table usage_days (
  app_no int not null,
  day date not null,
  what text collate "C" not null,
  count bigint not null,
  primary key (app_no, day, what)
) with (fillfactor = 70);

-- The same of some types of events in steps of five minutes, for some days.
create table usage_steps (
  app_no int not null,
  at timestamptz not null,
  what text collate "C" not null,
  count bigint not null,
  primary key (app_no, at, what)
) with (fillfactor = 70);
create index usage_steps_at on usage_steps (at);

-- Users that were online at the same time: the most of the day, by a look each minute.
create table usage_peaks (
  app_no int not null,
  day date not null,
  online int not null,
  primary key (app_no, day)
) with (fillfactor = 70);

-- The last day on which each user was active.
create table usage_activity (
  app_no int not null,
  uid text collate "C" not null,
  day date not null,
  primary key (app_no, uid)
) with (fillfactor = 80);

/*
 * How many users were active on a day, by the day before on which they were active. Of any days from a to b,
 * the users of whom `before` is earlier than a are those who were not active in them before: each counts once.
 */
create table usage_returns (
  app_no int not null,
  day date not null,
  before date not null,
  users int not null,
  primary key (app_no, day, before)
) with (fillfactor = 70);

-- Users whose tokens were used, until they are added up.
create table usage_seen (
  app_no int not null,
  day date not null,
  uid text collate "C" not null,
  primary key (app_no, day, uid)
);

-- Who was a member of a group when it was removed. A device that was away then is told of it when it
-- comes back, and of what was said there before. Rows are kept as long as the log (workers/upkeep.ts).
create table former_members (
  app_no int not null,
  uid text collate "C" not null,
  -- Of the group: unlike its guid, no other gets it again.
  conversation bigint not null,
  guid text collate "C" not null,
  at timestamptz not null default now(),
  primary key (app_no, uid, conversation)
);
create index former_members_at on former_members (at);
