/**
 * What lists of users and groups cost in an app of 1,000,000 users and 100,000 groups compared with one of 10,000 in
 * the same cell: buffers of the statements that the service runs for a request, and the time of the request.
 */
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import { buildApi } from '../src/api.ts'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { fillApp } from '../src/fill/fill.ts'
import { groups } from '../src/fill/groups.ts'
import { RARE } from '../src/fill/names.ts'
import { users } from '../src/fill/users.ts'
import { connectionConfig } from '../src/platform/db/db.ts'
import { atMost, type Figure, median, type Report, reported, within } from './figure.ts'
import { newBenchApp, openInstallation } from './installation.ts'
import { type Cost, Meter } from './meter.ts'

const LARGE = { users: 1_000_000, groups: 100_000 }
const SMALL = { users: 10_000, groups: 10_000 }
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
    const meter = new Meter(deps.directory.cell('us-1'), /^(users|groups|totals)\./)
    const plain = await buffers(meter, large, small)
    await deps.directory.cell('us-1').db.query({ name: '', text: CONNECT, values: [] })
    await vacuum(deps)
    return [...plain, ...(await firstPages(meter, large, small, report)), await jump(large, small)]
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

/** Requests a list of the app, by default of its users, and returns how many milliseconds it took. */
type Ask = (query: string, path?: string) => Promise<number>

async function filledApp(
  deps: Deps,
  api: FastifyInstance,
  wanted: typeof LARGE,
  report: Report,
): Promise<Ask> {
  const app = await newBenchApp(deps)
  const started = performance.now()
  const { signal } = new AbortController()
  const options = { onProgress: () => {}, signal }
  await fillApp(app, { kind: users, wanted: wanted.users, ...options })
  await fillApp(app, { kind: groups, wanted: wanted.groups, members: 2, ...options })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  report(`${wanted.users} users and ${wanted.groups} groups filled in ${seconds} s`)
  return async (query, path = '/v3/users') => {
    const headers = { appid: app.id, apikey: app.apiKey }
    const asked = performance.now()
    const { statusCode, body } = await api.inject({ url: `${path}?${query}`, headers })
    if (statusCode !== 200) throw new Error(`${query}: ${body}`)
    return performance.now() - asked
  }
}

/** One user in a hundred is online. */
const CONNECT = `
  with chosen as (
    update users set online = true where hashtext(uid) % 100 = 0 returning app_no, uid, name_key)
  insert into presence (app_no, uid, name_key, gateways)
  select app_no, uid, name_key, array[gen_random_uuid()] from chosen`

async function buffers(meter: Meter, large: Ask, small: Ask): Promise<Figure[]> {
  const cost = async (ask: Ask, query: string, path?: string) =>
    (await meter.measure(() => ask(query, path))).buffers
  const compare = async (what: string, query: string, path?: string) => {
    const [ours, bare] = [await cost(large, query, path), await cost(small, query, path)]
    return atMost(`buffers: ${what}`, ours, bare, BUFFERS_BAR)
  }
  const first = await compare('page 1', 'page=1')
  for (const ask of [large, small]) {
    for (let page = 1; page < 90; page++) await ask(`page=${page}`)
  }
  return [
    first,
    await compare('page 90 in sequence', 'page=90'),
    await compare('a search that 50 users match', `searchKey=${RARE}`),
    await compare('page 1 of the groups', 'page=1', '/v3/groups'),
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
  { query: 'status=online', what: '1 % are', bar: false },
  { query: 'status=offline', what: '99 % are', bar: false },
  { query: 'status=online&searchKey=maria', what: '0.1 % pass', bar: false },
  { query: 'tags=vip&page=100', what: 'a jump in a filtered list', bar: false },
  { query: 'searchKey=maria&page=100', what: 'a jump in a filtered list', bar: false },
  { query: 'status=offline&page=100', what: 'a jump in a filtered list', bar: false },
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
