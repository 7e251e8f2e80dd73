/** What sends notice of a preview: their latency beside one over a million messages, compared with their latency alone. */
import { createRulePreview, readPreview } from '../src/areas/moderation/previews.actions.ts'
import type { Actor } from '../src/core/actor.ts'
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { fillApp } from '../src/fill/fill.ts'
import { messages } from '../src/fill/messages.ts'
import { cpuOfTree } from './cpu.ts'
import { atMost, type Figure, type Report, reported } from './figure.ts'
import { newBenchApp, openInstallation } from './installation.ts'
import { actorOf, addRules, sendsOf } from './moderation.ts'
import { latenciesAt, percentile } from './open-loop.ts'
import { postmasterOf, type Server, startServer, stopServer } from './processes.ts'
import { prepare, type SendData } from './send-data.ts'

const MESSAGES = 1_000_000
/** Filled by `prepare`. */
const FILLED = 200_000
const PER_SECOND = 50
const SECONDS = 8
const WARM_SECONDS = 5

export async function preview(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const servers: Server[] = []
  let data: SendData | undefined
  try {
    data = await prepare(await newBenchApp(deps), [])
    const { app, client } = data
    const run = { onProgress: () => {}, signal: new AbortController().signal }
    await fillApp(app, { kind: messages, wanted: MESSAGES - FILLED, conversations: 20_000, ...run })
    await addRules(deps, data)
    await client.query('vacuum (analyze)')
    report('filled')
    for (const role of ['worker', 'api'] as const) servers.push(await startServer(env, role))
    const [worker, api] = servers as [Server, Server]
    const postmaster = await postmasterOf(client)
    const actor: Actor = actorOf(app)
    const send = (seconds: number) =>
      latenciesAt({
        port: api.port,
        perSecond: PER_SECOND,
        seconds,
        requests: sendsOf(data as SendData),
      })
    await send(WARM_SECONDS)

    const alone = await send(SECONDS)
    const spent = () => ({ worker: cpuOfTree(worker.pid), postgres: cpuOfTree(postmaster) })
    const before = spent()
    const startedAt = performance.now()
    const rule = { conditions: [{ category: 'word' as const, value: ['station'] }] }
    const { id } = await createRulePreview(deps, actor, { rule, limit: MESSAGES })
    const read = () => readPreview(app.cell.db, actor, id)
    const beside: number[] = []
    const shown: number[] = []
    let state = await read()
    while (state.state === 'waiting' || state.state === 'running') {
      beside.push(...(await send(SECONDS)))
      state = await read()
      shown.push(state.progress)
      report(`${Math.round(state.progress * 100)} %, ${state.checked} messages checked`)
    }
    const seconds = (performance.now() - startedAt) / 1000
    const after = spent()
    if (state.state !== 'done') throw new Error(`the preview is ${state.state}`)
    alone.push(...(await send(SECONDS)))
    const [p50, p99] = [0.5, 0.99].map((share) => ({
      alone: percentile(alone, share),
      beside: percentile(beside, share),
    })) as [Pair, Pair]
    return [
      atMost('ms of a send beside a preview, p99', p99.beside, p99.alone, 1.5),
      reported('… p50', p50.beside, p50.alone),
      reported('messages that the preview checked', state.checked, MESSAGES),
      reported('… how often its progress changed', new Set(shown).size, shown.length),
      reported('… seconds', seconds, 1),
      reported('… CPU of the worker, seconds', after.worker - before.worker, 1),
      reported('… CPU of PostgreSQL, with the sends, seconds', after.postgres - before.postgres, 1),
    ]
  } finally {
    await data?.client.end()
    await Promise.all(servers.map(stopServer))
    await closeDeps(deps)
  }
}

interface Pair {
  alone: number
  beside: number
}
