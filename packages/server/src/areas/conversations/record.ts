/**
 * Conversations as JSON text. PostgreSQL prints users, groups and messages, and this joins them: a page is never parsed,
 * and most of its last messages refer to nothing but their sender and receiver.
 */
import { isShown, type MessageLimits, messageLimits } from '../../core/access/visible.ts'
import type { Actor } from '../../core/actor.ts'
import { type ConversationKind, printedId, SYSTEM_UID } from '../../core/ids.ts'
import { printEntities } from '../../core/message-print.ts'
import { toMessages } from '../../core/message-record.ts'
import { listReferred } from '../../core/message-rows.ts'
import { printSent } from '../../core/records/message.ts'
import { seconds } from '../../core/time.ts'
import { blockFields } from '../../core/user-record.ts'
import type { Executor } from '../../platform/db/query.ts'
import { fail } from '../../platform/http/fail.ts'
import type { ConversationRecord } from './schema.ts'
import { findView, type ViewRow } from './views.queries.ts'

/** Optional parts of a record. */
export interface Show {
  /** The views belong to different users: each record names its owner, and nobody in particular sees it. */
  owners?: boolean
  /** Otherwise the user whose views they are. The first row of a list has it. */
  owner?: string | null | undefined
  /** The view's tags, and the group's. */
  tags?: boolean
  /** The counterpart's tags. */
  counterpartTags?: boolean
  blocks?: boolean
  /** What the viewer's role may see: other last messages are absent. */
  limits?: MessageLimits | undefined
}

/** Records of views with their last messages, as JSON. */
export async function toConversations(
  db: Executor,
  appNo: number,
  views: ViewRow[],
  show: Show,
): Promise<string[]> {
  const rich = await toRichMessages(db, appNo, views, show)
  return views.map((view) => {
    const owner = (show.owners ? view.owner : show.owner) ?? '{'
    const last = view.rich ? rich.get(view.id) : toLastMessage(view, owner, show)
    return toConversation(view, last, show)
  })
}

// Ids of users and groups consist of characters that JSON doesn't escape.
function toConversation(view: ViewRow, lastMessage: string | undefined, show: Show): string {
  const id = printedId(view)
  return `{${show.owners ? `"uid":"${view.uid}",` : ''}"conversationId":"${id}","conversationType":"${
    view.kind
  }","unreadMessageCount":"${view.unread}","unreadMentionsCount":${view.unread_mentions},"createdAt":${
    view.created_second
  },"updatedAt":${view.updated_second}${lastMessage ? `,"lastMessage":${lastMessage}` : ''}${
    view.read_id === null ? '' : `,"lastReadMessageId":"${view.read_id}"`
  }${show.tags && view.view_tags ? `,"tags":${JSON.stringify(view.view_tags)}` : ''}${pinOf(
    view,
  )},"conversationWith":${view.counterpart}${
    view.kind === 'group' ? membershipOf(view) : `,"conversationId":"${id}"`
  }${counterpartFields(view, show)}}}`
}

function pinOf({ uid, view_pinned_at: own, app_pinned_at: apps }: ViewRow): string {
  if (apps) return `,"pinnedBy":"${SYSTEM_UID}","pinnedAt":${seconds(apps)}`
  return own ? `,"pinnedBy":"${uid}","pinnedAt":${seconds(own)}` : ''
}

/** The parts of the counterpart that the request asks for. */
function counterpartFields(view: ViewRow, show: Show): string {
  const { kind, counterpart_tags: tags } = view
  const tagged = show.counterpartTags || (show.tags && kind === 'group')
  const blocks = show.blocks && kind === 'user'
  return `${tagged && tags ? `,"tags":${JSON.stringify(tags)}` : ''}${
    blocks ? `,${JSON.stringify(blockFields(view)).slice(1, -1)}` : ''
  }`
}

const membershipOf = ({ scope, joined_second: joined }: ViewRow) =>
  `,"hasJoined":true,"scope":"${scope}","joinedAt":${joined}`

/** The last message, if it isn't rich. */
function toLastMessage(view: ViewRow, owner: string, show: Show): string | undefined {
  const { message, data, kind, one, other, uid, sender } = view
  if (data === null || (show.limits && !isShown(show.limits, kindOf(view)))) return undefined
  const receiver = kind === 'group' || sender === other ? one : other
  const entity = (id: string | null) => (id === uid ? owner : view.counterpart)
  const from = kind === 'group' && sender !== uid ? view.sender_record : entity(sender)
  const to =
    kind === 'user'
      ? `${entity(receiver)},"conversationId":"${printedId(view)}"`
      : `${view.counterpart}${show.owners ? '' : membershipOf(view)}`
  return `${message ?? toText(view)},"data":${data.slice(0, -1)}${
    data === '{}' ? '' : ','
  }${printEntities(kind, `${from}}`, `${to}}`)}}${receiptOf(view, receiver)}}`
}

/** The category and type of a last message that isn't rich. */
const kindOf = ({ message }: ViewRow): { category: string; type: string } =>
  message === null ? KEPT : JSON.parse(`${message}}`)

/** The record of a text that the head keeps, without content and the closing brace. */
const toText = ({ id, muid, sender, kind, one, other }: ViewRow) =>
  printSent({ ...KEPT, id: Number(id), muid, sender: sender ?? '', kind, one, other })

const KEPT = {
  ...{ category: 'message', type: 'text', data: {}, tags: [] },
  ...{ updated_at: null, deleted_at: null },
}

/** A user who has read a message has received it, whatever else the marks say. */
function receiptOf(
  { delivered_second: received, read_second: read }: ViewRow,
  uid: string,
): string {
  if (received === null && read === null) return ',"receipts":{"data":[]}'
  const deliveredAt = Math.min(
    received ?? Number.POSITIVE_INFINITY,
    read ?? Number.POSITIVE_INFINITY,
  )
  const times = `"deliveredAt":${deliveredAt}${read === null ? '' : `,"readAt":${read}`}`
  return `,${times},"receipts":{"data":[{"recipient":"${uid}",${times}}]}`
}

/** Those of the last messages that are rich, by id, with everything they refer to. */
async function toRichMessages(
  db: Executor,
  appNo: number,
  views: ViewRow[],
  show: Show,
): Promise<Map<number | null, string>> {
  const rich = views.filter((view) => view.rich)
  if (rich.length === 0) return new Map()
  const entities = new Map()
  for (const view of rich) {
    const own = !show.owners && view.kind === 'group' ? membershipOf(view) : ''
    entities.set(`${view.kind}:${view.with_id}`, JSON.parse(`${view.counterpart}${own}}`))
    const owner = show.owners ? view.owner : show.owner
    if (owner) entities.set(`user:${view.uid}`, JSON.parse(`${owner}}`))
  }
  const ids = [...new Set(rich.map(({ id }) => Number(id)))]
  const rows = await listReferred.many(db, { appNo, ids })
  const viewer = show.owners ? undefined : views[0]?.uid
  const messages = await toMessages(
    db,
    appNo,
    // Some were deleted since the views were read.
    rows.filter((row) => row.deleted_at === null && isShown(show.limits, row)),
    { entities, viewer, hideTags: !show.tags, limits: show.limits },
  )
  return new Map(messages.map((message) => [Number(message.id), JSON.stringify(message)]))
}

/** The user's view of a conversation; without one there is nothing to see. */
export async function readConversation(
  actor: Actor,
  uid: string,
  kind: ConversationKind,
  withId: string,
): Promise<ConversationRecord> {
  const { no: appNo, cell } = actor.app
  const view = await findView.maybeOne(cell.db, { appNo, uid, kind, withId })
  if (!view) throw fail('ERR_CONVERSATION_NOT_ACCESSIBLE')
  const [conversation = ''] = await toConversations(cell.db, appNo, [view], {
    owner: view.owner,
    tags: true,
    limits: messageLimits(actor.policy),
  })
  return JSON.parse(conversation)
}
