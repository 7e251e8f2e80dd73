/**
 * What GET /conversations costs: CPU of the service and PostgreSQL together for a page of 50, compared with
 * PostgreSQL alone for the same rows as plain columns; buffers of lists of different owners and
 * filters; CPU and memory of pages of 1,000.
 */
import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { buildApi } from '../src/api.ts'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import {
  addOwner,
  CONVERSATIONS_PER_USER,
  type Filled,
  fillConversations,
  settle,
} from './conversations-data.ts'
import { cpuOfTree, residentOf } from './cpu.ts'
import { atMost, type Figure, median, type Report, reported, within } from './figure.ts'
import { openInstallation } from './installation.ts'
import { Meter } from './meter.ts'
import { pgbench } from './pgbench.ts'
import {
  postmasterOf,
  requestOf,
  runLoad,
  type Server,
  startLoad,
  startServer,
  stopServer,
} from './processes.ts'

const CONVERSATIONS = 1_000_000
const USERS = CONVERSATIONS / CONVERSATIONS_PER_USER
/** The users who send requests. Their numbers have no leading zeros. */
const [FIRST, LAST] = [USERS / 2, USERS - 1]
const CLIENTS = 4
const SECONDS = 5
const WARM_UP = 3
/** Number of requests after which the service's code is fully compiled. */
const WARM_REQUESTS = 4_000
const ROUNDS = 7
const LARGE_PAGES = 40
/** The most that a page of 50 may read. */
const BUFFERS = 500
const CONCURRENT = 32

export async function conversations(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const callers = startLoad()
  let [filled, server]: [Filled | undefined, Server | undefined] = [undefined, undefined]
  try {
    filled = await fillConversations(deps, CONVERSATIONS)
    report(`${CONVERSATIONS} conversations filled`)
    const owners = await addOwners(filled)
    await settle(filled)
    server = await startServer(env, 'api')
    const bench = { filled, server, callers, postmaster: await postmasterOf(filled.client), report }
    return [
      ...(await page(bench)),
      ...(await sizes(deps, filled, owners, report)),
      ...(await largePages(bench, owners.many)),
    ]
  } finally {
    callers.kill()
    await filled?.client.end()
    if (server) await stopServer(server)
    await closeDeps(deps)
  }
}

interface Owners {
  direct: string
  joined: string
  few: string
  many: string
  groups: string
}

const addOwners = async (filled: Filled): Promise<Owners> => ({
  direct: await addOwner(filled, { direct: 100 }),
  joined: await addOwner(filled, { groups: 50 }),
  few: await addOwner(filled, { direct: 50, groups: 50 }),
  many: await addOwner(filled, { direct: 4_900, groups: 100 }),
  groups: await addOwner(filled, { groups: 2_000 }),
})

interface Bench {
  filled: Filled
  server: Server
  callers: ChildProcess
  postmaster: number
  report: Report
}

/** CPU per request, in µs. */
interface Cost {
  postgres: number
  service: number
}

async function page(bench: Bench): Promise<Figure[]> {
  const { app, prefix } = bench.filled
  const uids = Array.from({ length: LAST - FIRST + 1 }, (_, n) => `${prefix}${FIRST + n}`)
  const line = 'GET /v3/conversations?perPage=50'
  const requests = uids.map((uid) => requestOf(app, { line, uid }))
  const script = frozen(app.no, `'${prefix}' || :n`)
  const load = { port: bench.server.port, connections: CLIENTS, requests }
  for (let warm = 0; warm < WARM_REQUESTS; )
    warm += (await runLoad(bench.callers, { ...load, seconds: WARM_UP })).answered
  const costs: { ours: Cost[]; bare: Cost[] } = { ours: [], bare: [] }
  for (let round = 1; round <= ROUNDS; round++) {
    costs.ours.push(
      await measure(bench, async (begin) => {
        begin()
        return (await runLoad(bench.callers, { ...load, seconds: SECONDS })).answered
      }),
    )
    const timed = { clients: CLIENTS, warmUp: WARM_UP, seconds: SECONDS }
    costs.bare.push(
      await measure(
        bench,
        async (begin) => (await pgbench(app.cell.url, script, timed, begin)).count,
      ),
    )
    const [ours, bare] = [costs.ours.at(-1), costs.bare.at(-1)]
    bench.report(
      `round ${round} of ${ROUNDS}: PostgreSQL ${ours?.postgres.toFixed(0)} + service ${ours?.service.toFixed(0)} µs, plain columns ${bare?.postgres.toFixed(0)} µs`,
    )
  }
  const of = (side: Cost[], part: keyof Cost) => median(side.map((cost) => cost[part]))
  const [postgres, service] = [of(costs.ours, 'postgres'), of(costs.ours, 'service')]
  const bare = of(costs.bare, 'postgres')
  return [
    atMost('CPU of a page of 50, service and PostgreSQL, µs', postgres + service, bare, 2.0),
    reported('… of PostgreSQL, µs', postgres, bare),
    reported('… of the service, µs', service, bare),
    await plainBuffers(bench.filled, uids),
  ]
}

/** conversations.sql as a pgbench script. */
function frozen(appNo: number, uid: string): string {
  const text = readFileSync(new URL('conversations.sql', import.meta.url), 'utf8')
  const statement = text
    .replaceAll(/^--.*$/gm, '')
    .replaceAll(':app_no', String(appNo))
    .replaceAll(':uid', uid)
    .replaceAll(/\s+/g, ' ')
  return `\\set n random(${FIRST}, ${LAST})\n${statement};`
}

async function measure(
  { server, postmaster }: Bench,
  work: (begin: () => void) => Promise<number>,
): Promise<Cost> {
  const spent = () => ({ postgres: cpuOfTree(postmaster), service: cpuOfTree(server.pid) })
  let before = spent()
  const count = await work(() => {
    before = spent()
  })
  const after = spent()
  return {
    postgres: ((after.postgres - before.postgres) * 1e6) / count,
    service: ((after.service - before.service) * 1e6) / count,
  }
}

/** Buffers of the frozen statement, compared with its number of rows. Writes its plan to a file next to this one. */
async function plainBuffers({ app, client }: Filled, uids: string[]): Promise<Figure> {
  const [uid = ''] = uids
  const [, one = ''] = frozen(app.no, `'${uid}'`).split('\n')
  const plan = await client.query(
    `explain (analyze, buffers, costs off, timing off, summary off) ${one}`,
  )
  const lines = plan.rows.map((row) => row['QUERY PLAN'].replaceAll(uid, '<uid>'))
  writeFileSync(new URL('conversations.plan.txt', import.meta.url), `${lines.join('\n')}\n`)
  const buffers: number[] = []
  for (const uid of uids.slice(0, 100)) {
    const [, text = ''] = frozen(app.no, `'${uid}'`).split('\n')
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`)
    const { Plan: plan } = rows[0]['QUERY PLAN'][0]
    buffers.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks'])
  }
  return reported('buffers of the plain columns, beside the rows', median(buffers), 51)
}

/** Buffers of the statements behind a page, for one owner compared with another. */
async function sizes(
  deps: Deps,
  { app }: Filled,
  { direct, joined, few, many, groups }: Owners,
  report: Report,
): Promise<Figure[]> {
  const api = await buildApi(deps)
  const meter = new Meter(app.cell, /^(conversations|messages)\./)
  const ask = async (uid: string, query: string) => {
    const headers = { appid: app.id, apikey: app.apiKey, onbehalfof: uid }
    const url = `/v3/conversations?perPage=50${query}`
    const cost = await meter.measure(async () => {
      const { statusCode, body } = await api.inject({ url, headers })
      if (statusCode !== 200) throw new Error(body)
    })
    report(`${uid}${query}: ${meter.describe(cost)}`)
    return cost
  }
  const figures = [
    within(
      'buffers of a page of 50 1:1 conversations',
      (await ask(direct, '')).buffers,
      50,
      BUFFERS,
    ),
    within('buffers of a page of 50 groups', (await ask(joined, '')).buffers, 50, BUFFERS),
  ]
  const base = await ask(few, '')
  const large = await ask(many, '')
  const [size, bare] = ['4,900 of two and 100 groups', '50 and 50']
  figures.push(
    atMost(`buffers: ${size} beside ${bare}`, large.buffers, base.buffers, 1.5),
    reported(`ms in PostgreSQL: ${size} beside ${bare}`, large.ms, base.ms),
  )
  for (const [what, uid, query] of [
    ['2,000 groups', groups, ''],
    ['unread=true of 5,000', many, '&unread=true'],
    ['searchKey=maria of 5,000', many, '&searchKey=maria'],
    ['userTags=vip of 5,000', many, '&userTags=vip'],
  ] as const) {
    const cost = await ask(uid, query)
    figures.push(reported(`buffers: ${what}`, cost.buffers, base.buffers))
    figures.push(reported(`ms in PostgreSQL: ${what}`, cost.ms, base.ms))
  }
  await api.close()
  return figures
}

async function largePages(bench: Bench, uid: string): Promise<Figure[]> {
  const { server, callers, filled } = bench
  const line = 'GET /v3/conversations?perPage=1000'
  const load = { port: server.port, requests: [requestOf(filled.app, { line, uid })] }
  const cost = await measure(bench, async (begin) => {
    await runLoad(callers, { ...load, connections: 1, seconds: WARM_UP })
    begin()
    let answered = 0
    while (answered < LARGE_PAGES)
      answered += (await runLoad(callers, { ...load, connections: 1, seconds: 1 })).answered
    return answered
  })
  const memory: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await runLoad(callers, { ...load, connections: CONCURRENT, seconds: SECONDS })
    memory.push(residentOf(server.pid))
    bench.report(`${CONCURRENT} pages of 1,000 at once: ${memory.at(-1)?.toFixed(0)} MB`)
  }
  const ms = (cost.postgres + cost.service) / 1000
  const half = Math.ceil(ROUNDS / 2)
  const [before, after] = [memory.slice(0, half), memory.slice(half)].map((all) => Math.max(...all))
  return [
    within('CPU of a page of 1,000, ms (of which PostgreSQL)', ms, cost.postgres / 1000, 150),
    atMost(
      `MB at most with ${CONCURRENT} such pages at once, later in the run beside its first half`,
      ...([after ?? 0, before ?? 0, 1.2] as const),
    ),
  ]
}
