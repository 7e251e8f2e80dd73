import type { Actor } from '../../core/actor.ts'
import { checkKnown, findHeadWith, getHeadOf, type Readable } from '../../core/heads.ts'
import { idRange } from '../../platform/http/id-page.ts'
import { isWhole } from './filter.ts'
import { checkQuery, ofConversations, pageOfStreams, unreadCounts } from './list.ts'
import { pageOf, toAnswer } from './page.ts'
import { listSentDown, listSentUp } from './queries.ts'
import type { HistoryQuery, MessageFilters, UserHistoryQuery } from './schema.ts'
import { conversationsNamed, ofSenders } from './streams.ts'

/** Messages between the actor and a user; without an acting user, all messages the user sent. */
export async function historyWithUser(actor: Actor, uid: string, query: UserHistoryQuery) {
  checkQuery(actor, query)
  if (actor.uid === undefined) return withCursor(query, await historyOfSender(actor, uid, query))
  const head = await findHeadWith(actor, uid)
  if (query.count) return unreadCounts(actor, query, head ? [head] : [])
  return withCursor(
    query,
    await (head ? historyOf(actor, head, query) : toAnswer(actor, query, [])),
  )
}

/** `meta.cursor`: where the page ends, or how far the walk got; none if nothing was found. */
function withCursor({ affix = 'append' }: HistoryQuery, { data, meta }: Page) {
  const id = meta.next?.id ?? data.at(affix === 'prepend' ? 0 : -1)?.id
  return { data, meta: { ...meta, ...(id !== undefined && { cursor: { affix, id } }) } }
}

type Page = Awaited<ReturnType<typeof toAnswer>>

export async function historyOfGroup(actor: Actor, guid: string, query: HistoryQuery) {
  checkQuery(actor, query)
  const head = await getHeadOf(actor, guid)
  return query.count ? unreadCounts(actor, query, [head]) : historyOf(actor, head, query)
}

/** Whether there is no filter except where the page starts. */
const isAll = ({ sentAt: _cursor, ...query }: MessageFilters) => isWhole(query)

function historyOf(actor: Actor, head: Readable, query: HistoryQuery) {
  if (isAll(query)) return pageOf(actor, head, query)
  const conversations = conversationsNamed(actor.app.no, actor.uid ?? '', [head.no])
  return pageOfStreams(
    actor,
    ofConversations(actor.app.no, conversations, [head], query, actor.uid),
    query,
  )
}

async function historyOfSender(actor: Actor, sender: string, given: UserHistoryQuery) {
  await checkKnown(actor, sender)
  const query = { ...given, limit: given.perPage }
  if (!isAll(query) || (query.id === undefined && query.sentAt !== undefined)) {
    return pageOfStreams(actor, { ...ofSenders([sender]), where: [], count: 1 }, query)
  }
  const { no: appNo, cell } = actor.app
  const { down, ...range } = idRange(query)
  const rows = await (down ? listSentDown : listSentUp).many(cell.db, { appNo, sender, ...range })
  return toAnswer(actor, query, rows)
}
