-- All triggers of a cell. They are apart from the functions that they call because creating a trigger
-- blocks writes to its table for a moment, and replacing a function does not. Lock order: the tables in
-- the order of this file; `loquat migrate` gives up and retries before a request would notice.

create or replace trigger add_search_change after update of data on messages
for each row when (new.data is distinct from old.data and new.deleted_at is null)
execute function add_search_change();

-- Every change of a message forgets the copy that its head keeps.
create or replace trigger forget_copies_of_updated after update on messages
referencing old table as changed for each statement execute function forget_copies();

create or replace trigger forget_copies_of_deleted after delete on messages
referencing old table as changed for each statement execute function forget_copies();

create or replace trigger set_special_roles after insert or delete or update of removed_at, settings on roles
for each row execute function set_special_roles();

create or replace trigger set_user_card before insert on users
for each row execute function set_user_card();

-- The columns that the card shows. A change of presence leaves it as it is.
create or replace trigger update_user_card
after update of uid, name, avatar, link, status_message, created_at, updated_at, deactivated_at, metadata
on users for each row execute function update_user_card();

-- Most users have no picture of ours, and pay nothing for it.
create or replace trigger count_avatar_of_inserted after insert on users
for each row when (new.avatar_file is not null) execute function count_avatar();

create or replace trigger count_avatar_of_updated after update of avatar_file on users
for each row when (new.avatar_file is distinct from old.avatar_file) execute function count_avatar();

create or replace trigger count_avatar_of_deleted after delete on users
for each row when (old.avatar_file is not null) execute function count_avatar();

create or replace trigger set_group_card before insert on groups
for each row execute function set_group_card();

-- A member who joins or leaves changes none of these.
create or replace trigger update_group_card
after update of guid, name, type, description, icon, owner, created_at, updated_at, updated_by, metadata
on groups for each row execute function update_group_card();

create or replace trigger count_icon_of_inserted after insert on groups
for each row when (new.icon_file is not null) execute function count_icon();

create or replace trigger count_icon_of_updated after update of icon_file on groups
for each row when (new.icon_file is distinct from old.icon_file) execute function count_icon();

create or replace trigger count_icon_of_deleted after delete on groups
for each row when (old.icon_file is not null) execute function count_icon();

create or replace trigger count_call_file after insert or delete on call_files
for each row execute function count_call_file();

create or replace trigger end_recordings after delete on call_connections
for each row when (old.what in ('camera', 'screen')) execute function end_recordings();

create or replace trigger update_presence_name after update of name on users
for each row when (new.online and new.name_key <> old.name_key) execute function update_presence_name();

create or replace trigger remove_steps_of_run after delete on agent_runs
for each row execute function remove_steps_of_run();

create or replace trigger remove_steps_of_replay after delete on agent_replays
for each row execute function remove_steps_of_replay();
