-- The tables of the directory: where every app lives, and who manages it. Small, rarely written, cached
-- by every process. Functions and triggers are code: they are in db/directory/functions/.

create table regions (
  region text primary key
);
insert into regions values ('us'), ('eu'), ('in');

create table cells (
  cell_id text primary key check (cell_id ~ '^[a-z0-9-]{1,40}$'),
  region text not null references regions,
  -- The connection address, encrypted with LOQUAT_SECRET because it contains a password.
  url_sealed bytea not null,
  -- false: its apps are served, but new apps are placed elsewhere.
  accepts_apps boolean not null default true,
  -- true: commits wait for a standby, and only such a standby is ever promoted. So a failover loses nothing.
  synchronous boolean not null default false,
  created_at timestamptz not null default now()
);

-- What a cell's sequencer last saw of its database. The database itself can't say whether it went back in time.
create table log_witnesses (
  cell_id text primary key references cells,
  system_id text not null,
  timeline int not null,
  wal_position bigint not null,
  -- The last event that had a position.
  taken bigint not null,
  break_no bigint not null,
  seen_at timestamptz not null default now()
);

-- The number of the last break in any cell's log: one row. It is raised before a log is broken, so that no two
-- breaks have the same number, whatever backups the cells are restored from.
create table break_counter (
  break_no bigint not null
);
insert into break_counter values (0);

-- The servers that forward audio and video of calls, in addition to those in the environment of the processes.
create table media_servers (
  address text primary key,
  -- true: calls that are on it go on, but new calls are placed elsewhere.
  drained boolean not null default false,
  created_at timestamptz not null default now(),
  -- It forwards calls of apps in this region only. Null: of all regions.
  region text references regions
);

create table apps (
  -- Assigned once and the same everywhere: an app keeps it when it moves to another cell.
  app_no int generated always as identity primary key,
  app_id text not null unique,
  name text not null,
  cell_id text not null references cells,
  -- 'creating' until its rows exist in the cell; 'archived': marked for removal; 'purging': the grace
  -- period is over and its rows are being deleted. Only active apps are served.
  state text not null default 'creating'
    check (state in ('creating', 'active', 'archived', 'purging')),
  created_at timestamptz not null default now(),
  archived_at timestamptz,
  purge_at timestamptz
);
create index apps_cell on apps (cell_id);
-- The apps that a cell's worker has to look after.
create index apps_resting on apps (cell_id, app_no) where state <> 'active';

-- Operators: the people, and their programs, who manage apps. Serving an app needs none of this.

create table operators (
  -- Drawn at random: consecutive numbers would tell operators how many accounts there are.
  operator_no bigint primary key default floor(1e14 + random() * 9e14),
  email text not null unique check (email = lower(email)),
  name text not null,
  password_hash text not null,
  -- The encrypted secrets of one-time codes: the active one, and one that isn't confirmed yet.
  totp_sealed bytea,
  totp_pending_sealed bytea,
  -- The last half minute whose code was used: each code works once.
  totp_step bigint not null default 0,
  created_at timestamptz not null default now(),
  -- Set by `loquat operators disable`: neither sessions nor keys work, and nobody can sign in.
  disabled_at timestamptz
);

-- Each works once, instead of a code. Keyed hashes.
create table recovery_codes (
  operator_no bigint not null references operators,
  code_hash bytea not null,
  primary key (operator_no, code_hash)
);

create table operator_sessions (
  -- A keyed hash of the cookie's value.
  token_hash bytea primary key,
  session_id uuid not null unique default gen_random_uuid(),
  operator_no bigint not null references operators,
  address text not null,
  user_agent text not null,
  created_at timestamptz not null default now(),
  -- Updated once a minute at most.
  seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- Wrong passwords and codes in a row, for changes to the account. The fifth ends the session.
  failures int not null default 0
);
create index operator_sessions_operator on operator_sessions (operator_no, created_at);

-- Credentials for programs: a key and a secret.
create table operator_keys (
  key text primary key,
  operator_no bigint not null references operators,
  -- A keyed hash. The secret has 256 random bits, so nothing slower is needed.
  secret_hash bytea not null,
  name text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index operator_keys_operator on operator_keys (operator_no);

-- Attempts to sign in or up, by account and by address, counted before the password is checked.
create table attempts (
  subject text primary key,
  count int not null,
  since timestamptz not null default now()
);
create index attempts_since on attempts (since);

-- As in the cells: answers to writes with an Idempotency-Key, kept for 24 hours.
create table idempotency (
  operator_no bigint not null references operators,
  key text not null,
  request_hash bytea not null,
  answer_sealed bytea,
  created_at timestamptz not null default now(),
  primary key (operator_no, key)
);

-- The operators who manage an app, including its owner.
create table collaborators (
  app_no int not null references apps on delete cascade,
  operator_no bigint not null references operators,
  role text not null check (role in ('owner', 'admin', 'moderator', 'developer')),
  created_at timestamptz not null default clock_timestamp(),
  primary key (app_no, operator_no)
);
create unique index collaborators_owner on collaborators (app_no) where role = 'owner';
create index collaborators_operator on collaborators (operator_no, app_no);

-- For people without an account. Anyone who has the token can accept the invitation.
create table invitations (
  app_no int not null references apps on delete cascade,
  email text not null check (email = lower(email)),
  role text not null check (role in ('admin', 'moderator', 'developer')),
  token_hash bytea not null unique,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  primary key (app_no, email)
);

-- The audit log: entries are only ever added (db/directory/functions/audit.sql). It references neither
-- operators nor apps, because it outlives both.
create table audit (
  -- Carries its time, like the ids of messages: consecutive numbers would tell tenants how busy the
  -- others are. If two entries get the same id, the second one is inserted again.
  id bigint primary key default
    floor((date_part('epoch', clock_timestamp()) - 1000000000) * 1000000)::bigint * 4 + floor(random() * 4)::int,
  at timestamptz not null default clock_timestamp(),
  -- Null: the service itself, or a command on its machine.
  operator_no bigint,
  email text,
  -- session, key, command or service.
  via text not null,
  app_no int,
  app_id text,
  -- The operationId.
  action text not null,
  target jsonb not null,
  before jsonb,
  after jsonb,
  address text,
  user_agent text
);
create index audit_app on audit (app_no, id);
create index audit_app_operator on audit (app_no, operator_no, id);
create index audit_app_action on audit (app_no, action, id);
create index audit_operator on audit (operator_no, id);
create index audit_operator_action on audit (operator_no, action, id);

-- The outcome of an entry that was written before its action, in another database. No row: unknown.
create table audit_outcomes (
  id bigint primary key references audit,
  status int not null
);

-- The ledger of erasures: which users were erased, and what that changed. It is here, so that a cell that is restored from
-- a backup can erase them again. Who they were is encrypted.
create table erasures (
  app_no int not null references apps on delete cascade,
  -- Carries its time.
  id bigint not null default
    floor((date_part('epoch', clock_timestamp()) - 1000000000) * 1000000)::bigint * 4 + floor(random() * 4)::int,
  -- A keyed hash for lookups; the encrypted value to erase again.
  uid_hash bytea not null,
  uid_sealed bytea not null,
  mode text not null check (mode in ('remove', 'anonymise')),
  state text not null default 'running' check (state in ('running', 'done')),
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  -- How often it was done: more than once after a restore.
  runs int not null default 0,
  -- For each table: its columns with personal data, and how many rows were deleted and changed.
  receipt jsonb,
  primary key (app_no, id)
);
create index erasures_user on erasures (app_no, uid_hash, id);
create unique index erasures_running on erasures (app_no, uid_hash) where state = 'running';
