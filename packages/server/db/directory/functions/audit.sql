-- The audit log is append-only, for the service's own role too. Grants protect it if that role is not a
-- superuser; the triggers protect it from everyone. Locks: none.

create or replace function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'audit entries cannot be changed or deleted' using errcode = 'insufficient_privilege';
end $$;
