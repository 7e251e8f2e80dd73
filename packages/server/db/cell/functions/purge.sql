-- Removal of all rows of an app. Lock order: none that matters, since nothing serves the app any more.

/*
 * Deletes at most p_limit rows of an app from each of its tables, and returns whether none are
 * left. The tables are all those with a column `app_no`; `apps`, which others reference, comes
 * last. Rows of two partitions can have the same ctid, so the statement checks the app twice. Bodies
 * of events are found by their positions, or in the outbox.
 */
create or replace function purge_app(p_app_no int, p_limit int) returns boolean language plpgsql
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_table regclass;
  v_rows int;
  v_gone boolean;
begin
  delete from event_bodies b using (
    (select body_id as id, body_day as day from event_positions
     where app_no = p_app_no order by position limit p_limit)
    union all
    (select id, day from outbox where app_no = p_app_no limit p_limit)
  ) gone
  where b.id = gone.id and b.day = gone.day;
  get diagnostics v_rows = row_count;
  v_gone := v_rows = 0;
  delete from event_positions where app_no = p_app_no and position in (
    select position from event_positions where app_no = p_app_no order by position limit p_limit);
  get diagnostics v_rows = row_count;
  v_gone := v_gone and v_rows = 0;
  for v_table in
    select c.oid::regclass
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'app_no'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and not c.relispartition and c.relname not in ('apps', 'event_bodies', 'event_positions')
    order by c.relname
  loop
    execute format(
      'delete from %1$s where app_no = $1 and ctid = any (array('
      'select ctid from %1$s where app_no = $1 limit $2))', v_table)
    using p_app_no, p_limit;
    get diagnostics v_rows = row_count;
    v_gone := v_gone and v_rows = 0;
  end loop;
  if v_gone then delete from apps where app_no = p_app_no; end if;
  return v_gone;
end $$;
