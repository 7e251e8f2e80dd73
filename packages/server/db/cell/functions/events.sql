-- The outbox and the log of events. Lock order: lease, outbox rows, positions by app_no.
--
-- Any function may insert events, one or many with a statement, as the last thing it does. The
-- column's default assigns the transaction its id before the row gets its own.

/*
 * One step of the sequencer in one call, so that a process that stops in between holds no lock. It
 * takes at most p_limit committed rows in id order: ids above p_from up to p_old (left by the
 * previous sequencer), the ids p_gaps, and ids above p_after. It never visits rows that it took
 * before, which a long snapshot may keep in the index.
 *
 * Every transaction with an id below `horizon` had ended before the function looked for rows.
 * `live` is the text to publish: `app_no {event}` for each event, terminated by a character that
 * JSON can't contain.
 */
create or replace function sequence_events(
  p_worker uuid, p_epoch bigint,
  p_from bigint, p_old bigint, p_after bigint, p_gaps bigint[], p_limit int,
  out taken bigint[], out horizon bigint, out live text
)
language plpgsql
-- The table is nearly always empty, so a full scan looks cheap. While a backup runs, it isn't.
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_day date := (clock_timestamp() at time zone 'utc')::date;
  v_tids tid[];
begin
  horizon := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;

  -- Idle polls write nothing and use no transaction id.
  taken := '{}';
  if not exists (select from outbox where id > p_after)
    and not exists (select from outbox where id = any (p_gaps))
    and not exists (select from outbox where id > p_from and id <= p_old)
  then
    return;
  end if;

  perform lock_lease('sequencer', p_worker, p_epoch);

  -- Usually there is one range to read, and nothing to sort.
  if cardinality(p_gaps) = 0 and (p_old is null or p_after is null) then
    select coalesce(array_agg(id), '{}'), array_agg(ctid) into taken, v_tids
    from (
      select id, ctid from outbox
      where id > coalesce(p_after, p_from) and id <= coalesce(p_old, 9223372036854775807)
      order by id limit p_limit
    ) found;
  else
    select coalesce(array_agg(id), '{}'), array_agg(ctid) into taken, v_tids
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

  -- By ctid, not by id: 10 % less work. Only the holder of the lease deletes rows, so none of these
  -- has moved since it was found.
  with gone as (
    delete from outbox where ctid = any (v_tids)
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
