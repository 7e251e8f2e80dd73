-- The outcome of webhook deliveries.
-- Lock order: lease, webhooks, webhook_progress, webhook_parked, event_bodies.

/*
 * Records the outcome of deliveries and moves the webhook's position, all or nothing. `p_batch`:
 *   attempts  [{position, type, try, status, error, ms, answer, at}]
 *   queued    [{key, position}]         events that have to wait
 *   parked    [{key, tries, seconds}]   keys that failed: when to retry them
 *   done      [{key, position}]         events of the backlog that were delivered or given up
 *   dead      [{position, upto, type, reason}]
 *   succeeded whether any attempt did; failures: how many failed in a row since then
 *   waiting   whether the whole webhook waits; probes: how often it was probed; waitSeconds: how
 *             long from now, if that changed
 * `hopeless`: disable the webhook. A call failed, all calls failed for five days, and there was a call
 * at least every two days. A position that moves, or a quiet week after a failure, proves nothing.
 * `restarted`: the webhook was edited while it was probed, so the outcome of the probe is void. Or its
 * position isn't p_stored: the database was restored, and what else it forgot is unknown, so nothing is
 * recorded.
 */
create or replace function record_deliveries(
  p_job text, p_worker uuid, p_epoch bigint,
  p_app_no int, p_webhook bigint, p_stored bigint, p_position bigint, p_batch json,
  out hopeless boolean, out restarted boolean
)
language plpgsql as $$
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

/*
 * Deletes at most p_limit rows of each table of a removed webhook. Returns whether none are left.
 */
create or replace function sweep_webhook(p_app_no int, p_webhook bigint, p_limit int) returns boolean
language plpgsql as $$
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
