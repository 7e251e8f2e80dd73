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
  primary key (app_no, credential, uid, key)
);
create index idempotency_created_at on idempotency (created_at);

-- Keys of one transaction keep their order.
alter table api_keys alter column created_at set default clock_timestamp();
