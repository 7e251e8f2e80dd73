import { sinceMark, unreadOf } from '../../core/unread.ts'
import { query } from '../../platform/db/query.ts'

/** An app with something to do. */
export interface NotifierApp {
  app_no: number
  app_id: string
  shard: number
  /** Whether the log has events that weren't read. Apps without a provider don't read on. */
  unread: boolean
  /** Whether there are fan-outs, or quiet hours that are over. */
  undecided: boolean
  /** Providers with deliveries that are due. */
  due: string[]
}

const PROVIDER = `p.kind || '/' || p.provider_id`

/** The apps of these shards that there is work for. Costs a few index lookups for each app that has or had a provider. */
export const listNotifierApps = query<{ shards: number[] }, NotifierApp>(
  'notifier.listApps',
  `select * from (
     select g.app_no, a.app_id, g.shard,
       l.position > g.position and exists (
         select from notification_providers p where p.app_no = g.app_no and p.enabled) as unread,
       exists (select from notification_fanouts f where f.app_no = g.app_no) or exists (
         select from notification_held h where h.app_no = g.app_no and h.until <= now()) as undecided,
       array(
         select ${PROVIDER} from notification_providers p
         where p.app_no = g.app_no and p.channel = 'push' and p.enabled and exists (
           select from notification_deliveries d
           where d.app_no = g.app_no and d.channel = 'push' and d.provider = ${PROVIDER}
             and d.due_at <= now())) as due
     from notifier_progress g
     join working_apps() a on a.app_no = g.app_no
     left join positions l on l.app_no = g.app_no
     where g.shard = any(:shards::int[])
   ) listed where unread or undecided or due <> '{}'`,
)

type Leased = { job: string; workerId: string; epoch: number; appNo: number }

export const queueFanouts = query<
  Leased & { types: readonly string[]; limit: number },
  { queued: number; more: boolean }
>(
  'notifier.queueFanouts',
  `select queued, more from queue_fanouts(
     :job, :workerId::uuid, :epoch::bigint, :appNo, :types::text[], :limit::int)`,
)

export interface FanoutRow {
  position: number
  after_uid: string | null
  /** Null: the log no longer has it. */
  type: string | null
  key: string
  payload: string
  at: Date
}

/**
 * The oldest fan-outs, as many as have about :receivers receivers. Those after an unfinished one of the same conversation
 * wait for it.
 */
export const listFanouts = query<{ appNo: number; receivers: number; limit: number }, FanoutRow>(
  'notifier.listFanouts',
  `with waiting as (
     select f.position, f.key, f.after_uid from notification_fanouts f
     where f.app_no = :appNo and not exists (
       select from notification_fanouts b
       where b.app_no = :appNo and b.key = f.key and b.position < f.position
         and b.after_uid is not null)
     order by f.position limit :limit
   ), sized as (
     select w.*, sum(least(coalesce(g.members_count, 2), :receivers::int)) over (
         order by w.position rows between unbounded preceding and 1 preceding) as before
     from waiting w
     left join conversations h on h.app_no = :appNo
       and h.no = split_part(w.key, 'conversation:', 2)::bigint
     left join groups g on h.kind = 'group' and g.app_no = :appNo and g.guid = h.one
   )
   select s.position, s.after_uid, e.type, s.key, e.payload::text as payload, e.at
   from sized s left join events e on e.app_no = :appNo and e.position = s.position
   where coalesce(s.before, 0) < :receivers::int
   order by s.position`,
)

/**
 * The next users who may be notified of events: members of the group, or both users, with a device. Up to :limit members
 * are looked at for each event; `last` is where to go on. If an app notifies of such events only those who chose it (not
 * `wide`), only they are read, and the author of the message.
 */
export const listCandidates = query<
  {
    appNo: number
    nths: number[]
    conversations: number[]
    messageIds: number[]
    bys: string[]
    ats: Date[]
    afters: string[]
    wides: boolean[]
    sections: string[]
    fields: string[]
    everyone: boolean
    limit: number
  },
  { nth: number; last: string | null; uids: string[] }
>(
  'notifier.listCandidates',
  `select e.nth, found.last, found.uids
   from unnest(:nths::int[], :conversations::bigint[], :messageIds::bigint[], :bys::text[],
       :ats::timestamptz[], :afters::text[], :wides::boolean[], :sections::text[], :fields::text[])
     as e (nth, conversation, message_id, by, at, after, wide, section, field)
   join conversations h on h.app_no = :appNo and h.no = e.conversation
   left join messages m on m.app_no = :appNo and m.id = e.message_id
   cross join lateral (
     select case when count(*) >= :limit::int then max(s.uid) end as last,
       coalesce(array_agg(s.uid order by s.uid) filter (
         where s.takes_part and s.uid not in (e.by, 'app_system')
           and (e.wide or s.uid = m.sender or exists (
             select from notification_users n where n.app_no = :appNo and n.uid = s.uid
               and n.choices -> e.section -> e.field is not null))
           and (:everyone::boolean or exists (
             select from push_tokens t where t.app_no = :appNo and t.uid = s.uid))), '{}') as uids
     from (
       (select i.uid, i.scope is not null and i.joined_at <= e.at as takes_part from inbox i
        where h.kind = 'group' and i.app_no = :appNo and i.conversation = e.conversation
          and i.uid > e.after
        order by i.uid limit :limit)
       union all
       select one.uid, true from unnest(array[h.one, nullif(h.other, h.one)]) as one (uid)
       where h.kind = 'user' and one.uid > e.after
     ) s
   ) found`,
)

/** Devices that show a message, by user. */
export const listShowing = query<
  { appNo: number; conversation: number; messageId: number; after: string; limit: number },
  { uid: string; hashes: string[] }
>(
  'notifier.listShowing',
  `select uid, array_agg(encode(push_hash, 'hex')) as hashes from notification_shown
   where app_no = :appNo and conversation = :conversation and uid > :after
     and :messageId::bigint = any (ids)
   group by uid order by uid limit :limit`,
)

/** What the devices of a user show of a conversation. */
export const listShown = query<
  { appNo: number; conversation: number; uid: string },
  { hash: string; platform: string; providerId: string | null; ids: number[] }
>(
  'notifier.listShown',
  `select encode(s.push_hash, 'hex') as hash, t.platform, t.provider_id as "providerId",
     array(select id::float8 from unnest(s.ids) id) as ids
   from notification_shown s join push_tokens t on t.app_no = s.app_no and t.push_hash = s.push_hash
     and t.uid = s.uid
   where s.app_no = :appNo and s.conversation = :conversation and s.uid = :uid
   order by s.push_hash`,
)

export const recordFanouts = query<Leased & { batch: string }>(
  'notifier.recordFanouts',
  `select record_fanouts(:job, :workerId::uuid, :epoch::bigint, :appNo, :batch::json)`,
)

/** Deliveries of a provider that are due and not known yet, in the order in which they are sent. */
export const listDue = query<
  { appNo: number; provider: string; known: number[]; limit: number },
  { id: number; lane: string; uid: string; position: number }
>(
  'notifier.listDue',
  `select id, uid, position, encode(push_hash, 'hex') || ' ' || conversation || ' ' || uid as lane
   from notification_deliveries
   where app_no = :appNo and channel = 'push' and provider = :provider and due_at <= now()
     and id <> all (:known::bigint[])
   order by due_at, id limit :limit`,
)

/** A delivery that is about to be sent. */
export interface PreparedRow {
  id: number
  uid: string
  hash: string
  conversation: number
  position: number
  message_id: number
  what: 'message' | 'reaction' | 'action' | 'call' | 'edited' | 'retract' | 'held'
  private: boolean
  ids: number[] | null
  tries: number
  expires_at: Date
  push_sealed: Buffer | null
  platform: string | null
  /** Whether the receiver may still get it. */
  wanted: boolean
}

/**
 * What has changed since it was decided: the session, blocks, the message, the read mark, whether the call still rings. In a
 * group it does so after the first answer, too.
 */
export const prepareDeliveries = query<{ appNo: number; ids: number[] }, PreparedRow>(
  'notifier.prepare',
  `select d.id, d.uid, encode(d.push_hash, 'hex') as hash, d.conversation, d.position, d.message_id, d.what,
     d.private, array(select id::float8 from unnest(d.ids) id) as ids, d.tries, d.expires_at,
     t.push_sealed, t.platform,
     u.uid is not null and (d.push_hash = '' or t.push_hash is not null) and d.expires_at > now()
       and (d.what in ('retract', 'held') or (
         m.id is not null and m.deleted_at is null
         and (d.what in ('reaction', 'call') or coalesce(i.read_id, 0) < d.message_id)
         and (d.what <> 'call' or exists (select from call_participants w
           join call_participants r on r.app_no = w.app_no and r.call_id = w.call_id
           where w.app_no = :appNo and w.uid = d.by_uid and r.uid = d.uid and r.no = 0 and r.state = 'invited'
             and (w.state = 'waiting' or w.state = 'ongoing' and h.kind = 'group')))
         and coalesce(i.cleared_id, 0) < d.message_id
         and (h.kind = 'user' or i.scope is not null)
         and not exists (select from blocks b
           where b.app_no = :appNo and b.uid = d.uid and b.blocked_uid = d.by_uid)
         and not exists (select from blocks b
           where b.app_no = :appNo and b.uid = d.by_uid and b.blocked_uid = d.uid))) as wanted
   from unnest(:ids::bigint[]) with ordinality as asked (id, nth)
   join notification_deliveries d on d.app_no = :appNo and d.id = asked.id
   left join push_tokens t on t.app_no = :appNo and t.push_hash = d.push_hash and t.uid = d.uid
   left join users u on u.app_no = :appNo and u.uid = d.uid and u.deactivated_at is null
     and u.removed_at is null
   left join messages m on m.app_no = :appNo and m.id = d.message_id
   left join conversations h on h.app_no = :appNo and h.no = d.conversation
   left join inbox i on i.app_no = :appNo and i.uid = d.uid and i.kind = h.kind
     and i.with_id = case when h.kind = 'group' or h.other = d.uid then h.one else h.other end
   order by asked.nth`,
)

export const listEvents = query<
  { appNo: number; positions: number[] },
  { position: number; type: string; key: string; payload: string; at: Date }
>(
  'notifier.listEvents',
  `select e.position, e.type, e.key, e.payload::text as payload, e.at
   from unnest(:positions::bigint[]) as asked (position)
   join events e on e.app_no = :appNo and e.position = asked.position`,
)

export const recordNotified = query<Leased & { batch: string }>(
  'notifier.recordNotified',
  `select record_notified(:job, :workerId::uuid, :epoch::bigint, :appNo, :batch::json)`,
)

/** The exact number of unread messages of users, as `history.countUnread` counts them. */
export const countBadges = query<
  { appNo: number; uids: string[] },
  { uid: string; unread: number }
>(
  'notifier.countBadges',
  `select i.uid, sum(greatest(${unreadOf('i')}, 0))::bigint as unread
   from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
   where i.app_no = :appNo and i.uid = any(:uids::text[]) and (i.kind = 'user' or i.scope is not null)
     and ${sinceMark('i')} > 0
     and h.shown_id > greatest(h.purged_id, i.cleared_id)
     and i.with_id <> all (array(
       select uid from users where app_no = :appNo and removed_at is not null and i.kind = 'user'
       union all
       select guid from groups where app_no = :appNo and removed_at is not null and i.kind = 'group'))
   group by i.uid`,
)

/** Users whose quiet hours are over, with what came meanwhile and still matters. */
export const listReleased = query<
  { appNo: number; limit: number },
  { uid: string; until: Date; positions: number[]; ids: number[] }
>(
  'notifier.listReleased',
  `select w.uid, max(w.until) as until,
     coalesce(array_agg(w.position::float8 order by w.position) filter (where w.wanted), '{}') as positions,
     coalesce(array_agg(w.message_id::float8 order by w.position) filter (where w.wanted), '{}') as ids
   from (
     select d.uid, d.until, d.position, d.message_id,
       m.id is not null and m.deleted_at is null and coalesce(i.read_id, 0) < d.message_id
         and coalesce(i.cleared_id, 0) < d.message_id
         and (h.kind = 'user' or i.scope is not null)
         and not exists (select from blocks b
           where b.app_no = :appNo and b.uid = d.uid and b.blocked_uid = d.by_uid)
         and not exists (select from blocks b
           where b.app_no = :appNo and b.uid = d.by_uid and b.blocked_uid = d.uid) as wanted
     from (
       select distinct uid from (
         select uid from notification_held where app_no = :appNo and until <= now()
         order by until limit :limit
       ) first
     ) due
     join notification_held d on d.app_no = :appNo and d.uid = due.uid and d.until <= now()
     left join messages m on m.app_no = :appNo and m.id = d.message_id
     left join conversations h on h.app_no = :appNo and h.no = d.conversation
     left join inbox i on i.app_no = :appNo and i.uid = d.uid and i.kind = h.kind
       and i.with_id = case when h.kind = 'group' or h.other = d.uid then h.one else h.other end
   ) w group by w.uid`,
)
