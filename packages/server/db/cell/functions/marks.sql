-- Marks: how far a user has read or received, and the receipts that follow from it.
-- Lock order: the head of a 1:1 conversation, then the user's inbox row. The head of a group is read after that lock,
-- and not locked: many members mark it at once.

/*
 * Finds the newest message between two ids that somebody else sent. In a 1:1 conversation the
 * other senders are known. In a group it looks at 1,000 messages at most: otherwise a member who
 * writes many messages in a row would pay for all of them with each mark. The next mark past
 * another member's message covers the earlier ones too.
 */
create or replace function newest_of_others(h conversations, p_uid text, p_after bigint, p_upto bigint)
returns messages
language plpgsql as $$
declare
  m messages;
begin
  if h.kind = 'group' then
    select * into m from (
      select * from messages
      where app_no = h.app_no and conversation = h.no and id > p_after and id <= p_upto
      order by id desc limit 1000) looked
    where sender <> p_uid order by id desc limit 1;
  else
    select sent.* into m
    from unnest(array[h.one, h.other, 'app_system']) as other (uid) cross join lateral (
      select * from messages
      where app_no = h.app_no and conversation = h.no and sender = other.uid
        and id > p_after and id <= p_upto
      order by id desc limit 1) sent
    where other.uid <> p_uid order by sent.id desc limit 1;
  end if;
  return m;
end $$;

/*
 * Finds the message that a receipt names: the newest of the others' messages, unless that is the
 * action message of an edit or deletion. Then it is the newest one before that, if the user hasn't
 * marked that one before.
 */
create or replace function message_of_receipt(
  h conversations, p_uid text, p_after bigint, p_newest messages
) returns messages
language plpgsql as $$
declare
  m messages;
begin
  if p_newest.category <> 'action' or p_newest.type <> 'message' then return p_newest; end if;
  select * into m from (
    select * from messages
    where app_no = h.app_no and conversation = h.no and id > p_after and id < p_newest.id
    order by id desc limit 1000) looked
  where sender <> p_uid and (category <> 'action' or type <> 'message')
  order by id desc limit 1;
  return m;
end $$;

/*
 * Moves a user's mark. It locks the inbox row before it reads a group's head: a message that the
 * user sends meanwhile waits for the row, so it is counted exactly once, here or by its send.
 *
 * A row in `marks` at the newest message that somebody else sent, if it is past the previous row,
 * says when. Other users learn about it by a receipt, unless only edits and deletions are new. There
 * is neither between two users if one blocks the other.
 */
create or replace function mark_conversation(
  p_app_no int, p_uid text, p_kind text, p_with text, p_what text, p_message_id bigint,
  out receipt boolean, out moved boolean, out conversation bigint, out at timestamptz,
  -- The message of the receipt if there is one, otherwise the one that the mark moved to.
  out message_id bigint, out sender text,
  -- For a receipt in a group: the senders of the newest messages that it covers.
  out senders text[]
)
language plpgsql as $$
declare
  i inbox;
  h conversations;
  m messages;
  s messages;
  v_upto bigint;
  v_counted bigint;
  v_marked bigint;
begin
  receipt := false;
  moved := false;
  if p_kind = 'user' then
    select * into h from conversations c
    where c.app_no = p_app_no and c.kind = 'user' and c.one = least(p_uid collate "C", p_with collate "C")
      and c.other = greatest(p_uid collate "C", p_with collate "C")
    for no key update;
  end if;
  select * into i from inbox
  where app_no = p_app_no and uid = p_uid and kind = p_kind and with_id = p_with
  for no key update;
  if not found or (p_kind = 'group' and i.scope is null) then
    perform refuse('ERR_CONVERSATION_NOT_ACCESSIBLE');
  end if;
  if p_kind = 'group' then
    select * into h from conversations c where c.app_no = p_app_no and c.no = i.conversation;
  end if;
  if h.shown_id <= i.cleared_id then perform refuse('ERR_CONVERSATION_NOT_ACCESSIBLE'); end if;
  conversation := h.no;
  at := clock_timestamp();

  if p_message_id is null then
    v_upto := h.last_id;
    v_counted := h.counted;
    select * into m from messages k
    where k.app_no = p_app_no and k.conversation = h.no and k.id <= h.last_id
    order by k.id desc limit 1;
    -- A held message at the end stays unmarked, so that it is unread when it is released.
    if m.id is distinct from h.last_id and exists (select from held_messages k
      where k.app_no = p_app_no and k.conversation = h.no and k.id > coalesce(m.id, 0))
    then
      v_upto := coalesce(m.id, i.read_id);
      v_counted := coalesce(m.counted, i.read_counted);
    end if;
  else
    select * into m from messages k where k.app_no = p_app_no and k.id = p_message_id;
    if not found or m.conversation <> h.no or m.id <= i.cleared_id then
      -- `unseen`: the user doesn't take part there, so the error must not reveal the message.
      perform refuse(
        case when m.conversation <> h.no then 'ERR_BAD_REQUEST' else 'ERR_MESSAGE_ID_NOT_FOUND' end,
        jsonb_build_object('id', p_message_id, 'reason', 'The message belongs to another conversation.',
          'unseen', not exists (select from inbox o
            where o.app_no = p_app_no and o.conversation = m.conversation and o.uid = p_uid
              and (o.kind = 'user' or o.scope is not null))));
    end if;
    -- If it was sent after the head was read, the mark stops at the head.
    v_upto := least(m.id, h.last_id);
    v_counted := least(m.counted, h.counted);
  end if;
  message_id := m.id;
  sender := m.sender;

  if p_what = 'unread' then
    if v_upto >= i.read_id then return; end if;
  else
    -- A message that was read was delivered. Two lookups at the end of the index: one for both kinds
    -- would read all marks.
    v_marked := coalesce(greatest(
      (select max(k.upto_id) from marks k where k.app_no = p_app_no and k.conversation = h.no
        and k.uid = p_uid and k.kind = 'read'),
      (select max(k.upto_id) from marks k where k.app_no = p_app_no and k.conversation = h.no
        and k.uid = p_uid and k.kind = p_what)), 0);
    if v_upto > v_marked and not h.blocked_one and not h.blocked_other then
      m := newest_of_others(h, p_uid, v_marked, v_upto);
    else
      m := null;
    end if;
    if m.id is not null then
      -- No other kind gets into the table: the column is never null.
      insert into marks (app_no, conversation, uid, kind, upto_id, at)
      values (p_app_no, h.no, p_uid, case when p_what in ('delivered', 'read') then p_what end, m.id,
        mark_conversation.at);
      if h.kind = 'user' and h.one <> h.other and m.id >= h.shown_id then
        s := m;
        if m.id > h.shown_id then
          select * into s from messages k where k.app_no = p_app_no and k.id = h.shown_id;
        end if;
        if receiver_of(s, h) = p_uid then
          update conversations c set
            delivered_at = case p_what when 'delivered' then coalesce(c.delivered_at, mark_conversation.at)
              else c.delivered_at end,
            read_at = case p_what when 'read' then coalesce(c.read_at, mark_conversation.at) else c.read_at end
          where c.app_no = p_app_no and c.no = h.no;
        end if;
      end if;
      m := message_of_receipt(h, p_uid, v_marked, m);
    end if;
    if m.id is not null then
      receipt := true;
      message_id := m.id;
      sender := m.sender;
      if h.kind = 'group' then
        senders := array(
          select distinct k.sender from (
            select c.sender from messages c
            where c.app_no = p_app_no and c.conversation = h.no and c.id > v_marked
              and c.id <= m.id and (c.category <> 'action' or c.type <> 'message')
            order by c.id desc limit 100) k
          where k.sender not in (p_uid, 'app_system'));
      end if;
    end if;
    if p_what = 'delivered' or v_upto <= i.read_id then return; end if;
  end if;

  moved := true;
  update inbox set read_id = v_upto, read_counted = v_counted,
    own_since = case when v_upto = h.last_id then 0 else (
      select count(*) from messages k
      where k.app_no = p_app_no and k.conversation = h.no and k.sender = p_uid
        and k.id > v_upto and k.counts and k.deleted_at is null) end
  where app_no = p_app_no and uid = p_uid and kind = p_kind and with_id = p_with;
end $$;

/*
 * Checks the next p_limit marks in key order. Of the marks that a user made in a conversation on
 * one day, more than 90 days ago, it keeps the last. Returns whether there are more marks to check.
 * After the last one it starts over, once a day.
 */
create or replace function thin_marks(p_limit int) returns boolean
language plpgsql as $$
declare
  t mark_thinning;
  v_next jsonb;
begin
  select * into t from mark_thinning for update;
  if t.place is null then
    if t.began_at > now() - interval '1 day' then return false; end if;
    t.place := '[0, 0, "", "", 0]';
    t.began_at := now();
  end if;
  with looked as materialized (
    select ctid as tid, app_no, conversation, uid, kind, upto_id, at from marks
    where (app_no, conversation, uid, kind, upto_id)
      >= ((t.place ->> 0)::int, (t.place ->> 1)::bigint, t.place ->> 2, t.place ->> 3,
        (t.place ->> 4)::bigint)
    order by app_no, conversation, uid, kind, upto_id limit p_limit
  ), followed as (
    select tid, at, lead(at) over (
      partition by app_no, conversation, uid, kind order by upto_id) as next_at
    from looked
  ), gone as (
    -- Sweeps lock marks in another order, so this skips locked ones instead of waiting.
    delete from marks where ctid = any (array(
      select k.ctid from marks k where k.ctid = any (array(
        select tid from followed
        where at < date_trunc('day', now(), 'UTC') - interval '90 days'
          and date_trunc('day', at, 'UTC') = date_trunc('day', next_at, 'UTC')))
      for update skip locked))
  )
  -- The last mark is checked again, together with the one after it.
  select jsonb_build_array(app_no, conversation, uid, kind, upto_id) into v_next from looked
  order by app_no, conversation, uid, kind, upto_id offset p_limit - 1;
  update mark_thinning set place = v_next, began_at = t.began_at;
  return v_next is not null;
end $$;
