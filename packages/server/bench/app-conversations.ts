/**
 * What pages of GET /conversations cost for a whole app of 1,000,000 views: time of the request, and buffers of
 * the statements that the service runs for it.
 */
import pg from 'pg'
import { buildApi } from '../src/api.ts'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { fillApp } from '../src/fill/fill.ts'
import { groups } from '../src/fill/groups.ts'
import { messages } from '../src/fill/messages.ts'
import { RARE } from '../src/fill/names.ts'
import { users } from '../src/fill/users.ts'
import { connectionConfig } from '../src/platform/db/db.ts'
import { type Figure, type Report, reported, within } from './figure.ts'
import { type BenchApp, newBenchApp, openInstallation } from './installation.ts'
import { Meter } from './meter.ts'

const VIEWS = 1_000_000
const USERS = 10_000
const GROUPS = 1_000
const MEMBERS = 20
const CONVERSATIONS = (VIEWS - GROUPS * MEMBERS) / 2
const BAR_MS = 1_000
const ROUNDS = 20

/** A first page and a cold jump, both without anything remembered. */
const LISTS: { what: string; query: string; far: number; bar: boolean }[] = [
  { what: 'no filter', query: 'perPage=50', far: 1_000, bar: true },
  { what: 'a tag of 3 users', query: 'perPage=2&userTags=rare', far: 100, bar: true },
  { what: 'a tag of half of the users', query: 'userTags=common', far: 100, bar: true },
  { what: 'a name of 50 users', query: `perPage=50&searchKey=${RARE}`, far: 100, bar: true },
  { what: 'unread', query: 'unread=true', far: 100, bar: true },
  { what: 'unique', query: 'unique=1', far: 100, bar: true },
  { what: 'unique, unread', query: 'unique=1&unread=true', far: 100, bar: false },
  { what: 'a name of 11 % of the users', query: 'searchKey=maria', far: 100, bar: false },
  { what: 'no agents', query: 'hideAgentic=true', far: 100, bar: false },
  // No index finds it, so every view is read.
  { what: 'a tag that no view has', query: 'conversationTags=none', far: 1, bar: false },
]

export async function appConversations(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const api = await buildApi(deps)
  try {
    const app = await filledApp(deps, report)
    const headers = { appid: app.id, apikey: app.apiKey }
    const meter = new Meter(app.cell, /^(conversations|messages|totals)\./)
    const ask = async (query: string) => {
      const started = performance.now()
      const { statusCode, body } = await api.inject({ url: `/v3/conversations?${query}`, headers })
      if (statusCode !== 200) throw new Error(`${query}: ${body}`)
      return performance.now() - started
    }
    const figures: Figure[] = []
    for (const { what, query, far, bar } of LISTS) {
      for (const page of new Set([1, far])) {
        const asked = `${query}&useCursoredIndex=0&page=${page}`
        const times: number[] = []
        for (let round = 0; round < ROUNDS; round++) times.push(await ask(asked))
        const { buffers, ms, statements } = await meter.measure(() => ask(asked))
        report(`${asked}: ${meter.describe({ buffers, ms, statements })}`)
        const list = `app of ${VIEWS} views, ${what}, page ${page}`
        const took = `ms, p95 of ${ROUNDS} (of which PostgreSQL): ${list}`
        figures.push(bar ? within(took, p95(times), ms, BAR_MS) : reported(took, p95(times), ms))
        figures.push(reported(`buffers: ${list}`, buffers, statements.length))
      }
    }
    return figures
  } finally {
    await api.close()
    await closeDeps(deps)
  }
}

const p95 = (times: number[]): number =>
  times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? 0

async function filledApp(deps: Deps, report: Report): Promise<BenchApp> {
  const app = await newBenchApp(deps)
  const run = { onProgress: () => {}, signal: new AbortController().signal }
  await fillApp(app, { kind: users, wanted: USERS, ...run })
  await fillApp(app, { kind: groups, wanted: GROUPS, members: MEMBERS, ...run })
  const wanted = CONVERSATIONS * 1.5
  await fillApp(app, { kind: messages, wanted, conversations: CONVERSATIONS, ...run })
  const client = new pg.Client({ ...connectionConfig(app.cell.url), statement_timeout: 0 })
  await client.connect()
  for (const [tag, every] of [
    ['common', 2],
    ['rare', Math.ceil(USERS / 3)],
  ] as const)
    await client.query(
      `update users set tags = tags || $2::text from (
         select uid, row_number() over (order by uid) as nth from users where app_no = $1) numbered
       where users.app_no = $1 and users.uid = numbered.uid and nth % $3 = 1`,
      [app.no, tag, every],
    )
  await client.query('vacuum (analyze)')
  const { rows } = await client.query(
    `select sum(total) as views from totals where app_no = $1 and what in ('views.user', 'views.group')`,
    [app.no],
  )
  await client.end()
  report(`an app of ${rows[0]?.views} views filled`)
  return app
}
