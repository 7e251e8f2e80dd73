-- The outbox and the log of events. Lock order: lease, outbox rows, positions by app_no.

/*
 * The transaction gets its id before its rows draw theirs: whoever sees that a row id is taken
 * knows that its transaction can be waited for (sequence_events relies on it).
 */
create or replace function outbox_assign_xid() returns trigger
language plpgsql as $$
begin
  perform pg_current_xact_id();
  return null;
end $$;

/*
 * One step of the sequencer, one call: a stopped process holds no lock. Takes at most p_limit
 * committed rows in id order from three places: ids above p_from up to p_old (left by whoever
 * sequenced before), the ids p_gaps, and ids above p_after. So rows taken before, which a long
 * snapshot may keep in the index, are not visited again.
 *
 * Every transaction with an id below `horizon` had ended before the rows were looked for. `live`
 * is what is published of them: `app_no {event}`, each ended by a character that no JSON can hold.
 * Locks: lease, outbox rows, positions by app_no.
 */
create or replace function sequence_events(
  p_worker uuid, p_epoch bigint,
  p_from bigint, p_old bigint, p_after bigint, p_gaps bigint[], p_limit int,
  out taken bigint[], out horizon bigint, out live text
)
language plpgsql
-- A table that is nearly always empty looks cheap to scan whole, and is not while a backup runs.
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_day date := (clock_timestamp() at time zone 'utc')::date;
  v_places tid[];
begin
  horizon := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;

  -- Idle polls neither write nor use up a transaction id.
  taken := '{}';
  if not exists (select from outbox where id > p_after)
    and not exists (select from outbox where id = any (p_gaps))
    and not exists (select from outbox where id > p_from and id <= p_old)
  then
    return;
  end if;

  perform lock_lease('sequencer', p_worker, p_epoch);

  -- Mostly there is one place to look at, and no order to make.
  if cardinality(p_gaps) = 0 and (p_old is null or p_after is null) then
    select coalesce(array_agg(id), '{}'), array_agg(ctid) into taken, v_places
    from (
      select id, ctid from outbox
      where id > coalesce(p_after, p_from) and id <= coalesce(p_old, 9223372036854775807)
      order by id limit p_limit
    ) found;
  else
    select coalesce(array_agg(id), '{}'), array_agg(ctid) into taken, v_places
    from (
      select id, ctid from (
        (select id, ctid from outbox where id > p_from and id <= p_old order by id limit p_limit)
        union all
        (select id, ctid from outbox where id = any (p_gaps) order by id limit p_limit)
        union all
        (select id, ctid from outbox where id > p_after order by id limit p_limit)
      ) candidates
      order by id limit p_limit
    ) found;
  end if;

  -- By place, not by id: a tenth less work. Since the lease was locked nobody else removes rows, so
  -- none has moved since it was found.
  with gone as (
    delete from outbox where ctid = any (v_places)
    returning id, app_no, type, key, payload, to_first, to_second, at
  ), counted as (
    select app_no, count(*) as n from gone group by app_no
  ), advanced as (
    insert into positions as p (app_no, position)
    select app_no, n from counted order by app_no
    on conflict (app_no) do update set position = p.position + excluded.position
    returning app_no, position
  ), started as (
    select app_no, position - n as before from advanced join counted using (app_no)
  ), placed as (
    insert into events (app_no, position, type, key, payload, to_first, to_second, at, day)
    select app_no, before + row_number() over (partition by app_no order by id),
      type, key, payload, to_first, to_second, at, v_day
    from gone join started using (app_no)
    returning concat(
      app_no, ' {"position":', position, ',"type":"', type, '","key":', to_json(key),
      ',"at":', floor(date_part('epoch', at)), ',"payload":', payload, E'}\x1e') as line
  )
  select string_agg(line, '') into live from placed;
end $$;
