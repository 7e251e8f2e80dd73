/**
 * What rules of moderation cost: sends of an app with 10,000 words and 100 patterns beside those of an app without
 * rules, and the worst pattern and text that a search finds.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createKeywordList } from '../src/areas/moderation/keywords.actions.ts'
import { createRule } from '../src/areas/moderation/rules.actions.ts'
import type { Actor } from '../src/core/actor.ts'
import { faultOf } from '../src/core/moderation/patterns.ts'
import { CompiledRules } from '../src/core/moderation/rules.ts'
import { checkInThread } from '../src/core/moderation/threads.ts'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { atMost, type Figure, type Report, reported, within } from './figure.ts'
import { type BenchApp, newBenchApp, openInstallation } from './installation.ts'
import {
  postmasterOf,
  requestOf,
  type Server,
  startLoad,
  startServer,
  stopServer,
} from './processes.ts'
import { SendCosts } from './send-cost.ts'
import { prepare, type SendData, TEXT } from './send-data.ts'

const WORDS = 10_000
const PATTERNS = 100
const CLIENTS = 16
const SECONDS = 4
const WARM_SECONDS = 4
/** The text of every message. */
const MESSAGE = `${TEXT} `.repeat(4).slice(0, 200)

/** Searches for the worst pattern. */
const CANDIDATES = 150
const LONGEST = 10_000
const DEADLINE_MS = 2_000

export async function moderation(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const callers = startLoad()
  const servers: Server[] = []
  const apps: SendData[] = []
  try {
    for (let app = 0; app < 2; app++) apps.push(await prepare(await newBenchApp(deps), []))
    const [plain, checked] = apps as [SendData, SendData]
    await addRules(deps, checked)
    report('filled')
    for (const role of ['worker', 'api'] as const) servers.push(await startServer(env, role))
    const api = servers.at(-1) as Server
    const postmaster = await postmasterOf(plain.client)
    const costs = new SendCosts({ data: plain, api, callers, postmaster, report })
    const post = (data: SendData) => {
      const requests = sendsOf(data)
      return (seconds = SECONDS) => costs.overHttp(requests, { connections: CLIENTS, seconds })
    }
    const ways = { without: post(plain), with: post(checked) }
    for (const warm of [ways.without, ways.with]) await warm(WARM_SECONDS)
    const cost = await costs.rounds({ without: () => ways.without(), with: () => ways.with() })
    return [
      atMost(
        'CPU of the service, µs a message with 10,000 words and 100 patterns',
        cost.with.serviceCpu,
        cost.without.serviceCpu,
        1.25,
      ),
      reported(
        '… CPU of PostgreSQL, µs a message',
        cost.with.postgresCpu,
        cost.without.postgresCpu,
      ),
      reported('… messages a second', cost.with.rate, cost.without.rate),
      ...(await worst(report)),
    ]
  } finally {
    callers.kill()
    for (const { client } of apps) await client.end()
    await Promise.all(servers.map(stopServer))
    await closeDeps(deps)
  }
}

/** Acts as the app. */
export const actorOf = (app: BenchApp): Actor => ({
  ...{ kind: 'app', scope: 'fullAccess', app, settings: {}, credential: Buffer.alloc(32) },
})

export async function addRules(deps: Deps, { app }: SendData): Promise<void> {
  const actor = actorOf(app)
  const searchTerms = Array.from({ length: WORDS }, (_, n) => `word${n.toString(36)}`)
  await createKeywordList(deps, actor, {
    id: 'words',
    name: 'Words',
    category: 'word',
    searchTerms,
  })
  const value = Array.from(
    { length: PATTERNS },
    (_, n) => `\\b(pay|send)${n}\\s+\\d{3,${4 + (n % 5)}}\\b`,
  )
  await createRule(deps, actor, {
    ...{ id: 'rule', name: 'Rule', enabled: true },
    conditions: [
      { category: 'word', isKeywordReferencePresent: true, value: 'words' },
      { category: 'pattern', value },
    ],
  })
}

export const sendsOf = ({ app, pairs }: SendData) =>
  pairs.map(({ kind: receiverType, sender: uid, receiver }) => {
    const body = JSON.stringify({ receiverType, receiver, data: { text: MESSAGE } })
    return requestOf(app, { line: 'POST /v3/messages', uid, body })
  })

/** How long the worst pattern takes for a long text in the thread, and how long it keeps this process from its work. */
async function worst(report: Report): Promise<Figure[]> {
  let slowest = { ms: 0, pattern: '' }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  for (let n = 0; n < CANDIDATES; n++) {
    const pattern = randomPattern()
    if (faultOf(pattern) !== undefined) continue
    const rules = await CompiledRules.of({
      lists: [],
      rules: [
        {
          ...{ id: 'r', name: 'r', revision: 1, revisionId: 'r', action: [], filters: [] },
          conditions: [
            {
              ...{ operand: 'text', operator: 'contains', category: 'pattern', value: [pattern] },
              isKeywordsReferencePresent: false,
            },
          ],
        },
      ],
    })
    const text = Array.from({ length: LONGEST }, () => pick(['a', 'b'])).join('')
    const version = `bench ${n}`
    // The first text only compiles.
    await checkInThread(version, rules, { text: 'a' })
    delay.enable()
    const startedAt = performance.now()
    // A text that misses the deadline ends with it.
    await checkInThread(version, rules, { text }).catch(() => undefined)
    const ms = performance.now() - startedAt
    delay.disable()
    if (ms > slowest.ms) slowest = { ms, pattern }
  }
  report(`worst pattern: ${slowest.pattern}`)
  return [
    within('worst pattern on 10,000 characters, ms', slowest.ms, DEADLINE_MS, DEADLINE_MS),
    reported('… p99 delay of the event loop meanwhile, ms', delay.percentile(99) / 1e6, 1),
    reported('… longest delay, ms', delay.max / 1e6, 1),
  ]
}

const pick = <T>(all: readonly T[]): T => all[Math.floor(Math.random() * all.length)] as T

/** Nested repetitions, which make automata large. */
function randomPattern(depth = 3): string {
  if (depth === 0) return pick(['a', 'b', '.', '[ab]', 'a?', '.*'])
  const part = () => randomPattern(depth - 1)
  return pick([
    () => `(${part()}${part()})${pick(['*', '+', '?', '{1,9}', '{7}'])}`,
    () => `(${part()}|${part()})${pick(['*', '+', '{2,8}'])}`,
    () => `${part()}.{${pick([5, 10, 20])}}${part()}`,
  ])()
}
