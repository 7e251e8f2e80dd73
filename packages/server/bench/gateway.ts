/** The gateway: memory per socket, delay of a message, and one message to ten thousand sockets. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { addBulkUsers, type BulkUser } from '../test/bulk-users.ts'
import { cpuOfTree, residentOf } from './cpu.ts'
import { type Figure, type Report, reported, within } from './figure.ts'
import type { Arrived, Opening } from './gateway-clients.ts'
import { type BenchApp, newBenchApp, openInstallation } from './installation.ts'
import { requestOf, type Server, startServer, stopServer } from './processes.ts'
import { Sender } from './sender.ts'

const SOCKETS = 19_000
const GROUPS_EACH = 5
const GROUP_OF = 50
const LISTENING = 1_000
const LARGE = 10_000
const PER_SECOND = 500
const CONNECTIONS = 32
const SECONDS = 20
/** Time to warm up connections and code before measuring, as pgbench does. */
const WARM_SECONDS = 10

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

export async function gateway(env: EnginesEnv, report: Report): Promise<Figure[]> {
  // Creating the data takes longer than any request.
  const deps = await openInstallation({ ...env, LOQUAT_DB_TIMEOUT_MS: '60000' } as EnginesEnv)
  const worker = await startServer(env, 'worker')
  const api = await startServer(env, 'api')
  try {
    const app = await newBenchApp(deps)
    const people = await makePeople(deps, app)
    report(`${SOCKETS} users with ${GROUPS_EACH} groups each`)
    const memory = await memoryOfSockets(env, app, people, report)
    const live = await liveDelivery(env, app, people, api, report)
    const broadcast = await toLargeGroup(env, app, people, api, report)
    return [
      within('KB of memory a socket, beside bare ws', memory.own, memory.bare, 15),
      within('ms from the answer to the frame, p99, 500 messages/s', live.p99, live.median, 50),
      reported('messages/s sent meanwhile, of those wanted', live.rate, PER_SECOND),
      reported('CPU of the gateway a frame, µs, and frames/s', live.cpu, live.frames),
      within('ms until 10,000 sockets have a message', broadcast.last, broadcast.first, 1_000),
    ]
  } finally {
    await Promise.all([stopServer(worker), stopServer(api)])
    await closeDeps(deps)
  }
}

/** Creates users, groups of fifty so that each user is in five, and one large group. */
async function makePeople(deps: Deps, app: BenchApp): Promise<BulkUser[]> {
  const people = await addBulkUsers(deps, app, SOCKETS)
  const run = (text: string) => app.cell.db.query({ name: '', text, values: [app.no] })
  await run(`insert into groups (app_no, guid, name, type, owner, members_count)
    select $1::int, 'g' || n, 'g', 'public', 'u0', ${GROUP_OF}
    from generate_series(0, ${(SOCKETS * GROUPS_EACH) / GROUP_OF - 1}) n
    union all select $1::int, 'large', 'large', 'public', 'u0', ${LARGE}`)
  await run(`insert into conversations (app_no, kind, one, other)
    select $1::int, 'group', guid, '' from groups where app_no = $1`)
  // The same fifty users share five groups.
  await run(`insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
    select $1::int, 'u' || u, 'group', c.one, c.no, 'participant', now()
    from (
      select u, 'g' || (u / ${GROUP_OF}) * ${GROUPS_EACH} + k as guid
      from generate_series(0, ${SOCKETS - 1}) u, generate_series(0, ${GROUPS_EACH - 1}) k
      union all select u, 'large' from generate_series(0, ${LARGE - 1}) u
    ) m join conversations c
      on c.app_no = $1 and c.kind = 'group' and c.one = m.guid and c.other = ''`)
  await app.cell.db.query({ name: '', text: 'analyze', values: [] })
  return people
}

const startClients = () => fork(pathOf('gateway-clients.ts'))

async function open(clients: ChildProcess, url: string, tokens: string[]): Promise<void> {
  clients.send({ url, tokens } satisfies Opening)
  await once(clients, 'message')
}

async function arrivedAt(clients: ChildProcess): Promise<Arrived[]> {
  clients.send('report')
  const [arrived] = (await once(clients, 'message')) as [Arrived[]]
  return arrived
}

const urlOf = ({ port }: Pick<Server, 'port'>, app: BenchApp) =>
  `ws://127.0.0.1:${port}/v3/realtime?appId=${app.id}`

/** KB of memory per socket in an otherwise idle process. */
async function memoryOfSockets(env: EnginesEnv, app: BenchApp, people: BulkUser[], report: Report) {
  const measure = async (pid: number, url: string, tokens: string[]) => {
    const clients = startClients()
    // Connect one first, so that what only the first socket loads isn't counted.
    await open(clients, url, tokens.slice(0, 1))
    const before = residentOf(pid)
    await open(clients, url, tokens.slice(1))
    await sleep(3_000)
    const grown = residentOf(pid) - before
    clients.kill()
    return (grown * 1024) / (tokens.length - 1)
  }
  const bareChild = fork(pathOf('bare-sockets.ts'))
  const [{ port }] = (await once(bareChild, 'message')) as [{ port: number }]
  const none = people.map(() => '')
  const bare = await measure(bareChild.pid ?? 0, `ws://127.0.0.1:${port}`, none)
  bareChild.disconnect()
  const server = await startServer(env, 'gateway')
  const tokens = people.map(({ token }) => token)
  const own = await measure(server.pid, urlOf(server, app), tokens)
  await stopServer(server)
  report(`memory: ${own.toFixed(1)} KB a socket, bare ${bare.toFixed(1)} KB`)
  return { own, bare }
}

/** Milliseconds from the answer to a send until each device has the frame, at a fixed rate. */
async function liveDelivery(
  env: EnginesEnv,
  app: BenchApp,
  people: BulkUser[],
  api: Server,
  report: Report,
) {
  const server = await startServer(env, 'gateway')
  const clients = startClients()
  const listening = people.slice(0, LISTENING)
  await open(
    clients,
    urlOf(server, app),
    listening.map(({ token }) => token),
  )
  await sendAtRate(app, api, 'warm', WARM_SECONDS)
  const before = cpuOfTree(server.pid)
  const answers = await sendAtRate(app, api, 'live', SECONDS)
  await sleep(2_000)
  const cpu = cpuOfTree(server.pid) - before
  const arrived = await arrivedAt(clients)
  clients.kill()
  await stopServer(server)
  const delays = arrived
    .flatMap(({ text, at }) => at - (answers.get(text) ?? Number.NaN))
    .filter((delay) => !Number.isNaN(delay))
    .toSorted((a, b) => a - b)
  const at = (share: number) => delays[Math.floor(delays.length * share)] ?? Infinity
  report(
    `live: ${answers.size} sent, ${delays.length} frames, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
  )
  const rate = answers.size / SECONDS
  const perFrame = (cpu / delays.length) * 1e6
  return { p99: at(0.99), median: at(0.5), rate, cpu: perFrame, frames: delays.length / SECONDS }
}

/** When each message was answered, by its text. */
async function sendAtRate(
  app: BenchApp,
  api: Server,
  name: string,
  seconds: number,
): Promise<Map<string, number>> {
  const sender = await Sender.open(api.port, CONNECTIONS)
  const started = performance.now()
  for (let nth = 0; nth < PER_SECOND * seconds; nth++) {
    const due = started + (nth / PER_SECOND) * 1000
    await sleep(Math.max(0, due - performance.now()))
    if (performance.now() > started + seconds * 1000) break
    const group = nth % 5 === 0 ? `g${nth % ((LISTENING * GROUPS_EACH) / GROUP_OF)}` : undefined
    const from = group
      ? Math.floor(Number(group.slice(1)) / GROUPS_EACH) * GROUP_OF
      : nth % LISTENING
    const to = group ?? `u${(nth * 7 + 1) % LISTENING}`
    const text = `${name} ${nth}`
    sender.send(text, messageOf(app, { from: `u${from}`, to, group: group !== undefined, text }))
  }
  await sender.close()
  return sender.answers
}

interface Sent {
  from: string
  to: string
  group: boolean
  text: string
}

function messageOf(app: BenchApp, { from, to, group, text }: Sent): string {
  const body = JSON.stringify({
    ...{ receiver: to, receiverType: group ? 'group' : 'user', category: 'message' },
    ...{ type: 'text', data: { text } },
  })
  return requestOf(app, { line: 'POST /v3/messages', uid: from, body })
}

/** One message to a large group, all of whose sockets are in one process. */
async function toLargeGroup(
  env: EnginesEnv,
  app: BenchApp,
  people: BulkUser[],
  api: Server,
  report: Report,
) {
  const server = await startServer(env, 'gateway')
  const clients = [startClients(), startClients()]
  const tokens = people.slice(0, LARGE).map(({ token }) => token)
  await Promise.all(
    clients.map((child, n) => {
      const half = tokens.slice((n * LARGE) / 2, ((n + 1) * LARGE) / 2)
      return open(child, urlOf(server, app), half)
    }),
  )
  const times: { first: number; last: number }[] = []
  for (let nth = 0; nth < 5; nth++) {
    const sender = await Sender.open(api.port, 1)
    const text = `large ${nth}`
    sender.send(text, messageOf(app, { from: 'u1', to: 'large', group: true, text }))
    await sender.close()
    await sleep(4_000)
    const arrived = (await Promise.all(clients.map(arrivedAt))).flat()
    const since = sender.answers.get(text) ?? 0
    const delays = arrived.map(({ at }) => at - since).toSorted((a, b) => a - b)
    report(`large group: ${delays.length} told, first ${delays[0]} ms, last ${delays.at(-1)} ms`)
    if (delays.length === LARGE) times.push({ first: delays[0] ?? 0, last: delays.at(-1) ?? 0 })
  }
  for (const child of clients) child.kill()
  await stopServer(server)
  const middle = times.toSorted((a, b) => a.last - b.last)[Math.floor(times.length / 2)]
  return middle ?? { first: Number.NaN, last: Infinity }
}
