/** Messages, and what users add to them and to their views, as lines of an export. */
import { isWritten } from '../../../core/message-record.ts'
import { seconds } from '../../../core/time.ts'
import type { Executor } from '../../../platform/db/query.ts'
import { runSql, sql } from '../../../platform/db/sql.ts'
import { withoutOurs } from '../../messages/send.actions.ts'
import {
  AT_ONCE,
  and,
  at,
  isThere,
  type Line,
  type Place,
  partiesAreThere,
  present,
  type Reader,
  type Scope,
  some,
} from './reading.ts'

interface MessageRow {
  id: number
  kind: 'user' | 'group'
  sender: string
  receiver: string
  category: string
  type: string
  data: Record<string, unknown>
  tags: string[]
  muid: string | null
  parent_id: number | null
  quoted_id: number | null
  sent_at: number
  updated_at: Date | null
  edited_at: Date | null
  edited_by: string | null
  deleted_at: Date | null
  deleted_by: string | null
  pinned_at: Date | null
  pinned_by: string | null
  delivered_at: Date | null
  read_at: Date | null
}

/** Without what no import can place: actions of the app in 1:1 conversations, and replies to messages that are gone. */
export const readMessages: Reader = async (db, scope, [after = scope.fromId - 1]) => {
  const { appNo, uid, conversation, beforeId } = scope
  const rows = await runSql<MessageRow>(
    db,
    'exports.messages',
    sql`select m.id, h.kind, m.sender, receiver_of(m, h) as receiver, m.category, m.type, m.data, m.tags, m.muid,
          m.parent_id, m.quoted_id, id_second(m.id) as sent_at, m.updated_at, m.edited_at, m.edited_by, m.deleted_at, m.deleted_by,
          m.pinned_at, m.pinned_by, first_mark(h, m, receiver_of(m, h), 'delivered') as delivered_at,
          first_mark(h, m, receiver_of(m, h), 'read') as read_at
        from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
        where ${and(
          sql`m.app_no = ${appNo}`,
          sql`m.id > ${after}`,
          sql`m.id < ${beforeId}`,
          sql`m.id > h.purged_id`,
          sql`(h.kind = 'group' or m.sender in (h.one, h.other))`,
          sql`(m.parent_id is null or m.parent_id > h.purged_id and exists (
            select from messages p where p.app_no = m.app_no and p.id = m.parent_id))`,
          partiesAreThere(appNo),
          uid === null ? undefined : sql`m.sender = ${uid}`,
          conversation ? sql`m.conversation = ${conversation.no}` : undefined,
        )} order by m.id limit ${AT_ONCE}`,
  )
  return rows.map((row) => ({ key: [row.id], line: messageOf(row) }))
}

const text = (id: number | null) => (id === null ? null : String(id))

const messageOf = (row: MessageRow): Line => ({
  ...{ kind: 'message', id: String(row.id), ...present({ muid: row.muid }) },
  ...{ sender: row.sender, receiverType: row.kind, receiver: row.receiver },
  ...{ category: row.category, type: row.type },
  data: isWritten(row.category) ? row.data : withoutOurs(row.data),
  ...present({ tags: some(row.tags), sentAt: row.sent_at }),
  ...present({ parentId: text(row.parent_id), quotedId: text(row.quoted_id) }),
  ...present({ deliveredAt: at(row.delivered_at), readAt: at(row.read_at) }),
  ...present({ updatedAt: at(row.updated_at) }),
  ...present({ editedAt: at(row.edited_at), editedBy: row.edited_by }),
  ...present({ deletedAt: at(row.deleted_at), deletedBy: row.deleted_by }),
  ...present({ pinnedAt: at(row.pinned_at), pinnedBy: row.pinned_by }),
})

interface ReactionRow {
  id: number
  uid: string
  message_id: number
  reaction: string
  reacted_at: Date
}

export const readReactions: Reader = (db, scope, after) =>
  scope.conversation ? readReactionsTo(db, scope, after) : readReactionsOf(db, scope, after)

/** The reactions of all users, or of one. */
const readReactionsOf: Reader = async (db, scope, [uid = '', message = 0, reaction = '']) => {
  const { appNo, fromId, beforeId } = scope
  const rows = await runSql<ReactionRow>(
    db,
    'exports.reactions',
    sql`select r.id, r.uid, r.message_id, r.reaction, r.reacted_at
        from reactions r join messages m on m.app_no = r.app_no and m.id = r.message_id
          join conversations h on h.app_no = m.app_no and h.no = m.conversation
        where ${and(
          sql`r.app_no = ${appNo}`,
          sql`(r.uid, r.message_id, r.reaction) > (${uid}, ${message}::bigint, ${reaction})`,
          sql`r.message_id >= ${fromId}`,
          sql`r.message_id < ${beforeId}`,
          ...reactionIsThere(appNo, beforeId),
          scope.uid === null ? undefined : sql`r.uid = ${scope.uid}`,
        )} order by r.uid, r.message_id, r.reaction limit ${AT_ONCE}`,
  )
  return rows.map((row) => ({
    key: [row.uid, row.message_id, row.reaction],
    line: reactionOf(row),
  }))
}

/** The reactions to the messages of a conversation, by those of its messages that have some. */
const readReactionsTo: Reader = async (db, scope, [message = 0, id = 0]) => {
  const { appNo, conversation, fromId, beforeId } = scope
  // Compared and sorted as a pair: no other index than messages_reacted has both in this order.
  const no = conversation?.no ?? 0
  const rows = await runSql<ReactionRow>(
    db,
    'exports.reactionsTo',
    sql`select r.id, r.uid, r.message_id, r.reaction, r.reacted_at
        from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
          cross join lateral (
            select * from reactions where app_no = m.app_no and message_id = m.id offset 0) r
        where ${and(
          sql`m.app_no = ${appNo}`,
          sql`m.reacted`,
          sql`(m.conversation, m.id) >= (${no}, ${Math.max(fromId, Number(message))})`,
          sql`(m.conversation, m.id) < (${no}, ${beforeId})`,
          sql`(r.message_id, r.id) > (${message}::bigint, ${id}::bigint)`,
          ...reactionIsThere(appNo, beforeId),
        )} order by m.conversation, m.id, r.id limit ${AT_ONCE}`,
  )
  return rows.map((row) => ({ key: [row.message_id, row.id], line: reactionOf(row) }))
}

const reactionIsThere = (appNo: number, beforeId: number) => [
  sql`r.id < ${beforeId}`,
  sql`m.deleted_at is null`,
  sql`m.id > h.purged_id`,
  isThere(appNo, sql`r.uid`),
  partiesAreThere(appNo),
]

const reactionOf = ({ id, message_id, uid, reaction, reacted_at }: ReactionRow): Line => ({
  ...{ kind: 'reaction', id: String(id), messageId: String(message_id) },
  ...{ uid, reaction, reactedAt: seconds(reacted_at) },
})

interface SaveRow {
  uid: string
  message_id: number
  saved_at: Date
}

/** They are their users', so those of one conversation aren't exported with it. */
export const readSaves: Reader = async (db, scope, [uid = '', message = 0]) => {
  const { appNo, fromId, beforeId, until } = scope
  if (scope.conversation) return []
  const rows = await runSql<SaveRow>(
    db,
    'exports.saves',
    sql`select s.uid, s.message_id, s.saved_at
        from saves s join messages m on m.app_no = s.app_no and m.id = s.message_id
          join conversations h on h.app_no = m.app_no and h.no = m.conversation
        where ${and(
          sql`s.app_no = ${appNo}`,
          sql`(s.uid, s.message_id) > (${uid}, ${message}::bigint)`,
          sql`s.message_id >= ${fromId}`,
          sql`s.message_id < ${beforeId}`,
          sql`s.saved_at <= ${until}`,
          sql`m.deleted_at is null`,
          sql`m.id > h.purged_id`,
          sql`(h.kind = 'group' or m.sender in (h.one, h.other))`,
          isThere(appNo, sql`s.uid`),
          partiesAreThere(appNo),
          scope.uid === null ? undefined : sql`s.uid = ${scope.uid}`,
        )} order by s.uid, s.message_id limit ${AT_ONCE}`,
  )
  return rows.map((row) => ({
    key: [row.uid, row.message_id],
    line: {
      ...{ kind: 'save', messageId: String(row.message_id), uid: row.uid },
      savedAt: seconds(row.saved_at),
    },
  }))
}

interface ViewRow {
  uid: string
  kind: 'user' | 'group'
  with_id: string
  tags: string[]
  pinned_at: Date | null
  exported: boolean
}

/** Inbox rows of one statement: few of them have tags or a pin, and no index knows which. */
const WINDOW = 10_000

/** Tags and pins of views. An import can place them if a message is in the export that shows the conversation. */
export const readViews: Reader = async (db, scope, [uid = '', kind = '', withId = '']) => {
  if (scope.conversation) return []
  let key: Place['key'] = [uid, kind, withId]
  for (;;) {
    const rows = await readWindow(db, scope, key)
    const exported = rows.filter((row) => row.exported)
    const last = rows.at(-1)
    if (exported.length > 0 || !last) {
      return exported.map((row) => ({ key: keyOf(row), line: viewOf(row) }))
    }
    key = keyOf(last)
  }
}

const keyOf = (row: ViewRow) => [row.uid, row.kind, row.with_id]

const viewOf = ({ uid, kind, with_id: receiver, tags, pinned_at }: ViewRow): Line => ({
  ...{ kind: 'view', uid, receiverType: kind, receiver },
  ...present({ tags: some(tags), pinnedAt: at(pinned_at) }),
})

/** The exported rows of the next window, and its last row. */
const readWindow = (db: Executor, scope: Scope, [uid, kind, withId]: Place['key']) => {
  const { appNo, fromId, beforeId } = scope
  return runSql<ViewRow>(
    db,
    'exports.views',
    sql`select v.* from (
          select w.*, w.is_kept and ${and(
            sql`exists (select from conversations h where h.app_no = ${appNo} and h.no = w.conversation
              and h.shown_id > w.cleared_id and h.shown_id >= ${fromId} and (h.shown_id < ${beforeId} or exists (
                select from messages m where m.app_no = h.app_no and m.conversation = h.no and m.shows
                  and m.id > w.cleared_id and m.id >= ${fromId} and m.id < ${beforeId})))`,
            isThere(appNo, sql`w.uid`),
            sql`case w.kind when 'user' then ${isThere(appNo, sql`w.with_id`)}
              else w.scope is not null and exists (select from groups g
                where g.app_no = ${appNo} and g.guid = w.with_id and g.removed_at is null) end`,
          )} as exported, lead(w.uid) over (order by w.uid, w.kind, w.with_id) is null as is_last
          from (
            select i.uid, i.kind, i.with_id, i.conversation, i.cleared_id, i.scope, i.tags, i.pinned_at,
              (i.tags <> '{}' or i.pinned_at is not null) as is_kept
            from inbox i where ${and(
              sql`i.app_no = ${appNo}`,
              sql`(i.uid, i.kind, i.with_id) > (${uid}, ${kind}, ${withId})`,
              scope.uid === null ? undefined : sql`i.uid = ${scope.uid}`,
            )} order by i.uid, i.kind, i.with_id limit ${WINDOW}) w
        ) v where v.exported or v.is_last order by v.uid, v.kind, v.with_id`,
  )
}
