import type { ReactionRecord, UserRecord } from '@loquat/protocol'
import { listedScopes } from '../../core/access/authorize.ts'
import type { Actor } from '../../core/actor.ts'
import { findEntities } from '../../core/entities.ts'
import { toEntity } from '../../core/message-record.ts'
import type { MessageRow, ViewerAccess } from '../../core/message-rows.ts'
import { seconds } from '../../core/time.ts'
import { cutPage, idRange } from '../../platform/http/id-page.ts'
import {
  listReactionsDown,
  listReactionsUp,
  listValueDown,
  listValueUp,
  type ReactionRow,
} from './queries.ts'
import type { ReactionQuery } from './schema.ts'

/** The reactions to a message, oldest first; only those with one value if it is given. */
export async function reactionsOf(
  actor: Actor,
  message: MessageRow & ViewerAccess,
  query: ReactionQuery,
  reaction?: string,
) {
  const { no: appNo, cell } = actor.app
  const scopes = listedScopes(actor, message, 'listReactions') ?? null
  const { id, reacted, conversation } = message
  const rows = reacted ? await readRows(actor, { id, conversation, scopes }, query, reaction) : []
  const { shown, meta } = cutPage(rows, query)
  const uids = [...new Set(shown.map(({ uid }) => uid))]
  const viewer = actor.uid ?? null
  const users = await findEntities.many(cell.db, { appNo, viewer, uids, guids: [], system: false })
  const known = new Map(users.map((user) => [user.id, toEntity(user) as UserRecord]))
  const data = shown.flatMap((row) => {
    const reactedBy = known.get(row.uid)
    return reactedBy ? [toReaction(row, reactedBy)] : []
  })
  return { data, meta }
}

function readRows(
  { app: { no: appNo, cell } }: Actor,
  of: { id: number; conversation: number; scopes: readonly string[] | null },
  query: ReactionQuery,
  reaction?: string,
): Promise<ReactionRow[]> {
  const { down, ...range } = { ...idRange(query), appNo, ...of }
  if (reaction === undefined) {
    return (down ? listReactionsDown : listReactionsUp).many(cell.db, range)
  }
  return (down ? listValueDown : listValueUp).many(cell.db, { ...range, reaction })
}

const toReaction = (row: ReactionRow, reactedBy: UserRecord): ReactionRecord => ({
  id: String(row.id),
  messageId: String(row.message_id),
  reaction: row.reaction,
  uid: row.uid,
  reactedAt: seconds(row.reacted_at),
  reactedBy,
})
