-- All triggers of a cell. They are apart from the functions that they call because creating a trigger
-- blocks writes to its table for a moment, and replacing a function does not. Lock order: the tables in
-- the order of this file; `loquat migrate` gives up and retries before a request would notice.

-- Most writes already have a transaction id when they announce, and skip the call.
create or replace trigger outbox_assign_xid before insert on outbox
for each statement when (pg_current_xact_id_if_assigned() is null)
execute function outbox_assign_xid();

create or replace trigger add_search_change after update of data on messages
for each row when (new.data is distinct from old.data and new.deleted_at is null)
execute function add_search_change();

create or replace trigger update_presence_name after update of name on users
for each row when (new.online and new.name_key <> old.name_key) execute function update_presence_name();
