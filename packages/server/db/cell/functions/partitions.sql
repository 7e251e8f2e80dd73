-- What only the owner of the tables may do, for the service: it calls these functions with the owner's
-- rights. So they have a fixed search path, name the schema, and check what they are given. The service may delete all rows
-- of these tables anyway. Lock order: a log before its partition.

/* The partition of a day. Raises an exception for a table that isn't partitioned by day. */
create or replace function partition_name(p_log text, p_day date) returns text
language plpgsql immutable as $$
begin
  if p_log not in ('event_bodies', 'event_positions', 'webhook_deliveries', 'notification_logs') then
    raise exception '% is not a log', p_log using errcode = 'invalid_parameter_value';
  end if;
  return p_log || to_char(p_day, '_YYYYMMDD');
end $$;

/* Creates the partition of a day. `partition of` would lock the whole log; a table that is attached doesn't. */
create or replace function attach_partition(p_log text, p_day date) returns void
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '2s'
as $$
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

/*
 * Drops the partition of a day. It locks the whole log for a moment, and gives up if a long transaction keeps
 * it from that: requests wait behind it meanwhile. (Detaching concurrently would lock less, but can't be part
 * of a function.)
 */
create or replace function drop_partition(p_log text, p_day date) returns void
language plpgsql security definer
set search_path = public, pg_temp
set lock_timeout = '300ms'
as $$
begin
  execute format('drop table public.%I', partition_name(p_log, p_day));
end $$;

/* Renews the statistics of a table, unless somebody else does or changes the table. */
create or replace function analyze_table(p_table text) returns void
language plpgsql security definer
set search_path = public, pg_temp
as $$
begin
  execute format('analyze (skip_locked) public.%I', p_table);
end $$;
