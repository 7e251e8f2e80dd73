-- Usage counts, added up from the event log. Lock order: usage_progress of the app before all other tables.

create or replace function utc_day(p_at timestamptz) returns date
language sql immutable parallel safe
return (p_at at time zone 'UTC')::date;

/*
 * Records that users were active on a day. Days must come in order: roll_up_usage locks the app's
 * row of usage_progress and takes care of it.
 */
create or replace function record_activity(p_app_no int, p_day date, p_uids text[]) returns void
language sql
set enable_seqscan = off
as $$
  with users as materialized (
    select distinct uid collate "C" as uid from unnest(p_uids) u (uid)
  ), old as (
    select uid, a.day from users join usage_activity a using (uid)
    where a.app_no = p_app_no and a.day < p_day
  ), back as (
    update usage_activity a set day = p_day from old
    where a.app_no = p_app_no and a.uid = old.uid
    returning old.day as before
  ), fresh as (
    insert into usage_activity (app_no, uid, day)
    select p_app_no, uid, p_day from users
    on conflict do nothing
    returning date '-infinity' as before
  )
  insert into usage_returns as r (app_no, day, before, users)
  select p_app_no, p_day, before, count(*)
  from (select before from back union all select before from fresh) active group by before
  on conflict (app_no, day, before) do update set users = r.users + excluded.users
$$;

/*
 * Adds up at most p_limit events of an app and moves its position in one transaction, so that a
 * worker that dies or repeats itself counts nothing twice. Returns the number of events.
 *
 * An event counts on the day when it happened. A user's activity counts on the day when the event
 * got its position, since days must come in order for each user. Used tokens count once the log has
 * been read to its end, and a minute late, when no event of an earlier day can follow.
 */
create or replace function roll_up_usage(p_app_no int, p_limit int) returns int
language plpgsql as $$
declare
  v_settled date := utc_day(clock_timestamp() - interval '1 minute');
  v_from bigint;
  v_taken int;
  v_active json;
  v_day date;
  v_uids text[];
begin
  insert into usage_progress (app_no, position) values (p_app_no, 0) on conflict do nothing;
  select position into v_from from usage_progress where app_no = p_app_no for update;

  with taken as materialized (
    select position, type, at, day, active_uid, counts_as
    from logged_events(p_app_no, v_from, p_limit)
  ), days as (
    insert into usage_days as d (app_no, day, what, count)
    select p_app_no, utc_day(at), what, count(*)
    from taken, lateral (values (type), (counts_as)) w (what)
    where what is not null group by 2, 3 order by 2, 3
    on conflict (app_no, day, what) do update set count = d.count + excluded.count
  ), steps as (
    insert into usage_steps as s (app_no, at, what, count)
    select p_app_no, date_bin('5 minutes', at, 'epoch'), type, count(*)
    from taken where type in ('message.sent', 'conversation.delivered', 'conversation.read')
    group by 2, 3 order by 2, 3
    on conflict (app_no, at, what) do update set count = s.count + excluded.count
  ), moved as (
    -- At the end of the log, it moves to the app's position: after a break, no event may have that number.
    update usage_progress u set position = last.position
    from (select greatest(max(t.position), case when count(*) < p_limit then (
      select p.position from positions p where p.app_no = p_app_no) end) as position from taken t) last
    where u.app_no = p_app_no and last.position > u.position
  )
  select count(*), json_agg(json_build_object('day', day, 'uid', active_uid))
    filter (where active_uid is not null)
  into v_taken, v_active from taken;

  for v_day, v_uids in
    select day, array_agg(uid) from json_to_recordset(coalesce(v_active, '[]')) as a (day date, uid text)
    group by day order by day
  loop
    perform record_activity(p_app_no, v_day, v_uids);
  end loop;
  if v_taken = p_limit then return v_taken; end if;

  for v_day, v_uids in
    with seen as (
      delete from usage_seen where app_no = p_app_no and day <= v_settled returning day, uid
    )
    select day, array_agg(uid) from seen group by day order by day
  loop
    perform record_activity(p_app_no, v_day, v_uids);
  end loop;
  return v_taken;
end $$;
