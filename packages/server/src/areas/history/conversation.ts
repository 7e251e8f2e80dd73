import { messageLimits } from '../../core/access/visible.ts'
import type { Actor } from '../../core/actor.ts'
import { findHeadWith, getHeadOf, type Readable } from '../../core/heads.ts'
import { checkUser } from '../../gate/plugin.ts'
import { badRequest } from '../../platform/http/fail.ts'
import type { KeysetTools } from '../../platform/lists/page.ts'
import { isWhole } from './filter.ts'
import { checkQuery, ofConversations, pageOfStreams, unreadCounts } from './list.page.ts'
import { pageOfUser } from './of-user.ts'
import { pageOf, toAnswer } from './page.ts'
import { printedPage } from './printed.ts'
import type { HistoryQuery, MessageFilters, UserHistoryQuery } from './schema.ts'
import { conversationsNamed } from './streams.ts'

/** Messages between the actor and a user; without an acting user, all messages of the user. */
export async function historyWithUser(
  tools: KeysetTools,
  actor: Actor,
  uid: string,
  query: UserHistoryQuery,
) {
  if (actor.uid !== undefined && isPlain(actor, query))
    return printedPage(actor, 'user', uid, query)
  await checkActing(actor)
  checkQuery(actor, query)
  if (actor.uid === undefined) return withCursor(query, await pageOfUser(tools, actor, uid, query))
  if (query.page > 1) {
    throw badRequest({ page: ['page must be 1 with an acting user: continue with meta.cursor'] })
  }
  const head = await findHeadWith(actor, uid)
  if (query.count) return unreadCounts(actor, query, head ? [head] : [])
  return withCursor(
    query,
    await (head ? historyOf(actor, head, query) : toAnswer(actor, query, [])),
  )
}

/** `meta.cursor`: where the page ends, or how far the walk got; none if nothing was found. */
function withCursor<P extends Page>({ affix = 'append' }: HistoryQuery, { data, meta }: P) {
  const id = meta.next?.id ?? data.at(affix === 'prepend' ? 0 : -1)?.id
  return { data, meta: { ...meta, ...(id !== undefined && { cursor: { affix, id } }) } }
}

type Page = Awaited<ReturnType<typeof toAnswer>>

export async function historyOfGroup(actor: Actor, guid: string, query: HistoryQuery) {
  if (isPlain(actor, query)) return printedPage(actor, 'group', guid, query)
  await checkActing(actor)
  checkQuery(actor, query)
  const head = await getHeadOf(actor, guid)
  return query.count ? unreadCounts(actor, query, [head]) : historyOf(actor, head, query)
}

/** What the statement of a plain page knows. */
const PLAIN = new Set([
  'limit',
  'affix',
  'id',
  'sentAt',
  'withTags',
  'hideQuotedMessages',
  'hideReplies',
  'perPage',
])

/** Whether it is a page that needs only one statement: without other filters, counts and details of mentioned users. */
const isPlain = ({ policy }: Actor, query: HistoryQuery & Partial<UserHistoryQuery>) =>
  !messageLimits(policy) &&
  Object.entries(query).every(
    ([name, value]) =>
      value === undefined || value === false || PLAIN.has(name) || (name === 'page' && value === 1),
  )

/** The routes leave this to us: a plain page checks its user in its only statement. */
async function checkActing({ kind, app, uid }: Actor): Promise<void> {
  if (kind === 'appOnBehalf') await checkUser(app, uid)
}

/** Whether there is no filter except where the page starts. */
const isAll = ({ sentAt: _cursor, ...query }: MessageFilters) => isWhole(query)

function historyOf(actor: Actor, head: Readable, query: HistoryQuery) {
  if (isAll(query) && !messageLimits(actor.policy)) return pageOf(actor, head, query)
  const conversations = conversationsNamed(actor.app.no, actor.uid ?? '', [head.no])
  return pageOfStreams(
    actor,
    ofConversations(actor.app.no, conversations, [head], query, actor.uid),
    query,
  )
}
