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

/*
 * Clears the views that the next p_limit members of a group after p_after have of messages up to p_upto, or up to the
 * newest one if it is null. Locks the head. `last` is null if no member is left, and `there` is false if the
 * group isn't there any more.
 */
create or replace function clear_members(
  p_app_no int, p_conversation bigint, p_upto bigint, p_after text, p_limit int,
  out there boolean, out upto bigint, out last text
)
language plpgsql as $$
declare
  h conversations;
  v_uids text[];
  v_counted bigint;
  v_hidden int := 0;
begin
  select c.* into h from conversations c
    join groups g on g.app_no = c.app_no and g.guid = c.one and g.removed_at is null
  where c.app_no = p_app_no and c.no = p_conversation and c.kind = 'group'
  for no key update of c;
  there := found;
  if not there then return; end if;
  upto := coalesce(p_upto, h.last_id);
  -- Counted back from the head: an import of older messages raises the counts of all later ones.
  v_counted := h.counted - case when upto >= h.last_id then 0 else (
    select count(*) from messages m
    where m.app_no = p_app_no and m.conversation = h.no and m.id > upto and m.counts) + (
    select count(*) from uncounted u
    where u.app_no = p_app_no and u.conversation = h.no and u.id > upto and not exists (
      select from messages m where m.app_no = p_app_no and m.conversation = h.no and m.id = u.id)) end;
  v_uids := array(
    select i.uid from inbox i
    where i.app_no = p_app_no and i.conversation = h.no and i.scope is not null and i.uid > p_after
    order by i.uid limit p_limit);
  if upto >= h.shown_id then
    select count(*) into v_hidden from inbox i
    where i.app_no = p_app_no and i.uid = any (v_uids) and i.kind = 'group' and i.with_id = h.one
      and i.cleared_id < h.shown_id;
  end if;
  update inbox i set
    cleared_id = upto, tags = '{}', pinned_at = null, read_id = greatest(i.read_id, upto),
    read_counted = case when i.read_id > upto then i.read_counted else v_counted end,
    own_since = case when i.read_id > upto then i.own_since when upto >= h.last_id then 0 else (
      select count(*) from messages m
      where m.app_no = p_app_no and m.conversation = h.no and m.sender = i.uid
        and m.id > upto and m.counts and m.deleted_at is null) end
  where i.app_no = p_app_no and i.uid = any (v_uids) and i.kind = 'group' and i.with_id = h.one
    and i.cleared_id < upto;
  if v_hidden > 0 then
    update conversations c set hidden = c.hidden + v_hidden where c.app_no = p_app_no and c.no = h.no;
    perform add_total(p_app_no, 'views.group', -v_hidden);
  end if;
  last := case when cardinality(v_uids) = p_limit then v_uids[p_limit] end;
end $$;
