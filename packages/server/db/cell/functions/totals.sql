-- Counts of an app and of a user, so that no list is counted row by row.
-- Lock order: view_totals by uid, then totals. Both come after every other row except event bodies.

/*
 * Spreads writers over 16 rows, so that they rarely wait for each other. A transaction always uses
 * the same row: otherwise two transactions that change a total several times could deadlock.
 */
create or replace function add_total(p_app_no int, p_what text, p_change bigint) returns void
language plpgsql as $$
begin
  if p_change = 0 then return; end if;
  insert into totals as t (app_no, what, shard, total)
  values (p_app_no, p_what, pg_current_xact_id()::text::bigint % 16, p_change)
  on conflict (app_no, what, shard) do update set total = t.total + excluded.total;
end $$;

/*
 * Changes a user's counts of 1:1 views: all visible ones, and those of users that they don't block.
 */
create or replace function add_views(p_app_no int, p_uid text, p_visible int, p_unblocked int) returns void
language sql as $$
  insert into view_totals as t (app_no, uid, visible, unblocked)
  values (p_app_no, p_uid, p_visible, p_unblocked)
  on conflict (app_no, uid) do update
  set visible = t.visible + excluded.visible, unblocked = t.unblocked + excluded.unblocked
$$;

/* The same for the app. Call it once in a transaction, after all users. */
create or replace function add_app_views(p_app_no int, p_visible bigint, p_unblocked bigint) returns void
language plpgsql as $$
begin
  perform add_total(p_app_no, 'views.user', p_visible);
  perform add_total(p_app_no, 'views.user.unblocked', p_unblocked);
end $$;
