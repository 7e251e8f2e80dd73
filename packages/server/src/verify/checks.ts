import { fileChecks } from './file-checks.ts'
import { type Check, HEADS } from './heads.ts'
import { threadChecks } from './thread-checks.ts'

/** The messages that count as unread, in order: existing ones, and permanently deleted or held ones. Not purged ones. */
const COUNTING = `counting as (
  select c.conversation, c.id from (
    select m.conversation, m.id from messages m where m.app_no = $1 and m.counts
    union
    select u.conversation, u.id from uncounted u where u.app_no = $1) c
  join conversations h on h.app_no = $1 and h.no = c.conversation and c.id > h.purged_id
)`

/** Leaves out reactions and saves of deleted messages, which are still being swept. */
const NOT_GONE = (alias: string) => `not exists (select from gone_messages gone
          where gone.app_no = $1 and gone.id = ${alias}.message_id)`

const total = (what: string, recount: string): Check => ({
  what: `total ${what}`,
  sql: `select '${what}' as id, stored, counted from
      (select coalesce(sum(total), 0) as stored from totals where app_no = $1 and what = '${what}') s,
      (${recount}) c
    where stored <> counted`,
})

/** It doesn't print cards: they contain personal data. */
const card = (table: string, key: string, builder: string): Check => ({
  what: `the cards of ${table}`,
  sql: `select ${key} as id, 'outdated' as stored, 'current' as counted from ${table} t
    where app_no = $1 and card <> ${builder}(t)`,
})

/** For tables that are written too often for a CHECK. */
const oneOf = (table: string, column: string, allowed: string[]): Check => ({
  what: `${table}.${column} is one of ${allowed.join(', ')}`,
  sql: `select ${column} as id, count(*) as stored, 0 as counted from ${table}
    where app_no = $1 and ${column} <> all ('{${allowed}}') group by ${column}`,
})

export const checks: Check[] = [
  {
    what: 'online users have a device at a gateway and the right sort key',
    sql: `select uid as id, (u.online, u.name_key)::text as stored,
        (p.uid is not null, coalesce(p.name_key, u.name_key))::text as counted
      from (select * from users where app_no = $1) u
        full join (select * from presence where app_no = $1) p using (uid)
      where u.uid is null or u.online <> (p.uid is not null)
        or u.name_key <> coalesce(p.name_key, u.name_key)`,
  },
  {
    what: 'the roles of all users exist',
    sql: `select uid as id, u.role as stored, 'no such role' as counted from users u
      where app_no = $1 and not exists (
        select from roles r where r.app_no = $1 and r.role = u.role)`,
  },
  {
    what: 'whether the app has special roles',
    sql: `select app_no as id, special_roles as stored, not special_roles as counted from apps
      where app_no = $1 and special_roles <> exists (select from special_roles($1))`,
  },
  card('users', 'uid', 'user_card'),
  card('groups', 'guid', 'group_card'),
  oneOf('conversations', 'kind', ['user', 'group']),
  oneOf('inbox', 'scope', ['admin', 'moderator', 'participant']),
  oneOf('marks', 'kind', ['delivered', 'read']),
  {
    what: 'last_id is not below any message',
    sql: `with ${HEADS} select h.no as id, h.last_id as stored, m.id as counted from heads h
      join lateral (select max(id) as id from messages
        where app_no = $1 and conversation = h.no) m on m.id > h.last_id`,
  },
  {
    what: 'conversations have all messages that were stored and not removed',
    sql: `with ${HEADS}, present as (
        select conversation, count(*) as n from messages where app_no = $1 group by conversation
      )
      select h.no as id, h.stored - h.removed as stored, coalesce(p.n, 0) as counted
      from heads h left join present p on p.conversation = h.no
      where h.stored - h.removed <> coalesce(p.n, 0) or (h.stored = 0) <> (h.last_id = 0)`,
  },
  {
    what: 'the running count of each message',
    sql: `with ${HEADS}, ${COUNTING}, running as (
        select conversation, id, count(*) over (partition by conversation order by id) as n
        from counting
      )
      select m.id, m.counted as stored, h.purged_counted + r.n as counted
      from messages m join heads h on h.no = m.conversation
        join running r on r.conversation = m.conversation and r.id = m.id
      where m.app_no = $1 and m.counts and m.counted <> h.purged_counted + r.n`,
  },
  {
    what: 'the message count of each conversation',
    sql: `with ${HEADS}, ${COUNTING}
      select h.no as id, h.counted as stored, h.purged_counted + coalesce(c.n, 0) as counted from heads h
      left join (select conversation, count(*) as n from counting group by conversation) c
        on c.conversation = h.no
      where h.counted <> h.purged_counted + coalesce(c.n, 0)`,
  },
  {
    what: 'the newest message that moves views',
    sql: `with ${HEADS}, shown as (
        select conversation, max(id) as id, max(greatest(id_second(id), unix(updated_at))) as moved
        from messages where app_no = $1 and shows group by conversation
      )
      select h.no as id, h.shown_id || ' ' || h.updated_second as stored,
        s.id || ' ' || id_second(s.id) as counted
      from heads h join shown s on s.conversation = h.no
      where s.id > h.shown_id or id_second(h.shown_id) > h.updated_second
        -- A message that was held moves views when it is released, which updates it. Later, an older message that
        -- is imported after it may become the newest one.
        or h.updated_second > greatest(id_second(h.shown_id), s.moved)`,
  },
  {
    what: "the heads' copies of these messages",
    sql: `with ${HEADS}
      select h.no as id, 'another message' as stored, 'the message' as counted
      from heads h left join messages m on m.app_no = $1 and m.id = h.shown_id
      where (h.shown_data is null) <> (h.shown_sender is null) or h.shown_data is not null and (
        m.id is null or (m.sender, m.data, m.muid) is distinct from (h.shown_sender, h.shown_data::jsonb, h.shown_muid)
        or (m.category, m.type, m.tags) <> ('message', 'text', '{}') or m.deleted_at is not null
        or m.updated_at is not null or m.pinned_at is not null or m.reacted or m.saved
        or m.parent_id is not null or m.quoted_id is not null)`,
  },
  {
    // Thinning of marks keeps the last one of a day, so a mark can be later than the first one was.
    what: 'receipts of these messages in 1:1 conversations',
    sql: `with ${HEADS}, receipts as (
        select h.no, marked.kind as mark,
          case marked.kind when 'read' then h.read_at else h.delivered_at end as stored_at, (
          select k.at from marks k
          where k.app_no = $1 and k.conversation = h.no and k.uid = receiver_of(m, h)
            and k.kind = marked.kind and k.upto_id >= h.shown_id
          order by k.upto_id limit 1) as marked_at
        from heads join conversations h on h.app_no = $1 and h.no = heads.no
          join messages m on m.app_no = $1 and m.id = h.shown_id
          cross join (values ('delivered'), ('read')) marked (kind)
        where h.kind = 'user' and h.one <> h.other
      )
      select no || ' ' || mark as id, stored_at as stored, marked_at as counted from receipts
      where (stored_at is null) <> (marked_at is null) or stored_at > marked_at`,
  },
  {
    what: 'marks are at messages that exist, where none was removed',
    sql: `with ${HEADS} select i.uid || ' ' || h.no as id, i.read_id as stored, 'no message' as counted
      from inbox i join heads h on h.no = i.conversation
      where i.app_no = $1 and h.removed = 0 and i.read_id > i.cleared_id and not exists (
        select from messages m where m.app_no = $1 and m.id = i.read_id and m.conversation = h.no)`,
  },
  {
    what: 'exactly the deleted messages are left out of unread counts',
    sql: `select m.id, 'no row' as stored, 'deleted' as counted from messages m
      where m.app_no = $1 and m.counts and m.deleted_at is not null and not exists (
        select from uncounted u
        where u.app_no = $1 and u.conversation = m.conversation and u.id = m.id)
      union all
      select m.id, 'row', 'not deleted' from uncounted u
      join messages m on m.app_no = $1 and m.conversation = u.conversation and m.id = u.id
      where u.app_no = $1 and (m.deleted_at is null or not m.counts)`,
  },
  {
    what: 'held messages have their place, and are neither shown nor counted',
    sql: `select k.id, 'held' as stored, 'without conversation' as counted from held_messages k
      where k.app_no = $1 and not exists (
        select from conversations h where h.app_no = $1 and h.no = k.conversation and h.last_id >= k.id)
      union all
      select k.id, 'held', 'shown' from held_messages k
        join messages m on m.app_no = $1 and m.id = k.id
      where k.app_no = $1 and (not k.delivered or m.deleted_at is null)
      union all
      select k.id, 'held', 'counted' from held_messages k
      where k.app_no = $1 and k.counts and not exists (
        select from uncounted u where u.app_no = $1 and u.conversation = k.conversation and u.id = k.id)`,
  },
  {
    what: 'exactly the disapproved messages wait for a review',
    sql: `select k.id, 'disapproved' as stored, 'no review' as counted from held_messages k
      where k.app_no = $1 and k.status = 'disapproved' and not exists (
        select from reviews r where r.app_no = $1 and r.message_id = k.id)
      union all
      select r.message_id, 'review', 'no held message' from reviews r
      where r.app_no = $1 and r.reviewed_at is null and not exists (
        select from held_messages k
        where k.app_no = $1 and k.id = r.message_id and k.status = 'disapproved')`,
  },
  {
    what: 'reviews name the sender of their message',
    sql: `select r.message_id as id, r.sender as stored, coalesce(k.sender, m.sender) as counted
      from reviews r
        left join held_messages k on k.app_no = $1 and k.id = r.message_id
        left join messages m on m.app_no = $1 and m.id = r.message_id
      where r.app_no = $1 and r.sender <> coalesce(k.sender, m.sender)`,
  },
  {
    what: 'read counts match the read marks',
    sql: `with ${HEADS}
      select i.uid || ' ' || h.no as id, greatest(i.read_counted, h.purged_counted) as stored, h.counted - c.n as counted
      from inbox i join heads h on h.no = i.conversation
        cross join lateral (select
          (select count(*) from messages m
           where m.app_no = $1 and m.conversation = h.no and m.id > greatest(i.read_id, h.purged_id) and m.counts)
          + (select count(*) from uncounted u
           where u.app_no = $1 and u.conversation = h.no and u.id > greatest(i.read_id, h.purged_id)
             and not exists (select from messages m
               where m.app_no = $1 and m.conversation = h.no and m.id = u.id)) as n) c
      where i.app_no = $1 and (i.kind = 'user' or i.scope is not null)
        and (greatest(i.read_counted, h.purged_counted) <> h.counted - c.n or i.read_id > h.last_id
          or i.read_id < i.cleared_id)`,
  },
  {
    what: "users' own messages since their read mark",
    sql: `with ${HEADS}
      select i.uid || ' ' || h.no as id, i.own_since as stored, c.n as counted
      from inbox i join heads h on h.no = i.conversation
        cross join lateral (select count(*) as n from messages m
          where m.app_no = $1 and m.conversation = h.no and m.sender = i.uid
            and m.id > i.read_id and m.counts and m.deleted_at is null) c
      where i.app_no = $1 and (i.kind = 'user' or i.scope is not null) and i.own_since <> c.n`,
  },
  {
    what: 'marks are within their conversations',
    sql: `with ${HEADS} select k.uid || ' ' || h.no as id, k.upto_id as stored, h.last_id as counted
      from marks k join heads h on h.no = k.conversation
      where k.app_no = $1 and k.upto_id > h.last_id`,
  },
  {
    what: 'views of 1:1 conversations: visible and blocked',
    sql: `with ${HEADS}
      select i.uid || ' ' || h.no as id, i.visible || ' ' || i.blocked as stored,
        (h.shown_id > i.cleared_id) || ' ' || (b.uid is not null) as counted
      from inbox i join heads h on h.no = i.conversation
        left join blocks b on b.app_no = $1 and b.uid = i.uid and b.blocked_uid = i.with_id
      where i.app_no = $1 and i.kind = 'user' and (
        i.visible <> (h.shown_id > i.cleared_id) or i.blocked <> (b.uid is not null))`,
  },
  {
    what: 'the order of 1:1 views',
    sql: `with ${HEADS}, visible as (
        select i.uid, i.with_id, i.blocked, h.updated_second
        from inbox i join heads h on h.no = i.conversation
        where i.app_no = $1 and i.kind = 'user' and i.visible
      ), listed as (
        select d.uid, d.with_id, d.blocked, d.updated_second from direct_views d
        where d.app_no = $1 and not exists (select from users u
          where u.app_no = $1 and u.uid in (d.uid, d.with_id) and u.removed_at is not null)
      )
      select uid || ' ' || with_id as id, l.blocked || ' ' || l.updated_second as stored,
        v.blocked || ' ' || v.updated_second as counted
      from listed l full join visible v using (uid, with_id)
      where (l.blocked, l.updated_second) is distinct from (v.blocked, v.updated_second)`,
  },
  {
    what: 'blocks between the users of 1:1 conversations',
    sql: `with ${HEADS}, stored as (
        select one as uid, other as blocked_uid from heads where blocked_one
        union all select other, one from heads where blocked_other
      ), there as (
        select b.uid, b.blocked_uid from blocks b where b.app_no = $1 and not exists (
          select from users u
          where u.app_no = $1 and u.uid in (b.uid, b.blocked_uid) and u.removed_at is not null)
      )
      select uid || ' ' || blocked_uid as id, s.flag is not null as stored, t.flag is not null as counted
      from (select *, true as flag from stored) s full join (select *, true as flag from there) t
        using (uid, blocked_uid)
      where s.flag is distinct from t.flag`,
  },
  {
    what: 'the hidden views of each 1:1 conversation',
    sql: `with ${HEADS}
      select h.no as id, h.hidden as stored, c.n as counted
      from heads h cross join lateral (select count(*) as n from inbox i
        where i.app_no = $1 and i.conversation = h.no and not i.visible) c
      where h.kind = 'user' and h.shown_id > 0 and h.hidden <> c.n`,
  },
  {
    what: 'both users of a conversation have an inbox row',
    sql: `with ${HEADS}
      select side.uid || ' ' || h.no as id, 'no row' as stored, 'messages' as counted
      from heads h cross join lateral (values (h.one, h.other), (h.other, h.one)) side (uid, with_id)
      where h.kind = 'user' and h.last_id > 0 and side.uid <> 'app_system' and not exists (
        select from inbox i
        where i.app_no = $1 and i.uid = side.uid and i.kind = 'user' and i.with_id = side.with_id
          and i.conversation = h.no)`,
  },
  {
    what: 'the users and groups of all inbox rows exist',
    sql: `select i.uid || ' ' || i.kind || ' ' || i.with_id as id, 'row' as stored, 'nobody' as counted
      from inbox i where i.app_no = $1 and (
        not exists (select from users u where u.app_no = $1 and u.uid = i.uid)
        or i.kind = 'user' and i.with_id <> 'app_system' and not exists (
          select from users u where u.app_no = $1 and u.uid = i.with_id)
        or i.kind = 'group' and not exists (
          select from groups g where g.app_no = $1 and g.guid = i.with_id))`,
  },
  {
    what: "each user's number of 1:1 views",
    sql: `select uid as id, t.visible || ' ' || t.unblocked as stored,
        c.visible || ' ' || c.unblocked as counted
      from (select uid, visible, unblocked from view_totals where app_no = $1) t
      full join (
        select uid, count(*) as visible, count(*) filter (where not blocked) as unblocked
        from inbox where app_no = $1 and kind = 'user' and visible group by uid
      ) c using (uid)
      where coalesce(t.visible, 0) <> coalesce(c.visible, 0)
        or coalesce(t.unblocked, 0) <> coalesce(c.unblocked, 0)`,
  },
  {
    what: 'the member count and hidden views of each group',
    sql: `with ${HEADS}
      select g.guid as id, g.members_count || ' ' || h.hidden as stored, c.n || ' ' || c.hidden
        as counted
      from groups g join heads h on h.kind = 'group' and h.one = g.guid
        cross join lateral (
          select count(*) as n,
            count(*) filter (where h.shown_id > 0 and i.cleared_id >= h.shown_id) as hidden
          from inbox i
          where i.app_no = $1 and i.conversation = h.no and i.scope is not null
        ) c
      where g.app_no = $1 and g.removed_at is null
        and (g.members_count <> c.n or h.hidden <> c.hidden)`,
  },
  {
    what: 'group owners are admins',
    sql: `select g.guid as id, g.owner as stored, coalesce(i.scope, 'no member') as counted
      from groups g left join inbox i
        on i.app_no = $1 and i.uid = g.owner and i.kind = 'group' and i.with_id = g.guid
      where g.app_no = $1 and g.removed_at is null and g.owner <> 'app_system'
        and i.scope is distinct from 'admin'`,
  },
  {
    what: 'no user is both a member and banned',
    sql: `select b.uid || ' ' || b.guid as id, 'banned' as stored, i.scope as counted
      from bans b join inbox i
        on i.app_no = $1 and i.uid = b.uid and i.kind = 'group' and i.with_id = b.guid
      where b.app_no = $1 and i.scope is not null 
        and (b.until is null or b.until > now())`,
  },
  {
    what: 'the reaction counts of each message',
    sql: `select message_id || ' ' || reaction as id, coalesce(stored, 0) as stored,
        coalesce(counted, 0) as counted
      from (
        select c.message_id, c.reaction, c.count as stored from reaction_counts c
        where c.app_no = $1 and ${NOT_GONE('c')}
      ) kept full join (
        select r.message_id, r.reaction, count(*) as counted from reactions r
        where r.app_no = $1 and ${NOT_GONE('r')} group by r.message_id, r.reaction
      ) recount using (message_id, reaction)
      where stored is distinct from counted`,
  },
  {
    what: 'reactions and saves belong to messages that are flagged',
    sql: `select t.message_id as id, t.what as stored, 'no such message' as counted from (
        select message_id, 'reaction' as what from reactions where app_no = $1
        union select message_id, 'save' from saves where app_no = $1
      ) t
      where ${NOT_GONE('t')} and not exists (select from messages m
        where m.app_no = $1 and m.id = t.message_id and m.deleted_at is null
          and case t.what when 'reaction' then m.reacted else m.saved end)`,
  },
  {
    what: 'reactions and saves belong to existing users',
    sql: `select t.uid as id, 'row' as stored, 'nobody' as counted from (
        select uid from reactions where app_no = $1 union select uid from saves where app_no = $1
      ) t where not exists (select from users u where u.app_no = $1 and u.uid = t.uid)`,
  },
  {
    what: 'friendships exist in both directions',
    sql: `select f.uid || ' ' || f.friend_uid as id, 'one way' as stored, 'both ways' as counted
      from friends f where f.app_no = $1 and not exists (
        select from friends o
        where o.app_no = $1 and o.uid = f.friend_uid and o.friend_uid = f.uid)
      and not exists (select from users u
        where u.app_no = $1 and u.uid in (f.uid, f.friend_uid) and u.removed_at is not null)`,
  },
  total(
    'users.active',
    `select count(*) as counted from users
     where app_no = $1 and deactivated_at is null and removed_at is null`,
  ),
  total(
    'users.deactivated',
    `select count(*) as counted from users
     where app_no = $1 and deactivated_at is not null and removed_at is null`,
  ),
  total(
    'groups',
    'select count(*) as counted from groups where app_no = $1 and removed_at is null',
  ),
  total(
    'views.user',
    `select count(*) as counted from inbox where app_no = $1 and kind = 'user' and visible`,
  ),
  total(
    'views.user.unblocked',
    `select count(*) as counted from inbox
     where app_no = $1 and kind = 'user' and visible and not blocked`,
  ),
  total(
    'views.group',
    `select count(*) as counted from inbox i
       join conversations h on h.app_no = i.app_no and h.no = i.conversation
       join groups g on g.app_no = i.app_no and g.guid = i.with_id
     where i.app_no = $1 and i.kind = 'group' and i.scope is not null
       and h.shown_id > i.cleared_id and g.removed_at is null`,
  ),
  ...threadChecks,
  ...fileChecks,
  {
    what: 'event positions have no gaps except breaks',
    sql: `select 'events' as id, stored, counted from (
        select count(*) as stored, max(position) - min(position) + 1 - coalesce((
          select sum(next - last) from log_breaks b
          where b.app_no = $1 and b.last >= min(position) and b.next < max(position)), 0)::bigint as counted
        from event_positions where app_no = $1
      ) log
      where stored <> counted`,
  },
  {
    what: 'events with a position have a body',
    sql: `select position as id, body_id::text as stored, '' as counted
      from event_positions p where app_no = $1 and not exists (
        select from event_bodies b where b.id = p.body_id and b.day = p.body_day)`,
  },
]
