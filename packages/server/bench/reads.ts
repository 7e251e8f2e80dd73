/**
 * What common reads cost: CPU of the service and PostgreSQL together, compared with a plain Fastify server that
 * reads the same bytes from PostgreSQL in one lookup.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type pg from 'pg'
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { cpuOfTree } from './cpu.ts'
import { type Figure, median, type Report, reported } from './figure.ts'
import { openInstallation } from './installation.ts'
import {
  postmasterOf,
  requestOf,
  runLoad,
  startLoad,
  startServer,
  stopServer,
} from './processes.ts'
import { fillReads, type ReadData } from './reads-data.ts'

const CONNECTIONS = 8
const SECONDS = 2
const WARM_UP = 1
/** Number of requests after which the service's code is fully compiled. */
const WARM_REQUESTS = 2_000
const ROUNDS = 4

/** A read: a path with its acting user, '' for the app itself. */
interface Read {
  url: string
  uid: string
}

interface Reads {
  what: string
  reads: Read[]
}

/** Reads of users: the cheapest ones, so authentication and limits are a large part of them. */
export const userReads = (env: EnginesEnv, report: Report) =>
  measureReads(env, report, ({ uids }) => {
    const seen = (uid: string, n: number) => ({ url: `/v3/users/${uids.at(-1 - n)}`, uid })
    return [
      { what: 'a user by id', reads: uids.map((uid) => ({ url: `/v3/users/${uid}`, uid: '' })) },
      { what: 'a user by id, as another user sees it', reads: uids.map(seen) },
      { what: '50 users', reads: [{ url: '/v3/users?perPage=50', uid: '' }] },
    ]
  })

/** Reads of conversations: the newest 50 messages. */
export const historyReads = (env: EnginesEnv, report: Report) =>
  measureReads(env, report, ({ direct, groups, rich }) => {
    const newest = 'messages?limit=50&affix=prepend'
    const ofGroup = ({ guid, uid }: { guid: string; uid: string }) => ({
      url: `/v3/groups/${guid}/${newest}`,
      uid,
    })
    return [
      {
        what: 'history of 50, 1:1',
        reads: direct.map(({ uid, other }) => ({ url: `/v3/users/${other}/${newest}`, uid })),
      },
      { what: 'history of 50, group', reads: groups.map(ofGroup) },
      {
        what: 'history of 50, group with threads, quotes, mentions, reactions and saves',
        reads: rich.map(ofGroup),
      },
    ]
  })

async function measureReads(
  env: EnginesEnv,
  report: Report,
  readsOf: (data: ReadData) => Reads[],
): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const callers = startLoad()
  const children: ChildProcess[] = [callers]
  const server = await startServer(env, 'api')
  let data: ReadData | undefined
  try {
    data = await fillReads(deps, server.port)
    report('filled')
    const bare = fork(pathOf('bare-answers.ts'), [data.app.cell.url], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    children.push(bare)
    const [{ port }] = (await once(bare, 'message')) as [{ port: number }]
    const sides = {
      service: { pid: server.pid, port: server.port },
      bare: { pid: bare.pid ?? 0, port },
    }
    const bench = { data, sides, callers, postmaster: await postmasterOf(data.client), report }
    const figures: Figure[] = []
    for (const reads of readsOf(data)) figures.push(...(await compare(bench, reads)))
    return figures
  } finally {
    for (const child of children) child.kill()
    await data?.client.end()
    await stopServer(server)
    await closeDeps(deps)
  }
}

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

type SideName = 'service' | 'bare'

interface Bench {
  data: ReadData
  sides: Record<SideName, { pid: number; port: number }>
  callers: ChildProcess
  postmaster: number
  report: Report
}

/** CPU per request, in µs. */
interface Cost {
  process: number
  postgres: number
}

async function compare(bench: Bench, { what, reads }: Reads): Promise<Figure[]> {
  const { data, sides, report } = bench
  await keepAnswers(data.client, data, sides.service.port, reads)
  const requests = reads.map(({ url, uid }) => requestOf(data.app, { line: `GET ${url}`, uid }))
  const costs: Record<SideName, Cost[]> = { service: [], bare: [] }
  for (const side of ['service', 'bare'] as const)
    for (let warm = 0; warm < WARM_REQUESTS; )
      warm += (await load(bench, side, requests, WARM_UP)).answered
  for (let round = 1; round <= ROUNDS; round++) {
    for (const side of ['service', 'bare'] as const)
      costs[side].push(await costOf(bench, side, requests))
    const last = (side: SideName) => {
      const { process, postgres } = costs[side].at(-1) as Cost
      return `${process.toFixed(0)} + ${postgres.toFixed(0)} µs`
    }
    report(
      `${what}, round ${round} of ${ROUNDS}: service + PostgreSQL ${last('service')}, bare ${last('bare')}`,
    )
  }
  const of = (side: SideName, part: keyof Cost) => median(costs[side].map((cost) => cost[part]))
  const whole = (side: SideName) => of(side, 'process') + of(side, 'postgres')
  return [
    reported(`CPU of ${what}, µs`, whole('service'), whole('bare')),
    reported('… of the service, CPU µs', of('service', 'process'), of('bare', 'process')),
    reported('… of PostgreSQL, CPU µs', of('service', 'postgres'), of('bare', 'postgres')),
  ]
}

const load = ({ callers, sides }: Bench, side: SideName, requests: string[], seconds: number) =>
  runLoad(callers, { port: sides[side].port, connections: CONNECTIONS, seconds, requests })

async function costOf(bench: Bench, side: SideName, requests: string[]): Promise<Cost> {
  const { pid } = bench.sides[side]
  const before = { process: cpuOfTree(pid), postgres: cpuOfTree(bench.postmaster) }
  const { answered } = await load(bench, side, requests, SECONDS)
  return {
    process: ((cpuOfTree(pid) - before.process) * 1e6) / answered,
    postgres: ((cpuOfTree(bench.postmaster) - before.postgres) * 1e6) / answered,
  }
}

/** Stores what the service answers, for the plain server. */
async function keepAnswers(
  client: pg.Client,
  { app }: ReadData,
  port: number,
  reads: Read[],
): Promise<void> {
  await client.query(
    'create table if not exists bench_answers (url text, uid text, answer text, primary key (url, uid))',
  )
  for (const { url, uid } of reads) {
    const headers = { appid: app.id, apikey: app.apiKey, ...(uid && { onbehalfof: uid }) }
    const response = await fetch(`http://127.0.0.1:${port}${url}`, { headers })
    const answer = await response.text()
    if (response.status !== 200) throw new Error(`${url}: ${answer}`)
    await client.query('insert into bench_answers values ($1, $2, $3)', [url, uid, answer])
  }
  await client.query('vacuum analyze bench_answers')
}
