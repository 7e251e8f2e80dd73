/**
 * What calls cost: the CPU from the start of a call to its answer, beside that of as many messages; and lists in an app
 * with 1,000,000 calls beside one with 100,000, in buffers of the statements that the service runs.
 */
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { buildApi } from '../src/api.ts'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { fillApp } from '../src/fill/fill.ts'
import { users } from '../src/fill/users.ts'
import { connectionConfig } from '../src/platform/db/db.ts'
import { cpuOfTree } from './cpu.ts'
import { atMost, type Figure, median, type Report, reported } from './figure.ts'
import { type BenchApp, newBenchApp, openInstallation } from './installation.ts'
import { Meter } from './meter.ts'
import { postmasterOf } from './processes.ts'

const LARGE = Number(process.env.LOQUAT_BENCH_CALLS ?? 1_000_000)
/** Enough that counts of its lists reach their cap, too. */
const SMALL = Math.min(100_000, LARGE)
const BUFFERS_BAR = 1.5
/** Calls per round, each between two users of their own. */
const PAIRS = Number(process.env.LOQUAT_BENCH_PAIRS ?? 500)
const AT_ONCE = 8
const ROUNDS = 5

export async function calls(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const api = await buildApi(deps)
  const client = new pg.Client({
    ...connectionConfig(deps.directory.cell('us-1').url),
    statement_timeout: 0,
  })
  await client.connect()
  try {
    const talk = await new Talk(deps, api, client, report).measure()
    return [...talk, ...(await lists(deps, api, client, report))]
  } finally {
    await client.end()
    await api.close()
    await closeDeps(deps)
  }
}

/** Requests something as the app, or as one of its users. */
type Ask = (method: 'GET' | 'POST', path: string, uid?: string, body?: object) => Promise<unknown>

const askOf =
  (api: FastifyInstance, app: BenchApp): Ask =>
  async (method, path, uid, body) => {
    const headers = { appid: app.id, apikey: app.apiKey, ...(uid && { onbehalfof: uid }) }
    const url = `/v3${path}`
    const answer = await api.inject({ method, url, headers, ...(body && { payload: body }) })
    if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.body}`)
    return answer.json().data
  }

class Talk {
  readonly #deps: Deps
  readonly #api: FastifyInstance
  readonly #client: pg.Client
  readonly #report: Report

  constructor(deps: Deps, api: FastifyInstance, client: pg.Client, report: Report) {
    this.#deps = deps
    this.#api = api
    this.#client = client
    this.#report = report
  }

  async measure(): Promise<Figure[]> {
    const app = await newBenchApp(this.#deps)
    const ask = askOf(this.#api, app)
    const uids = await filledUsers(app, 2 * PAIRS)
    const pairs = Array.from({ length: PAIRS }, (_, n) => [uids[2 * n], uids[2 * n + 1]] as const)
    const spent = await this.#clock()
    const costs: { calls: number; messages: number }[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const ids = new Map<string, string>()
      const called = await spent(() =>
        each(pairs, async ([caller = '', called = '']) => {
          const body = { receiver: called, type: 'audio' }
          const { sessionId } = (await ask('POST', '/calls', caller, body)) as { sessionId: string }
          await ask('POST', `/calls/${sessionId}/join`, called, {})
          ids.set(caller, sessionId)
        }),
      )
      // Not measured, but everyone has to be free for the next round.
      await each(pairs, ([caller = '']) => ask('POST', `/calls/${ids.get(caller)}/leave`, caller))
      const sent = await spent(() =>
        each(pairs, ([caller = '', receiver = '']) => {
          const message = { receiver, receiverType: 'user', category: 'message', type: 'text' }
          return ask('POST', '/messages', caller, { ...message, data: { text: 'See you at 6' } })
        }),
      )
      const line = `a call ${called.toFixed(2)} ms of CPU, a message ${sent.toFixed(2)}`
      this.#report(`round ${round} of ${ROUNDS}: ${line}`)
      if (round > 0) costs.push({ calls: called, messages: sent })
    }
    const of = (what: 'calls' | 'messages') => median(costs.map((cost) => cost[what]))
    return [reported('ms of CPU: start and answer of a call', of('calls'), of('messages'))]
  }

  /** Measures the CPU of this process and of PostgreSQL, in milliseconds per pair. */
  async #clock() {
    const postmaster = await postmasterOf(this.#client)
    const now = () => {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1_000 + cpuOfTree(postmaster) * 1_000
    }
    return async (work: () => Promise<void>) => {
      const before = now()
      await work()
      return (now() - before) / PAIRS
    }
  }
}

async function filledUsers(app: BenchApp, wanted: number): Promise<string[]> {
  const options = { onProgress: () => {}, signal: new AbortController().signal }
  await fillApp(app, { kind: users, wanted, ...options })
  const text = 'select uid from users where app_no = $1 order by uid limit $2'
  const found = await app.cell.db.query<{ uid: string }>({
    ...{ name: '', text, values: [app.no, wanted] },
  })
  return found.rows.map(({ uid }) => uid)
}

async function each<T>(items: readonly T[], act: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items]
  const work = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await act(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/**
 * Calls between 1,000 users, one every ten seconds until now. Every fifth rings in vain; the user `rare` has 50, of
 * which the oldest are old; 50 have a transcription, and about half are recorded.
 */
const FILL = `
  with made as (
    insert into calls (app_no, id, conversation, kind, receiver, initiator, type, mode, status, joined,
      initiated_at, started_at, ended_at, recorded, transcribed)
    select $1::int, (date_part('epoch', at) - 1000000000)::bigint * 4000000, n % 1000, 'user', 'u' || (n + 1) % 1000,
      case when n % ($2::int / 50) = 0 then 'rare' else 'u' || n % 1000 end,
      case when n % 3 = 0 then 'video' else 'audio' end, 'call',
      case when n % 5 = 1 then 'unanswered' else 'ended' end, case when n % 5 = 1 then 0 else 2 end,
      at, case when n % 5 <> 1 then at + interval '5 seconds' end,
      case when n % 5 <> 1 then at + interval '1 minute' end, n % 2 = 0 and n % 5 <> 1, n % ($2::int / 50) = 0
    from generate_series(0, $2::int - 1) n, lateral (select now() - n * interval '10 seconds' as at) a
    returning id, initiator, receiver, status, started_at, ended_at)
  insert into call_participants (app_no, call_id, uid, state, joined_at, left_at)
  select $1::int, id, uid, case when started_at is null then 'unanswered' else 'ended' end, started_at, ended_at
  from made, lateral unnest(array[initiator, receiver]) uid`

const LISTS: { what: string; query: string; uid?: string }[] = [
  { what: 'page 1', query: '' },
  { what: 'page 40', query: 'page=40' },
  { what: 'calls of two', query: 'participantsCount=2' },
  { what: 'calls of seven, of which there are none', query: 'participantsCount=7' },
  {
    what: 'presentations of two, of which there are none',
    query: 'participantsCount=2&mode=presenter',
  },
  { what: 'recorded calls', query: 'hasRecording=true' },
  {
    what: 'recorded calls of groups, of which there are none',
    query: 'hasRecording=true&receiverType=group',
  },
  { what: 'calls without a recording', query: 'hasRecording=false' },
  {
    what: 'calls that ended before yesterday',
    query: `endedAt=${Math.floor(Date.now() / 1_000) - 86_400}`,
  },
  {
    what: 'unanswered calls that started, of which there are none',
    query: 'status=unanswered&startedAt=1500000000',
  },
  { what: 'ended video calls', query: 'status=ended&type=video' },
  { what: 'unanswered calls', query: 'status=unanswered' },
  { what: 'calls with a transcription', query: 'hasTranscription=true' },
  { what: 'the 50 calls of a user', query: 'uid=rare' },
  { what: "a user's own 50 calls", query: '', uid: 'rare' },
  { what: 'calls of the last hours', query: `startedAt=${Math.floor(Date.now() / 1_000) - 7_200}` },
]

async function lists(
  deps: Deps,
  api: FastifyInstance,
  client: pg.Client,
  report: Report,
): Promise<Figure[]> {
  const large = await filledCalls(deps, client, LARGE)
  const small = await filledCalls(deps, client, SMALL)
  // The state of the database a few minutes after a fill.
  await client.query('vacuum (analyze) calls, call_participants')
  report(`${LARGE} and ${SMALL} calls filled`)
  const meter = new Meter(deps.directory.cell('us-1'), /^(calls|totals)\./)
  const figures: Figure[] = []
  for (const { what, query, uid } of LISTS) {
    const cost = (app: BenchApp) =>
      meter.measure(() => askOf(api, app)('GET', `/calls?perPage=25&${query}`, uid))
    const [ours, bare] = [await cost(large), await cost(small)]
    report(`${what}: ${meter.describe(ours)}`)
    figures.push(atMost(`buffers: ${what}`, ours.buffers, bare.buffers, BUFFERS_BAR))
  }
  return figures
}

async function filledCalls(deps: Deps, client: pg.Client, count: number): Promise<BenchApp> {
  const app = await newBenchApp(deps)
  await client.query(`select add_total($1, 'calls', $2)`, [app.no, count])
  const user = `insert into users (app_no, uid, name, role) values ($1, 'rare', 'Rare', 'default')`
  await client.query(user, [app.no])
  await client.query(FILL, [app.no, count])
  return app
}
