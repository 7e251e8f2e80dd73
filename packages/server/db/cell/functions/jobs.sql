-- The queue of background jobs (docs/jobs.md). Lock order: the caller's own rows, the advisory lock of a
-- serial key, jobs, the advisory lock of claims. A caller may enqueue at any point of its transaction;
-- only keys make it wait for others.

/* The time that delays, deadlines and schedules go by. Tests replace it to set the clock back. */
create or replace function job_clock() returns timestamptz
language sql volatile
return clock_timestamp();

/* Makes the transactions that add to or take from a serial queue take turns. */
create or replace function lock_serial_key(p_app_no int, p_key text) returns void
language sql
return pg_advisory_xact_lock(hashtextextended(p_key, p_app_no::bigint + 1));

/*
 * Adds a job in the caller's transaction and returns its id, which carries its time: consecutive numbers
 * would tell an app how busy the others are. With a dedupe key, a job of the same name
 * and key that isn't over stands for the new one: if it runs, it runs once more afterwards. That job's
 * row stays locked until the caller ends, so that it can't start or end without seeing the caller's
 * writes. With a serial key, jobs run one at a time, in the order in which they were added.
 */
create or replace function enqueue_job(
  p_app_no int, p_name text, p_input jsonb default '{}', p_delay interval default '0',
  p_priority int default 0, p_dedupe_key text default null, p_serial_key text default null,
  p_deadline timestamptz default null
) returns bigint
language plpgsql as $$
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

/*
 * Stores what a running job has reached, in the transaction of that work, or raises LQ001 if the job
 * was taken over and LQ004 if it was cancelled: the work is rolled back then. A null keeps the old value.
 */
create or replace function checkpoint_job(
  p_app_no int, p_id bigint, p_worker uuid, p_epoch int, p_checkpoint jsonb, p_done bigint, p_total bigint,
  p_step text default null, p_result jsonb default null
) returns void
language plpgsql as $$
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

/*
 * Makes the next job of a serial queue ready when the one before is over. A job that was retried waits like the others,
 * although its id is lower than that of the one that runs.
 */
create or replace function unblock_next_job(p_app_no int, p_key text) returns void
language plpgsql as $$
begin
  perform lock_serial_key(p_app_no, p_key);
  update jobs set state = case when run_at > job_clock() then 'waiting' else 'ready' end
  where app_no = p_app_no and id = (
    select id from jobs where app_no = p_app_no and serial_key = p_key and ended_at is null
    order by id limit 1)
  and state = 'blocked' and not exists (
    select from jobs where app_no = p_app_no and serial_key = p_key and ended_at is null and state <> 'blocked');
end $$;

/*
 * Records how the runs of a worker ended. Outcomes: done, failed (retried after `delay` milliseconds; dead
 * if null), released (handed back, and not counted as a try) and cancelled. Those of jobs that were taken
 * over are ignored. Done jobs are deleted unless `keep` is set. Repeating a call changes nothing.
 */
create or replace function end_jobs(p_worker uuid, p_ends jsonb) returns void
language plpgsql
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
as $$
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

/*
 * Claims at most p_free ready jobs, in turns: it walks from app to app, starting after the one where the
 * last walk ended, and takes as many of each app as are left over when they are divided evenly. An app
 * has at most p_per_app running jobs; claims take turns, so this holds for all workers together. A walk
 * looks at p_free apps, however many have ready jobs. Jobs below priority 0, such as exports and runs of agents,
 * take long: they get at most three quarters of the worker's slots and half of the app's.
 */
create or replace function claim_jobs(
  p_worker uuid, p_free int, p_per_app int, p_after int, out v_claimed json, out v_last int
)
language plpgsql
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
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

/*
 * Returns the first time after p_after that a schedule is due. A time of day that the clocks skip is an
 * hour later on that day; one that comes twice counts once.
 */
create or replace function next_job_time(
  p_every int, p_at time, p_zone text, p_days smallint[], p_after timestamptz
) returns timestamptz
language sql stable
return case when p_every is not null then date_bin(make_interval(secs => p_every), p_after, 'epoch') + make_interval(secs => p_every) else (
  select min((day::date + p_at) at time zone p_zone)
  from generate_series(0, 8) n, lateral (select (p_after at time zone p_zone)::date + n as day) d
  where (p_days is null or extract(isodow from day) = any (p_days))
    and (day::date + p_at) at time zone p_zone > p_after) end;

/* Adds a schedule, or changes the one with this key: every so many seconds, or `at` in `zone` on `days`. */
create or replace function schedule_job(
  p_app_no int, p_key text, p_name text, p_input jsonb, p_every int, p_at time default null,
  p_zone text default null, p_days smallint[] default null
) returns void
language sql as $$
  insert into job_schedules as s (app_no, key, name, input, every_seconds, at, zone, days, next_at)
  values (p_app_no, p_key, p_name, p_input, p_every, p_at, p_zone, p_days,
    next_job_time(p_every, p_at, p_zone, p_days, job_clock()))
  on conflict (app_no, key) do update set name = excluded.name, input = excluded.input,
    every_seconds = excluded.every_seconds, at = excluded.at, zone = excluded.zone, days = excluded.days,
    next_at = excluded.next_at
  where (s.name, s.input, s.every_seconds, s.at, s.zone, s.days) is distinct from
    (excluded.name, excluded.input, excluded.every_seconds, excluded.at, excluded.zone, excluded.days)
$$;

/*
 * Takes jobs away from workers that have expired, and jobs that p_worker claimed without learning of it
 * (p_known are those it knows); makes jobs ready whose time has come; enqueues what schedules ask for.
 * Returns which jobs of the worker someone cancelled, and in how many milliseconds something is due.
 */
create or replace function tend_jobs(p_worker uuid, p_known jsonb, out v_cancelled json, out v_due_ms float8)
language plpgsql
set enable_seqscan = off
as $$
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

/*
 * A turn of a runner, in one transaction: records how its runs ended, tends to the queue if p_known isn't
 * null, and claims more jobs. p_known are the jobs that it runs.
 */
create or replace function turn_jobs(
  p_worker uuid, p_ends jsonb, p_known jsonb, p_free int, p_per_app int, p_after int,
  out claimed json, out last int, out cancelled json, out due_ms float8
)
language plpgsql as $$
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

/*
 * Cancels a job that isn't over, at once if it doesn't run, and returns its state; null if there is no
 * such job. A running one ends at its next step.
 */
create or replace function cancel_job(p_app_no int, p_id bigint) returns text
language plpgsql as $$
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

/* Starts a job that waits. One that is running starts again if it is about to wait. */
create or replace function wake_job(p_app_no int, p_id bigint) returns void
language sql as $$
  update jobs set
    again = state = 'running',
    run_at = case when state = 'waiting' then job_clock() else run_at end,
    state = case when state = 'waiting' then 'ready' else state end
  where app_no = p_app_no and id = p_id and state in ('waiting', 'running')
$$;

/*
 * Starts a dead or cancelled job again from its checkpoint, and returns its state. `duplicate`: another
 * job with its dedupe key isn't over. Null: there is no such job. Jobs in other states stay as they are.
 */
create or replace function retry_job(p_app_no int, p_id bigint) returns text
language plpgsql as $$
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
