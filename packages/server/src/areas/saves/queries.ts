import { MESSAGE_COLUMNS, type MessageRow } from '../../core/message-rows.ts'
import { GROUP_IS_THERE, PARTIES_ARE_THERE } from '../../core/visibility.ts'
import { query } from '../../platform/db/query.ts'

/** Under the lock of the conversation; no more than a hint, which stays when nobody keeps it saved. */
export const markSaved = query<{ appNo: number; id: number }>(
  'saves.markMessage',
  `update messages set saved = true
   where app_no = :appNo and id = :id and deleted_at is null and not saved`,
)

/** Keeps a message from being deleted; no row: it is already. */
export const holdMessage = query<{ appNo: number; id: number }, { id: number }>(
  'saves.holdMessage',
  `select id from messages
   where app_no = :appNo and id = :id and deleted_at is null for share`,
)

/** No row: it is saved already, and keeps its time. */
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

/** What a user saved and can still see. */
const saved = `
   from saves s
     join messages m on m.app_no = s.app_no and m.id = s.message_id
     join conversations h on h.app_no = m.app_no and h.no = m.conversation
     join inbox i on i.app_no = s.app_no and i.conversation = m.conversation and i.uid = s.uid
   where s.app_no = :appNo and s.uid = :uid and m.deleted_at is null
     and m.seq > h.purged_seq and m.seq > i.cleared_seq
     and (h.kind = 'user' or i.scope is not null) and ${PARTIES_ARE_THERE}
     and ${GROUP_IS_THERE}`

/** Exact while the user is locked. What was saved in a group and left with it takes no place. */
export const countSaved = query<{ appNo: number; uid: string }, { count: number }>(
  'saves.count',
  `select count(*) ${saved}`,
)

type SavedRange = { appNo: number; uid: string; after: number; before: number; limit: number }
const inRange = `
   select ${MESSAGE_COLUMNS} ${saved} and s.message_id > :after and s.message_id < :before`

export const listSavedUp = query<SavedRange, MessageRow>(
  'saves.listUp',
  `${inRange} order by s.message_id limit :limit`,
)
export const listSavedDown = query<SavedRange, MessageRow>(
  'saves.listDown',
  `${inRange} order by s.message_id desc limit :limit`,
)
