/**
 * Imports of messages through a job, beside COPY of the same rows into equal tables with the same indexes, and what
 * live sends notice of an import. CPU time is compared: other work on the machine doesn't change it much.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { importMessages } from '../src/areas/imports/actions.ts'
import {
  createImport,
  readImport,
  startImport,
  uploadImportPart,
} from '../src/areas/imports/jobs.actions.ts'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { verify } from '../src/verify/verify.ts'
import { cpuOfTree } from './cpu.ts'
import { atLeast, atMost, type Figure, type Report, reported } from './figure.ts'
import { type BenchApp, newBenchApp, openInstallation } from './installation.ts'
import { actorOf } from './moderation.ts'
import { latenciesAt, percentile } from './open-loop.ts'
import { postmasterOf, requestOf, type Server, startServer, stopServer } from './processes.ts'

const MESSAGES = Number(process.env.LOQUAT_BENCH_MESSAGES ?? 1_000_000)
const WARM = 5_000
const REQUESTS = 4
const ITEMS = 50
const PER_PART = 10_000
const USERS = 1_000
const GROUPS = 200
/** The first message of each history: later ones go above earlier ones, as when a service is left. */
const FIRST = { w: 1_690_000_000, m: 1_700_000_000, r: 1_710_000_000, b: 1_720_000_000 }
const SENDS_PER_SECOND = 100
const SECONDS = 8
/** The tables that messages are written to. */
const TABLES = ['messages', 'muids', 'conversations', 'inbox', 'direct_views', 'marks'] as const

/** Recounting a million messages takes longer than a request may. The servers keep their timeout. */
const LONG_TIMEOUT = { LOQUAT_DB_TIMEOUT_MS: '600000' }

interface Run {
  deps: Deps
  client: pg.Client
  /** Imports messages. */
  app: BenchApp
  /** Sends messages meanwhile. */
  other: BenchApp
  worker: Server
  api: Server
  postmaster: number
  report: Report
}

export async function importBench(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation({ ...env, ...LONG_TIMEOUT })
  const [app, other] = [await newBenchApp(deps), await newBenchApp(deps)]
  const client = new pg.Client({ connectionString: app.cell.url })
  await client.connect()
  const servers: Server[] = []
  try {
    for (const role of ['worker', 'api'] as const) servers.push(await startServer(env, role))
    const [worker, api] = servers as [Server, Server]
    const postmaster = await postmasterOf(client)
    const run: Run = { deps, client, app, other, worker, api, postmaster, report }
    for (const one of [app, other]) await bring(run, one, people())
    // A worker analyzes growing tables. Without statistics, the plans of empty tables would stay.
    await bring(run, app, history(WARM, 'w'))
    await client.query('analyze')
    report('users and groups')
    return [...(await besideCopy(run)), ...(await besideSends(run))]
  } finally {
    await client.end()
    await Promise.all(servers.map(stopServer))
    await closeDeps(deps)
  }
}

/** Uploads lines, and returns the id of an import of them. */
async function upload({ deps }: Run, app: BenchApp, lines: Iterable<string>): Promise<string> {
  const actor = actorOf(app)
  const { id: importId } = await createImport(deps, actor, {})
  let part = 0
  let some: string[] = []
  const put = () => {
    const gzip = gzipSync(some.join('')).toString('base64')
    some = []
    return uploadImportPart(deps, actor, { importId, part: String(++part) }, { gzip })
  }
  for (const line of lines) if (some.push(line) === PER_PART) await put()
  if (some.length > 0) await put()
  return importId
}

const start = ({ deps }: Run, app: BenchApp, id: string) => startImport(deps, actorOf(app), id, {})

async function isDone(app: BenchApp, id: string): Promise<boolean> {
  const { state, report } = await readImport(app.cell.db, actorOf(app), id)
  const refused = report.some(({ refused, there }) => refused + there > 0)
  if (state === 'failed' || refused) throw new Error(JSON.stringify(report))
  return state === 'done'
}

async function bring(run: Run, app: BenchApp, lines: Iterable<string>): Promise<void> {
  const id = await upload(run, app, lines)
  await start(run, app, id)
  while (!(await isDone(app, id))) await sleep(50)
}

/** CPU seconds that work takes of PostgreSQL and of the worker. */
async function cpuOf({ worker, postmaster }: Run, work: () => Promise<unknown>) {
  const before = { worker: cpuOfTree(worker.pid), postgres: cpuOfTree(postmaster) }
  await work()
  return {
    worker: cpuOfTree(worker.pid) - before.worker,
    postgres: cpuOfTree(postmaster) - before.postgres,
  }
}

async function besideCopy(run: Run): Promise<Figure[]> {
  const { app, report } = run
  const id = await upload(run, app, history(MESSAGES, 'm'))
  const cpu = await cpuOf(run, async () => {
    await start(run, app, id)
    while (!(await isDone(app, id))) await sleep(50)
  })
  report(
    `import: ${cpu.postgres.toFixed(1)} s of PostgreSQL, ${cpu.worker.toFixed(1)} of the worker`,
  )
  const differences = await verify(app.cell, app.no)
  if (differences.length > 0) throw new Error(JSON.stringify(differences))
  const { postgres: copied } = await copyRows(run)
  report(`COPY: ${copied.toFixed(1)} s of PostgreSQL`)
  const bare = (MESSAGES + WARM) / copied
  return [
    atLeast(
      'messages per CPU second of PostgreSQL, through a job beside COPY',
      MESSAGES / cpu.postgres,
      bare,
      0.3,
    ),
    reported('… with the CPU of the worker', MESSAGES / (cpu.postgres + cpu.worker), bare),
    await throughRequests(run, bare),
  ]
}

/** The contract's operation, without HTTP. */
async function throughRequests(run: Run, bare: number): Promise<Figure> {
  const { deps, app } = run
  const lines = [...history(REQUESTS * ITEMS, 'r')].map((text) => JSON.parse(text))
  const { postgres } = await cpuOf(run, async () => {
    for (let from = 0; from < lines.length; from += ITEMS) {
      const items = lines.slice(from, from + ITEMS).map(({ kind: _kind, ...item }) => item)
      await importMessages(deps, actorOf(app), items)
    }
  })
  return reported('… through POST /data_import/messages', lines.length / postgres, bare)
}

/** Sends of another app of the cell, alone and beside an import. */
async function besideSends(run: Run): Promise<Figure[]> {
  const { app, other, api, report } = run
  const requests = Array.from({ length: USERS / 2 }, (_, n) => {
    const body = { receiver: `u${n * 2 + 1}`, receiverType: 'user', data: { text: 'Good morning' } }
    const request = { line: 'POST /v3/messages', uid: `u${n * 2}`, body: JSON.stringify(body) }
    return requestOf(other, request)
  })
  const send = () =>
    latenciesAt({ port: api.port, perSecond: SENDS_PER_SECOND, seconds: SECONDS, requests })
  const id = await upload(run, app, history(MESSAGES, 'b'))
  await send()
  const alone = await send()
  const startedAt = performance.now()
  await start(run, app, id)
  const beside: number[] = []
  do beside.push(...(await send()))
  while (!(await isDone(app, id)))
  const seconds = (performance.now() - startedAt) / 1000
  alone.push(...(await send()))
  report(`${beside.length} sends beside the import, ${alone.length} alone`)
  const [p50, p99] = [0.5, 0.99].map((share) => [
    percentile(beside, share),
    percentile(alone, share),
  ]) as [[number, number], [number, number]]
  return [
    atMost(`ms of a send beside an import, at ${SENDS_PER_SECOND} a second, p99`, ...p99, 2),
    reported('… p50', ...p50),
    reported('… imported messages per second meanwhile', MESSAGES / seconds, 1),
  ]
}

function* people(): Generator<string> {
  for (let n = 0; n < USERS; n++) yield line({ kind: 'user', uid: `u${n}`, name: `User ${n}` })
  for (let n = 0; n < GROUPS; n++) {
    yield line({ kind: 'group', guid: `g${n}`, name: `Group ${n}`, type: 'public', owner: `u${n}` })
  }
}

/** By conversation, as exports of other services are: a quarter is of groups. */
function* history(count: number, prefix: keyof typeof FIRST): Generator<string> {
  const size = 100
  const first = FIRST[prefix]
  for (let n = 0; n < count; n++) {
    const conversation = Math.floor(n / size)
    const group = conversation % 4 === 0
    const [one, other] = [conversation % USERS, (conversation * 7 + 1) % USERS]
    const [sender, receiver] = n % 2 ? [one, other] : [other, one]
    yield line({
      ...{ kind: 'message', muid: `${prefix}-${n}`, sender: `u${sender}`, sentAt: first + n },
      ...(group
        ? { receiver: `g${conversation % GROUPS}`, receiverType: 'group' }
        : { receiver: `u${receiver}`, receiverType: 'user' }),
      data: {
        text: `Message ${n}: the train to the coast leaves at nine from the second platform.`,
      },
      ...(n % 10 === 0 && { readAt: first + n + 60 }),
    })
  }
}

const line = (item: object) => `${JSON.stringify(item)}\n`

/** Copies the rows that the import wrote out and into equal tables, and returns what the way in takes. */
async function copyRows(run: Run) {
  const { client, app } = run
  const folder = (await client.query('show data_directory')).rows[0].data_directory
  for (const table of TABLES) {
    const path = `${folder}/bench-${table}`
    await client.query(`create table bare_${table} (like ${table} including all)`)
    await client.query(`copy (select * from ${table} where app_no = ${app.no}) to '${path}'`)
  }
  return cpuOf(run, async () => {
    for (const table of TABLES) {
      await client.query(`copy bare_${table} from '${folder}/bench-${table}'`)
    }
  })
}
