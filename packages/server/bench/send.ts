/**
 * What a message costs: the service compared with pgbench with the same function and data, the function
 * with one-row inserts, 64 senders in one conversation with a one-row update, and groups with
 * 1:1 conversations. Everything writes to durable engines while a worker sequences the events.
 */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { cpuOfTree } from './cpu.ts'
import { atLeast, atMost, type Figure, median, type Report, reported } from './figure.ts'
import { newBenchApp, openInstallation } from './installation.ts'
import { type Done, type Load, pgbench } from './pgbench.ts'
import {
  postmasterOf,
  runLoad,
  type Server,
  startLoad,
  startServer,
  stopServer,
} from './processes.ts'
import { GROUPS, INSERT, prepare, type SendData, UPDATE } from './send-data.ts'

const ROUNDS = 5
const SECONDS = 5
const WARM_UP = 4
/** Warm-up before the service is measured, so that its code is compiled and PostgreSQL has its plans. */
const WARM_REQUESTS = 10_000
const CLIENTS = 16
const CROWD = 64
const SIZES = [CROWD, 300, 10_000]

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

/** The results of one round. CPU is in µs per message. */
interface Cost {
  rate: number
  postgresCpu: number
  serviceCpu: number
}

interface Parts {
  data: SendData
  api: Server
  callers: ChildProcess
  postmaster: number
  report: Report
}

type Ways = Record<string, () => Promise<Cost>>

class Bench {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async run(): Promise<Figure[]> {
    await this.#warmUp()
    return [...(await this.#direct()), ...(await this.#crowd()), ...(await this.#groups())]
  }

  async #warmUp(): Promise<void> {
    const { data, callers, api } = this.#parts
    const load = { port: api.port, connections: CLIENTS, seconds: WARM_UP }
    for (let warm = 0; warm < WARM_REQUESTS; )
      warm += (await runLoad(callers, { ...load, requests: data.directSends })).answered
  }

  async #direct(): Promise<Figure[]> {
    const { data } = this.#parts
    const timed = { clients: CLIENTS, warmUp: WARM_UP, seconds: SECONDS }
    const { service, call, fresh, insert } = await this.#rounds({
      service: () => this.#overHttp(data.directSends, CLIENTS),
      call: () => this.#inPostgres(data.direct, timed),
      fresh: () => this.#inPostgres(data.newConversations, timed),
      insert: () => this.#inPostgres(INSERT, timed),
    })
    return [
      atLeast('POST /messages 1:1, a second', service.rate, call.rate, 0.5),
      reported('… CPU of PostgreSQL, µs a message', service.postgresCpu, call.postgresCpu),
      reported('… CPU of the service, µs a message', service.serviceCpu, call.postgresCpu),
      atLeast('send_message against one-row inserts, a second', call.rate, insert.rate, 0.2),
      reported('… CPU of PostgreSQL, µs', call.postgresCpu, insert.postgresCpu),
      reported('new conversations against existing ones, a second', fresh.rate, call.rate),
      reported('… CPU of PostgreSQL, µs a message', fresh.postgresCpu, call.postgresCpu),
    ]
  }

  async #crowd(): Promise<Figure[]> {
    const { data } = this.#parts
    const timed = { clients: CROWD, warmUp: 2 * WARM_UP, seconds: SECONDS }
    const { service, call, update } = await this.#rounds({
      service: () => this.#overHttp(data.crowdSends(CROWD), CROWD),
      call: () => this.#inPostgres(data.crowd(CROWD), timed),
      update: () => this.#inPostgres(UPDATE, timed),
    })
    return [
      atLeast(`send_message, ${CROWD} senders on one group`, call.rate, update.rate, 0.5),
      reported('… through POST /messages, a second', service.rate, update.rate),
    ]
  }

  async #groups(): Promise<Figure[]> {
    const { data } = this.#parts
    const timed = { clients: GROUPS, warmUp: WARM_UP, seconds: SECONDS }
    const { direct, few, many } = await this.#rounds({
      direct: () => this.#inPostgres(data.direct, timed),
      few: () => this.#inPostgres(data.group(300), timed),
      many: () => this.#inPostgres(data.group(10_000), timed),
    })
    const compare = (members: string, { postgresCpu }: Cost) =>
      atMost(
        `CPU of PostgreSQL, µs a message to ${members} members`,
        ...([postgresCpu, direct.postgresCpu, 1.3] as const),
      )
    return [compare('300', few), compare('10,000', many)]
  }

  /** Measures all ways in turn, so that a slow minute of the machine affects all of them, and returns the medians. */
  async #rounds<W extends Ways>(ways: W): Promise<Record<keyof W, Cost>> {
    const names = Object.keys(ways) as (keyof W & string)[]
    const costs = Object.fromEntries(names.map((name) => [name, [] as Cost[]]))
    for (let round = 1; round <= ROUNDS; round++) {
      for (const name of names) {
        const cost = await ways[name]?.()
        if (cost) costs[name]?.push(cost)
      }
      const last = names.map((name) => `${name} ${describe(costs[name]?.at(-1))}`)
      this.#parts.report(`round ${round} of ${ROUNDS}: ${last.join(', ')}`)
    }
    const middle = (name: string): Cost => {
      const of = (part: keyof Cost) => median((costs[name] ?? []).map((cost) => cost[part]))
      return { rate: of('rate'), postgresCpu: of('postgresCpu'), serviceCpu: of('serviceCpu') }
    }
    return Object.fromEntries(names.map((name) => [name, middle(name)])) as Record<keyof W, Cost>
  }

  #inPostgres(script: string, load: Load): Promise<Cost> {
    const { url } = this.#parts.data.app.cell
    return this.#measure((begin) => pgbench(url, script, load, begin))
  }

  #overHttp(requests: string[], connections: number): Promise<Cost> {
    const { callers, api, report } = this.#parts
    return this.#measure(async (begin) => {
      begin()
      const load = { port: api.port, connections, seconds: SECONDS, requests }
      const { answered, refused, seconds } = await runLoad(callers, load)
      if (refused > 0) report(`${refused} answered with 503`)
      return { rate: answered / seconds, count: answered }
    })
  }

  /** CPU until the last event has its position, so that background work counts too. */
  async #measure(work: (begin: () => void) => Promise<Done>): Promise<Cost> {
    const { api, postmaster } = this.#parts
    const spent = () => ({ postgres: cpuOfTree(postmaster), service: cpuOfTree(api.pid) })
    let before = spent()
    const { rate, count } = await work(() => {
      before = spent()
    })
    await this.#sequenced()
    const after = spent()
    return {
      rate,
      postgresCpu: ((after.postgres - before.postgres) * 1e6) / count,
      serviceCpu: ((after.service - before.service) * 1e6) / count,
    }
  }

  async #sequenced(): Promise<void> {
    const text = 'select exists (select from outbox) as waiting'
    while ((await this.#parts.data.client.query(text)).rows[0].waiting) await sleep(20)
  }
}

const describe = (cost: Cost | undefined) =>
  cost &&
  `${cost.rate.toFixed(0)}/s ${cost.postgresCpu.toFixed(0)} + ${cost.serviceCpu.toFixed(0)} µs`
