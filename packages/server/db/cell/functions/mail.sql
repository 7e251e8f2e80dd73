-- Batches of unread messages for emails and SMS (docs/notifications.md). Lock order: the caller's own rows,
-- notification_batches by user and channel, jobs.

/* The most members of a group whose messages are sent by email and SMS. */
create or replace function batch_members() returns int
language sql immutable
return 30;

/*
 * Notes that a message waits for those who are told of it by email or SMS, and returns for how many a batch
 * began. A message joins the batch that waits already. Repeating a call changes nothing, even after the batch
 * was sent. Whether a user is notified is decided when the batch is due.
 */
create or replace function start_batches(p_app_no int, p_conversation bigint, p_message_id bigint) returns int
language plpgsql as $$
declare
  v_kind text;
  v_sender text;
  v_batch record;
  v_started int := 0;
begin
  select h.kind, m.sender into v_kind, v_sender
  from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
  where m.app_no = p_app_no and m.id = p_message_id and m.conversation = p_conversation
    and m.deleted_at is null and m.category not in ('action', 'call');
  if not found then return 0; end if;
  if v_kind = 'group' and (
    select count(*) from (
      select from inbox i where i.app_no = p_app_no and i.conversation = p_conversation and i.scope is not null
      limit batch_members() + 1) members) > batch_members() then
    return 0;
  end if;
  for v_batch in
    with channels as (
      select p.channel,
        -- An app's own server may know addresses that we don't.
        bool_or(p.kind = 'custom' and not coalesce(
          (p.details ->> 'useStoredEmailID')::boolean, (p.details ->> 'useStoredPhNo')::boolean, false)) as anyone,
        coalesce((select (s.settings #>> array['preferences', p.channel, 'intervalInSeconds'])::int
          from notification_settings s where s.app_no = p_app_no), 7200) as seconds
      from notification_providers p
      where p.app_no = p_app_no and p.channel in ('email', 'sms') and p.enabled
      group by p.channel
    )
    insert into notification_batches as b (app_no, uid, channel, conversation, first_id, due_at)
    select p_app_no, i.uid, c.channel, p_conversation, p_message_id,
      job_clock() + make_interval(secs => c.seconds)
    from channels c cross join inbox i
    left join notification_users u on u.app_no = i.app_no and u.uid = i.uid
    where i.app_no = p_app_no and i.conversation = p_conversation and i.uid <> v_sender
      and (v_kind = 'user' or i.scope is not null)
      and (c.anyone or case c.channel when 'email' then u.email else u.phno end is not null)
    order by i.uid, c.channel
    on conflict (app_no, uid, channel, conversation) do update
      set first_id = excluded.first_id, due_at = excluded.due_at
      where b.due_at is null and b.covered_id < excluded.first_id
    returning b.uid, b.channel, b.due_at
  loop
    perform enqueue_job(p_app_no, 'notifications.batch',
      jsonb_build_object('uid', v_batch.uid, 'channel', v_batch.channel, 'conversation', p_conversation),
      v_batch.due_at - job_clock());
    v_started := v_started + 1;
  end loop;
  return v_started;
end $$;
