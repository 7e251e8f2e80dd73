import { IS_SHOWN, type MessageLimits } from '../../core/access/visible.ts'
import { MESSAGE_COLUMNS, type MessageRow } from '../../core/message-rows.ts'
import { GROUP_IS_THERE, PARTIES_ARE_THERE } from '../../core/visibility.ts'
import { query } from '../../platform/db/query.ts'

/**
 * Set under the lock on the head. Only a hint: it stays set when nobody has the message saved any
 * more.
 */
export const markSaved = query<{ appNo: number; id: number }>(
  'saves.markMessage',
  `update messages set saved = true
   where app_no = :appNo and id = :id and deleted_at is null and not saved`,
)

/** Prevents the deletion of a message; no row if it is already deleted. */
export const holdMessage = query<{ appNo: number; id: number }, { id: number }>(
  'saves.holdMessage',
  `select id from messages
   where app_no = :appNo and id = :id and deleted_at is null for share`,
)

/** No row if it is already saved; it keeps its time. */
export const insertSave = query<{ appNo: number; uid: string; id: number }, { saved_at: Date }>(
  'saves.insert',
  `insert into saves (app_no, uid, message_id) values (:appNo, :uid, :id)
   on conflict do nothing returning saved_at`,
)

export const removeSave = query<{ appNo: number; uid: string; id: number }, { saved_at: Date }>(
  'saves.remove',
  `delete from saves where app_no = :appNo and uid = :uid and message_id = :id
   returning saved_at`,
)

/** A user's saved messages that the user can still see. */
const saved = `
   from saves s
     join messages m on m.app_no = s.app_no and m.id = s.message_id
     join conversations h on h.app_no = m.app_no and h.no = m.conversation
     join inbox i on i.app_no = s.app_no and i.conversation = m.conversation and i.uid = s.uid
   where s.app_no = :appNo and s.uid = :uid and m.deleted_at is null
     and m.id > h.purged_id and m.id > i.cleared_id
     and (h.kind = 'user' or i.scope is not null) and ${PARTIES_ARE_THERE}
     and ${GROUP_IS_THERE}`

/** Exact while the user is locked. Messages of groups that the user left don't count. */
export const countSaved = query<{ appNo: number; uid: string }, { count: number }>(
  'saves.count',
  `select count(*) ${saved}`,
)

type SavedRange = MessageLimits & {
  appNo: number
  uid: string
  after: number
  before: number
  limit: number
}
const inRange = `
   select ${MESSAGE_COLUMNS} ${saved} and s.message_id > :after and s.message_id < :before
     and ${IS_SHOWN}`

export const listSavedUp = query<SavedRange, MessageRow>(
  'saves.listUp',
  `${inRange} order by s.message_id limit :limit`,
)
export const listSavedDown = query<SavedRange, MessageRow>(
  'saves.listDown',
  `${inRange} order by s.message_id desc limit :limit`,
)
