-- Made by `npm run generate` from src/core/tables/. `loquat migrate` applies it after the migrations, as the
-- role that owns the tables. Roles that don't exist get nothing: then the service runs as the owner.
-- docs/decisions/0035-database-roles.md explains it.

do $$
begin
  if to_regrole('loquat_service') is null or current_user = 'loquat_service' then return; end if;
  grant usage on schema public to loquat_service;
  grant usage, select, update on all sequences in schema public to loquat_service;
  revoke all on regions, cells, log_witnesses, break_counter, media_servers, apps, operators, recovery_codes, operator_sessions, operator_keys, attempts, idempotency, collaborators, invitations, audit, audit_outcomes, erasures from loquat_service;
  grant select on regions to loquat_service;
  grant select on cells to loquat_service;
  grant select, insert, update on log_witnesses to loquat_service;
  grant select, update on break_counter to loquat_service;
  grant select on media_servers to loquat_service;
  grant select, insert, update, delete on apps to loquat_service;
  grant select, insert, update on operators to loquat_service;
  grant select, insert, delete on recovery_codes to loquat_service;
  grant select, insert, update, delete on operator_sessions to loquat_service;
  grant select, insert, update, delete on operator_keys to loquat_service;
  grant select, insert, update, delete on attempts to loquat_service;
  grant select, insert, update, delete on idempotency to loquat_service;
  grant select, insert, update, delete on collaborators to loquat_service;
  grant select, insert, update, delete on invitations to loquat_service;
  grant select, insert on audit to loquat_service;
  grant select, insert on audit_outcomes to loquat_service;
  grant select, insert, update on erasures to loquat_service;
end $$;

do $$
begin
  if to_regrole('loquat_audit') is null or current_user = 'loquat_audit' then return; end if;
  grant usage on schema public to loquat_audit;
  revoke all on regions, cells, log_witnesses, break_counter, media_servers, apps, operators, recovery_codes, operator_sessions, operator_keys, attempts, idempotency, collaborators, invitations, audit, audit_outcomes, erasures from loquat_audit;
  grant select (region) on regions to loquat_audit;
  grant select (cell_id, region, accepts_apps, synchronous, created_at) on cells to loquat_audit;
  grant select (cell_id, system_id, timeline, wal_position, taken, break_no, seen_at) on log_witnesses to loquat_audit;
  grant select (break_no) on break_counter to loquat_audit;
  grant select (address, drained, created_at, region) on media_servers to loquat_audit;
  grant select (app_no, app_id, name, cell_id, state, created_at, archived_at, purge_at) on apps to loquat_audit;
  grant select (operator_no, email, name, created_at, disabled_at) on operators to loquat_audit;
  grant select (session_id, operator_no, address, user_agent, created_at, seen_at, expires_at, failures) on operator_sessions to loquat_audit;
  grant select (key, operator_no, name, created_at) on operator_keys to loquat_audit;
  grant select (operator_no, app_no, role, created_at) on collaborators to loquat_audit;
  grant select (app_no, email, role, created_at, expires_at) on invitations to loquat_audit;
  grant select (operator_no, email, target, before, after, address, user_agent, id, at, via, app_no, app_id, action) on audit to loquat_audit;
  grant select (id, status) on audit_outcomes to loquat_audit;
  grant select (app_no, id, mode, state, created_at, completed_at, runs, receipt) on erasures to loquat_audit;
end $$;
