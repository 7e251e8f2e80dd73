import { query } from '../../platform/db/query.ts'

/** A user who flags again replaces reason and remark. The message's head is locked. */
export const upsertFlag = query<
  { appNo: number; id: number; uid: string; reasonId: string; remark: string | null },
  never
>(
  'flags.upsert',
  `insert into flags (app_no, message_id, uid, reason_id, remark) values (:appNo, :id, :uid, :reasonId, :remark)
   on conflict (app_no, message_id, uid) do update
   set reason_id = excluded.reason_id, remark = excluded.remark, flagged_at = excluded.flagged_at`,
)

export const countFlags = query<{ appNo: number; id: number }, { count: number }>(
  'flags.count',
  'select count(*) from flags where app_no = :appNo and message_id = :id',
)

export const removeFlags = query<{ appNo: number; id: number }>(
  'flags.remove',
  'delete from flags where app_no = :appNo and message_id = :id',
)

/** A message without its users' flags has been decided about. */
export const insertReviewed = query<{ appNo: number; id: number; sender: string }>(
  'flags.insertReviewed',
  `insert into reviews (app_no, message_id, sender, reason, reviewed_at, decision)
   values (:appNo, :id, :sender, 'Users flagged the message.', clock_timestamp(), 'approved')
   on conflict (app_no, message_id) do update
   set reason = excluded.reason, blocked_at = excluded.blocked_at, updated_at = excluded.updated_at,
     reviewed_at = excluded.reviewed_at, decision = excluded.decision`,
)

type FlaggedRange = { appNo: number; after: number; before: number; limit: number }
const flagged = (order: string) => `
  select message_id as id from flags
  where app_no = :appNo and message_id > :after and message_id < :before
  group by message_id order by message_id ${order} limit :limit`

export const listFlaggedUp = query<FlaggedRange, { id: number }>('flags.listUp', flagged(''))
export const listFlaggedDown = query<FlaggedRange, { id: number }>(
  'flags.listDown',
  flagged('desc'),
)

export interface FlagRow {
  message_id: number
  uid: string
  name: string | null
  avatar: string | null
  role: string | null
  reason_id: string
  remark: string | null
  flagged_at: Date
}

/** Oldest first. */
export const listFlags = query<{ appNo: number; ids: number[] }, FlagRow>(
  'flags.list',
  `select f.message_id, f.uid, u.name, u.avatar, u.role, f.reason_id, f.remark, f.flagged_at
   from flags f left join users u on u.app_no = f.app_no and u.uid = f.uid and u.removed_at is null
   where f.app_no = :appNo and f.message_id = any(:ids::bigint[])
   order by f.flagged_at, f.uid`,
)
