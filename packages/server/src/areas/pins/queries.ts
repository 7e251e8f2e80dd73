import { IS_SHOWN, type MessageLimits } from '../../core/access/visible.ts'
import { MESSAGE_COLUMNS, type MessageRow } from '../../core/message-rows.ts'
import { SENDER_IS_THERE } from '../../core/visibility.ts'
import { query } from '../../platform/db/query.ts'

const pinned = `
   from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
   where m.app_no = :appNo and m.conversation = :conversation and m.pinned_at is not null
     and m.id > h.purged_id and ${SENDER_IS_THERE}`

/** Exact while the head is locked. */
export const countPinned = query<{ appNo: number; conversation: number }, { count: number }>(
  'pins.count',
  `select count(*) ${pinned}`,
)

/** No row if nothing changes. */
export const updatePinned = query<
  { appNo: number; id: number; by: string; pinned: boolean },
  Pick<MessageRow, 'pinned_at' | 'pinned_by'>
>(
  'pins.update',
  `update messages
   set pinned_at = case when :pinned then clock_timestamp() end,
     pinned_by = case when :pinned then :by end
   where app_no = :appNo and id = :id and (pinned_at is not null) <> :pinned
   returning pinned_at, pinned_by`,
)

type PinnedRange = MessageLimits & {
  appNo: number
  conversation: number
  cleared: number
  after: number
  before: number
  limit: number
}
const inRange = `
   select ${MESSAGE_COLUMNS} ${pinned} and m.id > :cleared and m.id > :after and m.id < :before
     and ${IS_SHOWN}`

export const listPinnedUp = query<PinnedRange, MessageRow>(
  'pins.listUp',
  `${inRange} order by m.id limit :limit`,
)
export const listPinnedDown = query<PinnedRange, MessageRow>(
  'pins.listDown',
  `${inRange} order by m.id desc limit :limit`,
)
