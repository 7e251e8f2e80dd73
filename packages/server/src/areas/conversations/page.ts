import { setImmediate } from 'node:timers/promises'
import { messageLimits } from '../../core/access/visible.ts'
import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { checkUser } from '../../gate/plugin.ts'
import { badRequest, noAccess } from '../../platform/http/fail.ts'
import type { PageKey } from '../../platform/lists/keyset.ts'
import { keysetPage, type Paging } from '../../platform/lists/page.ts'
import type { PageStarts } from '../../platform/lists/page-starts.ts'
import { viewsOfApp } from './app.list.ts'
import { countOwn, findStartOfOwn, listOwn, toSortKey, type ViewFilter } from './list.ts'
import { type Show, toConversations } from './record.ts'
import type { ConversationListQuery } from './schema.ts'
import type { ViewRow, ViewSortKey } from './views.queries.ts'

/** Records that are printed in one turn of the loop. */
const PRINTED_AT_ONCE = 250

/**
 * A page of the acting user's conversations; without one, of all users' lists, one after the other. As JSON.
 */
export async function pageOfConversations(
  { secrets }: Deps,
  starts: PageStarts,
  actor: Actor,
  query: ConversationListQuery,
): Promise<string | Buffer> {
  checkQuery(actor, query)
  const { page, perPage, cursor, useCursoredIndex, ...filters } = query
  const { no: appNo, cell } = actor.app
  const filter = toFilter(appNo, query)
  const unique = query.unique === 1
  const paging: Paging<ViewRow> =
    actor.uid === undefined
      ? await viewsOfApp(cell.db, { ...filter, unique })
      : ofUser(cell.db, filter, actor.uid)
  const list = {
    name: ['conversations', appNo, actor.uid ?? ''],
    filters: [actor.credential.toString('base64'), filters],
    ...paging,
  }
  const request = { page, perPage, cursor, counted: useCursoredIndex === 0 }
  const found = await keysetPage({ secrets, starts }, list, request)
  if (actor.uid !== undefined && !found.rows[0]?.owner) await checkUser(actor.app, actor.uid)
  const ending = `],"meta":${JSON.stringify(found.meta)}}`
  return print(cell.db, appNo, found.rows, ending, {
    owners: actor.uid === undefined,
    owner: found.rows[0]?.owner,
    tags: query.withTags === true,
    counterpartTags: query.withUserAndGroupTags === true,
    blocks: query.withBlockedInfo,
    limits: messageLimits(actor.policy),
  })
}

/** Prints a page. Other requests have a turn between the pieces of a long one. */
async function print(
  db: Cell['db'],
  appNo: number,
  rows: ViewRow[],
  ending: string,
  show: Show,
): Promise<string | Buffer> {
  const piece = async (from: number) =>
    (await toConversations(db, appNo, rows.slice(from, from + PRINTED_AT_ONCE), show)).join(',')
  let text = `{"data":[${await piece(0)}`
  const printed: Buffer[] = []
  for (let from = PRINTED_AT_ONCE; from < rows.length; from += PRINTED_AT_ONCE) {
    printed.push(Buffer.from(text))
    await setImmediate()
    text = `,${await piece(from)}`
  }
  text += ending
  return printed.length > 0 ? Buffer.concat([...printed, Buffer.from(text)]) : text
}

function checkQuery({ kind, uid }: Actor, query: ConversationListQuery): void {
  if (query.unique === 1 && kind === 'user') {
    throw noAccess('unique needs an API key.')
  }
  if (query.unique === 1 && uid !== undefined) {
    throw badRequest({
      unique: ['unique is only for the app itself: leave out the header onBehalfOf'],
    })
  }
  if (query.hideAgentic && query.onlyAgentic) {
    throw badRequest({
      onlyAgentic: ['onlyAgentic and hideAgentic contradict each other: send only one'],
    })
  }
}

export function toFilter(appNo: number, query: ConversationListQuery): ViewFilter {
  const { conversationType, searchKey, userTags, groupTags, tags, conversationTags } = query
  const { unread = false, hideAgentic = false, onlyAgentic = false } = query
  const given = [searchKey, userTags, groupTags, tags, conversationTags]
  return {
    appNo,
    users: conversationType !== 'group',
    groups: conversationType !== 'user',
    blocked: query.includeBlockedUsers,
    withBlocks: query.withBlockedInfo,
    withCounterpartTags: query.withUserAndGroupTags === true || query.withTags === true,
    searchKey: searchKey || null,
    userTags: userTags ?? null,
    groupTags: groupTags ?? null,
    tags: tags ?? null,
    conversationTags: conversationTags ?? null,
    ...{ unread, hideAgentic, onlyAgentic },
    filtered: given.some(Boolean) || unread || hideAgentic || onlyAgentic,
  }
}

type Cell = Actor['app']['cell']

const ofUser = (db: Cell['db'], filter: ViewFilter, uid: string): Paging<ViewRow> => ({
  async read(after, limit) {
    const rows = await listOwn(db, filter, uid, after && sortKeyOf(after), limit)
    const total = rows[0]?.total ?? undefined
    return { rows, ...(total !== undefined && { count: async () => ({ total, capped: false }) }) }
  },
  keyOf: (row) => keyOf(toSortKey(row)),
  async startOf(count) {
    const sortKey = await findStartOfOwn(db, filter, uid, count)
    return sortKey && keyOf(sortKey)
  },
  count: () => countOwn(db, filter, uid),
})

const keyOf = ({ second, withId, kind }: ViewSortKey): PageKey => [second, withId, kind]

const sortKeyOf = ([second, withId, kind]: PageKey): ViewSortKey => ({
  second: Number(second),
  withId: String(withId),
  kind: String(kind),
})
