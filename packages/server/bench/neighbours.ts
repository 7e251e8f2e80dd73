/**
 * What an app notices of another app that abuses the service: its sends, lists and live frames beside each of ten abuses,
 * compared with the same beside processes that burn as much CPU, and five seconds after the abuse has ended. Every
 * figure is the median of three rounds: the p99 of eight seconds is one of the longest waits, and a pause of the machine
 * makes it anything.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { provisionApp } from '../src/areas/apps/actions.ts'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import type { Abuse, AbuseData } from './abuser.ts'
import { cpuOfTree } from './cpu.ts'
import { atMost, type Figure, type Report, reported } from './figure.ts'
import { type BenchApp, newBenchApp, openInstallation } from './installation.ts'
import { Probe, type Probed, parts } from './probe.ts'
import { postmasterOf, type Server, startServer, stopServer } from './processes.ts'
import { prepare, type SendData } from './send-data.ts'

const ABUSES: Record<Abuse, string> = {
  lists: '200 slow lists at a time',
  deep: '200 pages far down at a time',
  search: '50 searches at a time',
  sends: 'as many sends as its limit allows',
  webhooks: '25 webhooks that hang',
  deaf: '90 connections that read nothing',
  transient: '20 connections that flood each other',
  auth: '100 wrong keys at a time',
  bodies: '50 bodies of 5 MB at a time',
  connections: '2,000 connections, opened again and again',
}
/** Those to measure: all, unless `LOQUAT_BENCH_ABUSES` names some. */
const chosen = process.env.LOQUAT_BENCH_ABUSES?.split(',')
const names = (Object.keys(ABUSES) as Abuse[]).filter((name) => chosen?.includes(name) ?? true)
/** How long the neighbour runs before the app is measured. */
const LEAD_SECONDS = 2
const SECONDS = 8
/** How long after the end of an abuse the app must be as fast as before. */
const CALM_SECONDS = 5
const AFTER_SECONDS = 3
const WARM_SECONDS = 5
const ROUNDS = 3
/** What an idle installation uses at most. */
const IDLE_CORES = 0.15
/** Of its latency beside burnt CPU, and of its latency alone. */
const BAR = 3

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))

export async function neighbours(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const servers: Server[] = []
  const filled: SendData[] = []
  try {
    const loud = await prepare(await newLimitedApp(deps), [])
    filled.push(loud)
    const quiet = await prepare(await newBenchApp(deps), [])
    filled.push(quiet)
    report('filled')
    const more = { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' }
    for (const role of ['worker', 'gateway', 'api'] as const)
      servers.push(await startServer(env, role, more))
    return await new Bench(loud, quiet, servers, report).run()
  } finally {
    for (const { client } of filled) await client.end()
    await Promise.all(servers.map(stopServer))
    await closeDeps(deps)
  }
}

/** An app with the limits that every app has. */
async function newLimitedApp(deps: Deps): Promise<BenchApp> {
  const { appId, apiKey } = await provisionApp(deps, { name: 'Loud', region: 'us' })
  const app = await deps.directory.find(appId)
  if (!app?.cell) throw new Error('the new app is not served here')
  return { ...app, cell: app.cell, apiKey }
}

/** What the app saw, and the CPU that the service, PostgreSQL and the neighbour used, in cores. */
interface Seen extends Probed {
  cores: number
}

interface Beside {
  seen: Seen
  after: Seen
  /** Beside processes that burn as much CPU. */
  burnt: Seen
}

interface Round {
  alone: Seen
  beside: Record<Abuse, Beside>
}

function figuresOf(rounds: Round[]): Figure[] {
  const median = (of: (round: Round) => number) =>
    rounds.map(of).sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? 0
  const alone = parts.map((part) =>
    reported(
      `ms of a ${part} alone, p99`,
      median((round) => round.alone[part].p99),
      median((round) => round.alone[part].p50),
    ),
  )
  const beside = names.flatMap((abuse) => {
    const what = ABUSES[abuse]
    const of = (value: (beside: Beside) => number) => median((round) => value(round.beside[abuse]))
    return [
      ...parts.flatMap((part) => [
        atMost(
          `ms of a ${part} beside ${what}, p99`,
          of(({ seen }) => seen[part].p99),
          of(({ burnt }) => burnt[part].p99),
          BAR,
        ),
        reported(
          `ms of a ${part} beside ${what}, p50`,
          of(({ seen }) => seen[part].p50),
          of(({ burnt }) => burnt[part].p50),
        ),
      ]),
      ...parts.map((part) =>
        atMost(
          `ms of a ${part} ${CALM_SECONDS} s after ${what}, p99`,
          of(({ after }) => after[part].p99),
          median((round) => round.alone[part].p99),
          BAR,
        ),
      ),
      reported(
        `cores beside ${what}`,
        of(({ seen }) => seen.cores),
        of(({ burnt }) => burnt.cores),
      ),
    ]
  })
  return [...alone, ...beside]
}

class Bench {
  readonly #loud: SendData
  readonly #quiet: SendData
  readonly #servers: Server[]
  readonly #report: Report

  constructor(loud: SendData, quiet: SendData, servers: Server[], report: Report) {
    this.#loud = loud
    this.#quiet = quiet
    this.#servers = servers
    this.#report = report
  }

  async run(): Promise<Figure[]> {
    const [, { port: gatewayPort = 0 } = {}, { port: apiPort = 0 } = {}] = this.#servers
    const probe = await Probe.open(this.#quiet, { apiPort, gatewayPort })
    try {
      await probe.run(WARM_SECONDS)
      await this.#settle()
      const data = this.#abuseData({ apiPort, gatewayPort })
      const rounds: Round[] = []
      for (let n = 0; n < ROUNDS; n++) rounds.push(await this.#round(data, probe))
      return figuresOf(rounds)
    } finally {
      probe.close()
    }
  }

  /** Waits until the worker has indexed what was filled. */
  async #settle(): Promise<void> {
    const postmaster = await postmasterOf(this.#quiet.client)
    const pids = [postmaster, ...this.#servers.map(({ pid }) => pid)]
    const spent = () => pids.reduce((sum, pid) => sum + cpuOfTree(pid), 0)
    for (let cores = 1; cores > IDLE_CORES; ) {
      const before = spent()
      await sleep(2_000)
      cores = (spent() - before) / 2
    }
  }

  #abuseData(ports: { apiPort: number; gatewayPort: number }): AbuseData {
    const { id, apiKey } = this.#loud.app
    const uids = this.#loud.pairs.slice(0, 400).map(({ sender }) => sender)
    return { ...ports, appId: id, apiKey, uids }
  }

  async #round(data: AbuseData, probe: Probe): Promise<Round> {
    const alone = await this.#measure('alone', probe, [], SECONDS)
    const beside = {} as Round['beside']
    for (const abuse of names) beside[abuse] = await this.#beside(abuse, data, probe)
    return { alone, beside }
  }

  async #beside(abuse: Abuse, data: AbuseData, probe: Probe): Promise<Beside> {
    const what = ABUSES[abuse]
    const abuser = fork(pathOf('abuser.ts'))
    let seen: Seen
    try {
      const ready = once(abuser, 'message')
      abuser.send({ abuse, data })
      await ready
      await sleep(LEAD_SECONDS * 1000)
      seen = await this.#measure(what, probe, [abuser], SECONDS)
    } finally {
      abuser.kill()
    }
    await sleep(CALM_SECONDS * 1000)
    const after = await this.#measure(`${what}, ended`, probe, [], AFTER_SECONDS)
    return { seen, after, burnt: await this.#besideBurners(probe, seen.cores - after.cores) }
  }

  async #besideBurners(probe: Probe, cores: number): Promise<Seen> {
    const children = Array.from({ length: availableParallelism() }, () => fork(pathOf('burner.ts')))
    try {
      for (const child of children) child.send(Math.max(cores, 0) / children.length)
      await sleep(LEAD_SECONDS * 1000)
      return await this.#measure('as much CPU', probe, children, SECONDS)
    } finally {
      for (const child of children) child.kill()
    }
  }

  async #measure(
    name: string,
    probe: Probe,
    children: ChildProcess[],
    seconds: number,
  ): Promise<Seen> {
    const postmaster = await postmasterOf(this.#quiet.client)
    const pids = [...this.#servers, ...children].map(({ pid }) => pid ?? 0)
    const spent = () => [postmaster, ...pids].reduce((sum, pid) => sum + cpuOfTree(pid), 0)
    const [before, started] = [spent(), performance.now()]
    const probed = await probe.run(seconds)
    const cores = ((spent() - before) * 1000) / (performance.now() - started)
    const texts = parts.map(
      (part) => `${part} ${probed[part].p50.toFixed(1)}/${probed[part].p99.toFixed(1)} ms`,
    )
    this.#report(`${name}: ${texts.join(', ')}, ${cores.toFixed(2)} cores`)
    return { ...probed, cores }
  }
}
