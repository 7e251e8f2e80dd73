-- Notifications: from the log to fan-outs, and from fan-outs to deliveries.
-- Lock order: lease, notifier_progress, notification_batches, jobs, notification_fanouts, notification_held,
-- push_tokens by push_hash, notification_shown, notification_deliveries.

/*
 * Reads on in an app's log: queues a fan-out for each of the next p_limit events of these types, and moves the
 * position; messages also start batches for emails and SMS. `more`: there may be others. What is older than a day is passed over: nobody is notified of it any more. A
 * read mark matters only if a device shows something in that conversation.
 */
create or replace function queue_fanouts(
  p_job text, p_worker uuid, p_epoch bigint, p_app_no int, p_types text[], p_limit int,
  out queued int, out more boolean
)
language plpgsql as $$
declare
  v_after bigint;
  v_read int;
  v_to bigint;
  v_reached bigint;
  v_mails boolean;
  stretch record;
begin
  perform lock_lease(p_job, p_worker, p_epoch);
  queued := 0;
  more := false;
  select position into v_after from notifier_progress where app_no = p_app_no for no key update;
  select * into stretch from stretch_after(p_app_no, v_after);
  if stretch.last is null then return; end if;
  v_to := stretch.upto;
  if stretch.kept then
    v_mails := exists (select from notification_providers p
      where p.app_no = p_app_no and p.channel in ('email', 'sms') and p.enabled);
    with found as materialized (
      select position, type, key, payload, at
      from logged_events(p_app_no, stretch.base, p_limit, v_to, p_types)
    ), stored as (
      insert into notification_fanouts (app_no, position, key)
      select p_app_no, f.position, f.key from found f
      where f.at > now() - interval '24 hours'
        and (f.type not in ('conversation.read', 'conversation.mark.moved') or exists (
          select from notification_shown s
          where s.app_no = p_app_no and s.conversation = split_part(f.key, 'conversation:', 2)::bigint
            and s.uid = f.payload ->> 'uid'))
      returning 1
    ), batched as materialized (
      select start_batches(p_app_no, split_part(f.key, 'conversation:', 2)::bigint,
        (f.payload #>> '{message,id}')::bigint)
      from found f
      where v_mails and f.type = 'message.sent' and f.at > now() - interval '24 hours'
    )
    select (select count(*) from found), (select max(position) from found), (select count(*) from stored)
    from (select count(*) from batched) b
    into v_read, v_reached, queued;
    if v_read = p_limit then v_to := v_reached; end if;
  end if;
  update notifier_progress set position = v_to where app_no = p_app_no;
  more := v_to < stretch.last;
end $$;

/*
 * Stores what was decided about the next receivers of fan-outs, and how far these have come. `p_batch`:
 *   deliveries [{channel, provider, uid, hash, conversation, position, messageId, what, by, private, ids, expires}]
 *   held       [{uid, position, conversation, messageId, by, until}]   what waits for the end of quiet hours
 *   delayed    [{uid, until, to}]    what waited until then waits longer
 *   released   [{uid, until}]        what waited until then was decided about
 *   unshown    [{hash, conversation, ids}]   what devices don't show any more
 *   begun      [{position, after}]   fan-outs that have more receivers
 *   done       [position]            fan-outs that don't
 * Times are Unix milliseconds. A delivery is never due before an earlier one to the same device about the same
 * conversation.
 */
create or replace function record_fanouts(
  p_job text, p_worker uuid, p_epoch bigint, p_app_no int, p_batch json
) returns void
language plpgsql as $$
begin
  perform lock_lease(p_job, p_worker, p_epoch);
  if p_batch -> 'begun' is not null then
    update notification_fanouts f set after_uid = b.after
    from json_to_recordset(p_batch -> 'begun') as b (position bigint, after text)
    where f.app_no = p_app_no and f.position = b.position;
  end if;
  if p_batch -> 'done' is not null then
    delete from notification_fanouts where app_no = p_app_no and position in (
      select value::bigint from json_array_elements_text(p_batch -> 'done'));
  end if;
  if p_batch -> 'held' is not null then
    insert into notification_held (app_no, uid, position, conversation, message_id, by_uid, until)
    select p_app_no, h.uid, h.position, h.conversation, h."messageId", h.by, to_timestamp(h.until / 1000.0)
    from json_to_recordset(p_batch -> 'held') as h (uid text, position bigint, conversation bigint,
      "messageId" bigint, by text, until bigint)
    on conflict (app_no, uid, position) do update set until = excluded.until;
  end if;
  if p_batch -> 'delayed' is not null then
    update notification_held h set until = to_timestamp(d."to" / 1000.0)
    from json_to_recordset(p_batch -> 'delayed') as d (uid text, until bigint, "to" bigint)
    where h.app_no = p_app_no and h.uid = d.uid and h.until <= to_timestamp(d.until / 1000.0);
  end if;
  if p_batch -> 'released' is not null then
    delete from notification_held h
    using json_to_recordset(p_batch -> 'released') as r (uid text, until bigint)
    where h.app_no = p_app_no and h.uid = r.uid and h.until <= to_timestamp(r.until / 1000.0);
  end if;
  if p_batch -> 'unshown' is not null then
    with gone as (
      select decode(u.hash, 'hex') as push_hash, u.conversation, u.ids
      from json_to_recordset(p_batch -> 'unshown') as u (hash text, conversation bigint, ids bigint[])
    ), left_over as (
      select g.push_hash, g.conversation,
        array(select id from unnest(s.ids) id where id <> all (g.ids)) as ids
      from gone g join notification_shown s on s.app_no = p_app_no and s.push_hash = g.push_hash
        and s.conversation = g.conversation
    ), removed as (
      delete from notification_shown s using left_over l
      where s.app_no = p_app_no and s.push_hash = l.push_hash and s.conversation = l.conversation
        and l.ids = '{}'
    )
    update notification_shown s set ids = l.ids from left_over l
    where s.app_no = p_app_no and s.push_hash = l.push_hash and s.conversation = l.conversation
      and l.ids <> '{}';
  end if;
  if p_batch -> 'deliveries' is not null then
    insert into notification_deliveries (app_no, channel, provider, uid, push_hash, conversation, position,
      message_id, what, by_uid, private, ids, due_at, expires_at)
    select p_app_no, d.channel, d.provider, d.uid, decode(d.hash, 'hex'), d.conversation, d.position,
      d."messageId", d.what, d.by, d.private, d.ids,
      greatest(now(), (
        select l.due_at from notification_deliveries l
        where l.app_no = p_app_no and l.uid = d.uid and l.push_hash = decode(d.hash, 'hex')
          and l.conversation = d.conversation
        order by l.id desc limit 1)),
      to_timestamp(d.expires / 1000.0)
    from rows from (json_to_recordset(p_batch -> 'deliveries') as (channel text, provider text, uid text,
      hash text, conversation bigint, position bigint, "messageId" bigint, what text, by text,
      private boolean, ids bigint[], expires bigint))
      with ordinality as d (channel, provider, uid, hash, conversation, position, "messageId", what, by,
        private, ids, expires, nth)
    order by d.nth;
  end if;
end $$;

/*
 * Stores the outcome of deliveries. `p_batch`:
 *   shown   [id]              devices show these now
 *   gone    [{hash, before}]  devices that don't exist any more, unless they were registered after this time
 *   waiting [{id, seconds}]   to be sent again: what follows to the same device about the same conversation waits too
 *   ended   [id]              delivered or given up
 * A device keeps the newest 100 messages that it shows of a conversation.
 */
create or replace function record_notified(
  p_job text, p_worker uuid, p_epoch bigint, p_app_no int, p_batch json
) returns void
language plpgsql as $$
begin
  perform lock_lease(p_job, p_worker, p_epoch);
  if p_batch -> 'gone' is not null then
    delete from push_tokens t
    using json_to_recordset(p_batch -> 'gone') as g (hash text, before bigint)
    where t.app_no = p_app_no and t.push_hash = decode(g.hash, 'hex')
      and t.updated_at <= coalesce(to_timestamp(g.before / 1000.0), now());
  end if;
  if p_batch -> 'shown' is not null then
    -- Locked: a token that ends now would take the row with it before it is there.
    perform from push_tokens t
    where t.app_no = p_app_no and t.push_hash in (
      select d.push_hash from notification_deliveries d
      where d.app_no = p_app_no and d.id in (
        select value::bigint from json_array_elements_text(p_batch -> 'shown')))
    order by t.push_hash for key share;
    insert into notification_shown as s (app_no, push_hash, conversation, uid, ids)
    select p_app_no, d.push_hash, d.conversation, d.uid, array_agg(d.message_id order by d.id desc)
    from notification_deliveries d join push_tokens t
      on t.app_no = p_app_no and t.push_hash = d.push_hash and t.uid = d.uid
    where d.app_no = p_app_no and d.id in (
      select value::bigint from json_array_elements_text(p_batch -> 'shown'))
    group by d.push_hash, d.conversation, d.uid
    order by d.push_hash, d.conversation
    on conflict (app_no, push_hash, conversation) do update
    set uid = excluded.uid, shown_at = now(), ids = case when s.uid = excluded.uid
      then (excluded.ids || array(select id from unnest(s.ids) id where id <> all (excluded.ids)))[:100]
      else excluded.ids end;
  end if;
  if p_batch -> 'waiting' is not null then
    update notification_deliveries d
    set due_at = now() + make_interval(secs => w.seconds), tries = d.tries + (d.id = w.id)::int
    from json_to_recordset(p_batch -> 'waiting') as w (id bigint, seconds double precision)
    join notification_deliveries first on first.app_no = p_app_no and first.id = w.id
    where d.app_no = p_app_no and d.uid = first.uid and d.push_hash = first.push_hash
      and d.conversation = first.conversation and d.id >= first.id;
  end if;
  if p_batch -> 'ended' is not null then
    delete from notification_deliveries where app_no = p_app_no and id in (
      select value::bigint from json_array_elements_text(p_batch -> 'ended'));
  end if;
end $$;
