-- The audit log is append-only. Grants protect it from the service (src/core/tables/), the triggers from the
-- owner of the tables too. Locks: none.

create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit entries cannot be changed or deleted' using errcode = 'insufficient_privilege';
end $$;
