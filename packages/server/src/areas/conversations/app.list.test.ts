/** GET /conversations for a whole app, compared with a plain recount: every row once, in order, with the right totals. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  addConversations,
  addTotals,
  type Filter,
  readViews,
  recount,
} from '../../../test/conversation-sets.ts'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { LONG } from '../../../test/long.ts'
import { seeded } from '../../../test/seed.ts'
import { type Draw, drawFrom, pick } from '../../fill/names.ts'
import { addToTotal } from '../../platform/db/totals.ts'
import { keysetPage } from '../../platform/lists/page.ts'
import { type AppViewRow, BOUNDS, type Bounds, viewsOfApp } from './app.list.ts'
import { toFilter } from './page.ts'

const server = useServer()

const SETS = LONG ? 20 : 1
/** Pairs of filters that are tried, of each set. */
const PAIRS = LONG ? Number.POSITIVE_INFINITY : 8

/** Fewer matches than most filters have in these sets. */
const FEW = 20

/** For each parameter a filter that many views pass, and others. */
const FILTERS: Filter[][] = [
  [{ searchKey: 'REED' }, { searchKey: 'zephyrine' }, { searchKey: 'an' }, { searchKey: 'e' }],
  [{ searchKey: 'syst' }, { searchKey: 'arger' }, { searchKey: '0%' }, { searchKey: 'nobody' }],
  [{ userTags: 'half' }, { userTags: 'rare' }, { userTags: 'eu,rare' }],
  [{ groupTags: 'half' }, { groupTags: 'rare' }],
  [{ tags: 'half,eu' }, { tags: 'none' }],
  [{ conversationTags: 'mine' }],
  [{ conversationType: 'user' }, { conversationType: 'group' }],
  [{ unread: true }],
  [{ hideAgentic: true }],
  [{ onlyAgentic: true }],
  [{ includeBlockedUsers: true }],
  [{ unique: 1 }],
]

const CONTRADICTION: Filter = { hideAgentic: true, onlyAgentic: true }

function pairsOf(filters: Filter[][]): Filter[] {
  const firsts = filters.flatMap(([first]) => first ?? [])
  return firsts.flatMap((one, n) =>
    firsts
      .slice(n + 1)
      .map((other) => ({ ...one, ...other }))
      .filter((pair) => Object.keys(pair).length === 2)
      .filter((pair) => JSON.stringify(pair) !== JSON.stringify(CONTRADICTION)),
  )
}

interface Listed {
  uid: string
  conversationId: string
}

/** Reads a list to its end, page by page, and returns the pages. */
type Reading = (read: Read, pages: number) => Promise<Page[]>
type Read = (query: PageQuery) => Promise<Page>
interface PageQuery {
  page?: number
  cursor?: string
  useCursoredIndex?: 0
}
interface Page {
  data: Listed[]
  meta: Awaited<ReturnType<typeof keysetPage>>['meta']
}

const numbers = (pages: number) => Array.from({ length: pages }, (_, n) => n + 1)

async function readEach(read: Read, queries: PageQuery[]): Promise<Page[]> {
  const found: Page[] = []
  for (const query of queries) found.push(await read(query))
  return found
}

// The first one comes first, so that no page start is remembered yet.
const READINGS: Record<string, Reading> = {
  'from the last page to the first': async (read, pages) => {
    const queries = numbers(pages).map((page) => ({ page }))
    return (await readEach(read, queries.reverse())).reverse()
  },
  'page by page': (read, pages) => {
    const queries = numbers(pages).map((page) => ({ page }))
    return readEach(read, queries)
  },
  'by counting': (read, pages) => {
    const queries = numbers(pages).map((page) => ({ page, useCursoredIndex: 0 as const }))
    return readEach(read, queries)
  },
  async 'by cursor'(read) {
    const pages = [await read({})]
    for (let next = pages[0]?.meta.cursor?.next; next !== undefined; ) {
      const page = await read({ cursor: next })
      pages.push(page)
      next = page.meta.cursor?.next
    }
    return pages
  },
}

/** A way to read the pages of a list. */
type Reader = (app: TestApp, filter: Filter, perPage: number) => Read

const byRequest: Reader = (app, filter, perPage) => async (query) => {
  const params = new URLSearchParams({ perPage: String(perPage) })
  for (const [name, value] of Object.entries({ ...filter, ...query }))
    params.set(name, String(value))
  const { status, body } = await app.call('GET', `/v3/conversations?${params}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}

/** Without the HTTP server, but with other bounds than the service has. */
const within =
  (bounds: Bounds): Reader =>
  (app, filter, perPage) =>
  async ({ page = 1, cursor, useCursoredIndex }) => {
    const views = await viewsOfApp(app.cell.db, appFilterOf(app, filter), bounds)
    const list = { name: ['within', app.no], filters: [filter, bounds], ...views }
    const request = { page, perPage, cursor, counted: useCursoredIndex === 0 }
    const { rows, meta } = await keysetPage(server.deps, list, request)
    return { data: rows.map(toListed), meta }
  }

function appFilterOf(app: TestApp, filter: Filter) {
  const { tags, userTags, groupTags, conversationTags, unique, ...others } = filter
  const lists = Object.entries({ tags, userTags, groupTags, conversationTags })
    .filter(([, list]) => list !== undefined)
    .map(([name, list]) => [name, list?.split(',')])
  const unused = { page: 1, perPage: 1, useCursoredIndex: 1, withBlockedInfo: false }
  const query = { includeBlockedUsers: false, ...unused, ...others, ...Object.fromEntries(lists) }
  return { ...toFilter(app.no, query), unique: unique === 1 }
}

const toListed = ({ uid, kind, one, other }: AppViewRow): Listed => ({
  uid,
  conversationId: kind === 'group' ? `group_${one}` : `${one}_user_${other}`,
})

const rowsOf = (pages: Page[]) =>
  pages.flatMap(({ data }) => data.map(({ uid, conversationId }) => `${uid} ${conversationId}`))

interface Case {
  app: TestApp
  filter: Filter
  reader: Reader
  how: string
  draw: Draw
}

async function compare({ app, filter, reader, how, draw }: Case, expected: string[]) {
  const what = `${JSON.stringify(filter)} ${how}`
  const perPage = Math.min(1_000, Math.ceil(expected.length / (2 + draw(3))) + draw(3) || 1)
  const pages = Math.max(1, Math.ceil(expected.length / perPage))
  const read = reader(app, filter, perPage)
  const found = (await READINGS[how]?.(read, pages)) ?? []
  assert.deepEqual(rowsOf(found), expected, what)
  for (const [n, { data, meta }] of found.entries()) {
    const pagination = {
      total: expected.length,
      count: data.length,
      per_page: perPage,
      current_page: n + 1,
      total_pages: Math.ceil(expected.length / perPage),
    }
    assert.deepEqual(meta.pagination, pagination, `${what}, page ${n + 1}`)
    assert.equal(data.length, n + 1 < pages ? perPage : expected.length - n * perPage, what)
  }
  assert.deepEqual((await read({ page: pages + 1 })).data, [], what)
}

/** As if all but a few users and groups matched each filter by name, tag or role: their ids are listed, or not. */
const MANY_FOUND = [
  { ...BOUNDS, sought: FEW, matches: FEW },
  { ...BOUNDS, sought: FEW },
  { ...BOUNDS, matches: FEW },
]
const FINDING = new Set([
  'searchKey',
  'userTags',
  'groupTags',
  'tags',
  'hideAgentic',
  'onlyAgentic',
])

// A reader mostly waits for its answer, so the sets of the long form are read side by side.
suite("the app's list contains what a recount finds", { concurrency: 4 }, () => {
  for (let set = 0; set < SETS; set++) {
    const seed = seeded.seed * 1_000 + set
    test(`in a random set of conversations (${seed})`, async () => {
      const app = await server.newApp()
      await addConversations(app, seed)
      const views = await readViews(app)
      assert.ok(views.length > 2_500 && views.length < 3_500, `${views.length} views`)
      await addTotals(app)
      const draw = drawFrom(seed)
      const pairs = pairsOf(FILTERS)
        .map((pair) => ({ pair, place: draw(1_000_000) }))
        .sort((a, b) => a.place - b.place)
        .slice(0, PAIRS)
        .map(({ pair }) => pair)
      const cases: Filter[] = [{}, ...FILTERS.flat(), ...pairs]
      const readings = Object.keys(READINGS)
      for (const filter of cases) {
        const expected = recount(views, filter)
        const how = pick(draw, readings)
        await compare({ app, filter, reader: byRequest, how, draw }, expected)
        if (Object.keys(filter).every((name) => !FINDING.has(name))) continue
        const one = draw(MANY_FOUND.length)
        for (const bounds of LONG ? MANY_FOUND : MANY_FOUND.slice(one, one + 1))
          await compare({ app, filter, reader: within(bounds), how, draw }, expected)
      }
    })
  }
})

/** More 1:1 conversations than totals are counted to, between all of these users. */
async function addManyConversations(app: TestApp, users: number): Promise<void> {
  const run = (text: string) =>
    app.cell.db.query({ name: '', label: 'test.fill', text, values: [app.no, users] })
  await run(`insert into users (app_no, uid, name, role, tags)
    select $1, 'u' || n, 'User ' || n, 'default', '{everyone}' from generate_series(1, $2::int) n`)
  await run(`insert into conversations
      (app_no, kind, one, other, last_id, shown_id, created_second, updated_second, counted)
    select $1, 'user', least(a, b), greatest(a, b), 1, 1, 1700000000, 1700000000, 1
    from (select 'u' || x as a, 'u' || y as b from generate_series(1, $2::int) x,
      generate_series(1, $2) y where x < y) pairs`)
  await run(`insert into inbox (app_no, uid, kind, with_id, conversation, visible, created_second)
    select $1, side.uid, 'user', side.with_id, h.no, true, h.created_second
    from conversations h, lateral (values (h.one, h.other), (h.other, h.one)) side (uid, with_id)
    where h.app_no = $1 and $2 > 0`)
  await run(`insert into direct_views (app_no, uid, blocked, updated_second, with_id)
    select app_no, uid, false, 1700000000, with_id from inbox where app_no = $1 and $2 > 0`)
  const views = users * (users - 1)
  for (const what of ['views.user', 'views.user.unblocked'])
    await addToTotal(app.cell.db, app.no, what, views)
}

/** Reads as many pages as the first page announces, and some more. */
async function readCapped(read: Read, rows: number, perPage: number, cap: number) {
  const first = await read({})
  const { total, total_capped: capped, total_pages: announced } = first.meta.pagination
  assert.deepEqual([total, capped], [cap, true])
  const last = Math.ceil(rows / perPage)
  assert.ok(announced >= last, `${announced} pages`)
  const pages = await readEach(
    read,
    numbers(Math.max(announced, last + 1)).map((page) => ({ page })),
  )
  const found = rowsOf(pages)
  assert.deepEqual([found.length, new Set(found).size], [rows, rows])
  // Once the end is known, there are no more pages than rows.
  for (const page of pages.slice(last - 1))
    assert.deepEqual([page.meta.pagination.total, page.meta.pagination.total_pages], [rows, last])
  const jump = await read({ page: last, useCursoredIndex: 0 })
  assert.deepEqual(jump.data, pages[last - 1]?.data)
}

suite('the total of a list that is too long to be counted', () => {
  test('is capped, but reading as many pages as the first page announces returns every row once', async () => {
    const app = await server.newApp()
    const users = 105
    await addManyConversations(app, users)
    const read = byRequest(app, { unread: true }, 1_000)
    await readCapped(read, users * (users - 1), 1_000, 10_000)
  })

  test('is capped in the same way for filters that everything passes, walked or sought', async () => {
    const app = await server.newApp()
    const users = 20
    await addManyConversations(app, users)
    const all = users * (users - 1)
    const filters: [Filter, number][] = [
      [{ unique: 1 }, all / 2],
      [{ userTags: 'everyone' }, all],
      [{ searchKey: 'user' }, all],
      [{ unique: 1, userTags: 'everyone' }, all / 2],
    ]
    for (const [filter, rows] of filters) {
      for (const sought of [0, BOUNDS.sought]) {
        const read = within({ ...BOUNDS, counted: 100, sought })(app, filter, 60)
        await readCapped(read, rows, 60, 100)
      }
    }
  })
})
