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
import { type Figure, median, type Report, reported } from './figure.ts'
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

interface Cost {
  rate: number
  postgresCpu: number
  ownCpu: number
}

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
    const ways = {
      loquat: { pids: servers.map(({ pid }) => pid), port: servers.at(-1)?.port ?? 0 },
      ejabberd: { pids: [ejabberd.pid], port: ejabberd.port },
    }
    const requests = {
      loquat: data.directSends,
      ejabberd: Array.from({ length: PAIRS }, (_, n) =>
        ejabberdRequest(2 * n + 1, 2 * n + 2, TEXT),
      ),
    }
    const before = await archivedBy(ejabberd)
    let answeredBy = 0
    const measure = async (name: keyof typeof ways): Promise<Cost> => {
      const { pids, port } = ways[name]
      const own = () => pids.reduce((sum, pid) => sum + cpuOfTree(pid), 0)
      const [postgresBefore, ownBefore] = [cpuOfTree(postmaster), own()]
      const load = { port, connections: CLIENTS, seconds: SECONDS, requests: requests[name] }
      const { answered, seconds } = await runLoad(callers, load)
      if (name === 'ejabberd') answeredBy += answered
      const each = (cpu: number) => (cpu * 1e6) / answered
      return {
        rate: answered / seconds,
        postgresCpu: each(cpuOfTree(postmaster) - postgresBefore),
        ownCpu: each(own() - ownBefore),
      }
    }
    const costs: Record<keyof typeof ways, Cost[]> = { loquat: [], ejabberd: [] }
    for (let round = 1 - WARM_ROUNDS; round <= ROUNDS; round++) {
      for (const name of ['loquat', 'ejabberd'] as const) {
        const cost = await measure(name)
        if (round > 0) costs[name].push(cost)
        report(`round ${round}: ${name} ${describe(cost)}`)
      }
    }
    const archived = (await archivedBy(ejabberd)) - before
    // The archive has one row for the sender and one for the receiver.
    if (archived !== 2 * answeredBy) throw new Error(`${answeredBy} answered, ${archived} archived`)
    const of = (name: keyof typeof ways, part: keyof Cost) =>
      median(costs[name].map((cost) => cost[part]))
    const beside = (what: string, part: keyof Cost) =>
      reported(what, of('loquat', part), of('ejabberd', part))
    return [
      beside('messages a second, beside ejabberd', 'rate'),
      beside('… CPU of PostgreSQL, µs a message', 'postgresCpu'),
      beside('… CPU of its own processes, µs a message', 'ownCpu'),
    ]
  } finally {
    callers.kill()
    await data?.client.end()
    await Promise.all([...servers.map(stopServer), ejabberd && stopEjabberd(ejabberd)])
    await closeDeps(deps)
  }
}

const describe = ({ rate, postgresCpu, ownCpu }: Cost) =>
  `${rate.toFixed(0)}/s ${postgresCpu.toFixed(0)} + ${ownCpu.toFixed(0)} µs`
