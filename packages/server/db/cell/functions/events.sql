-- The bodies and positions of events. Lock order: lease, positions by app_no, sequencer_progress, progress of
-- readers.
--
-- Any function may insert bodies, one or many with a statement, as the last thing it does. The
-- default of the id assigns the transaction its own id first.

/*
 * One step of the sequencer in one call, so that a process that stops in between holds no lock. It
 * assigns positions to at most p_limit committed bodies in id order, and stores which ones in the
 * same transaction. It reads gaps and ids above the last one, never a body that has a position.
 *
 * A gap is forgotten once every transaction that could fill it has ended: the gap was found before
 * `stamp` was drawn, so its owner has a lower transaction id, and every transaction below
 * v_horizon had ended before the step looked. The same stamp proves that nothing more can be
 * inserted with an earlier day. A stamp from the future was drawn by a cluster that this database
 * was restored from.
 *
 * `place` is where the previous step left the row of sequencer_progress, or null. Without it, a step
 * would visit all versions of the row that a long snapshot keeps.
 *
 * `live` is the text to publish: `app_no {event}` for each event, terminated by a character that
 * JSON can't contain.
 *
 * p_started is when the server was started whose log the sequencer has checked. Behind a pooler, a
 * connection can continue on another server, whose log must be checked first.
 */
create or replace function sequence_events(
  p_worker uuid, p_epoch bigint, p_limit int, inout place tid, p_started timestamptz default null,
  out taken int, out live text
)
language plpgsql
-- Planning for all partitions would cost more than a step.
set plan_cache_mode = force_generic_plan
-- New partitions look empty, so a full scan of them looks cheap.
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_day date := (clock_timestamp() at time zone 'utc')::date;
  -- A day earlier, in case the clock was put back.
  v_since date;
  v_horizon bigint;
  v_xid bigint;
  v_ids bigint[];
  v_last bigint;
  v_taken int8multirange;
  s sequencer_progress;
begin
  if pg_postmaster_start_time() <> p_started then
    raise exception 'the log of this server is not checked yet' using errcode = 'LQ005';
  end if;
  taken := 0;

  -- Idle polls write nothing and use no transaction id.
  select * into s from sequencer_progress where ctid = place;
  if not found then
    select p.ctid into place from sequencer_progress p;
    select * into s from sequencer_progress where ctid = place;
  end if;
  v_since := least(s.since, v_day) - 1;
  if not exists (select from event_bodies where id > s.taken and day between v_since and v_day + 1)
    and not exists (
      select from unnest(s.gaps + s.watched) gap join event_bodies b
        on b.id >= lower(gap) and b.id < upper(gap) and b.day between v_since and v_day + 1)
    and (s.stamp is not null or isempty(s.gaps) and s.since >= v_day)
    and (s.stamp is null or s.stamp >= pg_snapshot_xmin(pg_current_snapshot())::text::bigint
      and s.stamp < pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
  then
    return;
  end if;

  perform lock_lease('sequencer', p_worker, p_epoch);
  v_xid := pg_current_xact_id()::text::bigint;
  v_horizon := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  select * into s from sequencer_progress where ctid = place;
  if not found then
    place := null;
    return;
  end if;
  v_since := least(s.since, v_day) - 1;

  with found as materialized (
    select * from (
      (select id, app_no, day, at, type, key, to_first, to_second, payload from event_bodies
       where id > s.taken and day between v_since and v_day + 1 order by id limit p_limit)
      union all
      (select b.* from unnest(s.gaps + s.watched) gap cross join lateral (
         select id, app_no, day, at, type, key, to_first, to_second, payload from event_bodies
         where id >= lower(gap) and id < upper(gap) and day between v_since and v_day + 1
         order by id limit p_limit
       ) b order by id limit p_limit)
    ) candidates
    order by id limit p_limit
  ), counted as (
    select app_no, count(*) as n from found group by app_no
  ), advanced as (
    insert into positions as p (app_no, position)
    select app_no, n from counted order by app_no
    on conflict (app_no) do update set position = p.position + excluded.position
    returning app_no, position
  ), started as (
    select app_no, position - n as before from advanced join counted using (app_no)
  ), placed as materialized (
    select found.*, before + row_number() over (partition by app_no order by id) as position
    from found join started using (app_no)
  ), stored as (
    insert into event_positions (app_no, position, body_id, body_day, type, to_first, to_second, day)
    select app_no, position, id, day, type, to_first, to_second, v_day from placed
  )
  select count(*), coalesce(array_agg(id), '{}'), coalesce(max(id), 0), string_agg(concat(
    app_no, ' {"position":', position, ',"type":"', type, '","key":', to_json(key),
    ',"at":', floor(date_part('epoch', at)), ',"payload":', payload, E'}\x1e'), '')
  into taken, v_ids, v_last, live from placed;

  -- Usually there are no gaps.
  if not isempty(s.gaps + s.watched) or v_last - s.taken <> taken and taken > 0 then
    v_taken := (select coalesce(range_agg(int8range(id, id + 1)), '{}') from unnest(v_ids) id);
    s.gaps := s.gaps - v_taken;
    s.watched := s.watched - v_taken;
  end if;

  -- A step that hit its limit proves nothing about the remaining bodies.
  if taken < p_limit then
    if s.stamp < v_horizon then
      s.watched := '{}';
      s.since := greatest(s.since, s.stamp_day);
      s.stamp := null;
    end if;
    if s.stamp is null or s.stamp > v_xid then
      s.watched := s.watched + s.gaps;
      s.gaps := '{}';
      s.stamp := case when isempty(s.watched) and s.since >= v_day then null else v_xid end;
      s.stamp_day := v_day;
    end if;
  end if;

  if v_last > s.taken then
    -- These are found after the stamp was drawn, so they wait for the next one.
    if v_taken is not null then
      s.gaps := s.gaps + (int8multirange(int8range(s.taken + 1, v_last + 1)) - v_taken);
    end if;
    s.taken := v_last;
  end if;
  update sequencer_progress set taken = s.taken, gaps = s.gaps, watched = s.watched,
    stamp = s.stamp, stamp_day = s.stamp_day, since = s.since
  where ctid = place returning ctid into place;
end $$;

/*
 * Makes every app's positions jump to p_break_no * 10^12, which must be above all of them, and stores the
 * break. Numbers that other sequences gave out after the database was copied aren't given out again either.
 * Readers may have stored a position that the log lost, before the break was known: they go back to its last
 * one.
 */
create or replace function break_log(p_break_no bigint) returns void
language plpgsql as $$
declare
  v_next bigint := p_break_no * 1000000000000;
  v_sequence regclass;
begin
  -- Waits for a running step, and lets no other begin.
  insert into leases (job, worker_id, epoch)
  values ('sequencer', '00000000-0000-0000-0000-000000000000', 0) on conflict do nothing;
  perform from leases where job = 'sequencer' for no key update;
  if exists (select from positions where position >= v_next) then
    raise exception 'break % is not above all positions', p_break_no;
  end if;

  insert into log_breaks (app_no, last, next)
  select app_no, coalesce(position, 0), v_next from apps left join positions using (app_no);
  insert into positions (app_no, position)
  select app_no, v_next from apps order by app_no
  on conflict (app_no) do update set position = excluded.position;

  update webhook_progress g set position = b.last from log_breaks b
  where b.app_no = g.app_no and b.next = v_next and g.position > b.last;
  update usage_progress g set position = b.last from log_breaks b
  where b.app_no = g.app_no and b.next = v_next and g.position > b.last;
  update receipt_progress g set position = b.last from log_breaks b
  where b.app_no = g.app_no and b.next = v_next and g.position > b.last;
  update notifier_progress g set position = b.last from log_breaks b
  where b.app_no = g.app_no and b.next = v_next and g.position > b.last;

  for v_sequence in
    select oid from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace
  loop
    perform setval(v_sequence, nextval(v_sequence) + 1000000000);
  end loop;
  update log_origin set break_no = p_break_no;
end $$;

/*
 * How a reader continues after a position. The next event has the position `base` + 1, and no break begins
 * before `upto` (null: none follows). If the log lost the reader's position in a break, `lost_after` is the
 * last position before it.
 */
create or replace function log_after(
  p_app_no int, p_after bigint, out base bigint, out upto bigint, out lost_after bigint
)
language plpgsql stable as $$
declare
  b record;
begin
  base := p_after;
  for b in
    select last, next from log_breaks where app_no = p_app_no and next > p_after order by last
  loop
    if b.last < base then
      lost_after := b.last;
      return;
    elsif b.last > base then
      upto := b.last;
      return;
    end if;
    base := b.next;
  end loop;
end $$;

/*
 * Which part of an app's log a worker reads after a position: the events after `base` up to `upto`, of which there are
 * at most 5,000. `kept` is false if the log no longer has them, so that the worker goes on after `upto`. `last` is the
 * end of the log, and null if the worker has read all of it.
 */
create or replace function stretch_after(
  p_app_no int, p_after bigint, out base bigint, out upto bigint, out kept boolean, out last bigint
)
language plpgsql stable as $$
declare
  a record;
begin
  select position into last from positions where app_no = p_app_no and position > p_after;
  if last is null then return; end if;
  select * into a from log_after(p_app_no, p_after);
  base := a.base;
  upto := coalesce(a.lost_after, least(a.base + 5000, a.upto, last));
  kept := a.lost_after is null;
  if kept and last > base and not exists (
    select from event_positions where app_no = p_app_no and position = a.base + 1)
  then
    kept := false;
    upto := coalesce((select position - 1 from event_positions
      where app_no = p_app_no and position > a.base order by position limit 1), last);
  end if;
end $$;

/*
 * Reads an app's log: at most p_limit events after p_after, up to p_upto, in order. With p_types, only
 * events of these types; with p_since, each type only after its own position. Planning for all
 * partitions would cost more than reading some events, so the plan is made once.
 */
create or replace function logged_events(
  p_app_no int, p_after bigint, p_limit int, p_upto bigint default 9223372036854775807,
  p_types text[] default null, p_since bigint[] default null
) returns table (
  "position" bigint, type text, key text, payload json, at timestamptz, day date,
  active_uid text, counts_as text
)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select position, type, key, payload, at, day, active_uid, counts_as from events
  where app_no = p_app_no and position > p_after and position <= p_upto
    and (p_types is null or type = any (p_types))
    and (p_since is null or position > p_since[array_position(p_types, type)])
  order by position limit p_limit;
end $$;
