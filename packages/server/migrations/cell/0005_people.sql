-- Users, their roles and tokens, and who is whose friend or blocks whom.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

/*
 * What a name is sorted and searched by: lower case, without accents and compatibility forms, so that
 * "Ädam" stands beside "adam" and is found by it. Other scripts keep their marks.
 */
create function fold_name(name text) returns text
language sql immutable strict parallel safe
return lower(normalize(regexp_replace(normalize(name, nfkd), '[\u0300-\u036f]', '', 'g'), nfkc));

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
insert into roles (app_no, role, name, built_in)
select app_no, role, name, true
from apps, (values ('default', 'Default'), ('@agentic', 'AI agent')) as built_in (role, name);

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
  primary key (app_no, uid)
);
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

/* The role that a user is shown with: one that was removed counts as `default`. */
create function shown_role(p_app_no int, p_role text) returns text
language sql stable strict
return case
  when p_role in ('default', '@agentic') then p_role
  when exists (
    select from roles where app_no = p_app_no and role = p_role and removed_at is null
  ) then p_role
  else 'default'
end;

/* Moves at most p_limit holders of a removed role to `default`; the role goes when none is left. */
create function sweep_role(p_app_no int, p_role text, p_limit int) returns boolean
language plpgsql as $$
declare
  v_moved int;
begin
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
