-- All triggers of the directory. They are apart from the functions that they call because creating a
-- trigger blocks writes to its table for a moment, and replacing a function does not. Lock order: the
-- tables in the order of this file.

create or replace trigger audit_append_only before update or delete or truncate on audit
  for each statement execute function refuse_change();
create or replace trigger audit_outcomes_append_only before update or delete or truncate on audit_outcomes
  for each statement execute function refuse_change();
