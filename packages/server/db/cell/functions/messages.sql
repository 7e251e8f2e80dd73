-- Editing and deleting messages.
-- Lock order: the caller has locked the head; then messages, inbox, threads, files (send.sql has the whole order).

/*
 * Changes the content of a message whose head is locked. p_mentions are the records of the users it
 * mentions now, or null if they didn't change. Returns the users to notify: the message didn't
 * mention them before, and they didn't write it.
 */
create or replace function edit_message(
  p_app_no int, p_id bigint, p_by text, p_data jsonb, p_tags text[], p_mentions jsonb
) returns setof text
language plpgsql as $$
declare
  v_uids text[] := array(select jsonb_object_keys(p_mentions));
  m messages;
  h conversations;
begin
  update messages set
    data = with_mentions(p_data, case when p_mentions is null then data -> 'mentions'
      else small_records(p_mentions) end), tags = p_tags,
    edited_at = clock_timestamp(), edited_by = p_by, updated_at = clock_timestamp()
  where app_no = p_app_no and id = p_id
  returning * into m;
  -- The unchanged mentions may include users who no longer exist.
  if p_mentions is null then return; end if;
  delete from mentions
  where app_no = p_app_no and message_id = p_id and uid <> all (v_uids);
  select * into h from conversations where app_no = p_app_no and no = m.conversation;
  return query select recipient
  from mention_recipients(h, p_by, array(select add_mentions(p_app_no, p_id, v_uids))) recipient
  where recipient <> m.sender;
end $$;

/*
 * Deletes a message of a conversation whose head is locked. A message that counted as unread no
 * longer does. Returns null if the message doesn't exist any more.
 */
create or replace function delete_message(p_app_no int, p_id bigint, p_by text, p_permanent boolean)
returns messages
language plpgsql as $$
declare
  m messages;
begin
  select * into m from messages where app_no = p_app_no and id = p_id for no key update;
  if not found then return null; end if;
  if m.counts and m.deleted_at is null then
    insert into uncounted (app_no, conversation, id) values (p_app_no, m.conversation, m.id);
    update inbox i set own_since = own_since - 1
    from conversations c
    where c.app_no = p_app_no and c.no = m.conversation
      and i.app_no = p_app_no and i.uid = m.sender and i.kind = c.kind
      and i.with_id = receiver_of(m, c) and i.read_id < m.id;
  end if;
  if m.parent_id is not null and m.deleted_at is null then
    update threads set replies = replies - 1 where app_no = p_app_no and parent_id = m.parent_id;
  end if;
  delete from mentions where app_no = p_app_no and message_id = p_id;
  delete from interactions where app_no = p_app_no and message_id = p_id;
  perform release_files(p_app_no, array[p_id]);
  delete from flags where app_no = p_app_no and message_id = p_id;
  if m.reacted or m.saved then
    insert into gone_messages (app_no, id) values (p_app_no, p_id) on conflict do nothing;
    perform enqueue_job(p_app_no, 'reactions.sweep');
  end if;
  if p_permanent then
    perform delete_message_references(p_app_no, array[p_id]);
    delete from messages where app_no = p_app_no and id = p_id;
    update conversations set removed = removed + 1 where app_no = p_app_no and no = m.conversation;
    delete from muids
    where app_no = p_app_no and sender = m.sender and muid = m.muid and message_id = p_id;
    m.deleted_at := coalesce(m.deleted_at, clock_timestamp());
    m.deleted_by := coalesce(m.deleted_by, p_by);
  else
    update messages
    set data = '{}', quoted_id = null, deleted_at = clock_timestamp(), deleted_by = p_by,
      updated_at = clock_timestamp(), pinned_at = null, pinned_by = null,
      reacted = false, saved = false
    where app_no = p_app_no and id = p_id
    returning * into m;
  end if;
  return m;
end $$;

/*
 * Deletes the mentions, interactions, threads, flags, reviews and references to files of messages that were deleted, and
 * what was withheld of them.
 */
create or replace function delete_message_references(p_app_no int, p_ids bigint[]) returns void
language plpgsql as $$
begin
  delete from mentions where app_no = p_app_no and message_id = any (p_ids);
  delete from interactions where app_no = p_app_no and message_id = any (p_ids);
  delete from threads where app_no = p_app_no and parent_id = any (p_ids);
  delete from flags where app_no = p_app_no and message_id = any (p_ids);
  delete from reviews where app_no = p_app_no and message_id = any (p_ids);
  perform release_files(p_app_no, p_ids);
  delete from held_messages where app_no = p_app_no and id = any (p_ids);
end $$;

/* Forgets the copies that heads keep of changed messages. The transaction has locked those heads. */
create or replace function forget_copies() returns trigger
language plpgsql as $$
begin
  update conversations h set shown_sender = null, shown_data = null, shown_muid = null
  from changed m
  where h.app_no = m.app_no and h.no = m.conversation and h.shown_id = m.id and h.shown_data is not null;
  return null;
end $$;
