-- Clearing views of conversations.
-- Lock order: the caller has locked the head; then inbox by uid, direct_views, view_totals
-- by uid, totals.

/* Removes a visible view of a 1:1 conversation from the user's list. */
create or replace function remove_view(h conversations, i inbox) returns void
language sql as $$
  delete from direct_views
  where app_no = i.app_no and uid = i.uid and blocked = i.blocked
    and updated_second = h.updated_second and with_id = i.with_id
$$;

/* Clears a user's view of a conversation whose head is locked. Returns whether there was one. */
create or replace function clear_view(p_app_no int, p_conversation bigint, p_uid text) returns boolean
language plpgsql as $$
declare
  h conversations;
  i inbox;
begin
  select * into h from conversations where app_no = p_app_no and no = p_conversation;
  select * into i from inbox
  where app_no = p_app_no and conversation = p_conversation and uid = p_uid
  for no key update;
  if not found then return false; end if;
  update inbox set
    cleared_id = h.last_id, read_id = h.last_id, read_counted = h.counted, own_since = 0,
    tags = '{}', pinned_at = null, visible = false
  where app_no = p_app_no and uid = p_uid and kind = i.kind and with_id = i.with_id;
  if i.visible then
    perform remove_view(h, i);
    perform add_views(p_app_no, p_uid, -1, case when i.blocked then 0 else -1 end);
    perform add_app_views(p_app_no, -1, case when i.blocked then 0 else -1 end);
    update conversations set hidden = hidden + 1 where app_no = p_app_no and no = p_conversation;
  elsif i.scope is not null and h.shown_id > i.cleared_id then
    update conversations set hidden = hidden + 1 where app_no = p_app_no and no = p_conversation;
    perform add_total(p_app_no, 'views.group', -1);
  end if;
  return i.visible or (i.scope is not null and h.shown_id > i.cleared_id);
end $$;

/* Clears the views of all participants of a conversation whose head is locked. */
create or replace function clear_views(p_app_no int, p_conversation bigint) returns void
language plpgsql as $$
declare
  h conversations;
  v_seen bigint;
begin
  select * into h from conversations where app_no = p_app_no and no = p_conversation;
  if h.kind = 'user' then
    perform clear_view(p_app_no, p_conversation, uid)
    from unnest(array[h.one, h.other]) as uid order by uid;
    return;
  end if;
  select count(*) into v_seen from inbox
  where app_no = p_app_no and conversation = p_conversation and scope is not null
    and cleared_id < h.shown_id;
  update inbox set
    cleared_id = h.last_id, read_id = h.last_id, read_counted = h.counted, own_since = 0,
    tags = '{}', pinned_at = null
  where app_no = p_app_no and conversation = p_conversation and scope is not null;
  update conversations set hidden = hidden + v_seen
  where app_no = p_app_no and no = p_conversation;
  perform add_total(p_app_no, 'views.group', -v_seen);
end $$;
