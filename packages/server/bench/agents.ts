/**
 * Answers of agents that are streamed: 200 runs at 50 tokens a second, each to two devices. The CPU time of worker and
 * gateway is compared with that of a bare proxy of the same streams.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { addBulkUsers, type BulkUser } from '../test/bulk-users.ts'
import type { Arrived, Opening } from './agents-devices.ts'
import { cpuOfTree } from './cpu.ts'
import { atMost, type Figure, type Report, reported } from './figure.ts'
import { type BenchApp, newBenchApp, openInstallation } from './installation.ts'
import { type Server, startServer, stopServer } from './processes.ts'

const RUNS = Number(process.env.LOQUAT_BENCH_RUNS ?? 200)
const PER_SECOND = 50
const SECONDS = 20
const TOKENS = PER_SECOND * SECONDS
const DEVICES = 2
const BAR = 3
/** A gateway limits the bytes that it sends for one agent. */
const RUNS_PER_AGENT = 10
/** Statistics of other sessions arrive within this time. */
const STATISTICS_MS = 3_000

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

async function started(
  name: string,
  ...args: unknown[]
): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(pathOf(name), args.map(String))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { child, port }
}

interface Measured extends Arrived {
  /** Seconds. */
  cpu: number
}

export async function agents(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const model = await started('agents-model.ts', TOKENS, PER_SECOND)
  const url = `http://127.0.0.1:${model.port}/v1`
  const own = { ...env, LOQUAT_PRIVATE_MODEL_URLS: url } as EnginesEnv
  // A quarter of the slots is left to other jobs.
  const slots = { LOQUAT_JOB_SLOTS: String(RUNS * 2), LOQUAT_JOB_SLOTS_PER_APP: String(RUNS * 2) }
  const deps = await openInstallation(own)
  const servers: Server[] = []
  const devices = fork(pathOf('agents-devices.ts'))
  try {
    for (const role of ['api', 'worker', 'gateway'] as const) {
      servers.push(await startServer(own, role, slots))
    }
    const [api, worker, gateway] = servers as [Server, Server, Server]
    const chat = await Chat.open(deps, { url, api, gateway, devices })
    // Code that runs for the first time costs more.
    await chat.answer([worker, gateway])
    report('warm')
    const before = await writesOf(chat.app)
    const ours = await chat.answer([worker, gateway])
    await sleep(STATISTICS_MS)
    const after = await writesOf(chat.app)
    const bare = await proxied(model.port, devices)
    const thousands = (RUNS * TOKENS) / 1_000
    const lost = RUNS * TOKENS * DEVICES - ours.ages.length
    report(`${ours.frames} frames for ${ours.ages.length} tokens; bare ${bare.frames}`)
    return [
      atMost(
        'CPU of worker and gateway, ms per 1,000 tokens to two devices',
        (ours.cpu / thousands) * 1_000,
        (bare.cpu / thousands) * 1_000,
        BAR,
      ),
      reported('ms from token to frame, p99', percentile(ours, 0.99), percentile(bare, 0.99)),
      reported('… median', percentile(ours, 0.5), percentile(bare, 0.5)),
      reported('tokens that devices missed, of all', lost, RUNS * TOKENS * DEVICES),
      reported('rows that PostgreSQL wrote a run', (after.rows - before.rows) / RUNS, 1),
      reported('… KB of WAL a run', (after.wal - before.wal) / RUNS / 1_024, 1),
    ]
  } finally {
    devices.kill()
    model.child.disconnect()
    await Promise.all(servers.map(stopServer))
    await closeDeps(deps)
  }
}

const percentile = ({ ages }: Arrived, share: number) =>
  ages.toSorted((a, b) => a - b)[Math.floor(ages.length * share)] ?? 0

/** Users with two devices each, who ask agents. */
class Chat {
  readonly app: BenchApp
  readonly #people: BulkUser[]
  readonly #uids: string[]
  readonly #means: { api: Server; gateway: Server; devices: ChildProcess }

  static async open(
    deps: Deps,
    { url, ...means }: { url: string; api: Server; gateway: Server; devices: ChildProcess },
  ): Promise<Chat> {
    const app = await newBenchApp(deps)
    const people = await addBulkUsers(deps, app, RUNS)
    await call(means.api, app, 'model-providers', { id: 'house', name: 'House', url })
    const uids: string[] = []
    for (let nth = 0; nth < RUNS / RUNS_PER_AGENT; nth++) {
      const agent = {
        name: `Agent ${nth}`,
        providerId: 'house',
        modelMetaData: { maxTokens: TOKENS },
      }
      const { uid } = await call(means.api, app, 'ai-agents/agent-builder/agents', agent)
      uids.push(uid)
    }
    return new Chat(app, people, uids, means)
  }

  private constructor(
    app: BenchApp,
    people: BulkUser[],
    uids: string[],
    means: { api: Server; gateway: Server; devices: ChildProcess },
  ) {
    this.app = app
    this.#people = people
    this.#uids = uids
    this.#means = means
  }

  /** Every user asks once. Measures these servers until all devices have all answers. */
  async answer(servers: Server[]): Promise<Measured> {
    const { api, gateway, devices } = this.#means
    const url = `ws://127.0.0.1:${gateway.port}/v3/realtime?appId=${this.app.id}`
    await listen(
      devices,
      this.#people.flatMap(({ token }) => Array(DEVICES).fill({ url, token })),
    )
    const arrived = once(devices, 'message') as Promise<[Arrived]>
    const before = cpuOf(servers)
    await Promise.all(
      this.#people.map(({ uid }, nth) => {
        const receiver = this.#uids[nth % this.#uids.length]
        const body = { receiver, receiverType: 'user', data: { text: 'Tell me everything' } }
        return call(api, this.app, 'messages', body, uid)
      }),
    )
    const [measured] = await arrived
    return { ...measured, cpu: cpuOf(servers) - before }
  }
}

const cpuOf = (servers: Server[]) => servers.reduce((sum, { pid }) => sum + cpuOfTree(pid), 0)

async function listen(devices: ChildProcess, all: Opening['devices']): Promise<void> {
  devices.send({ devices: all, answers: all.length } satisfies Opening)
  await once(devices, 'message')
}

/** The same streams through the bare proxy. */
async function proxied(modelPort: number, devices: ChildProcess): Promise<Measured> {
  const { child, port } = await started('bare-proxy.ts', modelPort)
  const pid = child.pid ?? 0
  let measured: Measured | undefined
  // The first time warms it up.
  for (let round = 0; round < 2; round++) {
    const paths = Array.from({ length: RUNS }, (_, nth) => `ws://127.0.0.1:${port}/${round}-${nth}`)
    await listen(
      devices,
      paths.flatMap((url) => Array(DEVICES).fill({ url, token: '' })),
    )
    const arrived = once(devices, 'message') as Promise<[Arrived]>
    const before = cpuOfTree(pid)
    child.send('start')
    const [ended] = await arrived
    measured = { ...ended, cpu: cpuOfTree(pid) - before }
  }
  child.disconnect()
  return measured as Measured
}

async function writesOf({ cell }: BenchApp): Promise<{ rows: number; wal: number }> {
  const text = `select tup_inserted + tup_updated + tup_deleted as rows,
      pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal
    from pg_stat_database where datname = current_database()`
  const { rows } = await cell.db.query<{ rows: number; wal: number }>({
    name: '',
    text,
    values: [],
  })
  return { rows: Number(rows[0]?.rows), wal: Number(rows[0]?.wal) }
}

/** Calls an operation, and returns the record that it answers with. */
async function call(
  api: Server,
  app: BenchApp,
  path: string,
  body: object,
  uid?: string,
): Promise<{ uid: string }> {
  const headers = { 'content-type': 'application/json', appid: app.id, apikey: app.apiKey }
  const response = await fetch(`http://127.0.0.1:${api.port}/v3/${path}`, {
    ...{ method: 'POST', body: JSON.stringify(body) },
    headers: { ...headers, ...(uid && { onbehalfof: uid }) },
  })
  const { data, error } = (await response.json()) as { data?: { uid: string }; error?: object }
  if (!data) throw new Error(JSON.stringify(error))
  return data
}
