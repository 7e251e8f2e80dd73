-- The records of users, groups and messages, as answers and events show them. Locks: none.

create or replace function conversation_id(p_kind text, p_one text, p_other text) returns text
language sql immutable parallel safe
return case p_kind when 'group' then 'group_' || p_one else p_one || '_user_' || p_other end;

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

/*
 * A user as others see it (areas/users/record.ts does the same for answers). As text: a send puts two
 * of them into its message, and building jsonb that is only printed costs several times as much.
 * concat leaves out what is null.
 */
create or replace function user_json(u users) returns text
language sql stable
return concat(
  '{"uid":', to_json(u.uid), ',"name":', to_json(u.name),
  ',"avatar":' || to_json(u.avatar)::text, ',"link":' || to_json(u.link)::text,
  ',"role":', to_json(case when u.role = 'default' then u.role
    else shown_role(u.app_no, u.role) end),
  case when u.online then ',"status":"online"' else ',"status":"offline"' end,
  ',"statusMessage":' || to_json(u.status_message)::text,
  ',"lastActiveAt":' || unix(u.last_active_at), ',"createdAt":' || unix(u.created_at),
  ',"updatedAt":' || unix(u.updated_at), ',"deactivatedAt":' || unix(u.deactivated_at),
  ',"metadata":' || (u.metadata - '@private')::text, '}');

create or replace function user_record(u users) returns jsonb
language sql stable
return user_json(u)::jsonb;

/* Acts for the app itself; it has no row. */
create or replace function system_record(p_app_no int) returns jsonb
language sql stable
return (select jsonb_build_object('uid', 'app_system', 'name', 'System', 'role', 'default',
    'status', 'offline', 'createdAt', unix(created_at))
  from apps where app_no = p_app_no);

/* A group as it is for everyone (areas/groups/record.ts does the same for answers). */
create or replace function group_json(g groups) returns text
language sql stable
return concat(
  '{"guid":', to_json(g.guid), ',"name":', to_json(g.name), ',"type":"', g.type, '"',
  ',"description":' || to_json(g.description)::text, ',"icon":' || to_json(g.icon)::text,
  ',"owner":', to_json(g.owner), ',"membersCount":', g.members_count,
  ',"conversationId":', to_json('group_' || g.guid), ',"createdAt":', unix(g.created_at),
  ',"updatedAt":' || unix(g.updated_at), ',"updatedBy":' || to_json(g.updated_by)::text,
  ',"metadata":' || g.metadata::text, '}');

create or replace function group_record(g groups) returns jsonb
language sql stable
return group_json(g)::jsonb;

/* What a message keeps of a user or group, for when it is gone. */
create or replace function small_record(p_record jsonb) returns jsonb
language sql immutable
return jsonb_strip_nulls(jsonb_build_object('uid', p_record -> 'uid', 'guid', p_record -> 'guid',
  'name', p_record -> 'name'));

create or replace function small_records(p_records jsonb) returns jsonb
language sql immutable
return (select jsonb_object_agg(key, small_record(value)) from jsonb_each(p_records));

create or replace function with_mentions(p_data jsonb, p_mentions jsonb) returns jsonb
language sql immutable
return case when p_mentions is null then p_data - 'mentions'
  else p_data || jsonb_build_object('mentions', p_mentions) end;

create or replace function receiver_of(m messages, h conversations) returns text
language sql immutable
return case when h.kind = 'group' or m.sender <> h.one then h.one else h.other end;

/* A message without what is read at answer time (core/message-record.ts adds it). */
create or replace function message_record(m messages, h conversations) returns jsonb
language sql stable
return jsonb_strip_nulls(jsonb_build_object(
    'id', m.id::text, 'muid', m.muid, 'conversationId', conversation_id(h.kind, h.one, h.other),
    'sender', m.sender, 'receiverType', h.kind, 'receiver', receiver_of(m, h),
    'category', m.category, 'type', m.type,
    'parentId', m.parent_id::text, 'quotedMessageId', m.quoted_id::text,
    'tags', case when m.tags <> '{}' then to_jsonb(m.tags) end,
    'sentAt', unix(m.sent_at), 'updatedAt', unix(m.updated_at),
    'editedAt', unix(m.edited_at), 'editedBy', m.edited_by,
    'deletedAt', unix(m.deleted_at), 'deletedBy', m.deleted_by))
  || jsonb_build_object('data', m.data);

/* A user or group as a message shows it; nothing of those that are gone. */
create or replace function entity_record(p_app_no int, p_kind text, p_id text) returns jsonb
language plpgsql stable as $$
declare
  v_record jsonb;
begin
  if p_kind = 'group' then
    select group_record(g) into v_record from groups g
    where g.app_no = p_app_no and g.guid = p_id and g.removed_at is null;
  elsif p_id = 'app_system' then
    v_record := system_record(p_app_no);
  else
    select user_record(u) into v_record from users u
    where u.app_no = p_app_no and u.uid = p_id and u.removed_at is null;
  end if;
  return v_record;
end $$;
