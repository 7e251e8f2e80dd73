/**
 * What a list of users costs in an app of 1,000,000 compared with one of 10,000 in the same cell: buffers of
 * the statements that the service runs for a request, and the time of the request.
 */
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { buildApi } from '../src/api.ts'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { fillApp } from '../src/fill/fill.ts'
import { RARE } from '../src/fill/names.ts'
import { users } from '../src/fill/users.ts'
import { connectionConfig } from '../src/platform/db/db.ts'
import { atMost, type Figure, median, type Report, reported, within } from './figure.ts'
import { newBenchApp, openInstallation } from './installation.ts'
import { type Cost, Meter } from './meter.ts'

const LARGE = 1_000_000
const SMALL = 10_000
const BUFFERS_BAR = 1.5
const MS_BAR = 100
const ROUNDS = 9

export async function lists(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const api = await buildApi(deps)
  try {
    const large = await filledApp(deps, api, LARGE, report)
    const small = await filledApp(deps, api, SMALL, report)
    // The state of the database a few minutes after a fill.
    await vacuum(deps)
    const meter = new Meter(deps.directory.cell('us-1'), /^(users|totals)\./)
    return [
      ...(await buffers(meter, large, small)),
      ...(await firstPages(meter, large, small, report)),
      await jump(large, small),
    ]
  } finally {
    await api.close()
    await closeDeps(deps)
  }
}

async function vacuum(deps: Deps): Promise<void> {
  const client = new pg.Client({
    ...connectionConfig(deps.directory.cell('us-1').url),
    statement_timeout: 0,
  })
  await client.connect()
  await client.query('vacuum (analyze)')
  await client.end()
}

/** Requests a list of the app, and returns how many milliseconds it took. */
type Ask = (query: string) => Promise<number>

async function filledApp(
  deps: Deps,
  api: FastifyInstance,
  wanted: number,
  report: Report,
): Promise<Ask> {
  const app = await newBenchApp(deps)
  const started = performance.now()
  const { signal } = new AbortController()
  await fillApp(app, { kind: users, wanted, onProgress: () => {}, signal })
  report(`${wanted} users filled in ${((performance.now() - started) / 1000).toFixed(1)} s`)
  return async (query) => {
    const headers = { appid: app.id, apikey: app.apiKey }
    const asked = performance.now()
    const { statusCode, body } = await api.inject({ url: `/v3/users?${query}`, headers })
    if (statusCode !== 200) throw new Error(`${query}: ${body}`)
    return performance.now() - asked
  }
}

async function buffers(meter: Meter, large: Ask, small: Ask): Promise<Figure[]> {
  const cost = async (ask: Ask, query: string) => (await meter.measure(() => ask(query))).buffers
  const compare = async (what: string, query: string) =>
    atMost(`buffers: ${what}`, await cost(large, query), await cost(small, query), BUFFERS_BAR)
  const first = await compare('page 1', 'page=1')
  for (const ask of [large, small]) {
    for (let page = 1; page < 90; page++) await ask(`page=${page}`)
  }
  return [
    first,
    await compare('page 90 in sequence', 'page=90'),
    await compare('a search that 50 users match', `searchKey=${RARE}`),
  ]
}

/** Search texts that are more or less frequent in the filled names, and other conditions. */
const SEARCHES: { query: string; what: string; bar: boolean }[] = [
  { query: 'searchKey=maria', what: 'a common word, 11 % have it', bar: true },
  { query: 'searchKey=a', what: 'a common letter, 67 %', bar: true },
  { query: 'searchKey=q', what: 'a letter that no name holds', bar: true },
  { query: 'searchKey=okafor', what: 'a word that 0.6 % have', bar: false },
  { query: 'searchKey=son', what: 'a part of words, 4 %', bar: false },
  { query: 'searchKey=z', what: 'a letter, 13 %', bar: false },
  { query: 'tags=vip', what: 'a tag that 3 % have', bar: false },
  { query: 'role=default', what: 'the role that all have', bar: false },
  { query: `searchKey=${RARE}&role=default`, what: 'a rare word and that role', bar: false },
]

async function firstPages(meter: Meter, large: Ask, small: Ask, report: Report): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { query, what, bar } of SEARCHES) {
    const [cold, ...ours] = await times(large, query)
    const [, ...theirs] = await times(small, query)
    const [ms, bare] = [median(ours), median(theirs)]
    const label = `ms: first page of ${query} (${what}), warm`
    figures.push(bar ? within(label, ms, bare, MS_BAR) : reported(label, ms, bare))
    const cost = await meter.measure(() => large(query))
    const counting = await meter.measure(() => small(query))
    figures.push(reported(`ms of which users.count: ${query}`, countMs(cost), countMs(counting)))
    figures.push(reported(`buffers: first page of ${query}`, cost.buffers, counting.buffers))
    report(`${query}: first ${cold?.toFixed(1)} ms, then ${ms.toFixed(1)}; ${meter.describe(cost)}`)
  }
  return figures
}

async function times(ask: Ask, query: string): Promise<number[]> {
  const taken: number[] = []
  for (let round = 0; round <= ROUNDS; round++) taken.push(await ask(query))
  return taken
}

const countMs = ({ statements }: Cost) =>
  statements
    .filter(({ label }) => label === 'users.count')
    .reduce((sum, statement) => sum + statement.ms, 0)

/** A page that nobody has paged to. The small app has no page that far, so its last page is compared. */
async function jump(large: Ask, small: Ask): Promise<Figure> {
  return reported('ms: cold jump to page 9,000', await large('page=9000'), await small('page=100'))
}
