-- Mentions of users in messages.
-- Lock order: hold_mentioned locks users by uid, before the head; the others run under the head's lock.

/*
 * The records of those among these users who are there, by uid; null for none. They stay until the
 * transaction ends, so that a removal finds what is written of them: called before the head is locked.
 */
create or replace function hold_mentioned(p_app_no int, p_uids text[]) returns jsonb
-- Not in SQL: such functions are planned anew with each call.
language plpgsql as $$
declare
  v_there jsonb;
begin
  -- Each by its key: a plan for any number of them could read all users. Of JSON the same number is
  -- always expected, so that the plan is kept.
  select jsonb_object_agg(there.uid, there.record) into v_there
  from (select value as uid from json_array_elements_text(array_to_json(p_uids))
    order by value collate "C") wanted, lateral (
    select u.uid, user_record(u) as record from users u
    where u.app_no = p_app_no and u.uid = wanted.uid and u.removed_at is null
    limit 1 for share) there;
  return v_there;
end $$;

/* Tells users that a message mentions them, and returns those for whom that is new. */
create or replace function add_mentions(p_app_no int, p_id bigint, p_uids text[]) returns setof text
language plpgsql as $$
begin
  return query insert into mentions (app_no, uid, conversation, seq, message_id, parent_id, counts)
  select p_app_no, mentioned, m.conversation, m.seq, m.id, m.parent_id, mentioned <> m.sender
  from messages m, unnest(p_uids) mentioned
  where m.app_no = p_app_no and m.id = p_id
  on conflict do nothing
  returning uid;
end $$;

/*
 * Those among mentioned users who are told of it: who can read the message, whose conversation is
 * locked, and stands in no block with the user who mentions them.
 */
create or replace function told_of_mention(h conversations, p_by text, p_uids text[]) returns setof text
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
