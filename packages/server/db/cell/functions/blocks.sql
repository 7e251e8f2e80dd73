-- Blocks between two users.
-- Lock order: users by uid, conversations in the order of their keys, blocks, inbox, direct_views,
-- view_totals, totals.

/*
 * Stores in a user's inbox row and list whether they block the other user of a 1:1 conversation. The
 * head is locked.
 */
create or replace function set_view_blocked(h conversations, p_uid text, p_with text, p_blocked boolean) returns void
language plpgsql as $$
declare
  v_visible boolean;
begin
  update inbox set blocked = p_blocked
  where app_no = h.app_no and uid = p_uid and kind = 'user' and with_id = p_with
    and blocked <> p_blocked
  returning visible into v_visible;
  if v_visible then
    update direct_views set blocked = p_blocked
    where app_no = h.app_no and uid = p_uid and blocked = not p_blocked
      and updated_second = h.updated_second and with_id = p_with;
    perform add_views(h.app_no, p_uid, 0, case when p_blocked then -1 else 1 end);
    perform add_app_views(h.app_no, 0, case when p_blocked then -1 else 1 end);
  end if;
end $$;

/*
 * Blocks or unblocks other users, in the order of their conversations' keys, and returns the users
 * whose state changed. It locks the heads, so that nobody sends a message in between, and creates those
 * that are missing: blocks between two users always have a head that shows them. A head that exists
 * only because of a block is deleted with the last block between the two users.
 */
create or replace function set_blocks(
  p_app_no int, p_uid text, p_others text[], p_blocked boolean, p_at timestamptz default now()
) returns setof text
language plpgsql as $$
declare
  v_other text;
  h conversations;
begin
  for v_other in
    select o from unnest(p_others) o
    where p_blocked or exists (select from blocks
      where app_no = p_app_no and uid = p_uid and blocked_uid = o)
    order by least(o collate "C", p_uid collate "C"), greatest(o collate "C", p_uid collate "C")
  loop
    h := open_conversation(p_app_no, p_uid, v_other);
    if p_blocked then
      insert into blocks (app_no, uid, blocked_uid, created_at) values (p_app_no, p_uid, v_other, p_at)
      on conflict do nothing;
    else
      delete from blocks where app_no = p_app_no and uid = p_uid and blocked_uid = v_other;
    end if;
    if found then
      update conversations set
        blocked_one = case when p_uid = one then p_blocked else blocked_one end,
        blocked_other = case when p_uid = other then p_blocked else blocked_other end
      where app_no = p_app_no and no = h.no;
      perform set_view_blocked(h, p_uid, v_other, p_blocked);
      if p_blocked then
        perform leave_calls(p_app_no, p_uid);
        perform leave_calls(p_app_no, v_other);
      end if;
      return next v_other;
    end if;
    if not p_blocked and h.last_id = 0
      and not (case when p_uid = h.one then h.blocked_other else h.blocked_one end)
    then
      delete from conversations where app_no = p_app_no and no = h.no;
    end if;
  end loop;
end $$;

/* Refuses if either user of a 1:1 conversation blocks the other. */
create or replace function check_blocks(p_uid text, h conversations) returns void
language plpgsql as $$
declare
  v_other text := case when p_uid = h.one then h.other else h.one end;
begin
  if (case when p_uid = h.one then h.blocked_one else h.blocked_other end) then
    perform refuse('ERR_BLOCKED_RECEIVER', jsonb_build_object('uid', v_other));
  elsif h.blocked_one or h.blocked_other then
    perform refuse('ERR_BLOCKED_SENDER', jsonb_build_object('uid', v_other));
  end if;
end $$;
