/** Measures what sends cost, over HTTP and in PostgreSQL alone. */
import type { ChildProcess } from 'node:child_process'
import { cpuOfTree } from './cpu.ts'
import { median, type Report } from './figure.ts'
import { type Done, type Load, pgbench } from './pgbench.ts'
import { runLoad, type Server } from './processes.ts'
import type { SendData } from './send-data.ts'
import { walPosition } from './wal.ts'

const ROUNDS = 3

/** The results of one round. CPU is in µs per message. */
export interface Cost {
  rate: number
  postgresCpu: number
  serviceCpu: number
}

export interface Parts {
  data: SendData
  api: Server
  callers: ChildProcess
  postmaster: number
  report: Report
}

export interface HttpLoad {
  connections: number
  seconds: number
}

type Ways = Record<string, () => Promise<Cost>>

export class SendCosts {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Measures all ways in turn, so that a slow minute of the machine affects all of them, and returns the medians. */
  async rounds<W extends Ways>(ways: W): Promise<Record<keyof W, Cost>> {
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

  /** `messages`: how many messages one execution of the script sends. */
  inPostgres(script: string, load: Load, messages = 1): Promise<Cost> {
    const { url } = this.#parts.data.app.cell
    return this.#measure(async (begin) => {
      const { rate, count } = await pgbench(url, script, load, begin)
      return { rate: rate * messages, count: count * messages }
    })
  }

  overHttp(requests: string[], load: HttpLoad): Promise<Cost> {
    return this.#measure(async (begin) => {
      begin()
      return this.load(requests, load)
    })
  }

  async load(requests: string[], load: HttpLoad): Promise<Done> {
    const { callers, api, report } = this.#parts
    const loaded = await runLoad(callers, { port: api.port, ...load, requests })
    if (loaded.refused > 0) report(`${loaded.refused} answered with 503`)
    return { rate: loaded.answered / loaded.seconds, count: loaded.answered }
  }

  /** CPU until the last event has its position, so that background work counts too. */
  async #measure(work: (begin: () => void) => Promise<Done>): Promise<Cost> {
    const { data, api, postmaster } = this.#parts
    const spent = () => ({ postgres: cpuOfTree(postmaster), service: cpuOfTree(api.pid) })
    let before = spent()
    const { rate, count } = await work(() => {
      before = spent()
    })
    await data.sequenced()
    const after = spent()
    return {
      rate,
      postgresCpu: ((after.postgres - before.postgres) * 1e6) / count,
      serviceCpu: ((after.service - before.service) * 1e6) / count,
    }
  }

  /** Bytes of WAL per message until the last event has its position. */
  async wal(requests: string[], load: HttpLoad): Promise<number> {
    const { data } = this.#parts
    await data.sequenced()
    const before = await walPosition(data.client)
    const { count } = await this.load(requests, load)
    await data.sequenced()
    return ((await walPosition(data.client)) - before) / count
  }
}

const describe = (cost: Cost | undefined) =>
  cost &&
  `${cost.rate.toFixed(0)}/s ${cost.postgresCpu.toFixed(0)} + ${cost.serviceCpu.toFixed(0)} µs`
