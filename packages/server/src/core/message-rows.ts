import type { CellRows } from '../../db/rows.gen.ts'
import { query } from '../platform/db/query.ts'
import type { StoredPermissions } from './access/rules.ts'
import type { ConversationKind } from './ids.ts'
import { SENDER_IS_THERE } from './visibility.ts'

/**
 * Columns that no record shows: each value that is read costs a microsecond, fifty times per page.
 */
type NotShown = 'silent' | 'app_no' | 'conversation' | 'data' | 'counts' | 'shows' | 'counted'

/** A message with what its record needs of the conversation. */
export type MessageRow = Omit<CellRows['messages'], NotShown> & {
  data: Record<string, unknown>
  kind: ConversationKind
  one: string
  other: string
  /** The number of replies, and the newest one. */
  thread: [replies: number, lastId: number] | null
  /** In 1:1 conversations: when the other user first reported receiving and reading it. */
  delivered_at: Date | null
  read_at: Date | null
}

/**
 * `receiver_of` for 1:1 conversations. PostgreSQL doesn't resolve fields of a whole row of an outer query: with the
 * function, it would build both rows for every message, twice.
 */
const RECEIVER = `case m.sender when h.other then h.one when h.one then h.other
  else coalesce(m.data #>> '{entities,for,entity,uid}', h.one) end`

/** When the receiver of a 1:1 message first had a mark of a kind at or after it. */
const markedAt = (kind: string) => `
  case when h.kind = 'user' and h.one <> h.other then (
    select k.at from marks k
    where k.app_no = m.app_no and k.conversation = m.conversation and k.uid = ${RECEIVER}
      and k.kind = '${kind}' and k.upto_id >= m.id
    order by k.upto_id limit 1) end`

export const MESSAGE_COLUMNS = `
  m.id, m.sender, m.category, m.type, m.data, m.tags, m.muid,
  m.updated_at, m.edited_at, m.edited_by, m.deleted_at, m.deleted_by,
  m.pinned_at, m.pinned_by, m.reacted, m.saved,
  m.parent_id, m.quoted_id, h.kind, h.one, h.other,
  (select json_build_array(t.replies, t.last_id) from threads t
   where t.app_no = m.app_no and t.parent_id = m.id) as thread,
  ${markedAt('delivered')} as delivered_at, ${markedAt('read')} as read_at`

/** The same columns of a held message `m`, which nobody could change, mark or refer to. */
export const HELD_COLUMNS = `
  m.id, m.sender, m.category, m.type, held_data(m) as data, m.tags, m.muid,
  null::timestamptz as updated_at, null::timestamptz as edited_at, null as edited_by,
  null::timestamptz as deleted_at, null as deleted_by, null::timestamptz as pinned_at, null as pinned_by,
  false as reacted, false as saved, m.parent_id, m.quoted_id, h.kind, h.one, h.other,
  null::json as thread, null::timestamptz as delivered_at, null::timestamptz as read_at`

/** By id, unordered: messages that others refer to, deleted ones included. */
export const listReferred = query<{ appNo: number; ids: number[] }, MessageRow>(
  'messages.listReferred',
  `select ${MESSAGE_COLUMNS}
   from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
   where m.app_no = :appNo and m.id = any(:ids::bigint[]) and m.id > h.purged_id
     and ${SENDER_IS_THERE}`,
)

/** What the viewer of a message may do with it. The app has no inbox row, so it takes no part. */
export interface ViewerAccess {
  conversation: number
  /** Whether the viewer, or the app for everyone, cleared the conversation after this message. */
  cleared: boolean
  /** Whether the viewer is one side of the 1:1 conversation or a member of the group. */
  takes_part: boolean
  scope: string | null
  /** The permissions of that scope, if the group sets any and they bind the viewer. */
  scope_rules: StoredPermissions | null
}
