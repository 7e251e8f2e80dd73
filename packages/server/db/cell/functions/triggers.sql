-- All triggers of a cell. They are apart from the functions that they call because creating a trigger
-- blocks writes to its table for a moment, and replacing a function does not. Lock order: the tables in
-- the order of this file; `loquat migrate` gives up and retries before a request would notice.

create or replace trigger add_search_change after update of data on messages
for each row when (new.data is distinct from old.data and new.deleted_at is null)
execute function add_search_change();

create or replace trigger update_presence_name after update of name on users
for each row when (new.online and new.name_key <> old.name_key) execute function update_presence_name();
