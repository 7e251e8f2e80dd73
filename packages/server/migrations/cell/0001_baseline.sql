-- The tables of a cell, with their indexes and constraints. Functions, triggers and views are code:
-- they are in db/cell/functions/ and change there. The functions below are the exception.
-- Columns and indexes store what they return, so they never change.
--
-- Every key and hot index of a cell begins with app_no, and nothing references across apps:
-- an app can be copied out by a filter on one column.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

/*
 * What names are sorted and searched by: lower case, without accents and compatibility forms, so that
 * "Ädam" sorts next to "adam" and a search for either finds both. Other scripts keep their marks.
 */
create function fold_name(name text) returns text
language sql immutable strict parallel safe
return lower(normalize(regexp_replace(normalize(name, nfkd), '[\u0300-\u036f]', '', 'g'), nfkc));

-- PostgreSQL inlines functions like this one if they aren't declared more constant than what they
-- call. A call would cost more than its work.
create function unix(p_at timestamptz) returns bigint
language sql immutable parallel safe
return floor(date_part('epoch', p_at at time zone 'UTC'))::bigint;

/* Every send evaluates this: only texts that can contain a link are matched with the expression. */
create function has_link(p_data jsonb) returns boolean
language sql immutable parallel safe
return coalesce((strpos(p_data ->> 'text', '.') > 0 or strpos(p_data ->> 'text', '://') > 0)
  and (p_data ->> 'text') ~* '(https?://|www\.)\S', false);

/*
 * Ids of messages and reactions carry time: they are quarter microseconds since Unix second 1,000,000,000,
 * and stay below 2^53 until 2073. docs/decisions/0027-sends.md explains why. This is the second of an id.
 */
create function id_second(p_id bigint) returns bigint
language sql immutable parallel safe
return p_id / 4000000 + 1000000000;

/* The time of an id, exactly. */
create function id_time(p_id bigint) returns timestamptz
language sql immutable parallel safe
return (timestamp '2001-09-09 01:46:40' + p_id / 4 * interval '1 microsecond') at time zone 'UTC';

create table apps (
  app_no int primary key,
  app_id text not null unique,
  -- Only the settings that differ from the defaults (core/settings.ts).
  settings jsonb not null default '{}',
  -- The most that the app's operators may set for limits and rates, if it differs from the default. Only
  -- the installation's operator changes it.
  ceilings jsonb not null default '{}',
  created_at timestamptz not null default now(),
  -- Set: the app is marked for removal, and nothing serves it until it is restored. The directory
  -- decides; the job apps.reconcile copies its decision.
  archived_at timestamptz,
  -- Set: the operator of the installation has suspended the app. Its data stays, but nothing serves it.
  suspended_at timestamptz,
  -- Its rates, and its requests at a time, in percent of its limits. Null: all of them.
  throttle int check (throttle between 1 and 99),
  -- The search horizon: a transaction that adds or changes the text of a message with this id or a lower
  -- one adds the id to search_changes. Read it once the transaction has its xid.
  search_upto bigint not null default 0,
  -- Whether special_roles returns any: sends read this row anyway. A trigger keeps it (names.sql).
  special_roles boolean not null default false,
  -- Changes with every change of its rules of moderation and their lists. Null: no rule is enabled.
  moderation text
);
create index apps_archived on apps (app_no) where archived_at is not null;
create index apps_restrained on apps (app_no) where suspended_at is not null or throttle is not null;

create table api_keys (
  app_no int not null references apps,
  -- A keyed hash for lookups; the encrypted value for display.
  key_hash bytea not null,
  key_sealed bytea not null,
  name text not null,
  scope text not null check (scope in ('authOnly', 'fullAccess')),
  -- Not now(): keys created in one transaction keep their order.
  created_at timestamptz not null default clock_timestamp(),
  primary key (app_no, key_hash)
);

-- Leases assign jobs that must run once per cell. A worker renews one row per second, however many
-- jobs it has; a lease is valid until its worker's row expires by this database's clock. Each new holder
-- raises the epoch. A job whose work must not be done twice checks worker and epoch inside its own
-- transaction (lock_lease), so a process that was stopped and resumes after losing its lease does no
-- harm. Jobs that can be repeated need no check.

create table workers (
  worker_id uuid primary key,
  expires_at timestamptz not null
) with (fillfactor = 50);

create table leases (
  job text primary key,
  worker_id uuid not null,
  epoch bigint not null
);

-- Durable background work (docs/jobs.md). A transaction adds a job with enqueue_job; the runners of all
-- workers claim jobs in turns between apps. The row is the only state: it names the worker that
-- runs the job and the epoch of that claim, and every write of the worker checks both.
-- Only tells apart jobs of the same microsecond: ids carry their time (enqueue_job).
create sequence job_ids;

create table jobs (
  -- 0: work of the cell itself. No reference to apps: a job may be about an app that is gone.
  app_no int not null,
  id bigint not null,
  name text collate "C" not null,
  -- blocked: an earlier job of its serial key isn't over. waiting: until run_at. dead: failed for good.
  state text collate "C" not null check (
    state in ('blocked', 'waiting', 'ready', 'running', 'done', 'dead', 'cancelled')),
  -- Higher ones first, within the app.
  priority smallint not null default 0,
  -- Runs since its last checkpoint that were started and not handed back.
  tries smallint not null default 0,
  epoch int not null default 0,
  -- The next four change while it runs. Someone asked to cancel it; it was enqueued once more; it has
  -- rows in job_steps.
  cancelling boolean not null default false,
  again boolean not null default false,
  stepped boolean not null default false,
  worker_id uuid,
  run_at timestamptz not null,
  deadline timestamptz,
  created_at timestamptz not null,
  ended_at timestamptz,
  dedupe_key text collate "C",
  serial_key text collate "C",
  input jsonb not null,
  checkpoint jsonb,
  -- Progress, in units of the job's choice.
  done bigint,
  total bigint,
  -- Of the last run that failed.
  error text,
  primary key (app_no, id)
) with (fillfactor = 70);
-- A runner walks from app to app and takes the first jobs of each.
create index jobs_ready on jobs (app_no, priority desc, run_at, id) where state = 'ready';
create index jobs_running on jobs (app_no) where state = 'running';
create index jobs_waiting on jobs (run_at) where state = 'waiting';
create index jobs_ended on jobs (state, ended_at) where ended_at is not null;
create unique index jobs_dedupe on jobs (app_no, name, dedupe_key)
where dedupe_key is not null and ended_at is null;
create index jobs_serial on jobs (app_no, serial_key, id)
where serial_key is not null and ended_at is null;

-- Results of the named steps of jobs, so that a job that runs again doesn't repeat them.
create table job_steps (
  app_no int not null,
  job_id bigint not null,
  step text collate "C" not null,
  result jsonb,
  primary key (app_no, job_id, step)
);

-- Jobs to enqueue again and again: every so often, or at a time of day in a time zone.
create table job_schedules (
  app_no int not null,
  key text collate "C" not null,
  name text collate "C" not null,
  input jsonb not null,
  every_seconds int check (every_seconds > 0),
  at time,
  zone text,
  -- Days of the week, 1 (Monday) to 7. Null: every day.
  days smallint[] check (days <@ '{1,2,3,4,5,6,7}' and cardinality(days) > 0),
  next_at timestamptz not null,
  primary key (app_no, key),
  check (case when every_seconds is null then at is not null and zone is not null
    else at is null and zone is null and days is null end)
);
create index job_schedules_next on job_schedules (next_at);

-- An action inserts the body of its event in its own transaction, after its locks and writes. The
-- sequencer assigns positions to committed bodies: 1, 2, 3 … per app, without gaps but at breaks.
-- docs/decisions/0005-sequencer.md explains why it skips nothing.

-- cache 1: all sessions draw ids in one order.
create sequence event_ids cache 1;

create table event_bodies (
  -- A transaction gets its own id before its rows get theirs: the argument is computed first. So the
  -- sequencer can wait for the transaction that an id belongs to. A default costs less than a trigger.
  id bigint not null default nextval(
    case when pg_current_xact_id() is not null then 'event_ids'::regclass end),
  app_no int not null,
  -- When it was inserted (UTC): the partition.
  day date not null default (clock_timestamp() at time zone 'utc')::date,
  at timestamptz not null default clock_timestamp(),
  type text not null,
  -- The order key: the conversation, otherwise the user or group. Events with the same one stay in order.
  key text not null,
  -- The topics under which reconnecting devices find it: `user:…`, `group:…`, `*` (everyone), '' (none).
  to_first text collate "C" not null default '',
  to_second text collate "C",
  -- For usage counts, which would otherwise have to parse the payload. The user whose activity it shows:
  -- neither the app nor an agent.
  active_uid text collate "C",
  -- What it counts as, besides its type: `messages.user.message`.
  counts_as text,
  payload json not null,
  primary key (id, day)
) partition by range (day);

create table event_positions (
  position bigint not null,
  body_id bigint not null,
  app_no int not null,
  -- When it got its position (UTC): the partition.
  day date not null,
  body_day date not null,
  -- What readers look for is here too; the rest is read from the body.
  type text not null,
  to_first text collate "C" not null default '',
  to_second text collate "C",
  primary key (app_no, position, day)
) partition by range (day);
create index event_positions_first on event_positions (app_no, to_first, position)
  where to_first <> '';
create index event_positions_second on event_positions (app_no, to_second, position)
  where to_second is not null;
-- Few: at midnight, and after the sequencer was away. Their bodies must stay as long as they do.
create index event_positions_late on event_positions (body_day) where body_day < day;

-- The log: all events with positions. The subquery with `offset 0` always becomes an index lookup for
-- each position, never a hash of all bodies.
create view events as
select p.app_no, p.position, p.type, b.key, b.payload, p.to_first, p.to_second, b.at, p.day,
  b.active_uid, b.counts_as
from event_positions p cross join lateral (
  select key, payload, at, active_uid, counts_as from event_bodies
  where id = p.body_id and day = p.body_day
  offset 0
) b;

-- Which bodies have positions: one row, updated in the transaction that assigns them.
create table sequencer_progress (
  -- Bodies above this id have no position.
  taken bigint not null default 0,
  -- Lower ids without a position: their transactions are still open, or were rolled back.
  gaps int8multirange not null default '{}',
  -- Gaps whose transactions have lower ids than `stamp`. Once these have ended, the gaps are forgotten.
  watched int8multirange not null default '{}',
  stamp bigint,
  -- The day on which the stamp was drawn.
  stamp_day date,
  -- No body of an earlier day will need a position any more.
  since date not null default '-infinity'
);
insert into sequencer_progress default values;

-- Committed events that have no position yet.
create view outbox as
select id, app_no, type, key, payload, at, day from event_bodies
where id > (select taken from sequencer_progress)
  and day >= (select since - 1 from sequencer_progress)
union all
select b.id, b.app_no, b.type, b.key, b.payload, b.at, b.day
from sequencer_progress p cross join unnest(p.gaps + p.watched) gap
cross join lateral (
  select id, app_no, type, key, payload, at, day from event_bodies
  where id >= lower(gap) and id < upper(gap) and day >= p.since - 1
) b;

-- The last position of each app, or the end of its last break.
create table positions (
  app_no int primary key,
  position bigint not null
) with (fillfactor = 50);

-- Breaks: this database lost events that had positions, so those are never assigned again. No event has a
-- position after `last` and up to `next`. docs/decisions/0031-breaks-in-the-log.md explains when and why.
create table log_breaks (
  app_no int not null,
  last bigint not null,
  next bigint not null,
  at timestamptz not null default clock_timestamp(),
  primary key (app_no, last)
);

-- The server that this database was on when a sequencer last checked it: one row. Null: never checked.
create table log_origin (
  system_id text,
  timeline int,
  -- Bytes of WAL.
  wal_position bigint,
  -- The number of the last break.
  break_no bigint not null default 0
);
insert into log_origin default values;

-- Credentials and settings that every process must drop from its caches within a second. Processes read
-- the last half minute of this log twice a second; the hourly upkeep deletes older rows.
create table revocations (
  at timestamptz not null default clock_timestamp(),
  app_no int not null,
  kind text not null,
  id text not null
);
create index revocations_at on revocations (at);

-- Answers to writes with an Idempotency-Key, kept for 24 hours. A write inserts its row first and
-- completes it last, in its own transaction: a retry waits for the row, then gets the answer.
create table idempotency (
  app_no int not null,
  -- Who asked: the hash of the credential, and the user it acted for ('' for the app itself).
  credential bytea not null,
  uid text not null,
  key text not null,
  request_hash bytea not null,
  answer_sealed bytea,
  created_at timestamptz not null default now(),
  -- For a send: the message that the answer is built from.
  message_id bigint,
  primary key (app_no, credential, uid, key)
);
create index idempotency_created_at on idempotency (created_at);

-- Users, their roles and tokens, friends and blocks.

create table roles (
  app_no int not null references apps,
  role text collate "C" not null,
  name text not null,
  description text,
  metadata jsonb,
  settings jsonb,
  -- Explicit values of permissions by name, each as {value, createdAt, updatedAt} (core/access/definitions.ts).
  permissions jsonb,
  -- Features that its users can't use, each with the second since when.
  restrictions jsonb,
  -- Always exists, and doesn't count towards the app's roles.
  built_in boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz,
  -- Set: removed for everyone; its users count as `default` until a sweep has moved them.
  removed_at timestamptz,
  primary key (app_no, role)
);
-- What sends must know of an app's roles (special_roles).
create index roles_special on roles (app_no, role)
where removed_at is not null or settings ->> 'sendMessagesTo' = 'friendsOnly';

-- Rules of moderation, a row for each revision. Rules that come with the service have rows once they were changed.
create table moderation_rules (
  app_no int not null references apps,
  rule_id text collate "C" not null,
  revision int not null,
  -- Whether it is the last revision.
  active boolean not null,
  name text not null,
  description text,
  enabled boolean not null,
  action text[] not null,
  -- As core/moderation/filters.ts and rules.ts define them.
  filters jsonb not null,
  conditions jsonb not null,
  -- Of the rule, and of the revision.
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (app_no, rule_id, revision)
);
create unique index moderation_rules_active on moderation_rules (app_no, rule_id) where active;

-- Words and patterns that rules refer to.
create table keyword_lists (
  app_no int not null references apps,
  list_id text collate "C" not null,
  revision int not null default 1,
  name text not null,
  description text,
  category text not null check (category in ('word', 'pattern', 'sentence-similarity')),
  -- Whether the entries came from a CSV file.
  from_file boolean not null,
  entries text[] not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (app_no, list_id)
);

-- Services with models that an app uses.
create table model_providers (
  app_no int not null references apps,
  provider_id text collate "C" not null,
  name text not null,
  -- Whose interface it has: openai or anthropic.
  kind text collate "C" not null default 'openai',
  url text not null,
  key_sealed bytea,
  -- For a million tokens.
  input_price float8,
  output_price float8,
  -- Which provider agents ask when this one can't answer, and for which model. Null: for the same one.
  fallback_id text collate "C",
  fallback_model text,
  -- The model that embeds the app's knowledge. Of several providers with one, the first by its id counts.
  embedding_model text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (app_no, provider_id)
);

-- AI agents. Each is also a user with the role @agentic, who stays when the agent is deleted.
create table agents (
  app_no int not null references apps,
  uid text collate "C" not null,
  -- built: this service runs it. external: it runs elsewhere.
  kind text collate "C" not null,
  name text not null,
  active boolean not null,
  definition jsonb not null,
  -- Headers of the calls to an external agent.
  headers_sealed bytea,
  -- The last one in agent_revisions.
  revision int not null default 0,
  last_message_at timestamptz,
  -- Whole milliseconds, different for all agents of the app: lists continue after them.
  created_at timestamptz not null,
  updated_at timestamptz not null,
  deleted_at timestamptz,
  primary key (app_no, uid)
);
create index agents_created on agents (app_no, kind, created_at);

-- What an agent was like after each change. Rows never change; the oldest ones of an agent with many are removed.
create table agent_revisions (
  app_no int not null references apps,
  agent_uid text collate "C" not null,
  -- 1, 2, 3 … of the agent.
  no int not null,
  -- The agent's name and definition, without anything sealed.
  content jsonb not null,
  -- Names of the fields that differ from the revision before.
  changed text[] not null,
  -- Who made it: an operator's email address, or the name of an API key.
  operator text,
  api_key text,
  -- The revision whose content it has again.
  restores int,
  created_at timestamptz not null default now(),
  primary key (app_no, agent_uid, no)
);

-- What agents are made of: API tools, frontend actions, MCP servers, tools of external agents and variables.
create table agent_blocks (
  app_no int not null references apps,
  kind text collate "C" not null,
  -- Unique within its kind.
  slug text collate "C" not null,
  definition jsonb not null,
  -- Headers and passwords.
  secret_sealed bytea,
  -- Of an MCP server: its tools when a run last listed them, as JSON. A text, because servers send what jsonb refuses.
  listed text,
  -- A digest of them, and when they were stored. Runs compare the digest, and store what differs at most once a minute.
  listed_digest text,
  listed_at timestamptz,
  -- As in agents.
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (app_no, kind, slug)
);

-- How far the log was read for messages to agents. Apps without agents have no row.
create table agent_progress (
  app_no int primary key references apps,
  position bigint not null
) with (fillfactor = 50);

-- Answers of agents, finished or not. A message has at most one for each agent. Kept for 30 days.
create table agent_runs (
  app_no int not null references apps,
  run_id uuid not null default gen_random_uuid(),
  agent_uid text collate "C" not null,
  -- The user who asked, and the message with the question.
  uid text collate "C" not null,
  conversation bigint not null,
  -- The group where the agent was mentioned. Null: a 1:1 conversation.
  guid text collate "C",
  message_id bigint not null,
  -- The first message of the thread.
  thread_id bigint not null,
  -- Null once the job can't run any more.
  job_id bigint,
  -- What the agent was like when the run was last started. Null: it wasn't.
  revision int,
  -- queued, running, waiting, finished, failed or cancelled.
  state text collate "C" not null default 'queued',
  -- Why it ended, and more about it that only the app sees.
  reason text collate "C",
  error text,
  -- The message with the answer.
  answer_id bigint,
  -- Since when it has been waiting, and for how long it waited before. This isn't part of the time that it may take.
  waiting_since timestamptz,
  waited_ms float8 not null default 0,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  primary key (app_no, run_id),
  unique (app_no, message_id, agent_uid)
);
create index agent_runs_created on agent_runs (app_no, created_at, run_id);
create index agent_runs_agent on agent_runs (app_no, agent_uid, created_at, run_id);
create index agent_runs_user on agent_runs (app_no, uid, created_at, run_id);
create index agent_runs_open on agent_runs (created_at) where ended_at is null;
-- How many questions of a user wait for an answer.
create index agent_runs_open_user on agent_runs (app_no, uid) where ended_at is null;
create index agent_runs_ended on agent_runs (ended_at) where ended_at is not null;

-- What a run did, or a replay of one. A step that was cut off or failed is repeated with the next attempt.
create table agent_steps (
  app_no int not null,
  -- The id of the run or of the replay.
  run_id uuid not null,
  no int not null,
  attempt int not null,
  -- model_call, agent_call (an external agent) or tool_call.
  kind text collate "C" not null,
  -- running, done, failed or cut; waiting or approved before it runs, skipped if it never did.
  state text collate "C" not null default 'running',
  provider_id text collate "C",
  model text,
  -- The answer so far. Null once the message has it.
  text text,
  -- What the model wants: {text, calls: [{id, name, arguments}]}. Null if it wants nothing more.
  calls jsonb,
  -- A call of a tool: its name, the name that people see, the id of the call, the arguments as JSON text, and
  -- what came of it. A call without a result is under way, was cut off, or nobody knows.
  tool text,
  display_name text,
  call_id text,
  arguments text,
  result text,
  -- approval or device: what a person has to do. When they approved it.
  waits_for text collate "C",
  approved_at timestamptz,
  input_tokens int,
  output_tokens int,
  -- What a call of a model may cost at most, and what it cost. Money is null without prices.
  reserved_tokens bigint,
  reserved_money float8,
  charged_tokens bigint,
  charged_money float8,
  error text,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (app_no, run_id, no, attempt)
);

-- Runs that were played again. A replay goes with its run, and has steps as runs do.
create table agent_replays (
  app_no int not null references apps,
  replay_id uuid not null default gen_random_uuid(),
  run_id uuid not null,
  -- recorded: nothing is called. live: the model is.
  mode text collate "C" not null,
  -- What the agent is like in a live replay: a revision, and fields that differ from it.
  revision int,
  changes jsonb,
  -- Null once the job can't run any more.
  job_id bigint,
  -- queued, running, finished, stopped (where the record ends) or failed.
  state text collate "C" not null default 'queued',
  -- Why it ended, and more about it.
  reason text collate "C",
  error text,
  -- What the model answered. Null in a recorded replay: the message has it.
  answer text,
  -- What the rules of moderation say about the answer: {status, ruleId, ruleName}.
  verdict jsonb,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  primary key (app_no, replay_id)
);
create index agent_replays_run on agent_replays (app_no, run_id, created_at, replay_id);
create index agent_replays_open on agent_replays (created_at) where ended_at is null;

-- What users think of answers: those who asked, and members of groups. A rating goes with its run.
create table agent_ratings (
  app_no int not null references apps,
  rating_id uuid not null default gen_random_uuid(),
  run_id uuid not null,
  -- The user who rates.
  uid text collate "C" not null,
  agent_uid text collate "C" not null,
  -- What the agent was like when it answered.
  revision int,
  up boolean not null,
  comment text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (app_no, run_id, uid),
  unique (app_no, rating_id),
  -- A rating that is stored while its run is removed doesn't outlive it.
  foreign key (app_no, run_id) references agent_runs on delete cascade
);
create index agent_ratings_created on agent_ratings (app_no, created_at, rating_id);
create index agent_ratings_agent on agent_ratings (app_no, agent_uid, created_at, rating_id);
create index agent_ratings_user on agent_ratings (app_no, uid, created_at, rating_id);

-- Conversations with agents in which a person answers, or answered. Kept for 30 days after they were handed back.
create table agent_handovers (
  app_no int not null references apps,
  handover_id uuid not null default gen_random_uuid(),
  agent_uid text collate "C" not null,
  -- The user who talks to the agent.
  uid text collate "C" not null,
  -- Their 1:1 conversation, when it was handed over.
  conversation bigint not null,
  -- Who handed it over (agent, user, operator or app), and why.
  opened_by text collate "C" not null,
  reason text,
  -- The email address of the operator who took it, or 'app'. Null: nobody has.
  taken_by text,
  -- The last message when it was handed back. The agent answers neither this one nor those before it.
  upto_id bigint,
  opened_at timestamptz not null default clock_timestamp(),
  taken_at timestamptz,
  -- When a person first answered.
  answered_at timestamptz,
  -- When it is handed back unless a person has answered. Null: never, or a person has.
  hand_back_at timestamptz,
  -- Null: the agent is silent.
  closed_at timestamptz,
  -- Who handed it back: user, operator, app, or timeout.
  closed_by text collate "C",
  primary key (app_no, handover_id)
);
-- A conversation is handed over once at a time.
create unique index agent_handovers_open on agent_handovers (app_no, agent_uid, uid) where closed_at is null;
create index agent_handovers_opened on agent_handovers (app_no, opened_at, handover_id);
-- The inbox: those that aren't over, whoever has waited longest first.
create index agent_handovers_waiting on agent_handovers (app_no, opened_at, handover_id) where closed_at is null;
-- For each message to an agent: whether it was meant for a person.
create index agent_handovers_upto on agent_handovers (app_no, agent_uid, uid, upto_id, closed_at);
create index agent_handovers_agent on agent_handovers (app_no, agent_uid, opened_at, handover_id);
create index agent_handovers_user on agent_handovers (app_no, uid, opened_at, handover_id);
create index agent_handovers_overdue on agent_handovers (hand_back_at) where closed_at is null and hand_back_at is not null;
create index agent_handovers_closed on agent_handovers (closed_at) where closed_at is not null;

-- What the agents of an app may spend. Null: without a limit.
create table agent_budgets (
  app_no int primary key references apps,
  run_tokens bigint,
  run_money float8,
  user_day_tokens bigint,
  user_day_money float8,
  app_month_tokens bigint,
  app_month_money float8,
  -- Calls of external agents.
  user_day_calls bigint,
  app_month_calls bigint
);

-- What was spent, with what is reserved: by the app (uid '') in a month, and for each user on a day.
create table agent_spending (
  app_no int not null references apps,
  uid text collate "C" not null,
  period date not null,
  tokens bigint not null,
  money float8 not null,
  -- Of external agents.
  calls bigint not null default 0,
  -- How much of it was for live replays.
  replay_tokens bigint not null default 0,
  replay_money float8 not null default 0,
  primary key (app_no, uid, period)
) with (fillfactor = 50);
create index agent_spending_period on agent_spending (period);

-- Calls of models that embed, for 62 days: what was reserved, and what it cost. Null: it is under way, or nobody knows
-- what came of it. Then it cost all that was reserved.
create table embedding_calls (
  app_no int not null references apps,
  call_id uuid not null default gen_random_uuid(),
  model text collate "C" not null,
  reserved_tokens bigint not null,
  charged_tokens bigint,
  started_at timestamptz not null,
  primary key (app_no, call_id)
);
create index embedding_calls_age on embedding_calls (started_at);

-- What agents know: texts and uploaded files.
create table knowledge_sources (
  app_no int not null references apps,
  source_id uuid not null default gen_random_uuid(),
  -- text, uploads or websites.
  kind text collate "C" not null,
  title text not null,
  -- Of a text: what was given.
  body text,
  -- Of an upload. The file is deleted once its chunks are stored.
  file_id text collate "C",
  file_name text,
  mime_type text collate "C",
  -- Of a website: where the crawl begins, how many links away from there it looks, and how many pages it keeps.
  url text,
  depth int,
  most_pages int,
  -- Of a website: whether pages are indexed when they are visited. Otherwise they wait until somebody has chosen.
  indexes boolean not null default true,
  pages int not null default 0,
  -- Of a website: links were left out for lack of room, or pages were forgotten. Pages that haven't changed may lead to them.
  links_lost boolean not null default false,
  -- uploading, indexing, indexed or failed.
  state text collate "C" not null default 'indexing',
  -- Why it failed.
  reason text collate "C",
  -- Grows with every change, so that a job that has read an older one knows it.
  revision int not null default 1,
  chunks int not null default 0,
  -- As in agents.
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (app_no, source_id)
);
create index knowledge_sources_created on knowledge_sources (app_no, kind, created_at);

-- Pages of websites that crawls have found.
create table knowledge_pages (
  app_no int not null,
  source_id uuid not null,
  -- Made from its source and its URL.
  page_id uuid not null,
  -- Its place in the source.
  no int not null,
  url text not null,
  -- How many links away from the first page.
  depth int not null,
  title text not null default '',
  description text not null default '',
  -- discovered, processing, processed, failed or skipped.
  state text collate "C" not null,
  -- Why it failed or was skipped.
  reason text collate "C",
  -- When the crawl visits it. Null: not in this crawl.
  due_at timestamptz,
  -- Visits of this crawl that have failed.
  tries int not null default 0,
  -- What the site said about the version that was read.
  etag text,
  last_modified text,
  -- Of its title and text.
  digest bytea,
  chunks int not null default 0,
  crawled_at timestamptz,
  -- Differs within a source, because lists continue after it.
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (app_no, source_id, page_id)
);

-- The pieces of sources that searches find.
create table knowledge_chunks (
  app_no int not null,
  -- Made from its source or page and its text, so it stays when they are indexed again.
  chunk_id uuid not null,
  source_id uuid not null,
  -- Of a website.
  page_id uuid,
  no int not null,
  -- The headings above it.
  heading text not null,
  text text not null,
  -- The words of the title and the headings (A) and of the text (D).
  words tsvector not null,
  primary key (app_no, chunk_id)
);
create index knowledge_chunks_source on knowledge_chunks (app_no, source_id, no);
create index knowledge_chunks_page on knowledge_chunks (app_no, source_id, page_id) where page_id is not null;
create index knowledge_chunks_words on knowledge_chunks using gin (app_no, words)
with (gin_pending_list_limit = 1024);

-- What chunks mean, by a model of the app's provider.
create table knowledge_vectors (
  app_no int not null,
  chunk_id uuid not null,
  -- Id of the provider, name of the model, and a hash of the server's URL.
  model text not null,
  dimensions int not null,
  -- Numbers of 16 bits, of length 1 together.
  vector bytea not null,
  primary key (app_no, chunk_id),
  foreign key (app_no, chunk_id) references knowledge_chunks on delete cascade
);
-- They don't get smaller.
alter table knowledge_vectors alter column vector set storage external;

-- Which agent knows which source.
create table agent_sources (
  app_no int not null references apps,
  agent_uid text collate "C" not null,
  source_id uuid not null,
  primary key (app_no, agent_uid, source_id)
);
create index agent_sources_source on agent_sources (app_no, source_id);

-- How an app checks messages outside this service, and what happens if that fails. No row: the defaults.
create table check_settings (
  app_no int primary key references apps,
  -- The app's own interface.
  url text,
  use_basic_auth boolean not null,
  username text,
  password_sealed bytea,
  secret_sealed bytea,
  -- The previous secret, which also signs until this time.
  old_secret_sealed bytea,
  old_secret_until timestamptz,
  timeout_ms int not null,
  -- How many earlier messages of the conversation a check gets.
  context_messages int not null,
  -- What becomes of a message whose checks fail.
  on_failure text not null check (on_failure in ('approved', 'disapproved')),
  -- When checks have failed at the latest, from the time when the message was sent.
  deadline_seconds int not null,
  -- The models of checks, by use: {classifier: {providerId, model}, …}.
  models jsonb not null,
  updated_at timestamptz not null default now()
);

-- Why users flag messages.
create table flag_reasons (
  app_no int not null references apps,
  reason_id text collate "C" not null,
  name text not null,
  description text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (app_no, reason_id)
);

create table users (
  app_no int not null,
  uid text collate "C" not null,
  name text not null,
  name_key text collate "C" not null generated always as (fold_name(name)) stored,
  avatar text,
  -- The file that `avatar` shows, if it is one of ours.
  avatar_file text collate "C",
  link text,
  role text collate "C" not null,
  status_message text,
  metadata jsonb,
  tags text[] not null default '{}',
  last_active_at timestamptz,
  created_at timestamptz not null default now(),
  -- When the row was added. An imported user's created_at is older; events from in between can be for a deleted user who
  -- had the same uid.
  added_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz,
  deactivated_at timestamptz,
  -- Set: removed for everyone; the uid stays taken until a sweep has deleted all rows of the user.
  removed_at timestamptz,
  -- Whether a device of theirs is connected (presence). It is in the user's row because every record of
  -- a user shows it. No index includes it, so a change updates none.
  online boolean not null default false,
  bot boolean not null default false,
  -- The record as JSON text, as everyone sees it: without role, presence and the closing brace. A trigger
  -- keeps it (records.sql).
  card text not null,
  primary key (app_no, uid)
) with (fillfactor = 90);
-- The order of lists. One index per state, so that a list never scans rows of the other state.
create index users_active on users (app_no, name_key, uid)
where deactivated_at is null and removed_at is null;
create index users_deactivated on users (app_no, name_key, uid)
where deactivated_at is not null and removed_at is null;
create index users_removed on users (app_no, uid) where removed_at is not null;
-- Filters of lists, for values that few users have.
create index users_role on users (app_no, role, uid) where removed_at is null;
create index users_created_at on users (app_no, created_at);
create index users_updated_at on users (app_no, updated_at) where updated_at is not null;
-- Search in all but the first character: by trigrams, and by single characters for search keys of one
-- or two, which have no trigrams. Names that begin with the search key are adjacent in the order of
-- lists, so they need no search.
create index users_search on users
using gin (app_no, (substr(name_key, 2)) gin_trgm_ops, (string_to_array(substr(name_key, 2), null)))
with (gin_pending_list_limit = 1024);
create index users_tags on users using gin (app_no, tags) where tags <> '{}';
create index users_bots on users (app_no, uid) where bot;

create table auth_tokens (
  app_no int not null,
  -- A keyed hash for lookups; the encrypted value for display.
  token_hash bytea not null,
  token_sealed bytea not null,
  uid text collate "C" not null,
  platform text,
  user_agent text,
  app_info jsonb,
  -- The directory's audit entry of the operator's request that created it, if it was one.
  audit_id bigint,
  created_at timestamptz not null default clock_timestamp(),
  primary key (app_no, token_hash)
);
create index auth_tokens_user on auth_tokens (app_no, uid, created_at);

-- A friendship is two rows, one per direction, written together.
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

-- Totals of an app, spread over several rows so that writers rarely meet. The total is their sum.
create table totals (
  app_no int not null,
  what text not null,
  shard int not null,
  total bigint not null,
  primary key (app_no, what, shard)
) with (fillfactor = 50);

-- Groups and their members, conversations, messages and marks. docs/decisions/0010-conversations.md
-- explains why a send updates 1:1 views, while group views are computed when they are read.

create sequence conversation_nos;

create table groups (
  app_no int not null,
  guid text collate "C" not null,
  name text not null,
  name_key text collate "C" not null generated always as (fold_name(name)) stored,
  type text not null check (type in ('public', 'private', 'password')),
  -- argon2id; only groups with a password have one.
  password_hash text,
  icon text,
  -- The file that `icon` shows, if it is one of ours.
  icon_file text collate "C",
  description text,
  -- A member with the scope `admin`, or app_system, which isn't a member.
  owner text collate "C" not null,
  -- Explicit values of the permissions of scopes: by scope, then as in roles.
  permissions jsonb,
  metadata jsonb,
  tags text[] not null default '{}',
  members_count int not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz,
  updated_by text,
  -- The sort keys of lists: the seconds that records show.
  created_second bigint not null generated always as (unix(created_at)) stored,
  changed_second bigint not null generated always as (unix(coalesce(updated_at, created_at))) stored,
  -- Set: removed for everyone; the guid stays taken until a sweep has deleted all rows of the group.
  removed_at timestamptz,
  -- The record as JSON text, as everyone sees it: without the number of members and the closing brace. A
  -- trigger keeps it (records.sql).
  card text not null,
  primary key (app_no, guid)
) with (fillfactor = 80);
-- Groups with permissions of scopes.
create index groups_ruled on groups (app_no) where permissions is not null;
create index groups_removed on groups (app_no, guid) where removed_at is not null;
-- The orders of lists, by type first: users who may not see private groups never scan them.
create index groups_changed on groups (app_no, type, changed_second, guid)
where removed_at is null;
create index groups_name on groups (app_no, type, name_key, guid) where removed_at is null;
create index groups_created on groups (app_no, type, created_second, guid)
where removed_at is null;
create index groups_guid on groups (app_no, type, guid) where removed_at is null;
-- Filters of lists, for values that few groups have.
create index groups_updated on groups (app_no, changed_second)
where removed_at is null and updated_at is not null;
-- Because of this index, every member who joins or leaves updates all indexes of the group.
create index groups_size on groups (app_no, members_count) where removed_at is null;
create index groups_search on groups
using gin (app_no, name_key gin_trgm_ops, (string_to_array(name_key, null)))
with (gin_pending_list_limit = 1024);
create index groups_tags on groups using gin (app_no, tags) where tags <> '{}';

create table bans (
  app_no int not null,
  guid text collate "C" not null,
  uid text collate "C" not null,
  -- The user's scope before the ban; null if the user wasn't a member.
  scope text,
  joined_at timestamptz,
  banned_at timestamptz not null default clock_timestamp(),
  -- A ban by a sanction that ends. Until its row is removed, it counts for nothing.
  until timestamptz,
  primary key (app_no, guid, uid)
);
create index bans_list on bans (app_no, guid, banned_at, uid);
create index bans_user on bans (app_no, uid);

-- Mutes and bans of users by moderators, in the whole app or in a group. A ban from a group has a row in bans too.
create table sanctions (
  app_no int not null,
  -- Contains the time, as ids of messages do.
  id bigint not null,
  uid text collate "C" not null,
  kind text not null check (kind in ('mute', 'ban')),
  -- '' for the whole app.
  guid text collate "C" not null default '',
  -- Null: until somebody lifts it. It ends at this time, even if its row is still there.
  until timestamptz,
  reason text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (app_no, id)
);
-- Also for the sanctions of a user.
create unique index sanctions_once on sanctions (app_no, uid, kind, guid);
create index sanctions_group on sanctions (app_no, guid) where guid <> '';

-- The head of a conversation: the state that all participants share.
create table conversations (
  app_no int not null,
  no bigint not null default nextval('conversation_nos'),
  -- 'user' or 'group'. The tables that sends and marks write have no CHECKs: PostgreSQL parses these again
  -- at every execution. The functions write nothing else, and `loquat verify` checks it.
  kind text collate "C" not null,
  -- 1:1: the uid that sorts first, and the other one. Group: its guid, and ''.
  one text collate "C" not null,
  other text collate "C" not null,
  -- The newest message, even if it was deleted since; 0 if there never was one.
  last_id bigint not null default 0,
  -- The newest message that updates views. Its second is `updatedAt`, which never goes back.
  shown_id bigint not null default 0,
  -- The sender and content of that message, and its muid, if it is a short text that nobody touched since:
  -- lists show it without reading it.
  shown_sender text collate "C",
  shown_data text,
  shown_muid text,
  -- 1:1 only: when its receiver first reported receiving and reading it.
  delivered_at timestamptz,
  read_at timestamptz,
  created_second bigint,
  updated_second bigint not null default 0,
  -- What updated_second was before its last change: a send finds the rows in direct_views by it.
  updated_before bigint not null default 0,
  -- How many messages there ever were, and how many of them have no row: removed and held ones.
  stored bigint not null default 0,
  removed bigint not null default 0,
  -- How many messages ever counted as unread.
  counted bigint not null default 0,
  -- The number of members, or of users of a 1:1 conversation, who cleared their view and got no message
  -- since.
  hidden int not null default 0,
  -- Messages up to this id are purged for everyone; sweeps delete them while `purging` is set.
  purged_id bigint not null default 0,
  -- How many of them counted as unread. Nobody's mark counts for less.
  purged_counted bigint not null default 0,
  purging boolean not null default false,
  -- 1:1 only: whether `one` blocks `other`, and the reverse. Copied from blocks under the head's lock.
  blocked_one boolean not null default false,
  blocked_other boolean not null default false,
  primary key (app_no, no),
  unique (app_no, kind, one, other)
) with (fillfactor = 50);

create table messages (
  app_no int not null,
  -- When it was sent (id_time), and its place in the conversation.
  id bigint not null,
  conversation bigint not null,
  sender text collate "C" not null,
  category text not null,
  type text not null,
  data jsonb not null,
  tags text[] not null default '{}',
  muid text,
  -- The message that this one replies to, and the one that it quotes.
  parent_id bigint,
  quoted_id bigint,
  -- Decided when it is sent: whether it counts as unread, and whether it updates views.
  counts boolean not null,
  shows boolean not null,
  -- How many counting messages there are up to this one, including it.
  counted bigint not null,
  -- Set when it changes.
  updated_at timestamptz,
  edited_at timestamptz,
  edited_by text,
  deleted_at timestamptz,
  deleted_by text,
  -- Pins are visible to all participants.
  pinned_at timestamptz,
  pinned_by text,
  -- Whether anybody ever reacted to it or saved it. If not, reads skip those tables.
  reacted boolean not null default false,
  saved boolean not null default false,
  -- Imported into a group: as a reply it isn't unread, and neither are its mentions.
  silent boolean not null default false,
  primary key (app_no, id)
);
create index messages_conversation on messages (app_no, conversation, id);
create index messages_sender on messages (app_no, conversation, sender, id);
-- All messages of a sender.
create index messages_from on messages (app_no, sender, id);
create index messages_replies on messages (app_no, parent_id, id) where parent_id is not null;
create index messages_pinned on messages (app_no, conversation, id) where pinned_at is not null;
-- For lists of messages with reactions. The flag stays when all reactions are removed.
create index messages_reacted on messages (app_no, conversation, id) where reacted;
-- Properties that few messages have, in the order of lists. Plain text messages have none of them.
create index messages_attached on messages (app_no, id) where data ? 'attachments';
create index messages_linked on messages (app_no, id) where has_link(data);
create index messages_mentioning on messages (app_no, id) where data ? 'mentions';
create index messages_reacting on messages (app_no, id) where reacted;
create index messages_tagged on messages (app_no, id) where tags <> '{}';
create index messages_changed on messages (app_no, id) where updated_at is not null;
create index messages_category on messages (app_no, category, id) where category <> 'message';
create index messages_type on messages (app_no, type, id) where type <> 'text';

-- Deleted messages whose reactions and saves are still to be swept.
create table gone_messages (
  app_no int not null,
  id bigint not null,
  primary key (app_no, id)
);

-- Messages that moderation holds back. They have their id and place in the conversation, but no row in messages, so
-- that no statement shows one by mistake: nobody but its sender and moderators sees it until it is released.
-- docs/decisions/0039-held-messages.md explains why.
create table held_messages (
  app_no int not null,
  id bigint not null,
  conversation bigint not null,
  sender text collate "C" not null,
  category text not null,
  type text not null,
  data jsonb not null,
  tags text[] not null,
  muid text,
  parent_id bigint,
  quoted_id bigint,
  -- As messages have them, once it is released.
  counts boolean not null,
  shows boolean not null,
  counted bigint not null,
  -- 'pending': checks are under way. 'disapproved': it stays held unless a moderator approves it.
  status text not null check (status in ('pending', 'disapproved')),
  -- The conditions that have to be checked while it is pending: [{ruleId, revision, condition}].
  checks jsonb,
  -- The rule that disapproved it: {id, name}.
  rule jsonb,
  -- Whether everyone saw it before it was disapproved. Then messages has a row too, as of a deleted message.
  delivered boolean not null default false,
  held_at timestamptz not null default clock_timestamp(),
  primary key (app_no, id)
);
create index held_messages_conversation on held_messages (app_no, conversation, id);
create index held_messages_sender on held_messages (app_no, sender, id);
-- For those that no check decides about in time.
create index held_messages_pending on held_messages (held_at) where status = 'pending';

-- Edits that wait for checks, at most one per message: the last one counts. The message stays as it is meanwhile. A row whose
-- message was edited or deleted since is dropped when its checks are over.
create table held_edits (
  app_no int not null,
  id bigint not null,
  -- Grows with each edit of the message that has to wait.
  edit_no bigint not null,
  edited_by text collate "C" not null,
  data jsonb not null,
  tags text[] not null,
  -- The uids that it mentions now. Null: they don't change.
  mentions text[],
  -- The files that it refers to. Null: they don't change.
  files text[],
  -- When the message was edited before this edit.
  edited_before timestamptz,
  checks jsonb not null,
  held_at timestamptz not null default clock_timestamp(),
  primary key (app_no, id)
);
create index held_edits_pending on held_edits (held_at);

-- Messages that were disapproved, until a moderator reviews them and after that. The message itself is in
-- held_messages, or in messages once it is released.
create table reviews (
  app_no int not null,
  message_id bigint not null,
  -- That of the message, which never changes: lists of one sender don't read messages.
  sender text collate "C" not null,
  -- Null if no rule disapproved it.
  rule_id text,
  rule_name text,
  revision_id text,
  -- The condition of the rule that applied, and what it found, for moderators.
  condition int,
  found text,
  actions text[] not null default '{}',
  -- Why it was disapproved if no rule did it.
  reason text,
  blocked_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  reviewed_at timestamptz,
  decision text check (decision in ('approved', 'rejected')),
  -- Who decided in the queue, and what that moderator tells others.
  reviewed_by text,
  note text,
  primary key (app_no, message_id)
);
-- Each review is in one index of each pair.
create index reviews_open on reviews (app_no, message_id) where reviewed_at is null;
create index reviews_done on reviews (app_no, message_id) where reviewed_at is not null;
create index reviews_sender_open on reviews (app_no, sender, message_id) where reviewed_at is null;
create index reviews_sender_done on reviews (app_no, sender, message_id) where reviewed_at is not null;
create index reviews_rule_open on reviews (app_no, rule_id, message_id) where reviewed_at is null and rule_id is not null;
create index reviews_rule_done on reviews (app_no, rule_id, message_id) where reviewed_at is not null and rule_id is not null;

-- Which users flagged a message, until a moderator decides about it.
create table flags (
  app_no int not null,
  message_id bigint not null,
  uid text collate "C" not null,
  reason_id text not null,
  remark text,
  flagged_at timestamptz not null default clock_timestamp(),
  primary key (app_no, message_id, uid)
);
create index flags_user on flags (app_no, uid);

-- Previews of rules: what a rule would have blocked. Deleted after a week.
create table rule_previews (
  app_no int not null,
  -- That of its job.
  id bigint not null,
  -- {id, filters, conditions}. The id is null if it stands for no saved rule.
  rule jsonb not null,
  -- The messages between these ids, and at most so many.
  after_id bigint not null,
  before_id bigint not null,
  from_second int,
  to_second int not null,
  most int not null,
  checked int not null default 0,
  blocked int not null default 0,
  newly_blocked int not null default 0,
  no_longer_blocked int not null default 0,
  too_slow int not null default 0,
  -- In thousandths.
  progress int not null default 0,
  -- Whether it reached the end of the time.
  complete boolean not null default false,
  -- Ids of messages, and what was found there.
  samples jsonb not null default '[]',
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (app_no, id)
);

-- Imports of files by jobs. Deleted after 30 days.
create table imports (
  app_no int not null,
  id bigint not null,
  -- open: parts can be added. started: its job says more. checked: a dry run is over, and parts can be added again.
  state text collate "C" not null default 'open'
    check (state in ('open', 'started', 'paused', 'checked', 'done', 'cancelled')),
  dry_run boolean not null default false,
  -- Whether sums by conversation are kept.
  by_conversation boolean not null,
  parts int not null default 0,
  -- Of its parts, as they are stored.
  bytes bigint not null default 0,
  -- The job that works on it, or did last.
  job_id bigint,
  -- Where to go on: {part, line, piece}.
  place jsonb,
  -- What became of the lines, by kind.
  counts jsonb not null default '{}',
  problems bigint not null default 0,
  -- Erasures that began since it was created. Lines about their users are refused.
  erasures bigint[] not null default '{}',
  created_at timestamptz not null default now(),
  started_at timestamptz,
  ended_at timestamptz,
  primary key (app_no, id)
);
create index imports_created on imports (created_at);

-- What was uploaded for an import: whole lines, perhaps compressed. Deleted at its end.
create table import_parts (
  app_no int not null,
  import_id bigint not null,
  part int not null,
  content bytea not null,
  primary key (app_no, import_id, part)
);
-- Most of it is compressed already.
alter table import_parts alter column content set storage external;

-- Lines that an import refused.
create table import_problems (
  app_no int not null,
  import_id bigint not null,
  part int not null,
  line int not null,
  code text not null,
  message text not null,
  primary key (app_no, import_id, part, line)
);

-- How many items an import brought, and how many it found, with the sums of their lines' checksums.
create table import_sums (
  app_no int not null,
  import_id bigint not null,
  -- A kind; or, for the messages of a conversation, `conversation`.
  kind text collate "C" not null,
  conversation text collate "C" not null,
  imported bigint not null,
  checksum bigint not null,
  there bigint not null,
  there_checksum bigint not null,
  primary key (app_no, import_id, kind, conversation)
);

-- Exports by jobs. Deleted after a week.
create table exports (
  app_no int not null,
  -- That of its job.
  id bigint not null,
  -- What is exported: a user, a conversation, or, without them, the app; messages of a time.
  uid text collate "C",
  conversation bigint,
  from_second bigint,
  to_second bigint not null,
  -- Whether its parts are objects of the file store.
  in_store boolean not null default false,
  parts int not null default 0,
  bytes bigint not null default 0,
  -- The last item that was read: {step, key}.
  place jsonb,
  -- Counts and checksums by kind.
  sums jsonb not null default '{}',
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (app_no, id)
);
create index exports_created on exports (created_at);

-- Whole lines, compressed: the content, or the key of an object in the file store.
create table export_parts (
  app_no int not null,
  export_id bigint not null,
  part int not null,
  content bytea,
  object text,
  primary key (app_no, export_id, part),
  check (num_nonnulls(content, object) = 1)
);
alter table export_parts alter column content set storage external;

-- Messages that live elsewhere and were only checked. They belong to no conversation.
create table checked_messages (
  app_no int not null,
  id bigint not null,
  sender text collate "C" not null,
  -- Whether the receiver is a user or a group.
  kind text not null check (kind in ('user', 'group')),
  receiver text collate "C" not null,
  category text not null,
  type text not null,
  data jsonb not null,
  muid text collate "C",
  -- Null if no rule looked at it.
  status text check (status in ('pending', 'approved', 'disapproved')),
  -- The rule that disapproved it: {id, name}.
  rule jsonb,
  edited_at timestamptz,
  primary key (app_no, id)
);
create unique index checked_messages_muid on checked_messages (app_no, sender, muid) where muid is not null;
create index checked_messages_sender on checked_messages (app_no, sender, id);
create index checked_messages_receiver on checked_messages (app_no, receiver, id);
create index checked_messages_status on checked_messages (app_no, status, id);

-- Which users flagged a user or a group, until a moderator decides about it.
create table subject_flags (
  app_no int not null,
  kind text not null check (kind in ('user', 'group')),
  subject text collate "C" not null,
  uid text collate "C" not null,
  -- The same for all flags of a subject. It carries the time of the first, as ids of messages do.
  item_id bigint not null,
  reason_id text not null,
  remark text,
  flagged_at timestamptz not null default clock_timestamp(),
  primary key (app_no, kind, subject, uid)
);
create index subject_flags_item on subject_flags (app_no, item_id);
create index subject_flags_user on subject_flags (app_no, uid);

-- Which moderator looks at an item of the queue. One that has ended counts for nothing.
create table review_claims (
  app_no int not null,
  -- The id of the message, or of the flagged user or group.
  item_id bigint not null,
  moderator text not null,
  until timestamptz not null,
  primary key (app_no, item_id)
);

-- Messages that counted and are deleted or held: unread counts leave them out.
create table uncounted (
  app_no int not null,
  conversation bigint not null,
  id bigint not null,
  primary key (app_no, conversation, id)
);

-- The callers' own message ids: a second send with the same muid finds the first.
create table muids (
  app_no int not null,
  -- '': the id of an imported message, unique in the app, as `muid:…`; or the id that it had elsewhere, as `id:…`.
  sender text collate "C" not null,
  muid text collate "C" not null,
  -- A send to several receivers creates one message for each; '' for a send to one receiver.
  target text collate "C" not null,
  message_id bigint,
  primary key (app_no, sender, muid, target)
);
-- For the erasure of a receiver.
create index muids_target on muids (app_no, target) where target <> '';

-- The inbox row: one user's state in one conversation. In a group it is the membership too, and stays
-- when the user leaves (scope is null then).
create table inbox (
  app_no int not null,
  uid text collate "C" not null,
  kind text collate "C" not null,
  -- The counterpart: the other user, or the group.
  with_id text collate "C" not null,
  conversation bigint not null,
  -- The user has read up to this id, and this many counting messages.
  read_id bigint not null default 0,
  read_counted bigint not null default 0,
  -- The user's own counting messages after read_id that aren't deleted.
  own_since bigint not null default 0,
  -- The user has cleared all messages up to this id.
  cleared_id bigint not null default 0,
  tags text[] not null default '{}',
  pinned_at timestamptz,
  -- 1:1 only: whether there is a view, whether its user blocks the other one, and its first message's time.
  visible boolean not null default false,
  blocked boolean not null default false,
  created_second bigint,
  -- Groups only: 'admin', 'moderator' or 'participant'.
  scope text,
  joined_at timestamptz,
  primary key (app_no, uid, kind, with_id)
) with (fillfactor = 70);
create index inbox_memberships on inbox (app_no, uid, with_id)
where kind = 'group' and scope is not null;
-- Members in the order of lists, by scope first, so that a list of the few admins is cheap.
create index inbox_members on inbox (app_no, conversation, scope, joined_at, uid)
where scope is not null;
-- All inbox rows of a conversation, for removals.
create index inbox_conversation on inbox (app_no, conversation, uid);
create index inbox_pinned on inbox (app_no, uid) where pinned_at is not null;

-- The visible views of 1:1 conversations, in the order of lists. Each message moves two of these rows. They are
-- narrow and have a single index, and inbox rows, which have several, stay where they are.
create table direct_views (
  app_no int not null,
  uid text collate "C" not null,
  blocked boolean not null,
  -- That of the head.
  updated_second bigint not null,
  with_id text collate "C" not null
) with (fillfactor = 50);
create unique index direct_views_order on direct_views (app_no, uid, blocked, updated_second desc, with_id);

-- Conversations that the app pins for everyone: with a group, or everyone's with a user.
create table app_pins (
  app_no int not null,
  place int not null,
  kind text not null check (kind in ('user', 'group')),
  id text collate "C" not null,
  pinned_at timestamptz not null default now(),
  primary key (app_no, kind, id)
);

-- A user's number of 1:1 views: all, and those with users they don't block.
create table view_totals (
  app_no int not null,
  uid text collate "C" not null,
  visible int not null default 0,
  unblocked int not null default 0,
  primary key (app_no, uid)
) with (fillfactor = 50);

-- How far a user had received or read at which time: one row per step.
create table marks (
  app_no int not null,
  conversation bigint not null,
  uid text collate "C" not null,
  -- 'delivered' or 'read'.
  kind text collate "C" not null,
  upto_id bigint not null,
  at timestamptz not null default clock_timestamp(),
  primary key (app_no, conversation, uid, kind, upto_id)
);

-- How far old marks are thinned, in key order (null: all were checked), and when that pass began. One
-- row.
create table mark_thinning (
  place jsonb,
  began_at timestamptz not null default '-infinity'
);
insert into mark_thinning default values;

-- Which messages all members of a group have received or read. Only apps with a webhook for these
-- triggers have rows here. docs/decisions/0024-receipts-of-all.md explains how they are found.

-- How far a worker has read an app's log.
create table receipt_progress (
  app_no int not null,
  kind text collate "C" not null check (kind in ('delivered', 'read')),
  position bigint not null,
  -- Set: no webhook subscribes any more, and the rows below are being deleted.
  ended boolean not null default false,
  primary key (app_no, kind)
) with (fillfactor = 50);

-- Messages of a group up to `floor` are done: all members have them, or nobody will be told. So are
-- those of one sender, the member with the lowest mark, up to `ahead_id`.
create table receipt_floors (
  app_no int not null,
  kind text collate "C" not null check (kind in ('delivered', 'read')),
  conversation bigint not null,
  floor bigint not null,
  ahead_uid text collate "C",
  ahead_id bigint not null default 0,
  -- Large groups only: the members with the lowest marks. All others have reached `bound`.
  laggards text[],
  bound bigint,
  -- How many members were deleted since the worker last looked: a membership that ends with its user
  -- has no event.
  deleted int not null default 0,
  primary key (app_no, kind, conversation)
) with (fillfactor = 70);
create index receipt_floors_deleted on receipt_floors (app_no, kind) where deleted > 0;

-- Threads, mentions and interactions. All of it is written under the head's lock;
-- docs/decisions/0011-threads.md explains why.

-- A message that has replies.
create table threads (
  app_no int not null,
  parent_id bigint not null,
  conversation bigint not null,
  -- Without deleted replies.
  replies int not null,
  -- The newest reply, even if it was deleted since.
  last_id bigint not null,
  updated_second bigint not null,
  primary key (app_no, parent_id)
) with (fillfactor = 70);
create index threads_order on threads (app_no, updated_second, parent_id);
create index threads_conversation on threads (app_no, conversation, updated_second, parent_id);

-- The users of a thread: both users of a 1:1 conversation; in a group those who wrote the message or a
-- reply, or follow it.
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

-- One row per user that a message mentions. The user's mark decides how many are unread.
create table mentions (
  app_no int not null,
  uid text collate "C" not null,
  conversation bigint not null,
  message_id bigint not null,
  parent_id bigint,
  -- False if users mention themselves.
  counts boolean not null,
  primary key (app_no, uid, conversation, message_id)
);
-- All mentions of a user, and all users that a message mentions.
create index mentions_user on mentions (app_no, uid, message_id);
create unique index mentions_message on mentions (app_no, message_id, uid);

-- The elements of an interactive message that a user has used.
create table interactions (
  app_no int not null,
  message_id bigint not null,
  uid text collate "C" not null,
  element_id text collate "C" not null,
  at timestamptz not null default clock_timestamp(),
  primary key (app_no, message_id, uid, element_id)
);
create index interactions_user on interactions (app_no, uid);

-- Reactions and saves. docs/decisions/0012-reactions.md explains why reaction counts have rows of their
-- own.

create table reactions (
  app_no int not null,
  uid text collate "C" not null,
  message_id bigint not null,
  reaction text collate "C" not null,
  -- The tick of its insertion, and its place among the message's reactions.
  id bigint not null,
  reacted_at timestamptz not null default clock_timestamp(),
  primary key (app_no, uid, message_id, reaction)
);
create unique index reactions_message on reactions (app_no, message_id, id);
create index reactions_value on reactions (app_no, message_id, reaction, id);

-- The number of users per reaction. No row means none.
create table reaction_counts (
  app_no int not null,
  message_id bigint not null,
  reaction text collate "C" not null,
  count int not null,
  -- The first reaction with this value: reactions are shown in this order.
  first_id bigint not null,
  primary key (app_no, message_id, reaction)
) with (fillfactor = 50);

-- Each user has their own list.
create table saves (
  app_no int not null,
  uid text collate "C" not null,
  message_id bigint not null,
  saved_at timestamptz not null default clock_timestamp(),
  primary key (app_no, uid, message_id)
);
create index saves_message on saves (app_no, message_id);

-- Calls. docs/decisions/0053-calls.md explains their life.
create table calls (
  app_no int not null,
  -- Contains the time, as ids of messages do.
  id bigint not null,
  conversation bigint not null,
  kind text not null check (kind in ('user', 'group')),
  -- The called user or group.
  receiver text collate "C" not null,
  initiator text collate "C" not null,
  type text not null check (type in ('audio', 'video')),
  mode text not null check (mode in ('call', 'meet', 'presenter')),
  status text not null
    check (status in ('initiated', 'ongoing', 'ended', 'unanswered', 'rejected', 'cancelled', 'busy')),
  mid uuid not null default gen_random_uuid(),
  -- How many devices have joined. One person on two devices counts twice.
  joined int not null default 0,
  initiated_at timestamptz not null default clock_timestamp(),
  started_at timestamptz,
  ended_at timestamptz,
  -- Since when only one device has been in the call.
  lone_since timestamptz,
  -- The media server that forwards audio and video. Null until a device sends some.
  media_server text,
  -- Since when no media server answers that could forward it. Null if one does.
  media_lost_at timestamptz,
  -- Counts the changes of what devices send, so that a list of it that arrives late is recognized.
  media_version int not null default 0,
  -- Since when it is recorded. Null if it isn't.
  recording_since timestamptz,
  -- Whether call_files has recordings and transcriptions of it, for filters of lists.
  recorded boolean not null default false,
  transcribed boolean not null default false,
  primary key (app_no, id)
);
-- Each combination of filters of a list is a few ranges of it, in list order.
create index calls_filters on calls (app_no, status, type, kind, mode, id);
create index calls_joined on calls (app_no, joined, status, type, kind, mode, id);
create index calls_recorded on calls (app_no, status, type, kind, mode, id) where recorded;
create index calls_transcribed on calls (app_no, status, type, kind, mode, id) where transcribed;
create index calls_conversation on calls (app_no, conversation);
create unique index calls_of_group on calls (app_no, conversation)
  where kind = 'group' and status in ('initiated', 'ongoing');

-- The users whom a call rings, and the devices that joined it.
create table call_participants (
  app_no int not null,
  call_id bigint not null,
  uid text collate "C" not null,
  -- Every participant has the row 0, and one more for each device that joined later.
  no smallint not null default 0,
  -- The caller waits until somebody answers.
  state text not null check (state in ('invited', 'waiting', 'ongoing', 'ended', 'unanswered', 'rejected')),
  device_id text,
  joined_at timestamptz,
  left_at timestamptz,
  -- When the device last said that it is in the call. Null if it never says so.
  seen_at timestamptz,
  -- The user deleted the call from their own list.
  hidden boolean not null default false,
  primary key (app_no, call_id, uid, no)
);
-- What devices in a call send to the media server, and what they receive from it.
create table call_connections (
  app_no int not null,
  call_id bigint not null,
  uid text collate "C" not null,
  -- The place of the device in call_participants.
  no smallint not null,
  -- What it sends, camera (with the microphone) or screen; or the id of the connection that it receives.
  what text collate "C" not null,
  id uuid not null default gen_random_uuid(),
  server text not null,
  -- The media server's own name of the connection.
  handle text not null,
  -- Whether the microphone and the camera are on.
  audio boolean not null default false,
  video boolean not null default false,
  primary key (app_no, call_id, uid, no, what)
);

-- Recordings and transcriptions of calls. Triggers count the files, so they stay as long as these rows.
create table call_files (
  app_no int not null,
  call_id bigint not null,
  id uuid not null default gen_random_uuid(),
  kind text not null check (kind in ('recording', 'transcription')),
  file_id text collate "C" not null,
  -- Of a recording: who sent it, and what of it this file contains.
  uid text collate "C",
  source text check (source in ('camera', 'screen')),
  type text check (type in ('audio', 'video')),
  -- Of a transcription: the meeting. Null if it is about the whole session.
  mid uuid,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (app_no, call_id, id)
);
create index call_files_file on call_files (app_no, file_id);

-- What the media server records of devices in a call, until it is converted. Its files have this id as their name.
create table call_recordings (
  app_no int not null,
  call_id bigint not null,
  id uuid not null default gen_random_uuid(),
  connection uuid not null,
  -- The folder of its files: mid of the call.
  room uuid not null,
  -- Null if the user was erased. Nothing of it is kept then.
  uid text collate "C",
  source text not null check (source in ('camera', 'screen')),
  -- Whether the media server knows that it begins, or ends.
  told boolean not null default false,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (app_no, call_id, id)
);

create index call_participants_user on call_participants (app_no, uid, call_id);
create index call_participants_active on call_participants (app_no, uid) where state in ('waiting', 'ongoing');

-- Files. docs/decisions/0037-files.md explains their life.
create table files (
  app_no int not null,
  -- Random, so that nobody can guess it.
  id text collate "C" not null,
  -- The uploader. Null: the app itself, or a user who was deleted since.
  uid text collate "C",
  state text not null default 'pending'
    check (state in ('pending', 'checking', 'ready', 'rejected', 'deleting')),
  name text not null,
  type text collate "C" not null,
  -- As declared, until the file was checked.
  size bigint not null,
  -- The bytes that count for the quota: the file, and its thumbnails once they exist.
  stored bigint not null,
  part_size int not null,
  voice boolean not null default false,
  -- A picture of a user or group. Its square thumbnail is public.
  picture boolean not null default false,
  sha256 bytea,
  reason text,
  -- Dimensions, duration, preview and thumbnails, as far as the file has them.
  details jsonb,
  -- The number of messages, users, groups and calls that refer to it.
  refs int not null default 0,
  -- When the sweep deletes it. Null while anything refers to it.
  expires_at timestamptz,
  -- Until then, somebody can still upload parts. Null once what was uploaded is deleted.
  upload_ends_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  primary key (app_no, id)
) with (fillfactor = 80);
create index files_uid on files (app_no, uid) where uid is not null;
create index files_expires on files (expires_at) where expires_at is not null;
create index files_upload_ends on files (upload_ends_at) where upload_ends_at is not null;

-- What operators look at.
create index files_unready on files (app_no, state, created_at)
where state in ('pending', 'checking', 'rejected');

-- Which messages refer to which files.
create table file_references (
  app_no int not null,
  message_id bigint not null,
  file_id text collate "C" not null,
  primary key (app_no, message_id, file_id)
);
create index file_references_file on file_references (app_no, file_id, message_id);

-- Files that were deleted while somebody could still upload parts of them.
create table removed_uploads (
  app_no int not null,
  file_id text collate "C" not null,
  -- When the last part has arrived: what is there then is deleted.
  ends_at timestamptz not null,
  primary key (app_no, file_id)
);
create index removed_uploads_ends on removed_uploads (ends_at);

-- Files and bytes of each user. The empty uid stands for the whole app.
create table file_usage (
  app_no int not null,
  uid text collate "C" not null,
  files bigint not null,
  bytes bigint not null,
  primary key (app_no, uid)
) with (fillfactor = 50);
create index file_usage_bytes on file_usage (app_no, bytes);

-- Files and bytes of each kind, of files that were ready.
create table file_kinds (
  app_no int not null,
  kind text collate "C" not null,
  files bigint not null,
  bytes bigint not null,
  primary key (app_no, kind)
) with (fillfactor = 50);

-- The search index. docs/decisions/0014-message-lists.md explains it.

-- A worker (areas/history/indexing.ts) indexes segments of an app's messages: ids above after_id up to
-- upto_id. Segments adjoin, starting at 0. Searches scan messages that are newer than the last segment.
create table search_segments (
  app_no int not null,
  upto_id bigint not null,
  after_id bigint not null,
  messages int not null,
  -- Grows when the segment is indexed again or split: ordinals and ids of different versions don't match.
  version int not null default 1,
  primary key (app_no, upto_id)
);

-- The ids of a segment's messages, ascending, in blocks of 256. A message's place among them is its
-- ordinal: 1, 2, 3 …
create table search_ids (
  app_no int not null,
  upto_id bigint not null,
  block int not null,
  -- The first id and the distances between ids (encodeAscending in areas/history/grams.ts).
  ids bytea not null,
  primary key (app_no, upto_id, block)
);

-- The messages of a segment that contain these three characters, or end with these one or two. Searches
-- check every hit: the message may have changed or been deleted since.
create table search_grams (
  app_no int not null,
  gram text collate "C" not null,
  upto_id bigint not null,
  -- Encoded like search_ids.ids.
  ordinals bytea not null,
  primary key (app_no, gram, upto_id)
);

-- Messages at or below the search horizon that were added or changed after it was published. Every
-- search checks them until their segment is indexed again.
create table search_changes (
  app_no int not null,
  id bigint not null,
  primary key (app_no, id)
);

-- What apps and users chose about notifications. Those who chose nothing have no row: the defaults are code.
create table notification_settings (
  app_no int not null references apps,
  -- Only what differs from the defaults.
  settings jsonb not null default '{}',
  primary key (app_no)
);

create table notification_users (
  app_no int not null,
  uid text collate "C" not null,
  choices jsonb not null default '{}',
  timezone text,
  email text,
  phno text,
  primary key (app_no, uid)
);

-- The receivers of one message are asked about the same conversation, so that comes first.
create table notification_mutes (
  app_no int not null,
  kind text collate "C" not null,
  with_id text collate "C" not null,
  uid text collate "C" not null,
  until timestamptz not null,
  primary key (app_no, kind, with_id, uid)
);
create index notification_mutes_user on notification_mutes (app_no, uid);

create table notification_providers (
  app_no int not null references apps,
  channel text collate "C" not null,
  kind text collate "C" not null,
  -- Chosen by the app. Empty for kinds that an app has only once.
  provider_id text collate "C" not null,
  is_default boolean not null,
  enabled boolean not null,
  details jsonb not null,
  secret_sealed bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (app_no, channel, kind, provider_id)
);
create unique index notification_providers_default on notification_providers (app_no, channel, kind)
where is_default;

-- Unread messages that a user is told of by email or SMS, for each conversation.
create table notification_batches (
  app_no int not null,
  uid text collate "C" not null,
  channel text collate "C" not null,
  conversation bigint not null,
  -- The first message of the batch that waits, and when it is due; null if none waits.
  first_id bigint not null,
  due_at timestamptz,
  -- Messages up to this one were decided about.
  covered_id bigint not null default 0,
  -- How many were sent on a day of the user's calendar.
  sent_day date,
  sent_today int not null default 0,
  ended_at timestamptz,
  primary key (app_no, uid, channel, conversation)
);
create index notification_batches_ended on notification_batches (ended_at) where due_at is null;

-- Email addresses and phone numbers that get nothing more.
create table suppressed_addresses (
  app_no int not null references apps,
  id bigint not null,
  channel text collate "C" not null,
  address text collate "C" not null,
  reason text not null,
  details text,
  primary key (app_no, id),
  unique (app_no, channel, address)
);
create index suppressed_addresses_address on suppressed_addresses (app_no, address, id);

-- Devices that receive push. The foreign key lets them end with their auth token, however that ends, and lets no
-- registration pass a revocation.
create table push_tokens (
  app_no int not null,
  -- A keyed hash for lookups: a device has one owner. The encrypted value is what is sent to.
  push_hash bytea not null,
  push_sealed bytea not null,
  token_hash bytea not null,
  uid text collate "C" not null,
  platform text not null,
  provider_id text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (app_no, push_hash),
  foreign key (app_no, token_hash) references auth_tokens on delete cascade
);
create index push_tokens_session on push_tokens (app_no, token_hash);
create index push_tokens_user on push_tokens (app_no, uid);

-- Apps that log their notifications, until when. Others have no row.
create table notification_logging (
  app_no int not null references apps,
  until timestamptz not null,
  primary key (app_no)
);

-- One row per user, channel and device: why there was no notification, or what the provider answered.
create table notification_logs (
  app_no int not null,
  -- Carries its time, and is random otherwise: several workers write at once.
  id uuid not null,
  uid text collate "C" not null,
  channel text not null,
  trigger text not null,
  message_id bigint,
  reaction_id bigint,
  category text,
  type text,
  sender text collate "C" not null,
  -- The user or group that the message was sent to.
  receiver text collate "C" not null,
  receiver_type text not null,
  -- The user who reacted.
  reaction_sender text collate "C",
  provider text,
  provider_id text,
  platform text,
  -- Its last characters. The rest would let others notify the device.
  push_token text,
  payload jsonb,
  triggered boolean not null,
  reason text,
  success boolean,
  sent_at timestamptz not null,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  day date not null,
  primary key (app_no, id, day)
) partition by range (day);
create index notification_logs_message on notification_logs (app_no, message_id, id);
create index notification_logs_user on notification_logs (app_no, uid, id);
-- Sending notifications. docs/decisions/0044-notifier.md explains the steps: from the log to fan-outs, from fan-outs to
-- deliveries, from deliveries to providers.

-- How far the log was read. Only apps that have or had a provider have a row.
create table notifier_progress (
  app_no int not null references apps,
  -- The lease that serves it: notifier/<shard>.
  shard int not null generated always as (app_no % 64) stored,
  position bigint not null,
  primary key (app_no)
) with (fillfactor = 50);
create index notifier_progress_shard on notifier_progress (shard);

-- Events whose receivers aren't decided about yet.
create table notification_fanouts (
  app_no int not null,
  position bigint not null,
  -- The order key of the event.
  key text collate "C" not null,
  -- Receivers up to this uid are done. Null: it hasn't begun; the users that it mentions come first.
  after_uid text collate "C",
  primary key (app_no, position)
);
create index notification_fanouts_begun on notification_fanouts (app_no, key, position)
where after_uid is not null;

-- What has to be sent. A row goes when it was delivered or given up. Those to the same device about the same conversation
-- are sent one after the other: a later one is never due before an earlier one.
create table notification_deliveries (
  app_no int not null,
  id bigint generated always as identity,
  channel text collate "C" not null,
  -- Kind and id of the provider: fcm/main.
  provider text collate "C" not null,
  uid text collate "C" not null,
  -- Empty: the provider knows the devices of the receiver itself.
  push_hash bytea not null,
  conversation bigint not null,
  -- The event that it tells about.
  position bigint not null,
  message_id bigint not null,
  -- 'message', 'reaction', 'action', 'call', 'edited': shows something. 'retract': takes back what is shown. 'held': says how many came.
  what text collate "C" not null,
  -- Who did it.
  by_uid text collate "C" not null,
  -- Whether it has no text of the message.
  private boolean not null,
  -- The messages that are taken back, or that came meanwhile.
  ids bigint[],
  tries int not null default 0,
  due_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (app_no, id)
) with (fillfactor = 70);
create index notification_deliveries_due on notification_deliveries (app_no, channel, provider, due_at, id);
create index notification_deliveries_lane on notification_deliveries (app_no, uid, push_hash, conversation, id);
create index notification_deliveries_expired on notification_deliveries (expires_at);

-- What came in quiet hours and waits for their end.
create table notification_held (
  app_no int not null,
  uid text collate "C" not null,
  position bigint not null,
  conversation bigint not null,
  message_id bigint not null,
  by_uid text collate "C" not null,
  until timestamptz not null,
  primary key (app_no, uid, position)
);
create index notification_held_until on notification_held (app_no, until);

-- The newest messages of a conversation that a device shows notifications of, until they are read.
create table notification_shown (
  app_no int not null,
  push_hash bytea not null,
  conversation bigint not null,
  uid text collate "C" not null,
  ids bigint[] not null,
  shown_at timestamptz not null default now(),
  primary key (app_no, push_hash, conversation),
  foreign key (app_no, push_hash) references push_tokens on delete cascade
) with (fillfactor = 70);
create index notification_shown_conversation on notification_shown (app_no, conversation, uid);
create index notification_shown_at on notification_shown (shown_at);

-- Each webhook reads the event log from its own position. docs/decisions/0013-webhooks.md explains why
-- no event is lost and events with the same order key stay in order.

create table webhooks (
  app_no int not null references apps,
  no bigint generated always as identity,
  -- The lease that serves it: webhooks/<shard>.
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
  -- The event types of these triggers, in force when an event is read from the log.
  types text[] not null default '{}',
  -- For each type: events up to this position are older than the subscription, and never sent.
  since bigint[] not null default '{}',
  secret_sealed bytea not null,
  -- The previous secret, which also signs until this time.
  old_secret_sealed bytea,
  old_secret_until timestamptz,
  -- Sweeps delete its rows in other tables, then this one.
  removed boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (app_no, no),
  check (cardinality(since) = cardinality(types))
);
create unique index webhooks_id on webhooks (app_no, id) where not removed;
create index webhooks_shard on webhooks (shard) where enabled and not removed;
-- Webhooks that want to know when all members have received or read a message (workers/receipts/).
create index webhooks_receipts on webhooks (app_no)
where not removed and types && '{conversation.delivered.to.all,conversation.read.by.all}';

-- A webhook's progress: every event up to the position was delivered, is in the backlog or among the
-- dead letters, or has a type that the webhook doesn't subscribe to.
create table webhook_progress (
  app_no int not null,
  webhook_no bigint not null,
  position bigint not null,
  -- Order keys that failed in a row, without a success between them.
  failures int not null default 0,
  failing_since timestamptz,
  failed_at timestamptz,
  -- After too many failures the whole webhook waits, and is probed from time to time.
  probes int not null default 0,
  waits_until timestamptz,
  primary key (app_no, webhook_no)
) with (fillfactor = 50);
create index webhook_progress_waiting on webhook_progress (app_no) where waits_until is not null;

-- Order keys whose events wait, after a failed delivery or for a replay.
create table webhook_parked (
  app_no int not null,
  webhook_no bigint not null,
  key text not null,
  -- Failed attempts for the first of its events.
  tries int not null default 0,
  retry_at timestamptz not null default now(),
  primary key (app_no, webhook_no, key)
);
create index webhook_parked_due on webhook_parked (app_no, webhook_no, retry_at);

-- The events of these order keys. An order key with a row here has one in webhook_parked.
create table webhook_backlog (
  app_no int not null,
  webhook_no bigint not null,
  key text not null,
  position bigint not null,
  primary key (app_no, webhook_no, key, position)
);

-- Dead letters. One row covers a range of events if the log no longer has them.
create table webhook_dead_letters (
  app_no int not null,
  webhook_no bigint not null,
  position bigint not null,
  upto bigint not null,
  type text,
  reason text not null check (reason in ('exhausted', 'noRetry', 'expired', 'unknownType')),
  at timestamptz not null default now(),
  primary key (app_no, webhook_no, position)
);
create index webhook_dead_letters_at on webhook_dead_letters (at);

-- Every attempt. Partitioned by day, so that a whole day can be dropped.
create table webhook_deliveries (
  app_no int not null,
  webhook_no bigint not null,
  -- Carries its time (record_deliveries).
  id bigint not null,
  position bigint not null,
  type text not null,
  try int not null,
  -- The status of the answer. Null: there was none, and `error` says why.
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

-- Presence: a user is online while a device is connected to some gateway process.
-- docs/decisions/0016-presence.md explains why this is in PostgreSQL. Rows change when users connect and
-- disconnect; only gateways send heartbeats, one row each. `users.online` is true for exactly the users
-- with a row in presence, and changes with one event in the same transaction.

create table gateways (
  -- A gateway process at one cell. One that was declared dead continues under a new id.
  gateway uuid primary key,
  seen_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  -- Set: no user can connect through it any more, and its users are being disconnected.
  ended boolean not null default false
) with (fillfactor = 50);

create table presence (
  app_no int not null,
  uid text collate "C" not null,
  -- Copied from the user, so that a list of online users is a range of one index.
  name_key text collate "C" not null,
  -- The gateways of the user's devices: at least one.
  gateways uuid[] not null,
  primary key (app_no, uid)
) with (fillfactor = 80);
create index presence_order on presence (app_no, name_key, uid);

-- Usage: counts that a worker adds up from the event log, and counts that processes add themselves.
-- docs/decisions/0017-usage.md explains why. Nothing here is read from messages.

-- How far each app's log has been added up.
create table usage_progress (
  app_no int primary key,
  position bigint not null
) with (fillfactor = 50);

-- Counts per day (UTC): event types, kinds of messages, calls by operation and status.
create table usage_days (
  app_no int not null,
  day date not null,
  what text collate "C" not null,
  count bigint not null,
  primary key (app_no, day, what)
) with (fillfactor = 70);

-- The same for some event types in steps of five minutes, kept for some days.
create table usage_steps (
  app_no int not null,
  at timestamptz not null,
  what text collate "C" not null,
  count bigint not null,
  primary key (app_no, at, what)
) with (fillfactor = 70);
create index usage_steps_at on usage_steps (at);

-- The day's maximum of users online at the same time, sampled every minute.
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
 * How many users were active on a day, by the previous day on which they were active. For days a to b:
 * a row whose `before` is earlier than a counts users with their first activity in that range, so the
 * sum counts each user once.
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

-- Members of a group at the time of its removal. A device that was offline then is notified when it
-- reconnects, and gets the messages sent before. Rows are kept as long as the log (workers/upkeep.ts).
create table former_members (
  app_no int not null,
  uid text collate "C" not null,
  -- The group's conversation: unlike its guid, it is never assigned again.
  conversation bigint not null,
  guid text collate "C" not null,
  at timestamptz not null default now(),
  primary key (app_no, uid, conversation)
);
create index former_members_at on former_members (at);

-- The erasures that were done here. After a restore, the ledger in the directory has others, which are done again.
create table erasures_done (
  app_no int not null,
  id bigint not null,
  primary key (app_no, id)
);
