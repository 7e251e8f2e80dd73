-- Removal in batches of what belonged to removed users, groups, roles and messages, by jobs of the queue.
-- Lock order: conversations by number, then as in send.sql. A sweep locks several heads: if PostgreSQL ends
-- it as a deadlock, the worker runs it again.

/*
 * Moves at most p_limit users of a removed role to `default`, and deletes the role when none are
 * left.
 */
create or replace function sweep_role(p_app_no int, p_role text, p_limit int) returns boolean
language plpgsql as $$
declare
  v_moved int;
begin
  perform from apps where app_no = p_app_no for no key update;
  update users set role = 'default' where app_no = p_app_no and uid = any (array(
    select uid from users where app_no = p_app_no and role = p_role and removed_at is null
    order by uid limit p_limit for no key update));
  get diagnostics v_moved = row_count;
  if v_moved = p_limit then return false; end if;
  update users set role = 'default'
  where app_no = p_app_no and role = p_role and removed_at is not null;
  delete from roles where app_no = p_app_no and role = p_role and removed_at is not null;
  return true;
end $$;

/*
 * Deletes at most p_limit messages of a conversation up to p_upto, and returns how many. The head is
 * locked.
 */
create or replace function sweep_messages(p_app_no int, p_conversation bigint, p_upto bigint, p_limit int)
returns int
language plpgsql as $$
declare
  v_ids bigint[];
  v_more boolean;
begin
  with gone as (
    delete from messages where ctid = any (array(
      select ctid from messages
      where app_no = p_app_no and conversation = p_conversation and id <= p_upto
      order by id limit p_limit))
    returning id, sender, muid, reacted or saved as has_more
  ), more as (
    insert into gone_messages (app_no, id) select p_app_no, id from gone where has_more
    on conflict do nothing
  ), forgotten as (
    delete from muids u using gone g
    where u.app_no = p_app_no and u.sender = g.sender and u.muid = g.muid and u.message_id = g.id
  )
  select array_agg(id), bool_or(has_more) into v_ids, v_more from gone;
  perform delete_held(p_app_no, array(
    select id from held_messages
    where app_no = p_app_no and conversation = p_conversation and id <= p_upto));
  if v_ids is null then return 0; end if;
  if v_more then perform enqueue_job(p_app_no, 'reactions.sweep'); end if;
  perform delete_message_references(p_app_no, v_ids);
  update conversations set removed = removed + cardinality(v_ids)
  where app_no = p_app_no and no = p_conversation;
  return cardinality(v_ids);
end $$;

/* The same for one sender's messages in a group. Those that counted as unread no longer do. */
create or replace function sweep_sender_messages(p_app_no int, p_conversation bigint, p_uid text, p_limit int)
returns int
language plpgsql as $$
declare
  v_ids bigint[];
  v_more boolean;
begin
  with gone as (
    delete from messages where ctid = any (array(
      select ctid from messages
      where app_no = p_app_no and conversation = p_conversation and sender = p_uid
      order by id limit p_limit))
    returning id, sender, muid, parent_id, deleted_at is null as there, counts,
      reacted or saved as has_more
  ), more as (
    insert into gone_messages (app_no, id) select p_app_no, id from gone where has_more
    on conflict do nothing
  ), forgotten as (
    delete from muids u using gone g
    where u.app_no = p_app_no and u.sender = g.sender and u.muid = g.muid and u.message_id = g.id
  ), left_out as (
    insert into uncounted (app_no, conversation, id)
    select p_app_no, p_conversation, id from gone where counts and there
  ), replies as (
    update threads t set replies = t.replies - g.replies
    from (select parent_id, count(*) as replies from gone
      where parent_id is not null and there group by parent_id) g
    where t.app_no = p_app_no and t.parent_id = g.parent_id
  )
  select array_agg(id), bool_or(has_more) into v_ids, v_more from gone;
  perform delete_held(p_app_no, array(
    select id from held_messages
    where app_no = p_app_no and conversation = p_conversation and sender = p_uid));
  if v_ids is null then return 0; end if;
  if v_more then perform enqueue_job(p_app_no, 'reactions.sweep'); end if;
  perform delete_message_references(p_app_no, v_ids);
  update conversations set removed = removed + cardinality(v_ids)
  where app_no = p_app_no and no = p_conversation;
  return cardinality(v_ids);
end $$;

/*
 * Deletes at most about p_limit rows of a conversation whose head is locked, the head last. Returns
 * how many; fewer than p_limit means that nothing is left.
 */
create or replace function sweep_conversation(p_app_no int, p_conversation bigint, p_limit int) returns int
language plpgsql as $$
declare
  h conversations;
  i inbox;
  v_done int := sweep_messages(p_app_no, p_conversation, 9223372036854775807, p_limit);
  v_part int;
  v_gone int := 0;
  v_free int := 0;
begin
  if v_done >= p_limit then return p_limit; end if;
  delete from marks where ctid = any (array(
    select ctid from marks
    where app_no = p_app_no and conversation = p_conversation limit p_limit - v_done));
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  if v_done >= p_limit then return p_limit; end if;
  delete from uncounted where ctid = any (array(
    select ctid from uncounted
    where app_no = p_app_no and conversation = p_conversation limit p_limit - v_done));
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  if v_done >= p_limit then return p_limit; end if;
  delete from thread_users where ctid = any (array(
    select ctid from thread_users
    where app_no = p_app_no and conversation = p_conversation limit p_limit - v_done));
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  if v_done >= p_limit then return p_limit; end if;
  v_done := v_done + sweep_calls(p_app_no, p_conversation, p_limit - v_done);
  if v_done >= p_limit then return p_limit; end if;
  select * into h from conversations where app_no = p_app_no and no = p_conversation;
  -- Both inbox rows of a 1:1 conversation go together with the head: the removal of a user finds the
  -- head by that user's row.
  for i in
    delete from inbox where ctid = any (array(
      select ctid from inbox
      where app_no = p_app_no and conversation = p_conversation
      order by uid limit greatest(p_limit - v_done, 2)))
    returning *
  loop
    v_done := v_done + 1;
    if i.scope is not null then
      insert into former_members (app_no, uid, conversation, guid)
      values (p_app_no, i.uid, p_conversation, i.with_id);
    end if;
    if i.visible then
      perform remove_view(h, i);
      perform add_views(p_app_no, i.uid, -1, case when i.blocked then 0 else -1 end);
      v_gone := v_gone + 1;
      v_free := v_free + case when i.blocked then 0 else 1 end;
    end if;
  end loop;
  perform add_app_views(p_app_no, -v_gone, -v_free);
  if exists (select from inbox where app_no = p_app_no and conversation = p_conversation) then
    return p_limit;
  end if;
  delete from receipt_floors
  where app_no = p_app_no and kind in ('delivered', 'read') and conversation = p_conversation;
  delete from conversations where app_no = p_app_no and no = p_conversation;
  return v_done;
end $$;

/* Deletes at most p_limit rows of a removed group, the group last. Returns whether it is gone. */
create or replace function sweep_group(p_app_no int, p_guid text, p_limit int) returns boolean
language plpgsql as $$
declare
  v_no bigint;
  v_done int := 0;
  v_part int;
begin
  select no into v_no from conversations
  where app_no = p_app_no and kind = 'group' and one = p_guid and other = ''
  for no key update;
  if found then v_done := sweep_conversation(p_app_no, v_no, p_limit); end if;
  if v_done >= p_limit then return false; end if;
  delete from bans where ctid = any (array(
    select ctid from bans where app_no = p_app_no and guid = p_guid limit p_limit - v_done));
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  if v_done >= p_limit then return false; end if;
  delete from checked_messages where ctid = any (array(
    select ctid from checked_messages
    where app_no = p_app_no and receiver = p_guid and kind = 'group' limit p_limit - v_done));
  get diagnostics v_part = row_count;
  v_done := v_done + v_part;
  if v_done >= p_limit then return false; end if;
  delete from notification_mutes where ctid = any (array(
    select ctid from notification_mutes
    where app_no = p_app_no and kind = 'group' and with_id = p_guid limit p_limit - v_done));
  get diagnostics v_part = row_count;
  if v_done + v_part >= p_limit then return false; end if;
  delete from subject_flags where app_no = p_app_no and kind = 'group' and subject = p_guid;
  delete from sanctions where ctid = any (array(
    select ctid from sanctions where app_no = p_app_no and guid = p_guid limit p_limit - v_done - v_part));
  v_done := v_done + v_part;
  get diagnostics v_part = row_count;
  if v_done + v_part >= p_limit then return false; end if;
  delete from groups where app_no = p_app_no and guid = p_guid and removed_at is not null;
  return true;
end $$;

/* Deletes at most p_limit messages that were purged from a conversation. */
create or replace function sweep_purged(p_app_no int, p_conversation bigint, p_limit int) returns boolean
language plpgsql as $$
declare
  h conversations;
begin
  select * into h from conversations where app_no = p_app_no and no = p_conversation
  for no key update;
  if not found then return true; end if;
  if sweep_messages(p_app_no, h.no, h.purged_id, p_limit) >= p_limit then return false; end if;
  delete from uncounted
  where app_no = p_app_no and conversation = h.no and id <= h.purged_id;
  delete from thread_users u
  where u.app_no = p_app_no and u.conversation = h.no and not exists (
    select from messages m where m.app_no = p_app_no and m.id = u.parent_id);
  update conversations set purging = false where app_no = p_app_no and no = h.no;
  return true;
end $$;

/*
 * Deletes at most p_limit messages of a conversation before p_before, the oldest first, and returns how many. The head keeps up to
 * where, and how many of them counted: whoever hasn't read these has nothing more to read there. So nothing is
 * written for members, except for those whose own messages go: these no longer count as theirs. Lock order: the head, inbox
 * by uid. A mark in a group locks only the inbox row, so it counts the user's own messages before this or after it.
 */
create or replace function expire_messages(p_app_no int, p_conversation bigint, p_before bigint, p_limit int)
returns int
language plpgsql as $$
declare
  v_upto bigint;
  v_counted bigint;
  v_done int;
begin
  perform from conversations where app_no = p_app_no and no = p_conversation for no key update;
  select id, counted into v_upto, v_counted from (
    select id, counted from messages
    where app_no = p_app_no and conversation = p_conversation and id < p_before order by id limit p_limit) oldest
  order by id desc limit 1;
  if not found then
    -- Only held ones are left.
    select id, counted into v_upto, v_counted from held_messages
    where app_no = p_app_no and conversation = p_conversation and id < p_before order by id desc limit 1;
    if not found then return 0; end if;
  end if;
  perform from inbox
  where app_no = p_app_no and conversation = p_conversation and uid = any (array(
    select sender from messages
    where app_no = p_app_no and conversation = p_conversation and id <= v_upto))
  order by uid for no key update;
  update inbox i set own_since = i.own_since - gone.n
  from (
    select m.sender, count(*) as n from messages m join inbox o
      on o.app_no = p_app_no and o.conversation = p_conversation and o.uid = m.sender
    where m.app_no = p_app_no and m.conversation = p_conversation and m.id <= v_upto and m.id > o.read_id
      and m.counts and m.deleted_at is null
    group by m.sender
  ) gone
  where i.app_no = p_app_no and i.conversation = p_conversation and i.uid = gone.sender;
  v_done := sweep_messages(p_app_no, p_conversation, v_upto, p_limit);
  delete from uncounted where app_no = p_app_no and conversation = p_conversation and id <= v_upto;
  delete from thread_users where app_no = p_app_no and conversation = p_conversation and parent_id <= v_upto;
  update conversations set purged_id = greatest(purged_id, v_upto), purged_counted = greatest(purged_counted, v_counted)
  where app_no = p_app_no and no = p_conversation;
  return greatest(v_done, 1);
end $$;

/*
 * Deletes at most about p_limit rows of a removed user: their 1:1 conversations, their messages in
 * groups, memberships, reactions and saves, tokens and relations; the user last. Returns whether
 * the user is gone.
 */
create or replace function sweep_user(p_app_no int, p_uid text, p_limit int) returns boolean
language plpgsql as $$
declare
  i inbox;
  v_no bigint;
  v_left int := p_limit;
  v_done int;
begin
  for i in
    select * from inbox where app_no = p_app_no and uid = p_uid order by conversation limit p_limit
  loop
    perform from conversations where app_no = p_app_no and no = i.conversation for no key update;
    if i.kind = 'user' then
      v_left := v_left - sweep_conversation(p_app_no, i.conversation, v_left);
    else
      v_left := v_left - sweep_sender_messages(p_app_no, i.conversation, p_uid, v_left);
      if v_left > 0 then
        delete from marks
        where app_no = p_app_no and conversation = i.conversation and uid = p_uid;
        -- The counts of a removed group don't matter any more.
        if exists (select from groups
          where app_no = p_app_no and guid = i.with_id and removed_at is null)
        then
          perform remove_member(p_app_no, i.with_id, p_uid);
          update groups set owner = 'app_system'
          where app_no = p_app_no and guid = i.with_id and owner = p_uid;
        end if;
        delete from inbox
        where app_no = p_app_no and uid = p_uid and kind = 'group' and with_id = i.with_id;
        update receipt_floors set deleted = deleted + 1
        where app_no = p_app_no and kind in ('delivered', 'read') and conversation = i.conversation;
        -- Sends to all groups that were left so far wait for the end of this: it costs as much as so many rows.
        v_left := v_left - 20;
      end if;
    end if;
    if v_left <= 0 then return false; end if;
  end loop;

  -- An import stores messages of users who never were members of the group, without an inbox row.
  for v_no in
    select distinct m.conversation from (
      select conversation from messages where app_no = p_app_no and sender = p_uid order by id limit v_left) m
    order by m.conversation
  loop
    perform from conversations where app_no = p_app_no and no = v_no for no key update;
    v_left := v_left - sweep_sender_messages(p_app_no, v_no, p_uid, v_left);
    if v_left <= 0 then return false; end if;
  end loop;

  v_left := v_left - sweep_reactions(p_app_no, p_uid, v_left);
  if v_left <= 0 then return false; end if;
  delete from bans where ctid = any (array(
    select ctid from bans where app_no = p_app_no and uid = p_uid limit v_left));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from subject_flags where app_no = p_app_no and kind = 'user' and subject = p_uid;
  delete from subject_flags where ctid = any (array(
    select ctid from subject_flags where app_no = p_app_no and uid = p_uid limit v_left));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from sanctions where ctid = any (array(
    select ctid from sanctions where app_no = p_app_no and uid = p_uid limit v_left));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from auth_tokens where ctid = any (array(
    select ctid from auth_tokens where app_no = p_app_no and uid = p_uid limit v_left));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  v_left := v_left - sweep_user_references(p_app_no, p_uid, v_left);
  delete from notification_mutes where ctid = any (array(
    (select ctid from notification_mutes where app_no = p_app_no and uid = p_uid
     limit greatest(v_left, 0))
    union
    (select ctid from notification_mutes
     where app_no = p_app_no and kind = 'user' and with_id = p_uid limit greatest(v_left, 0))
    limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from notification_batches where ctid = any (array(
    select ctid from notification_batches where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  if v_left > 0 then v_left := v_left - remove_agent_runs(p_app_no, p_uid, v_left); end if;
  if v_left > 0 then v_left := v_left - release_files_of_user(p_app_no, p_uid, v_left); end if;
  delete from former_members where ctid = any (array(
    select ctid from former_members where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;

  delete from friends f
  where v_left > 0 and app_no = p_app_no and friend_uid = p_uid and uid in (
    select friend_uid from friends where app_no = p_app_no and uid = p_uid
    order by friend_uid limit v_left);
  delete from friends
  where v_left > 0 and app_no = p_app_no and uid = p_uid and friend_uid in (
    select friend_uid from friends where app_no = p_app_no and uid = p_uid
    order by friend_uid limit v_left);
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;

  -- A block can create a head without inbox rows.
  with gone as (
    delete from blocks where v_left > 0 and ctid = any (array(
      (select ctid from blocks where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0))
      union all
      (select ctid from blocks where app_no = p_app_no and blocked_uid = p_uid
       limit greatest(v_left, 0))
      limit greatest(v_left, 0)))
    returning least(uid, blocked_uid) as one, greatest(uid, blocked_uid) as other
  ), heads as (
    delete from conversations c using gone
    where c.app_no = p_app_no and c.kind = 'user' and c.one = gone.one and c.other = gone.other
      and c.last_id = 0
  )
  select count(*) into v_done from gone;
  v_left := v_left - v_done;

  if v_left <= 0 then return false; end if;
  delete from view_totals where app_no = p_app_no and uid = p_uid;
  delete from notification_users where app_no = p_app_no and uid = p_uid;
  delete from notification_held where app_no = p_app_no and uid = p_uid;
  delete from notification_deliveries where app_no = p_app_no and uid = p_uid;
  delete from users where app_no = p_app_no and uid = p_uid and removed_at is not null;
  return true;
end $$;

/* Deletes at most p_limit rows that connect a removed user with messages of other users or places. */
create or replace function sweep_user_references(p_app_no int, p_uid text, p_limit int) returns int
language plpgsql as $$
declare
  v_left int := p_limit;
  v_done int;
begin
  delete from mentions where v_left > 0 and ctid = any (array(
    select ctid from mentions where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from thread_users where v_left > 0 and ctid = any (array(
    select ctid from thread_users where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from flags where v_left > 0 and ctid = any (array(
    select ctid from flags where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from checked_messages where v_left > 0 and ctid = any (array(
    (select ctid from checked_messages where app_no = p_app_no and sender = p_uid limit greatest(v_left, 0))
    union
    (select ctid from checked_messages
     where app_no = p_app_no and receiver = p_uid and kind = 'user' limit greatest(v_left, 0))
    limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  delete from interactions where v_left > 0 and ctid = any (array(
    select ctid from interactions where app_no = p_app_no and uid = p_uid limit greatest(v_left, 0)));
  get diagnostics v_done = row_count;
  v_left := v_left - v_done;
  if v_left > 0 then v_left := v_left - sweep_calls_of_user(p_app_no, p_uid, v_left); end if;
  return p_limit - v_left;
end $$;

/* Deletes at most p_limit reactions and saves of a removed user, and returns how many. */
create or replace function sweep_reactions(p_app_no int, p_uid text, p_limit int) returns int
language plpgsql as $$
declare
  r reactions;
  v_done int := 0;
  v_part int;
begin
  for r in
    delete from reactions where ctid = any (array(
      select ctid from reactions where app_no = p_app_no and uid = p_uid
      order by message_id limit p_limit))
    returning *
  loop
    perform uncount_reaction(r);
    v_done := v_done + 1;
  end loop;
  delete from saves where ctid = any (array(
    select ctid from saves where app_no = p_app_no and uid = p_uid limit p_limit - v_done));
  get diagnostics v_part = row_count;
  return v_done + v_part;
end $$;

/*
 * Deletes at most p_limit reactions and saves of a deleted message. Returns whether none are left. A message that was
 * restored meanwhile keeps its own.
 */
create or replace function sweep_deleted_message(p_app_no int, p_id bigint, p_limit int) returns boolean
language plpgsql as $$
declare
  v_done int;
  v_part int;
begin
  delete from gone_messages where app_no = p_app_no and id = p_id;
  if not found then return true; end if;
  delete from reaction_counts where app_no = p_app_no and message_id = p_id;
  delete from reactions where ctid = any (array(
    select ctid from reactions where app_no = p_app_no and message_id = p_id limit p_limit));
  get diagnostics v_done = row_count;
  delete from saves where ctid = any (array(
    select ctid from saves where app_no = p_app_no and message_id = p_id limit p_limit - v_done));
  get diagnostics v_part = row_count;
  if v_done + v_part < p_limit then return true; end if;
  insert into gone_messages (app_no, id) values (p_app_no, p_id);
  return false;
end $$;
