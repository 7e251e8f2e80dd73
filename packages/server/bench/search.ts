/**
 * What searches and filtered lists of messages cost in an app of 2,000,000 compared with one of 10,000 in the same cell
 * (`LOQUAT_BENCH_MESSAGES` sets another size): the time of a request and the buffers of its statements.
 */
import type { FastifyInstance } from 'fastify'
import { buildApi } from '../src/api.ts'
import { Indexer } from '../src/areas/history/indexing.ts'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { fillApp } from '../src/fill/fill.ts'
import { messages } from '../src/fill/messages.ts'
import { COMMON_WORD, MISSING_WORD, RARE_JAPANESE, RARE_WORD } from '../src/fill/texts.ts'
import { users } from '../src/fill/users.ts'
import type { Cell } from '../src/platform/cells/directory.ts'
import { type Figure, median, type Report, reported, within } from './figure.ts'
import { newBenchApp, openInstallation } from './installation.ts'
import { Meter } from './meter.ts'

const LARGE = Number(process.env.LOQUAT_BENCH_MESSAGES ?? 2_000_000)
const SMALL = 10_000
const MS_BAR = 100
const ROUNDS = 9

export async function search(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const api = await buildApi(deps)
  try {
    const large = await filledApp(deps, api, LARGE, report)
    const small = await filledApp(deps, api, SMALL, report)
    const cell = deps.directory.cell('us-1')
    const indexing = await indexAll(cell, report)
    const meter = new Meter(cell, /^(messages|search)\./)
    const figures = [indexing]
    for (const question of QUESTIONS) {
      figures.push(...(await firstPages(meter, large, small, question, report)))
    }
    return figures
  } finally {
    await api.close()
    await closeDeps(deps)
  }
}

interface Filled {
  /** Requests messages, on behalf of the busiest user if asked to, and returns how many milliseconds it took. */
  ask(query: string, asUser: boolean): Promise<number>
}

async function filledApp(
  deps: Deps,
  api: FastifyInstance,
  wanted: number,
  report: Report,
): Promise<Filled> {
  const app = await newBenchApp(deps)
  const started = performance.now()
  const run = { onProgress: () => {}, signal: new AbortController().signal }
  await fillApp(app, { kind: users, wanted: Math.min(20_000, wanted / 10), ...run })
  await fillApp(app, { kind: messages, wanted, conversations: wanted / 20, ...run })
  const seconds = (performance.now() - started) / 1000
  report(`${wanted} messages filled in ${seconds.toFixed(1)} s`)
  const uid = await busiestUser(app.cell, app.no)
  return {
    async ask(query, asUser) {
      const headers = { appid: app.id, apikey: app.apiKey, ...(asUser && { onbehalfof: uid }) }
      const asked = performance.now()
      const { statusCode, body } = await api.inject({ url: `/v3/messages?${query}`, headers })
      if (statusCode !== 200) throw new Error(`${query}: ${body}`)
      return performance.now() - asked
    },
  }
}

async function busiestUser({ db }: Cell, appNo: number): Promise<string> {
  const text = `select i.uid, sum(h.stored) from inbox i
      join conversations h on h.app_no = i.app_no and h.no = i.conversation
    where i.app_no = $1 group by 1 order by 2 desc limit 1`
  const { rows } = await db.query<{ uid: string }>({ name: '', text, values: [appNo] })
  return rows[0]?.uid ?? ''
}

async function indexAll({ db }: Cell, report: Report): Promise<Figure> {
  const indexer = new Indexer(db)
  const started = performance.now()
  const before = process.cpuUsage()
  let segments = 0
  for (let done = 1; done > 0; segments += done) done = await indexer.round()
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(before)
  const { rows } = await db.query<{ messages: number; bytes: number }>({
    name: '',
    text: `select sum(messages)::bigint as messages,
      pg_total_relation_size('search_grams') + pg_total_relation_size('search_ids') as bytes
      from search_segments`,
    values: [],
  })
  const { messages: indexed = 1, bytes = 0 } = rows[0] ?? {}
  report(
    `${indexed} texts indexed in ${segments} segments, ${seconds.toFixed(1)} s, ${bytes} bytes`,
  )
  return reported(
    'µs of the service a message indexed, beside bytes a message',
    ...([(user + system) / indexed, bytes / indexed] as const),
  )
}

interface Question {
  query: string
  what: string
  asUser?: boolean
  bar?: boolean
}

const searchKey = (key: string) => `affix=prepend&searchKey=${encodeURIComponent(key)}`

const QUESTIONS: Question[] = [
  { query: searchKey(RARE_WORD), what: 'a rare word', bar: true },
  { query: searchKey(COMMON_WORD), what: 'a common word', bar: true },
  { query: searchKey(MISSING_WORD), what: 'a word that none has, of common parts', bar: true },
  { query: searchKey(RARE_JAPANESE), what: 'a rare word of two characters', bar: true },
  { query: searchKey('電車'), what: 'a common word of two characters', bar: true },
  { query: searchKey('สถานี'), what: 'a common Thai word', bar: true },
  { query: searchKey('etzalcoat'), what: 'a part of a rare word', bar: true },
  { query: searchKey('zq'), what: 'two letters that none has', bar: true },
  { query: searchKey(RARE_WORD), what: 'a rare word', asUser: true, bar: true },
  { query: searchKey(COMMON_WORD), what: 'a common word', asUser: true, bar: true },
  { query: 'affix=prepend', what: 'the newest' },
  { query: 'affix=append', what: 'the oldest', asUser: true },
  { query: 'affix=prepend&hasLinks=true', what: 'links' },
  { query: 'affix=prepend&hasAttachments=true', what: 'attachments, which none has' },
  { query: 'affix=prepend&type=image', what: 'a type that none has' },
]

async function firstPages(
  meter: Meter,
  large: Filled,
  small: Filled,
  { query, what, asUser = false, bar = false }: Question,
  report: Report,
): Promise<Figure[]> {
  const [cold, ...ours] = await times(large, query, asUser)
  const [, ...theirs] = await times(small, query, asUser)
  const [ms, bare] = [median(ours), median(theirs)]
  const cost = await meter.measure(() => large.ask(query, asUser))
  const counting = await meter.measure(() => small.ask(query, asUser))
  const of = `${what}${asUser ? ', of a user' : ''}`
  report(`${of}: first ${cold?.toFixed(1)} ms, then ${ms.toFixed(1)}; ${meter.describe(cost)}`)
  const label = `ms: first page of ${of}, warm`
  return [
    bar ? within(label, ms, bare, MS_BAR) : reported(label, ms, bare),
    reported(`buffers: first page of ${of}`, cost.buffers, counting.buffers),
  ]
}

async function times({ ask }: Filled, query: string, asUser: boolean): Promise<number[]> {
  const taken: number[] = []
  for (let round = 0; round <= ROUNDS; round++) taken.push(await ask(query, asUser))
  return taken
}
