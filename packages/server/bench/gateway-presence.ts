/** Presence with many users online: what a change costs the cell, and how soon devices that subscribe to all users see it. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { Presence } from '../src/areas/presence/presence.ts'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { cpuOfTree } from './cpu.ts'
import { type Figure, type Report, reported, within } from './figure.ts'
import { type BenchApp, newBenchApp, openInstallation } from './installation.ts'
import type { Arrival, Clients } from './presence-clients.ts'
import { postmasterOf, startServer, stopServer } from './processes.ts'

const ONLINE = 15_000
/** Number of users who connect each second; as many disconnect. */
const MOVING = 100
const SECONDS = 20
const READERS = 20

export async function presence(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const client = new pg.Client((await newBenchApp(deps)).cell.url)
  await client.connect()
  const postgres = await postmasterOf(client)
  const app = await newBenchApp(deps)
  const tokens = await addUsers(deps, app, client)
  const costs = await costOfChange(deps, app, client, postgres)
  report(`a change: ${costs.change.toFixed(0)} µs of PostgreSQL, bare ${costs.bare.toFixed(0)} µs`)

  const worker = await startServer(env, 'worker')
  const gateway = await startServer(env, 'gateway')
  const clients = fork(fileURLToPath(new URL('presence-clients.ts', import.meta.url)))
  try {
    const opened = performance.now()
    clients.send({ port: gateway.port, appId: app.id, tokens, readers: READERS } satisfies Clients)
    await once(clients, 'message')
    report(`${ONLINE} online after ${((performance.now() - opened) / 1000).toFixed(1)} s`)
    await untilOnline(client, app)
    await told(clients)
    const idle = await cpuDuring([gateway.pid, postgres], () => sleep(5_000))
    const delays: number[] = []
    const busy = await cpuDuring([gateway.pid, postgres], async () => {
      delays.push(...(await moveUsers(deps, app, clients)))
    })
    const p99 = delays.toSorted((a, b) => a - b)[Math.floor(delays.length * 0.99)] ?? Infinity
    report(`${delays.length} changes told, p99 ${p99} ms`)
    return [
      reported('µs of PostgreSQL a change, beside a bare update', costs.change, costs.bare),
      reported('CPU of the gateway, s/s, beside no change', busy[0] ?? 0, idle[0] ?? 0),
      reported('CPU of PostgreSQL, s/s, beside no change', busy[1] ?? 0, idle[1] ?? 0),
      reported('changes told, of those made', delays.length, READERS * 2 * MOVING * SECONDS),
      within('ms from a change to its frame, p99', p99, 2_000, 3_000),
    ]
  } finally {
    clients.kill()
    await Promise.all([stopServer(gateway), stopServer(worker)])
    await client.end()
    await closeDeps(deps)
  }
}

/** Adds users and returns tokens for those who connect. */
async function addUsers({ secrets }: Deps, app: BenchApp, client: pg.Client): Promise<string[]> {
  await client.query(
    `insert into users (app_no, uid, name, role)
     select $1, prefix || n, 'User ' || n, 'default'
     from generate_series(1, ${ONLINE}) n, (values ('u'), ('m')) p (prefix)`,
    [app.no],
  )
  const tokens = Array.from({ length: ONLINE }, (_, n) => `u${n + 1}_${'0'.repeat(40)}`)
  await client.query(
    `insert into auth_tokens (app_no, uid, token_hash, token_sealed)
     select $1, 'u' || n, hash, '' from unnest($2::bytea[]) with ordinality t (hash, n)`,
    [app.no, tokens.map((token) => secrets.hash(token))],
  )
  await client.query('vacuum analyze users')
  return tokens
}

/** CPU in µs per change if all users connect and disconnect, compared with as many plain updates in as many transactions. */
async function costOfChange(deps: Deps, app: BenchApp, client: pg.Client, postgres: number) {
  // Shuffled, so that users who connect in the same second aren't neighbours in an index.
  const movers = Array.from({ length: ONLINE }, (_, n) => `m${((n * 7_919) % ONLINE) + 1}`)
  const elsewhere = new Presence(deps, { graceMs: 0 })
  const [changed = 0] = await cpuOf([postgres], async () => {
    const leaving = movers.map((uid) => elsewhere.connect(app, uid, { connectedAt: 0 }))
    await elsewhere.beat()
    for (const leave of leaving) leave()
    await elsewhere.beat()
  })
  const [updated = 0] = await cpuOf([postgres], async () => {
    for (let start = 0; start < 2 * ONLINE; start += 500) {
      await client.query(
        'update users set last_active_at = now() where app_no = $1 and uid = any($2)',
        [app.no, movers.slice(start % ONLINE, (start % ONLINE) + 500)],
      )
    }
  })
  await elsewhere.close()
  return { change: (changed / (2 * ONLINE)) * 1e6, bare: (updated / (2 * ONLINE)) * 1e6 }
}

async function untilOnline(client: pg.Client, app: BenchApp): Promise<void> {
  for (let online = 0; online < ONLINE; await sleep(200)) {
    const { rows } = await client.query('select count(*) from presence where app_no = $1', [app.no])
    online = Number(rows[0].count)
  }
}

/** Milliseconds from each change to each reader that received it. */
async function moveUsers(deps: Deps, app: BenchApp, clients: ChildProcess): Promise<number[]> {
  const made = new Map<string, number>()
  const elsewhere = new Presence(deps, { graceMs: 0 })
  elsewhere.start()
  let leaving: (() => void)[] = []
  for (let second = 0; second < SECONDS; second++) {
    const uids = Array.from({ length: MOVING }, (_, n) => `m${second * MOVING + n + 1}`)
    for (const [n, leave] of leaving.entries()) {
      leave()
      made.set(`m${(second - 1) * MOVING + n + 1} offline`, Date.now())
    }
    leaving = uids.map((uid) => elsewhere.connect(app, uid, { connectedAt: Date.now() }))
    for (const uid of uids) made.set(`${uid} online`, Date.now())
    await sleep(1_000)
  }
  await sleep(5_000)
  await elsewhere.close()
  const arrivals = await told(clients)
  return arrivals.flatMap(({ uid, status, at }) => {
    const since = made.get(`${uid} ${status}`)
    return since === undefined ? [] : [at - since]
  })
}

async function told(clients: ChildProcess): Promise<Arrival[]> {
  clients.send('report')
  const [{ arrivals }] = (await once(clients, 'message')) as [{ arrivals: Arrival[] }]
  return arrivals
}

async function cpuOf(pids: number[], work: () => Promise<unknown>): Promise<number[]> {
  const before = pids.map(cpuOfTree)
  await work()
  return pids.map((pid, n) => cpuOfTree(pid) - (before[n] ?? 0))
}

/** CPU seconds per second. */
async function cpuDuring(pids: number[], work: () => Promise<unknown>): Promise<number[]> {
  const started = performance.now()
  const used = await cpuOf(pids, work)
  return used.map((seconds) => seconds / ((performance.now() - started) / 1000))
}
