-- Mentions of users in messages.
-- Lock order: lock_mentioned_users locks users by uid, before the head; the others run under the head's lock.

/*
 * Returns the records of those of these users who exist, by uid, or null if none does. It locks
 * them until the transaction ends, so that a removal finds every mention of them. Call it before
 * the head is locked.
 */
create or replace function lock_mentioned_users(p_app_no int, p_uids text[]) returns jsonb
-- Not in SQL: PostgreSQL would plan it again with each call.
language plpgsql as $$
declare
  v_there jsonb;
begin
  -- Look up each user by key: a plan for any number of them could scan all users. For JSON the planner
  -- always expects the same number of elements, so it keeps the plan.
  select jsonb_object_agg(there.uid, there.record) into v_there
  from (select value as uid from json_array_elements_text(array_to_json(p_uids))
    order by value collate "C") wanted, lateral (
    select u.uid, user_record(u) as record from users u
    where u.app_no = p_app_no and u.uid = wanted.uid and u.removed_at is null
    limit 1 for share) there;
  return v_there;
end $$;

/* Stores that a message mentions users, and returns the users whom it didn't mention before. */
create or replace function add_mentions(p_app_no int, p_id bigint, p_uids text[]) returns setof text
language plpgsql as $$
begin
  return query insert into mentions (app_no, uid, conversation, message_id, parent_id, counts)
  select p_app_no, mentioned, m.conversation, m.id, m.parent_id,
    mentioned <> m.sender and not m.silent
  from messages m, unnest(p_uids) mentioned
  where m.app_no = p_app_no and m.id = p_id
  on conflict do nothing
  returning uid;
end $$;

/*
 * Returns the mentioned users who are notified: those who can read the message and have no block,
 * in either direction, with the user who mentions them. The message's head is locked.
 */
create or replace function mention_recipients(h conversations, p_by text, p_uids text[]) returns setof text
language plpgsql stable as $$
begin
  return query select mentioned from unnest(p_uids) mentioned
  where mentioned <> p_by
    and case h.kind when 'user' then mentioned in (h.one, h.other) else exists (
      select from inbox i
      where i.app_no = h.app_no and i.uid = mentioned and i.kind = 'group' and i.with_id = h.one
        and i.scope is not null) end
    and not exists (select from blocks b
      where b.app_no = h.app_no and b.uid = mentioned and b.blocked_uid = p_by)
    and not exists (select from blocks b
      where b.app_no = h.app_no and b.uid = p_by and b.blocked_uid = mentioned)
  order by mentioned collate "C";
end $$;
