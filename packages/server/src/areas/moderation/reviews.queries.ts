import type { ReviewRecord } from '@loquat/protocol'
import type { CellRows } from '../../../db/rows.gen.ts'
import { HELD_COLUMNS, type MessageRow } from '../../core/message-rows.ts'
import { GROUP_IS_THERE, HELD_IS_SHOWN, PARTIES_ARE_THERE } from '../../core/visibility.ts'
import { type Executor, query } from '../../platform/db/query.ts'
import { joinSql, runSql, Sql, sql } from '../../platform/db/sql.ts'
import type { ReviewQuery } from './reviews.schema.ts'

type Json = Record<string, unknown>

export type ReviewRow = Omit<CellRows['reviews'], 'app_no'> & { id: number }

/** By message id. The statement depends on the filters, because each has an index of its own. */
export function listReviewRows(
  db: Executor,
  appNo: number,
  which: 'open' | 'done',
  { sender, ruleId }: Pick<ReviewQuery, 'sender' | 'ruleId'>,
  range: { down: boolean; after: number; before: number; limit: number },
): Promise<ReviewRow[]> {
  const where = [
    sql`r.app_no = ${appNo} and r.message_id > ${range.after} and r.message_id < ${range.before}`,
    which === 'open' ? sql`r.reviewed_at is null` : sql`r.reviewed_at is not null`,
    ...(sender === undefined ? [] : [sql`r.sender = ${sender}`]),
    ...(ruleId === undefined ? [] : [sql`r.rule_id = ${ruleId}`]),
  ]
  const order = new Sql([range.down ? 'r.message_id desc' : 'r.message_id'], [])
  return runSql<ReviewRow>(
    db,
    'reviews.list',
    sql`select r.message_id as id, r.* from reviews r where ${joinSql(where, ' and ')}
      order by ${order} limit ${range.limit}`,
  )
}

/** Held messages by id, unordered. */
export const listHeld = query<
  { appNo: number; ids: number[]; viewer: string | null; moderates: boolean },
  MessageRow
>(
  'reviews.listHeld',
  `select ${HELD_COLUMNS}
   from held_messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
   where m.app_no = :appNo and m.id = any(:ids::bigint[]) and ${HELD_IS_SHOWN}
     and m.id > h.purged_id and ${PARTIES_ARE_THERE} and ${GROUP_IS_THERE}`,
)

/** Locks the users that a held message mentions. */
export const lockMentionedInHeld = query<{ appNo: number; id: string }, { locked: unknown }>(
  'reviews.lockMentioned',
  `select lock_mentioned_users(:appNo, array(select jsonb_object_keys(k.data -> 'mentions'))) as locked
   from held_messages k where k.app_no = :appNo and k.id = :id and k.data ? 'mentions'`,
)

/** Locks the head of a held message. No row if it isn't held. */
export const lockHeadOfHeld = query<{ appNo: number; id: string }, { no: number }>(
  'reviews.lockHead',
  `select h.no from conversations h
   where h.app_no = :appNo and h.no = (
     select k.conversation from held_messages k where k.app_no = :appNo and k.id = :id)
   for no key update`,
)

/** The state of a held message, while its head is locked. */
export const findStatus = query<
  { appNo: number; id: string },
  { status: string; delivered: boolean }
>(
  'reviews.findStatus',
  'select status, delivered from held_messages where app_no = :appNo and id = :id',
)

export const releaseMessage = query<
  { appNo: number; id: string },
  { held: boolean; refused: string | null; message: Json | null; conversation: number | null }
>('reviews.release', 'select * from release_message(:appNo, :id)')

/** No message if it wasn't withheld. */
export const restoreMessage = query<
  { appNo: number; id: string },
  { message: Json | null; conversation: number | null }
>('reviews.restore', 'select * from restore_message(:appNo, :id)')

/** Hides a message that everyone saw. No row if it was deleted before. */
export const withholdMessage = query<
  { appNo: number; id: number; reason: string; decision: string | null },
  CellRows['messages']
>(
  'reviews.withhold',
  'select * from withhold_message(:appNo, :id, :reason, :decision) m where m.id is not null',
)

/** The message as it is now, for its sender and moderators. No row if it isn't held. */
export const disapproveMessage = query<
  { appNo: number; id: string; verdict: string | null; reason: string | null },
  { message: Json; conversation: number }
>(
  'reviews.disapprove',
  `select message_snapshot(as_message(k), h) as message, h.no as conversation
   from disapprove_message(:appNo, :id, :verdict::jsonb, :reason) k
     join conversations h on h.app_no = k.app_no and h.no = k.conversation`,
)

export const describeHeld = query<
  { appNo: number; id: string },
  { message: Json; conversation: number }
>(
  'reviews.describeHeld',
  `select message_snapshot(as_message(k), h) as message, h.no as conversation
   from held_messages k join conversations h on h.app_no = k.app_no and h.no = k.conversation
   where k.app_no = :appNo and k.id = :id`,
)

/** What events say about it, and what was decided before, if a moderator has decided. */
export const findReview = query<
  { appNo: number; id: string },
  { decision: string | null; record: ReviewRecord }
>(
  'reviews.find',
  `select r.decision, review_record(r) as record from reviews r
   where r.app_no = :appNo and r.message_id = :id`,
)

export const decideReview = query<{ appNo: number; id: string; decision: string }>(
  'reviews.decide',
  `update reviews set decision = :decision, reviewed_at = clock_timestamp(), updated_at = clock_timestamp()
   where app_no = :appNo and message_id = :id`,
)
