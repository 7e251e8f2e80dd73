/**
 * Whether a loud app delays the sends of a quiet one by more than the CPU that it uses: the latency of the quiet app
 * beside the loud one, compared with its latency beside processes that burn as much CPU.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { cpuOfTree } from './cpu.ts'
import { atMost, type Figure, median, type Report, reported } from './figure.ts'
import { newBenchApp, openInstallation } from './installation.ts'
import { latenciesAt, type OpenLoop, percentile } from './open-loop.ts'
import { postmasterOf, type Server, startServer, stopServer } from './processes.ts'
import { prepare, type SendData } from './send-data.ts'

const LOUD = 1_000
const QUIET = 100
const SECONDS = 30
const ALONE_SECONDS = 10
/** How long the neighbour runs before the quiet app is measured. */
const LEAD_SECONDS = 2
const ROUNDS = 2
const WARM_SECONDS = 10

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

export async function fairness(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const servers: Server[] = []
  const apps: SendData[] = []
  try {
    for (let app = 0; app < 2; app++) apps.push(await prepare(await newBenchApp(deps), []))
    report('filled')
    for (const role of ['worker', 'api'] as const) servers.push(await startServer(env, role))
    return await new Bench(apps as [SendData, SendData], servers, report).run()
  } finally {
    for (const { client } of apps) await client.end()
    await Promise.all(servers.map(stopServer))
    await closeDeps(deps)
  }
}

/** What the quiet app saw. `cores` is the CPU that the service, PostgreSQL and the neighbour used, per second. */
interface Seen {
  p50: number
  p99: number
  cores: number
}

class Bench {
  readonly #loud: SendData
  readonly #quiet: SendData
  readonly #servers: Server[]
  readonly #report: Report
  #answered = 0

  constructor([loud, quiet]: [SendData, SendData], servers: Server[], report: Report) {
    this.#loud = loud
    this.#quiet = quiet
    this.#servers = servers
    this.#report = report
  }

  async run(): Promise<Figure[]> {
    for (const data of [this.#loud, this.#quiet]) {
      await latenciesAt(this.#load(data, { perSecond: 2 * QUIET, seconds: WARM_SECONDS }))
    }
    const alone = await this.#measure('alone', [], ALONE_SECONDS)
    const [loud, burnt]: [Seen[], Seen[]] = [[], []]
    const besideLoud = async () => {
      loud.push(await this.#besideLoud())
    }
    const besideBurners = async () => {
      burnt.push(await this.#besideBurners((loud.at(-1)?.cores ?? 0) - alone.cores))
    }
    const turns = [besideLoud, besideBurners]
    for (let round = 1; round <= ROUNDS; round++, turns.reverse()) {
      for (const turn of turns) await turn()
    }
    const of = (all: Seen[], part: keyof Seen) => median(all.map((seen) => seen[part]))
    const beside = (part: keyof Seen) => [of(loud, part), of(burnt, part)] as const
    return [
      atMost(`ms of ${QUIET} sends/s beside an app with ${LOUD}/s, p99`, ...beside('p99'), 2),
      reported(`ms of ${QUIET} sends/s beside an app with ${LOUD}/s, p50`, ...beside('p50')),
      reported(`ms of ${QUIET} sends/s alone, p99`, alone.p99, alone.p50),
      reported('CPU beside the app and beside as much burnt CPU, cores', ...beside('cores')),
      reported('sends/s of the other app, of those wanted', this.#answered / ROUNDS, LOUD),
    ]
  }

  async #besideLoud(): Promise<Seen> {
    const child = fork(pathOf('loud-app.ts'))
    const seconds = LEAD_SECONDS + SECONDS
    const reported = once(child, 'message')
    child.send(this.#load(this.#loud, { perSecond: LOUD, seconds }))
    const seen = await this.#beside('loud app', [child], () => reported)
    const [answered] = (await reported) as [number]
    this.#answered += answered / seconds
    return seen
  }

  #besideBurners(cores: number): Promise<Seen> {
    const children = Array.from({ length: availableParallelism() }, () => fork(pathOf('burner.ts')))
    for (const child of children) child.send(cores / children.length)
    return this.#beside('burners', children, async () => {})
  }

  /** Measures the quiet app while these processes run, and then ends them. */
  async #beside(name: string, children: ChildProcess[], ended: () => Promise<unknown>) {
    try {
      await sleep(LEAD_SECONDS * 1000)
      const seen = await this.#measure(name, children, SECONDS)
      await ended()
      return seen
    } finally {
      for (const child of children) child.kill()
      await this.#quiet.sequenced()
    }
  }

  async #measure(name: string, children: ChildProcess[], seconds: number): Promise<Seen> {
    const postmaster = await postmasterOf(this.#quiet.client)
    const pids = [...this.#servers, ...children].map(({ pid }) => pid ?? 0)
    const spent = () => [postmaster, ...pids].reduce((sum, pid) => sum + cpuOfTree(pid), 0)
    const [before, started] = [spent(), performance.now()]
    const latencies = await latenciesAt(this.#load(this.#quiet, { perSecond: QUIET, seconds }))
    const cores = ((spent() - before) * 1000) / (performance.now() - started)
    const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
    this.#report(
      `${name}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${cores.toFixed(2)} cores`,
    )
    return { p50, p99, cores }
  }

  #load(data: SendData, rate: Pick<OpenLoop, 'perSecond' | 'seconds'>): OpenLoop {
    return { port: this.#servers.at(-1)?.port ?? 0, requests: data.keyedSends, ...rate }
  }
}
