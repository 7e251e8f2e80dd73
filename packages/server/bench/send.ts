/**
 * What a message costs: the service compared with pgbench with the same function and data, the function
 * with one-row inserts, 64 senders in one conversation with a one-row update, and groups with
 * 1:1 conversations. Everything writes to durable engines while a worker sequences the events.
 */
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { atLeast, atMost, type Figure, type Report, reported } from './figure.ts'
import { newBenchApp, openInstallation } from './installation.ts'
import { batchesOf } from './metrics.ts'
import { latenciesAt, percentile } from './open-loop.ts'
import { postmasterOf, type Server, startLoad, startServer, stopServer } from './processes.ts'
import { sendsTogether, storeCalls } from './send-calls.ts'
import { type Cost, type Parts, SendCosts } from './send-cost.ts'
import { GROUPS, INSERT, ONE_INSERT, prepare, type SendData, UPDATE } from './send-data.ts'
import { walPosition, withPlainWal } from './wal.ts'

const SECONDS = 4
const WARM_UP = 2
/** Warm-up before the service is measured, so that its code is compiled and PostgreSQL has its plans. */
const WARM_REQUESTS = 10_000
const CLIENTS = 16
const CROWD = 64
/** Messages in a call of `send_messages`. */
const TOGETHER = 16
const SIZES = [CROWD, 300, 10_000]
const PER_SECOND = 300
const LATENCY_ROUNDS = 3
const LATENCY_SECONDS = 6
const INSERTS = 1_000

export async function send(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const callers = startLoad()
  const servers: Server[] = []
  let data: SendData | undefined
  try {
    data = await prepare(await newBenchApp(deps), SIZES)
    report('filled')
    for (const role of ['worker', 'api'] as const) {
      servers.push(await startServer(env, role, { LOQUAT_POOL_SIZE: String(CROWD) }))
    }
    const api = servers.at(-1) as Server
    const postmaster = await postmasterOf(data.client)
    return await new Bench({ data, api, callers, postmaster, report }).run()
  } finally {
    callers.kill()
    await data?.client.end()
    await Promise.all(servers.map(stopServer))
    await closeDeps(deps)
  }
}

class Bench {
  readonly #parts: Parts
  readonly #costs: SendCosts

  constructor(parts: Parts) {
    this.#parts = parts
    this.#costs = new SendCosts(parts)
  }

  async run(): Promise<Figure[]> {
    await this.#warmUp()
    const sections = [
      () => this.#direct(),
      () => this.#overHttp(),
      () => this.#latency(),
      () => this.#crowd(),
      () => this.#groups(),
      () => this.#wal(),
    ]
    const figures: Figure[] = []
    for (const section of sections) figures.push(...(await section()))
    return figures
  }

  /** Each kind of send is planned on every connection of the pool. */
  async #warmUp(): Promise<void> {
    const { data } = this.#parts
    const load = { connections: CROWD, seconds: WARM_UP }
    for (const requests of [data.keyedSends, data.groupSends(300)])
      await this.#costs.load(requests, load)
    for (let warm = 0; warm < WARM_REQUESTS; )
      warm += (await this.#costs.load(data.directSends, load)).count
  }

  async #direct(): Promise<Figure[]> {
    const { data } = this.#parts
    const timed = { clients: CLIENTS, warmUp: WARM_UP, seconds: SECONDS }
    const { service, call, fresh, insert, ...calls } = await this.#costs.rounds({
      service: this.#posts(data.directSends, CLIENTS),
      call: () => this.#costs.inPostgres(data.direct, timed),
      fresh: () => this.#costs.inPostgres(data.newConversations, timed),
      insert: () => this.#costs.inPostgres(INSERT, timed),
      ...(await this.#calls()),
    })
    const together = (size: number, bar: number) => {
      const cost = (calls as Partial<Record<string, Cost>>)[`of${size}`]
      if (!cost) return []
      const what = `messages in calls of ${size} against one-row inserts, a second`
      return [
        atLeast(what, cost.rate, insert.rate, bar),
        reported('… CPU of PostgreSQL, µs a message', cost.postgresCpu, insert.postgresCpu),
      ]
    }
    return [
      atLeast('POST /messages 1:1, a second', service.rate, call.rate, 0.5),
      reported('… CPU of PostgreSQL, µs a message', service.postgresCpu, call.postgresCpu),
      reported('… CPU of the service, µs a message', service.serviceCpu, call.postgresCpu),
      atLeast('send_message against one-row inserts, a second', call.rate, insert.rate, 0.2),
      reported('… CPU of PostgreSQL, µs', call.postgresCpu, insert.postgresCpu),
      ...together(1, 0.2),
      ...together(TOGETHER, 0.4),
      reported('new conversations against existing ones, a second', fresh.rate, call.rate),
      reported('… CPU of PostgreSQL, µs a message', fresh.postgresCpu, call.postgresCpu),
    ]
  }

  /** Calls of `send_messages` by pgbench, if the cell has it. */
  async #calls(): Promise<Record<string, () => Promise<Cost>>> {
    const { client, pairs } = this.#parts.data
    if (!(await sendsTogether(client))) return {}
    const timed = { clients: CLIENTS, warmUp: WARM_UP, seconds: SECONDS }
    const ways: Record<string, () => Promise<Cost>> = {}
    for (const size of [1, TOGETHER]) {
      const script = await storeCalls(client, pairs, size)
      ways[`of${size}`] = () => this.#costs.inPostgres(script, timed, size)
    }
    return ways
  }

  /** Through the service: more connections, idempotency keys and groups, compared with plain 1:1 messages at 16. */
  async #overHttp(): Promise<Figure[]> {
    const { data } = this.#parts
    const ways = {
      plain: this.#posts(data.directSends, CLIENTS),
      keyed: this.#posts(data.keyedSends, CLIENTS),
      more: this.#posts(data.directSends, CROWD),
      moreKeyed: this.#posts(data.keyedSends, CROWD),
      groups: this.#posts(data.groupSends(300), CLIENTS),
    }
    const { plain, keyed, more, moreKeyed, groups } = await this.#costs.rounds(ways)
    const beside = (what: string, cost: Cost) => [
      reported(`POST /messages ${what}, a second`, cost.rate, plain.rate),
      reported('… CPU of PostgreSQL, µs a message', cost.postgresCpu, plain.postgresCpu),
      reported('… CPU of the service, µs a message', cost.serviceCpu, plain.serviceCpu),
    ]
    return [
      ...beside('with keys', keyed),
      ...beside(`at ${CROWD} connections`, more),
      ...beside(`with keys at ${CROWD} connections`, moreKeyed),
      ...beside('to groups of 300', groups),
      ...(await this.#batches(CLIENTS, ways.keyed)),
      ...(await this.#batches(CROWD, ways.moreKeyed)),
    ]
  }

  /** How many messages the service sends in one call, if it batches them. */
  async #batches(connections: number, run: () => Promise<unknown>): Promise<Figure[]> {
    const { api } = this.#parts
    const before = (await batchesOf(api)) ?? { messages: 0, calls: 0 }
    await run()
    const after = await batchesOf(api)
    if (!after) return []
    const size = (after.messages - before.messages) / (after.calls - before.calls)
    return [reported(`messages in a call at ${connections} connections`, size, connections)]
  }

  async #latency(): Promise<Figure[]> {
    const { data, api, report } = this.#parts
    const load = { port: api.port, perSecond: PER_SECOND, requests: data.keyedSends }
    const all: number[] = []
    for (let round = 1; round <= LATENCY_ROUNDS; round++) {
      const latencies = await latenciesAt({ ...load, seconds: LATENCY_SECONDS })
      all.push(...latencies)
      const [p50, p99] = [0.5, 0.99].map((share) => percentile(latencies, share).toFixed(1))
      report(`${PER_SECOND} sends/s, round ${round}: p50 ${p50} ms, p99 ${p99} ms`)
    }
    const [p50, p99] = [percentile(all, 0.5), percentile(all, 0.99)]
    return [
      reported(`ms from request to answer at ${PER_SECOND} sends/s, p50`, p50, p50),
      reported(`ms from request to answer at ${PER_SECOND} sends/s, p99`, p99, p50),
    ]
  }

  async #crowd(): Promise<Figure[]> {
    const { data } = this.#parts
    const timed = { clients: CROWD, warmUp: 3 * WARM_UP, seconds: SECONDS }
    const { service, call, update } = await this.#costs.rounds({
      service: this.#posts(data.crowdSends(CROWD), CROWD),
      call: () => this.#costs.inPostgres(data.crowd(CROWD), timed),
      update: () => this.#costs.inPostgres(UPDATE, { ...timed, warmUp: WARM_UP }),
    })
    return [
      atLeast(`send_message, ${CROWD} senders on one group, a second`, call.rate, update.rate, 0.5),
      atLeast('… through POST /messages, a second', service.rate, update.rate, 0.6),
    ]
  }

  async #groups(): Promise<Figure[]> {
    const { data } = this.#parts
    const timed = { clients: GROUPS, warmUp: WARM_UP, seconds: SECONDS }
    const { direct, few, many } = await this.#costs.rounds({
      direct: () => this.#costs.inPostgres(data.direct, timed),
      few: () => this.#costs.inPostgres(data.group(300), timed),
      many: () => this.#costs.inPostgres(data.group(10_000), timed),
    })
    const compare = (members: string, { postgresCpu }: Cost) =>
      atMost(
        `CPU of PostgreSQL, µs a message to ${members} members`,
        ...([postgresCpu, direct.postgresCpu, 1.3] as const),
      )
    return [compare('300', few), compare('10,000', many)]
  }

  /** Compared with a one-row insert. Includes what the sequencer writes. */
  async #wal(): Promise<Figure[]> {
    const { data, report } = this.#parts
    const load = { connections: CLIENTS, seconds: SECONDS }
    const ways = {
      '1:1': data.directSends,
      'with keys': data.keyedSends,
      'to groups of 300': data.groupSends(300),
    }
    return withPlainWal(data.client, async () => {
      const bare = await this.#walOfInsert()
      const figures: Figure[] = []
      for (const [what, requests] of Object.entries(ways)) {
        const bytes = await this.#costs.wal(requests, load)
        report(
          `WAL ${what}: ${bytes.toFixed(0)} bytes a message, one-row insert ${bare.toFixed(0)}`,
        )
        figures.push(reported(`WAL of POST /messages ${what}, bytes a message`, bytes, bare))
      }
      return figures
    })
  }

  async #walOfInsert(): Promise<number> {
    const { client } = this.#parts.data
    const before = await walPosition(client)
    for (let nth = 0; nth < INSERTS; nth++) await client.query(ONE_INSERT)
    return ((await walPosition(client)) - before) / INSERTS
  }

  #posts(requests: string[], connections: number): () => Promise<Cost> {
    return () => this.#costs.overHttp(requests, { connections, seconds: SECONDS })
  }
}
