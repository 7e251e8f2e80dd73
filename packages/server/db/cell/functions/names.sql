-- What records print that no column holds. Locks: none, except for the trigger of roles, which locks the app's
-- row. Writers of roles lock it first.

create or replace function conversation_id(p_kind text, p_one text, p_other text) returns text
language sql immutable parallel safe
return case p_kind when 'group' then 'group_' || p_one else p_one || '_user_' || p_other end;

/*
 * If neither of the two users sent it, it is the app's action message about a message of theirs, and
 * names the receiver of that message.
 */
create or replace function receiver_of(m messages, h conversations) returns text
language sql immutable
return case
  when h.kind = 'group' or m.sender = h.other then h.one
  when m.sender = h.one then h.other
  else coalesce(m.data #>> '{entities,for,entity,uid}', h.one)
end;

/*
 * The roles of an app that a send must know about: removed ones, whose users count as `default`, and those
 * whose users may write to friends only. apps.special_roles says whether there are any.
 */
create or replace function special_roles(p_app_no int)
returns table (role text, removed boolean, friends_only boolean)
language sql stable
begin atomic
  select r.role, r.removed_at is not null,
    r.settings ->> 'sendMessagesTo' is not distinct from 'friendsOnly'
  from roles r
  where r.app_no = p_app_no
    and (r.removed_at is not null or r.settings ->> 'sendMessagesTo' = 'friendsOnly');
end;

/* The lock comes first, because a statement doesn't see roles that are committed while it waits. */
create or replace function set_special_roles() returns trigger
language plpgsql as $$
declare
  v_app_no int := coalesce(new.app_no, old.app_no);
begin
  perform from apps where app_no = v_app_no for no key update;
  update apps set special_roles = not special_roles
  where app_no = v_app_no and special_roles <> exists (select from special_roles(v_app_no));
  return null;
end $$;

/* The role that a user is shown with: one that was removed counts as `default`. */
create or replace function shown_role(p_app_no int, p_role text) returns text
language sql stable strict
return case
  when p_role in ('default', '@agentic') then p_role
  when exists (
    select from roles where app_no = p_app_no and role = p_role and removed_at is null
  ) then p_role
  else 'default'
end;
