-- Records of users, groups and messages as events and messages store them. The builders that print them
-- are in records.gen.sql. They are text, because building jsonb that is only printed costs several times as
-- much. Locks: none.

/*
 * Cards are built before a row is inserted, and after it is updated: a trigger before the update would lock
 * the row once more in every update, even if none of its columns changes.
 */
create or replace function set_user_card() returns trigger
language plpgsql as $$
begin
  new.card := user_card(new);
  return new;
end $$;

create or replace function update_user_card() returns trigger
language plpgsql as $$
begin
  update users set card = user_card(new) where app_no = new.app_no and uid = new.uid;
  return null;
end $$;

create or replace function set_group_card() returns trigger
language plpgsql as $$
begin
  new.card := group_card(new);
  return new;
end $$;

create or replace function update_group_card() returns trigger
language plpgsql as $$
begin
  update groups set card = group_card(new) where app_no = new.app_no and guid = new.guid;
  return null;
end $$;

/* A user with presence. */
create or replace function user_json(u users) returns text
language sql stable
return user_text(u) || user_presence(u) || '}';

/* A user as events show it: without presence, because all recipients get the same event. */
create or replace function user_snapshot(u users) returns text
language sql stable
return user_text(u) || '}';

create or replace function user_record(u users) returns jsonb
language sql stable
return user_snapshot(u)::jsonb;

/* The record of the app itself, which has no row. Like user_text, it lacks the closing brace. */
create or replace function system_text(p_app_no int) returns text
language sql stable
return (select concat('{"uid":"app_system","name":"System","role":"default","createdAt":', unix(created_at))
  from apps where app_no = p_app_no);

create or replace function system_json(p_app_no int) returns text
language sql stable
return system_text(p_app_no) || ',"status":"offline"}';

create or replace function group_json(g groups) returns text
language sql stable
return group_text(g) || '}';

create or replace function group_record(g groups) returns jsonb
language sql stable
return group_json(g)::jsonb;

/* A message without what is read when it is shown. */
create or replace function message_record(m messages, h conversations) returns jsonb
language sql stable
return concat(message_text(m, h), ',"data":', m.data, '}')::jsonb;

/* The part of a user or group that a message stores, for when the original is deleted. */
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

/* A user or group as a message shows it, or null if it was deleted. */
create or replace function entity_record(p_app_no int, p_kind text, p_id text) returns jsonb
language plpgsql stable as $$
declare
  v_record jsonb;
begin
  if p_kind = 'group' then
    select group_record(g) into v_record from groups g
    where g.app_no = p_app_no and g.guid = p_id and g.removed_at is null;
  elsif p_id = 'app_system' then
    v_record := system_text(p_app_no) || '}';
  else
    select user_record(u) into v_record from users u
    where u.app_no = p_app_no and u.uid = p_id and u.removed_at is null;
  end if;
  return v_record;
end $$;
