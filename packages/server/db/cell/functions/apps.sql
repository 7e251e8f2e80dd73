-- Which apps there is work for. Locks: none.

/*
 * The apps that background jobs work for. Nothing runs for an app that is archived or suspended, nor for
 * one that is gone, which has no row. An app that is arriving from another cell is archived here until the
 * switch. Every job that looks for apps joins this function; PostgreSQL inlines it. docs/jobs.md names what
 * works for all apps.
 */
create or replace function working_apps() returns table (app_no int, app_id text)
language sql stable parallel safe
as $$ select app_no, app_id from apps where archived_at is null and suspended_at is null $$;
