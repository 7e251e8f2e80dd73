-- Every key and hot index of a cell begins with app_no, and nothing references across apps:
-- an app can be copied out by a filter on one column.

create table apps (
  app_no int primary key,
  app_id text not null unique,
  -- Only what differs from the defaults (areas/settings/settings.ts).
  settings jsonb not null default '{}',
  created_at timestamptz not null default now()
);

create table api_keys (
  app_no int not null references apps,
  -- Keyed hash, for lookup; the value itself sealed, for display.
  key_hash bytea not null,
  key_sealed bytea not null,
  name text not null,
  scope text not null check (scope in ('authOnly', 'fullAccess')),
  created_at timestamptz not null default now(),
  primary key (app_no, key_hash)
);
