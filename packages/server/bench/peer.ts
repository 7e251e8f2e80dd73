/**
 * POST /messages compared with sending in a peer, by the same callers, on the same PostgreSQL. The work
 * per message differs: the peer archives it for both users; we also keep both lists of
 * conversations with their counts, check who may write, and put an event into the log.
 */
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { cpuOfTree } from './cpu.ts'
import {
  archivedBy,
  type Ejabberd,
  ejabberdRequest,
  startEjabberd,
  stopEjabberd,
} from './ejabberd.ts'
import { atLeast, type Figure, median, type Report, reported } from './figure.ts'
import { newBenchApp, openInstallation } from './installation.ts'
import {
  postmasterOf,
  runLoad,
  type Server,
  startLoad,
  startServer,
  stopServer,
} from './processes.ts'
import { PAIRS, prepare, type SendData, TEXT } from './send-data.ts'

const ROUNDS = 5
const SECONDS = 5
const WARM_ROUNDS = 2
const CLIENTS = 16
const CONNECTIONS = 16
/** How many times the messages of the peer the service must send. */
const BAR = 2

interface Cost {
  rate: number
  postgresCpu: number
  ownCpu: number
}

type Costs = Record<'loquat' | 'keyed' | 'ejabberd', Cost[]>

export async function peer(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const callers = startLoad()
  const servers: Server[] = []
  let data: SendData | undefined
  let ejabberd: Ejabberd | undefined
  try {
    ejabberd = await startEjabberd(env, { users: 2 * PAIRS, connections: CONNECTIONS })
    data = await prepare(await newBenchApp(deps), [])
    report('filled')
    for (const role of ['worker', 'api'] as const) {
      servers.push(await startServer(env, role, { LOQUAT_POOL_SIZE: String(CONNECTIONS) }))
    }
    const postmaster = await postmasterOf(data.client)
    const own = { pids: servers.map(({ pid }) => pid), port: servers.at(-1)?.port ?? 0 }
    const ways = {
      loquat: { ...own, requests: data.directSends },
      keyed: { ...own, requests: data.keyedSends },
      ejabberd: {
        pids: [ejabberd.pid],
        port: ejabberd.port,
        requests: Array.from({ length: PAIRS }, (_, n) =>
          ejabberdRequest(2 * n + 1, 2 * n + 2, TEXT),
        ),
      },
    }
    const before = await archivedBy(ejabberd)
    let answeredBy = 0
    const measure = async (name: keyof typeof ways): Promise<Cost> => {
      const { pids, port, requests } = ways[name]
      const own = () => pids.reduce((sum, pid) => sum + cpuOfTree(pid), 0)
      const [postgresBefore, ownBefore] = [cpuOfTree(postmaster), own()]
      const load = { port, connections: CLIENTS, seconds: SECONDS, requests }
      const { answered, seconds } = await runLoad(callers, load)
      // What a send leaves to the worker is part of its cost, and mustn't slow down the peer.
      await data?.sequenced()
      if (name === 'ejabberd') answeredBy += answered
      const each = (cpu: number) => (cpu * 1e6) / answered
      return {
        rate: answered / seconds,
        postgresCpu: each(cpuOfTree(postmaster) - postgresBefore),
        ownCpu: each(own() - ownBefore),
      }
    }
    const costs: Costs = { loquat: [], keyed: [], ejabberd: [] }
    const names = Object.keys(ways) as (keyof typeof ways)[]
    for (let round = 1 - WARM_ROUNDS; round <= ROUNDS; round++) {
      for (const name of names) {
        const cost = await measure(name)
        if (round > 0) costs[name].push(cost)
        report(`round ${round}: ${name} ${describe(cost)}`)
      }
      // If the machine slows down, neither gains from it.
      names.reverse()
    }
    const archived = (await archivedBy(ejabberd)) - before
    // The archive has one row for the sender and one for the receiver.
    if (archived !== 2 * answeredBy) throw new Error(`${answeredBy} answered, ${archived} archived`)
    return figuresOf(costs)
  } finally {
    callers.kill()
    await data?.client.end()
    await Promise.all([...servers.map(stopServer), ejabberd && stopEjabberd(ejabberd)])
    await closeDeps(deps)
  }
}

function figuresOf(costs: Costs): Figure[] {
  const beside = (name: keyof Costs, part: keyof Cost) => {
    const of = (way: keyof Costs) => median(costs[way].map((cost) => cost[part]))
    return [of(name), of('ejabberd')] as const
  }
  const figures = (name: keyof Costs, what: string) => [
    atLeast(`${what}, beside ejabberd`, ...beside(name, 'rate'), BAR),
    reported('… CPU of PostgreSQL, µs a message', ...beside(name, 'postgresCpu')),
    reported('… CPU of its own processes, µs a message', ...beside(name, 'ownCpu')),
  ]
  return [
    ...figures('loquat', 'messages a second'),
    ...figures('keyed', 'messages a second with idempotency keys'),
  ]
}

const describe = ({ rate, postgresCpu, ownCpu }: Cost) =>
  `${rate.toFixed(0)}/s ${postgresCpu.toFixed(0)} + ${ownCpu.toFixed(0)} µs`
