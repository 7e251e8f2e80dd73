-- Which messages all members of a group have received or read. Locks: none; the worker that calls these
-- holds a lease.

/*
 * How far a member has received or read a conversation. Members who joined later, or cleared their
 * view, needn't mark what came before.
 */
create or replace function reached_id(i inbox, p_kind text) returns bigint
language sql stable
return greatest(i.read_id,
  (select max(k.upto_id) from marks k where k.app_no = i.app_no and k.conversation = i.conversation
    and k.uid = i.uid and k.kind = 'read'),
  case when p_kind = 'delivered' then (
    select max(k.upto_id) from marks k where k.app_no = i.app_no and k.conversation = i.conversation
      and k.uid = i.uid and k.kind = 'delivered') end);

/* Whether a group waits for this member: not for bots, nor for users who were deactivated or deleted. */
create or replace function gives_receipts(i inbox) returns boolean
language sql stable
return i.scope is not null and exists (
  select from users u where u.app_no = i.app_no and u.uid = i.uid
    and u.deactivated_at is null and u.removed_at is null and not u.bot);
