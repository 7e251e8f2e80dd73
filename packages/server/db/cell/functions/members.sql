-- Memberships of groups.
-- Lock order: the caller has locked the group's head; then inbox by uid, groups, totals.

/*
 * Adds a user to a group whose head is locked. The read mark is set before the message about it is
 * sent; messages sent before the user joined don't count as unread.
 */
create or replace function add_member(p_app_no int, p_guid text, p_uid text, p_scope text) returns inbox
language plpgsql as $$
declare
  h conversations;
  i inbox;
begin
  select * into h from conversations
  where app_no = p_app_no and kind = 'group' and one = p_guid and other = '';
  insert into inbox as old
    (app_no, uid, kind, with_id, conversation, read_id, read_counted, scope, joined_at)
  values
    (p_app_no, p_uid, 'group', p_guid, h.no, h.last_id, h.counted, p_scope, clock_timestamp())
  on conflict (app_no, uid, kind, with_id) do update set
    read_id = excluded.read_id, read_counted = excluded.read_counted, own_since = 0,
    scope = excluded.scope, joined_at = excluded.joined_at
  returning * into i;
  update groups set members_count = members_count + 1 where app_no = p_app_no and guid = p_guid;
  perform count_member(h, i, 1);
  return i;
end $$;

/* Ends a membership in a group whose head is locked. Returns null if there was none. */
create or replace function remove_member(p_app_no int, p_guid text, p_uid text) returns inbox
language plpgsql as $$
declare
  h conversations;
  i inbox;
begin
  select * into h from conversations
  where app_no = p_app_no and kind = 'group' and one = p_guid and other = '';
  select * into i from inbox
  where app_no = p_app_no and uid = p_uid and kind = 'group' and with_id = p_guid
    and scope is not null
  for no key update;
  if not found then return null; end if;
  update inbox set scope = null, joined_at = null, pinned_at = null
  where app_no = p_app_no and uid = p_uid and kind = 'group' and with_id = p_guid;
  update groups set members_count = members_count - 1 where app_no = p_app_no and guid = p_guid;
  perform count_member(h, i, -1);
  perform leave_calls(p_app_no, p_uid);
  return i;
end $$;

/*
 * Counts a joining or leaving member's view: with the app's views, or with the hidden ones of the
 * group.
 */
create or replace function count_member(h conversations, i inbox, p_change int) returns void
language plpgsql as $$
begin
  if h.shown_id > i.cleared_id then
    perform add_total(h.app_no, 'views.group', p_change);
  elsif h.shown_id > 0 then
    update conversations set hidden = hidden + p_change where app_no = h.app_no and no = h.no;
  end if;
end $$;

/*
 * Adds the message about a change of a membership, with the records of all users and the group as
 * they are after it. The group's head is locked.
 */
create or replace function append_member_action(
  p_app_no int, p_guid text, p_by text, p_on text, p_action text, p_extras jsonb, p_moves boolean
) returns jsonb
language plpgsql as $$
declare
  v_no bigint;
  v_by jsonb;
  v_on jsonb;
  v_for jsonb;
begin
  select no into v_no from conversations
  where app_no = p_app_no and kind = 'group' and one = p_guid and other = '';
  select user_record(u) into v_by from users u where app_no = p_app_no and uid = p_by;
  select user_record(u) into v_on from users u where app_no = p_app_no and uid = p_on;
  select group_record(g) into v_for from groups g where app_no = p_app_no and guid = p_guid;
  v_by := coalesce(v_by, (system_text(p_app_no) || '}')::jsonb);
  return jsonb_set(
    append_action(p_app_no, v_no, p_by, 'groupMember',
      jsonb_strip_nulls(jsonb_build_object('action', p_action, 'extras', p_extras))
      || jsonb_build_object('entities', jsonb_build_object(
        'by', jsonb_build_object('entity', small_record(v_by), 'entityType', 'user'),
        'on', jsonb_build_object('entity', small_record(v_on), 'entityType', 'user'),
        'for', jsonb_build_object('entity', small_record(v_for), 'entityType', 'group'))),
      p_moves),
    '{data,entities}', jsonb_build_object(
      'by', jsonb_build_object('entity', v_by, 'entityType', 'user'),
      'on', jsonb_build_object('entity', v_on, 'entityType', 'user'),
      'for', jsonb_build_object('entity', v_for, 'entityType', 'group')));
end $$;
