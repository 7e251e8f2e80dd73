/**
 * What a search of an agent costs among 100,000 chunks (`LOQUAT_BENCH_CHUNKS` sets another number) compared with the
 * project's own documents alone: time, and CPU of this process and of PostgreSQL. A second agent knows only the documents, among
 * the chunks of the first one. And how many questions about the documents find the right one, by words alone and with the
 * embeddings of the test server.
 */

import { findKnowledge } from '../src/areas/agents/knowledge/search.ts'
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import type { Db } from '../src/platform/db/db.ts'
import {
  addSource,
  askDocs,
  docs,
  embedSources,
  questions,
  testEmbedder,
} from '../test/knowledge-docs.ts'
import { modelServer } from '../test/model-server.ts'
import { cpuOfTree, parentOf } from './cpu.ts'
import { type Figure, type Report, reported, within } from './figure.ts'
import { newBenchApp, openInstallation } from './installation.ts'

const CHUNKS = Number(process.env.LOQUAT_BENCH_CHUNKS ?? 100_000)
const SOURCE_CHUNKS = 5_000
const ROUNDS = 4
const P95_BAR_MS = 250

type Asker = { appNo: number; agentUid: string }

export async function knowledge(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const deps = await openInstallation(env)
  const { models, start, end } = modelServer(() => [])
  await start()
  const embedder = testEmbedder(models)
  try {
    const app = await newBenchApp(deps)
    const { db } = app.cell
    const small = { appNo: app.no, agentUid: 'small' }
    const large = { appNo: app.no, agentUid: 'large' }
    let added = 0
    for (const asker of [small, large])
      for (const { file, text } of docs()) added = await addSource(db, asker, file, [text])
    const quality = await askDocs(db, small)
    for (const missed of quality.missed) report(`not among the first five: ${missed}`)
    await embedSources(db, app.no, embedder)
    const meant = await askDocs(db, small, embedder)
    for (const missed of meant.missed) report(`not with embeddings: ${missed}`)
    const alone = await ask(db, small)
    const started = performance.now()
    const texts = shuffled(docs().map(({ text }) => text))
    for (added = 0; added < CHUNKS; ) {
      added += await addSource(db, large, `Part ${added}`, take(texts, SOURCE_CHUNKS))
    }
    const ms = (performance.now() - started) / added
    await db.query({ name: '', text: 'vacuum analyze knowledge_chunks', values: [] })
    report(`${added} chunks added, ${ms.toFixed(2)} ms each`)
    const few = await ask(db, small)
    const many = await ask(db, large)
    const among = await askDocs(db, large)
    return [
      reported(
        'questions of 50 whose document is found, beside among all chunks',
        quality.hits,
        among.hits,
      ),
      reported('the same with embeddings, beside words alone', meant.hits, quality.hits),
      within(`ms of a search among ${added} chunks, p95`, many.p95, few.p95, P95_BAR_MS),
      reported('ms of a search, median', many.median, few.median),
      reported('CPU ms of a search in PostgreSQL', many.engineMs, few.engineMs),
      reported('CPU ms of a search in the service', many.ownMs, few.ownMs),
      reported(
        `ms of a small agent among ${added} chunks of others, p95, beside alone`,
        few.p95,
        alone.p95,
      ),
      reported('CPU ms of the same in PostgreSQL', few.engineMs, alone.engineMs),
      reported('ms to index a chunk', ms, 1),
    ]
  } finally {
    embedder.close()
    end()
    await closeDeps(deps)
  }
}

/** Asks all questions, several times. CPU is counted in hundredths of a second, so many questions share one count. */
async function ask(db: Db, asker: Asker) {
  const times: number[] = []
  const postmaster = await postmasterOf(db)
  let before = { engine: 0, own: process.cpuUsage() }
  for (let round = 0; round < ROUNDS; round++) {
    // The first round fills caches.
    if (round === 1) before = { engine: cpuOfTree(postmaster), own: process.cpuUsage() }
    for (const question of questions) {
      const asked = performance.now()
      await findKnowledge(db, asker, question, 5)
      if (round > 0) times.push(performance.now() - asked)
    }
  }
  const { user, system } = process.cpuUsage(before.own)
  const engineMs = ((cpuOfTree(postmaster) - before.engine) * 1_000) / times.length
  const ownMs = (user + system) / 1_000 / times.length
  times.sort((a, b) => a - b)
  const at = (part: number) => times[Math.floor(times.length * part)] ?? 0
  return { median: at(0.5), p95: at(0.95), engineMs, ownMs }
}

async function postmasterOf(db: Db): Promise<number> {
  const text = 'select pg_backend_pid() as pid'
  const { rows } = await db.query<{ pid: number }>({ name: '', text, values: [] })
  return parentOf(rows[0]?.pid ?? 0)
}

/** Words of the documents in another order, in paragraphs of 90 words: as common as there, without their sense. */
function* shuffled(texts: string[]): Generator<string> {
  const words = texts.join(' ').split(/\s+/)
  let seed = 1
  for (;;) {
    const some = Array.from({ length: 90 }, () => {
      seed = (seed * 48_271) % 2_147_483_647
      return words[seed % words.length]
    })
    yield some.join(' ').replaceAll('#', '')
  }
}

const take = (texts: Generator<string>, count: number) =>
  Array.from({ length: count }, () => texts.next().value as string)
