/** What tests of the model share: requests, and comparisons of what the service answers with the model. */
import assert from 'node:assert/strict'
import { after as atEnd, before as atStart } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { buildApi } from '../../src/api.ts'
import { storeSettings } from '../../src/areas/settings/actions.ts'
import type { TestApp, TestServer } from '../kit.ts'
import { ALL_PARTS, assertConversations } from '../oracle/conversations.ts'
import { historyByOracle } from '../oracle/history.ts'
import type { Request, Step } from './steps.ts'
import {
  AGENT,
  APP,
  type Filter,
  GROUPS,
  GROUPS_PER_USER,
  isGroup,
  listOf,
  MEMBERS_PER_GROUP,
  newWorld,
  OWNER,
  sideOf,
  TAGS,
  type ThreadView,
  talkOf,
  threadsOf,
  USERS,
  type View,
  type World,
} from './world.ts'

/** Small, so that reading a history takes several pages. */
export const PAGE = 3

let api: FastifyInstance

/** Answers requests within the process, for the tests of a suite. */
export function useApi(server: TestServer): void {
  atStart(async () => {
    api = await buildApi(server.deps)
  })
  atEnd(() => api.close())
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  body: any
}

export async function ask(
  app: TestApp,
  { method, url, onBehalfOf, body }: Request,
): Promise<Answer> {
  const headers = {
    appid: app.id,
    apikey: app.apiKey,
    ...(onBehalfOf && { onbehalfof: onBehalfOf }),
  }
  const answer = await api.inject({ method, url, headers, ...(body && { payload: body }) })
  return { status: answer.statusCode, body: answer.json() }
}

export const get = (app: TestApp, url: string, onBehalfOf?: string) =>
  ask(app, { method: 'GET', url, ...(onBehalfOf && { onBehalfOf }) })

/** An app with its users and with groups that have the first user only. */
export async function newApp(server: TestServer): Promise<{ app: TestApp; world: World }> {
  const app = await server.newApp()
  await storeSettings(server.deps, app, {
    'limits.membersPerGroup': MEMBERS_PER_GROUP,
    'limits.groupsPerUser': GROUPS_PER_USER,
  })
  const world = newWorld()
  for (const uid of USERS) {
    const role = uid === AGENT ? { role: '@agentic' } : {}
    const body = { uid, name: uid, tags: TAGS[uid] ?? [], ...role }
    await ask(app, { method: 'POST', url: '/v3/users', body })
  }
  for (const guid of GROUPS) {
    const owner = guid === GROUPS.at(-1) ? {} : { owner: OWNER }
    const body = { guid, name: guid, type: 'public', tags: TAGS[guid] ?? [], ...owner }
    const { status } = await ask(app, { method: 'POST', url: '/v3/groups', body })
    assert.equal(status, 200)
    sideOf(talkOf(world, OWNER, guid), OWNER).member = 'owner' in owner
  }
  return { app, world }
}

/** Reads every page of a list, with the total of each. */
export async function list(app: TestApp, uid: string | undefined, filter: Filter, page: Paging) {
  const views: (View & { uid?: string })[] = []
  const totals = new Set<number>()
  let next = ''
  for (let nth = 1; ; nth++) {
    const asked = Object.entries({ ...filter, perPage: page.size }).map(([k, v]) => [k, String(v)])
    const query = new URLSearchParams(asked)
    const { status, body } = await get(app, `/v3/conversations?${query}${next}`, uid)
    assert.equal(status, 200, JSON.stringify(body))
    views.push(...body.data.map(toView))
    totals.add(body.meta.pagination.total)
    const { cursor } = body.meta
    if (!cursor) return { views, totals: [...totals] }
    next = page.by === 'cursor' ? `&cursor=${cursor.next}` : `&page=${nth + 1}`
  }
}

export interface Paging {
  size: number
  by: 'cursor' | 'page'
}
export const WHOLE: Paging = { size: 1000, by: 'page' }

interface Listed {
  uid?: string
  conversationId: string
  unreadMessageCount: string
  unreadMentionsCount: number
  lastMessage?: { id: string }
  updatedAt: number
  createdAt: number
}

const toView = ({ uid, conversationId, lastMessage, ...rest }: Listed) => ({
  ...(uid !== undefined && { uid }),
  conversationId,
  unread: rest.unreadMessageCount,
  unreadMentions: rest.unreadMentionsCount,
  lastId: lastMessage?.id,
  updatedAt: rest.updatedAt,
  createdAt: rest.createdAt,
})

/** If the model can't know when a view began, it accepts the service's value. */
export const withCreatedAt = (must: View[], views: View[]) =>
  must.map((view, nth) => ({ ...view, createdAt: view.createdAt ?? views[nth]?.createdAt }))

/** Everything a user can read of a conversation, page by page from the newest; undefined without access. */
export async function crawl(
  app: TestApp,
  { by, to }: Pick<Step, 'by' | 'to'>,
): Promise<string[] | undefined> {
  const ids: string[] = []
  let cursor = ''
  do {
    const path = `/v3/${isGroup(to) ? 'groups' : 'users'}/${to}`
    const url = `${path}/messages?limit=${PAGE}&affix=prepend${cursor}`
    const { status, body } = await get(app, url, by)
    if (status !== 200) return undefined
    ids.unshift(...body.data.map(({ id }: { id: string }) => id))
    cursor = body.meta.next && `&id=${body.meta.next.id}`
  } while (cursor)
  return ids
}

/** Two filters at once, for a user or the whole app, in pages. */
export async function checkFiltered(app: TestApp, world: World, { uid, filter, page }: Question) {
  const { views, totals } = await list(app, uid, filter, page)
  const must =
    uid === undefined
      ? USERS.flatMap((owner) =>
          listOf(world, owner, { ...filter, ofApp: true }).map((view) => ({ uid: owner, ...view })),
        )
      : listOf(world, uid, filter)
  const asked = JSON.stringify({ uid, filter, page })
  assert.deepEqual(views, withCreatedAt(must, views), asked)
  assert.deepEqual(totals, [must.length], asked)
}

/** Every field of every list, compared with records made in the plain way. */
export async function checkRecords(app: TestApp) {
  for (const uid of [...USERS, undefined]) {
    const { body } = await get(app, `/v3/conversations?${ALL_PARTS}`, uid)
    await assertConversations(app, uid, body.data)
  }
}

/** Every field of every history, page by page in both directions, compared with records made in the plain way. */
export async function checkHistories(app: TestApp) {
  for (const viewer of [...USERS, undefined]) {
    for (const to of [...USERS, ...GROUPS, APP]) {
      if (viewer === undefined && !isGroup(to)) continue
      for (const affix of ['append', 'prepend'] as const) await checkHistory(app, viewer, to, affix)
    }
  }
}

async function checkHistory(
  app: TestApp,
  viewer: string | undefined,
  to: string,
  affix: 'append' | 'prepend',
) {
  const kind = isGroup(to) ? 'group' : 'user'
  let id: number | undefined
  // Every second page has tags and hides quotes.
  for (let nth = 0; ; nth++) {
    const [limit, odd] = [nth % 3 === 2 ? 100 : PAGE, nth % 2 === 1]
    const asked = `limit=${limit}&affix=${affix}&withTags=${odd}&hideQuotedMessages=${odd}`
    const cursor = id === undefined ? '' : `&id=${id}`
    const url = `/v3/${kind}s/${to}/messages?${asked}${cursor}`
    const { status, body } = await get(app, url, viewer)
    if (status !== 200) return
    const page = { viewer, kind, withId: to, affix, id, limit } as const
    const must = await historyByOracle(app.cell.db, app.no, {
      ...{ ...page, withTags: odd, hideQuoted: odd },
    })
    assert.deepEqual(body, JSON.parse(JSON.stringify(must)), `${viewer}: ${url}`)
    if (!body.meta.next) return
    id = Number(body.meta.next.id)
  }
}

/** The threads that each user sees, page by page. */
export async function checkThreads(app: TestApp, world: World) {
  for (const uid of USERS) {
    for (const own of [false, true]) {
      const threads: ThreadView[] = []
      let cursor = ''
      do {
        const counts = `withUnreadReplyCount=true&withMentionCount=true&participatedByMe=${own}`
        const url = `/v3/threads?limit=${PAGE}&${counts}${cursor}`
        const { status, body } = await get(app, url, uid)
        assert.equal(status, 200, JSON.stringify(body))
        threads.push(...body.data.map(toThreadView))
        const { next } = body.meta
        cursor = next && `&updatedAt=${next.updatedAt}&id=${next.id}`
      } while (cursor)
      assert.deepEqual({ uid, own, threads }, { uid, own, threads: threadsOf(world, uid, own) })
    }
  }
}

const toThreadView = ({
  lastReply,
  ...thread
}: ThreadView & { lastReply?: { id: string } }): ThreadView => ({
  id: thread.id,
  replyCount: thread.replyCount,
  lastReplyId: lastReply?.id,
  unreadReplyCount: thread.unreadReplyCount,
  mentionCount: thread.mentionCount,
})

export interface Question {
  uid: string | undefined
  filter: Filter
  page: Paging
}
