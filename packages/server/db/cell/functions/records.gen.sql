-- Made by `npm run generate` from src/core/records. Do not edit. Locks: none.

/* The card of a user: the record without role and presence, and without the closing brace. Everyone sees it.
 * concat skips null values. */
create or replace function user_card(u users) returns text
language sql stable
return concat(
  '{"uid":', to_json(u.uid),
  ',"name":', to_json(u.name),
  ',"avatar":' || to_json(u.avatar)::text,
  ',"link":' || to_json(u.link)::text,
  ',"statusMessage":' || to_json(u.status_message)::text,
  ',"createdAt":', unix(u.created_at),
  ',"updatedAt":' || unix(u.updated_at)::text,
  ',"deactivatedAt":' || unix(u.deactivated_at)::text,
  ',"metadata":' || (u.metadata - '@private')::text);

/* What users across a block don't see, to append to user_text. */
create or replace function user_presence(u users) returns text
language sql stable
return concat(
  ',"status":', case when u.online then '"available"' else '"offline"' end,
  ',"lastActiveAt":' || unix(u.last_active_at)::text);

/* The card of a group: the record without the number of members and the closing brace. */
create or replace function group_card(g groups) returns text
language sql stable
return concat(
  '{"guid":', to_json(g.guid),
  ',"name":', to_json(g.name),
  ',"type":"', g.type, '"',
  ',"description":' || to_json(g.description)::text,
  ',"icon":' || to_json(g.icon)::text,
  ',"owner":', to_json(g.owner),
  ',"conversationId":', to_json('group_' || g.guid),
  ',"createdAt":', unix(g.created_at),
  ',"updatedAt":' || unix(g.updated_at)::text,
  ',"updatedBy":' || to_json(g.updated_by)::text,
  ',"metadata":' || g.metadata::text);

/* A message as everyone sees it, without its content and the closing brace. */
create or replace function message_text(m messages, h conversations) returns text
language sql stable
return concat(
  '{"id":"', m.id, '"',
  ',"muid":' || to_json(m.muid)::text,
  ',"conversationId":', to_json(conversation_id(h.kind, h.one, h.other)),
  ',"sender":', to_json(m.sender),
  ',"receiverType":"', h.kind,
  '","receiver":', to_json(receiver_of(m, h)),
  ',"category":', to_json(m.category),
  ',"type":', to_json(m.type),
  ',"parentId":"' || m.parent_id::text || '"',
  ',"quotedMessageId":"' || m.quoted_id::text || '"',
  ',"tags":' || case when m.tags <> '{}' and m.deleted_at is null then to_json(m.tags) end::text,
  ',"sentAt":', id_second(m.id),
  ',"updatedAt":', coalesce(unix(m.updated_at), id_second(m.id)),
  ',"editedAt":' || unix(m.edited_at)::text,
  ',"editedBy":' || to_json(m.edited_by)::text,
  ',"deletedAt":' || unix(m.deleted_at)::text,
  ',"deletedBy":' || to_json(m.deleted_by)::text,
  ',"pinnedAt":' || unix(m.pinned_at)::text,
  ',"pinnedBy":' || to_json(m.pinned_by)::text);

/* The same for a plain message that is being sent: not for replies and quotes. */
create or replace function sent_message_text(p_id bigint, p_kind text, p_one text, p_other text, p_sender text,
  p_receiver text, p_category text, p_type text, p_tags text[], p_muid text) returns text
language sql stable
return concat(
  '{"id":"', p_id, '"',
  ',"muid":' || to_json(p_muid)::text,
  ',"conversationId":', to_json(conversation_id(p_kind, p_one, p_other)),
  ',"sender":', to_json(p_sender),
  ',"receiverType":"', p_kind,
  '","receiver":', to_json(p_receiver),
  ',"category":', to_json(p_category),
  ',"type":', to_json(p_type),
  ',"tags":' || case when p_tags <> '{}' then to_json(p_tags) end::text,
  ',"sentAt":', id_second(p_id),
  ',"updatedAt":', id_second(p_id));

/* A user as everyone sees it, without the closing brace: fields that depend on the viewer are appended.
 * Null if there is no such user. */
create or replace function user_text(u users) returns text
language sql stable
return u.card || ',"role":' || case when u.role = 'default' then '"default"' else to_json(shown_role(u.app_no, u.role))::text end;

/* A group as everyone sees it, without the closing brace: the viewer's membership is appended.
 * Null if there is no such group. */
create or replace function group_text(g groups) returns text
language sql stable
return g.card || ',"membersCount":' || g.members_count;
