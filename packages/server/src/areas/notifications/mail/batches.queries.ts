import type { ConversationKind } from '../../../core/ids.ts'
import { MESSAGE_COLUMNS, type MessageRow } from '../../../core/message-rows.ts'
import { SENDER_IS_THERE } from '../../../core/visibility.ts'
import { query } from '../../../platform/db/query.ts'

export type BatchChannel = 'email' | 'sms'

export type Batch = { appNo: number; uid: string; channel: BatchChannel; conversation: number }

/** Makes the batches of a user take turns: they share the numbers of a day. */
export const lockBatches = query<{ appNo: number; uid: string; channel: BatchChannel }>(
  'batches.lock',
  `select pg_advisory_xact_lock(hashtextextended('batches ' || :channel || ' ' || :uid, :appNo))`,
)

/** A batch that waits, and the time by the clock of jobs. */
export const findBatch = query<
  Batch,
  { first_id: number; covered_id: number; due_at: Date; now: Date }
>(
  'batches.find',
  `select first_id, covered_id, due_at, job_clock() as now from notification_batches
   where app_no = :appNo and uid = :uid and channel = :channel and conversation = :conversation
     and due_at is not null
   for no key update`,
)

/** How many went out on a day, in all and about the conversation. */
export const countSent = query<Batch & { day: string }, { today: number; ofConversation: number }>(
  'batches.countSent',
  `select coalesce(sum(sent_today), 0)::int as today,
     coalesce(sum(sent_today) filter (where conversation = :conversation), 0)::int as "ofConversation"
   from notification_batches
   where app_no = :appNo and uid = :uid and channel = :channel and sent_day = :day::date`,
)

/** It waits until later. */
export const postponeBatch = query<Batch & { dueAt: Date }>(
  'batches.postpone',
  `update notification_batches set due_at = :dueAt
   where app_no = :appNo and uid = :uid and channel = :channel and conversation = :conversation`,
)

/** It is over: nothing waits until the next message comes. `day` is null if nothing is sent. */
export const endBatch = query<Batch & { coveredId: number; day: string | null }>(
  'batches.end',
  `update notification_batches set due_at = null, covered_id = greatest(covered_id, :coveredId),
     ended_at = job_clock(), sent_day = coalesce(:day::date, sent_day),
     sent_today = case when :day::date is null then sent_today
       when sent_day = :day::date then sent_today + 1 else 1 end
   where app_no = :appNo and uid = :uid and channel = :channel and conversation = :conversation`,
)

/** How many messages one email or SMS is about, at most. */
export const MOST_MESSAGES = 200

/** The messages of others from one on, in order. */
export const listNews = query<
  { appNo: number; conversation: number; uid: string; from: number; most: number },
  MessageRow & { conversation: number }
>(
  'batches.listNews',
  `select ${MESSAGE_COLUMNS}, m.conversation
   from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
   where m.app_no = :appNo and m.conversation = :conversation and m.id >= :from and m.sender <> :uid
     and m.deleted_at is null and m.category not in ('action', 'call') and ${SENDER_IS_THERE}
   order by m.id limit :most`,
)

/** Some of them, without those that were deleted meanwhile. */
export const listChosen = query<
  { appNo: number; conversation: number; ids: number[] },
  MessageRow & { conversation: number }
>(
  'batches.listChosen',
  `select ${MESSAGE_COLUMNS}, m.conversation
   from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
   where m.app_no = :appNo and m.conversation = :conversation and m.id = any(:ids::bigint[])
     and m.deleted_at is null and ${SENDER_IS_THERE}
   order by m.id`,
)

/** Whom a batch goes to. */
export type Addressee = {
  name: string
  role: string
  email: string | null
  phno: string | null
  timezone: string | null
  suppressed: boolean
}

export const findAddressee = query<
  { appNo: number; uid: string; channel: BatchChannel },
  Addressee
>(
  'batches.findAddressee',
  `select u.name,
     case u.role when 'default' then u.role else shown_role(u.app_no, u.role) end as role, n.email, n.phno, n.timezone, exists (
     select from suppressed_addresses s
     where s.app_no = :appNo and s.channel = :channel
       and s.address = lower(case :channel when 'email' then n.email else n.phno end)) as suppressed
   from users u left join notification_users n on n.app_no = u.app_no and n.uid = u.uid
   where u.app_no = :appNo and u.uid = :uid and u.removed_at is null and u.deactivated_at is null`,
)

/** The user or group on the other side. */
export const findCounterpart = query<
  { appNo: number; conversation: number; uid: string },
  { kind: ConversationKind; id: string; name: string | null; icon: string | null }
>(
  'batches.findCounterpart',
  `select h.kind, w.id, coalesce(g.name, u.name) as name, coalesce(g.icon, u.avatar) as icon
   from conversations h
   cross join lateral (select case when h.kind = 'group' or h.other = :uid then h.one else h.other end as id) w
   left join groups g on h.kind = 'group' and g.app_no = h.app_no and g.guid = w.id and g.removed_at is null
   left join users u on h.kind = 'user' and u.app_no = h.app_no and u.uid = w.id and u.removed_at is null
   where h.app_no = :appNo and h.no = :conversation`,
)

export const findAppId = query<{ appNo: number }, { app_id: string }>(
  'batches.findAppId',
  'select app_id from apps where app_no = :appNo and archived_at is null',
)

/** Rows of batches that ended days ago: their numbers of a day don't count any more. */
export const sweepBatches = query<{ most: number }, { swept: number }>(
  'batches.sweep',
  `with old as (
     select app_no, uid, channel, conversation from notification_batches
     where ended_at < now() - interval '8 days' and due_at is null limit :most for update skip locked
   ), swept as (
     delete from notification_batches b using old
     where (b.app_no, b.uid, b.channel, b.conversation) = (old.app_no, old.uid, old.channel, old.conversation)
     returning 1)
   select count(*)::int as swept from swept`,
)
