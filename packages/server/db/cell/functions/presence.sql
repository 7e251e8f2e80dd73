-- Who is online. Lock order: the gateway, users by app_no and uid, presence, event_bodies.

create or replace function update_presence_name() returns trigger
language plpgsql as $$
begin
  update presence set name_key = new.name_key where app_no = new.app_no and uid = new.uid;
  return null;
end $$;

/* Locks users in the order that all transactions use. */
create or replace function lock_users(p_users json) returns void
language plpgsql
set enable_seqscan = off
as $$
begin
  perform from users u
  where (u.app_no, u.uid) in (
    select app_no, uid from json_to_recordset(p_users) as c (app_no int, uid text collate "C"))
  order by u.app_no, u.uid for no key update;
end $$;

create or replace function connection_payload(u users, p_connection json) returns json
language sql volatile
return concat('{"user":', user_json(u), ',"status":"', case when u.online then 'online' else 'offline' end,
  '","timestamp":', floor(1000 * date_part('epoch', clock_timestamp()))::bigint,
  ',"connection":' || p_connection::text, '}')::json;

/*
 * Stores that users, each `{"app_no", "uid", "connection"}`, have a device at this gateway.
 * Repeating it does no harm; it skips users who no longer exist.
 */
create or replace function connect_users(p_gateway uuid, p_users json) returns void
language plpgsql
set enable_seqscan = off
as $$
begin
  perform from gateways where gateway = p_gateway and not ended for share;
  if not found then
    raise exception 'gateway % has ended', p_gateway using errcode = 'LQ003';
  end if;
  perform lock_users(p_users);
  with came as (
    insert into presence as p (app_no, uid, name_key, gateways)
    select u.app_no, u.uid, u.name_key, array[p_gateway]
    from json_to_recordset(p_users) as c (app_no int, uid text collate "C")
    join users u using (app_no, uid)
    where u.deactivated_at is null and u.removed_at is null
    on conflict (app_no, uid) do update set gateways = p.gateways || p_gateway
    where p_gateway <> all (p.gateways)
    returning app_no, uid, cardinality(gateways) = 1 as first
  ), changed as (
    update users u set online = true from came c
    where c.first and u.app_no = c.app_no and u.uid = c.uid
    returning u
  )
  insert into event_bodies (app_no, type, key, active_uid, payload)
  select (u).app_no, 'user.connection.changed', 'user:' || (u).uid,
    case when (u).role <> '@agentic' then (u).uid end, connection_payload(u, connection)
  from changed join json_to_recordset(p_users) as c (app_no int, uid text collate "C", connection json)
    on c.app_no = (u).app_no and c.uid = (u).uid;
end $$;

/*
 * Stores that users, each `{"app_no", "uid", "connection", "idle"}`, have had no device at this
 * gateway for `idle` seconds. Users without a device at another gateway go offline.
 */
create or replace function disconnect_users(p_gateway uuid, p_users json) returns void
language plpgsql
set enable_seqscan = off
as $$
begin
  perform lock_users(p_users);
  with gone as (
    delete from presence p
    using json_to_recordset(p_users)
      as c (app_no int, uid text collate "C", connection json, idle double precision)
    where p.app_no = c.app_no and p.uid = c.uid and p.gateways = array[p_gateway]
    returning p.app_no, p.uid, c.connection, c.idle
  ), changed as (
    update users u
    set online = false, last_active_at = clock_timestamp() - make_interval(secs => g.idle)
    from gone g where u.app_no = g.app_no and u.uid = g.uid and u.removed_at is null
    returning u, g.connection
  )
  insert into event_bodies (app_no, type, key, active_uid, payload)
  select (u).app_no, 'user.connection.changed', 'user:' || (u).uid,
    case when (u).role <> '@agentic' then (u).uid end, connection_payload(u, connection)
  from changed;
  update presence p set gateways = array_remove(p.gateways, p_gateway)
  from json_to_recordset(p_users) as c (app_no int, uid text collate "C")
  where p.app_no = c.app_no and p.uid = c.uid and p_gateway = any (p.gateways);
  -- A device that is lost in a call. The job looks whether its user is back by then.
  perform enqueue_job(c.app_no, 'calls.leave', jsonb_build_object('uid', c.uid, 'offline', true), interval '10 seconds')
  from json_to_recordset(p_users) as c (app_no int, uid text collate "C")
  where exists (select from call_participants l
    where l.app_no = c.app_no and l.uid = c.uid and l.state in ('waiting', 'ongoing'));
end $$;

/*
 * Disconnects up to p_limit users of a gateway that has ended, in key order after p_after_app and
 * p_after_uid: all calls together scan the online users once. Returns the key to continue after, or
 * null after the last user.
 */
create or replace function release_gateway(
  p_gateway uuid, p_after_app int, p_after_uid text, p_limit int, out app_no int, out uid text
)
language plpgsql as $$
declare
  v_users json;
begin
  select json_agg(json_build_object('app_no', f.app_no, 'uid', f.uid, 'idle', f.idle)
      order by f.app_no, f.uid),
    (array_agg(f.app_no order by f.app_no desc, f.uid desc))[1],
    (array_agg(f.uid order by f.app_no desc, f.uid desc))[1]
  into v_users, app_no, uid
  from (
    select p.app_no, p.uid, date_part('epoch', clock_timestamp() - g.seen_at) as idle
    from presence p, gateways g
    where g.gateway = p_gateway and p_gateway = any (p.gateways)
      and (p.app_no, p.uid) > (p_after_app, p_after_uid)
    order by p.app_no, p.uid limit p_limit
  ) f;
  if app_no is null then
    delete from gateways where gateway = p_gateway;
  else
    perform disconnect_users(p_gateway, v_users);
  end if;
end $$;
