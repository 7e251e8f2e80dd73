/** Questions about this project's own documents, each with the document that answers it: how good searches are. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chunksOf } from '../src/areas/agents/knowledge/chunks.ts'
import { storeChunks } from '../src/areas/agents/knowledge/index.job.ts'
import { attachSources, endIndexing, insertSource } from '../src/areas/agents/knowledge/queries.ts'
import { findKnowledge } from '../src/areas/agents/knowledge/search.ts'
import { listUnembedded, storeVectors } from '../src/areas/models/embed.job.ts'
import { embed } from '../src/core/models/adapter.ts'
import { type Embedder, packed } from '../src/core/models/vectors.ts'
import type { Db } from '../src/platform/db/db.ts'
import { Outbound } from '../src/platform/net/outbound.ts'
import { Targets } from '../src/platform/net/targets.ts'
import type { ModelServer } from './model-server.ts'

const DOCS = fileURLToPath(new URL('../../../docs', import.meta.url))
/** Generated pages repeat what the others say. */
const LEFT_OUT = ['contract.md', 'errors.md', 'sdk.md', 'config.md']

const QUESTIONS: [question: string, file: string][] = [
  ['How do I add a background job?', 'jobs.md'],
  ['What happens to a job whose worker dies?', 'jobs.md'],
  ['Which state has a job that waits for its serial key?', 'jobs.md'],
  ['How can an agent answer in a group?', 'agents.md'],
  ['What is sent to an external agent over AG-UI?', 'agents.md'],
  ['Who can approve the call of a tool?', 'agents.md'],
  ['How do I use a model server in my own network, such as Ollama?', 'agents.md'],
  ['What happens if a provider answers with 429?', 'agents.md'],
  ['Which frames does a device receive while an agent writes?', 'agents.md'],
  ['What does the sequencer do?', 'architecture.md'],
  ['What is a lease?', 'architecture.md'],
  ['What happens when NATS fails?', 'architecture.md'],
  ['In which order do imports between folders point?', 'architecture.md'],
  ['How do I add an operation to the API?', 'adding-an-operation.md'],
  ['How do I build an index on a table that has rows?', 'adding-an-operation.md'],
  ['How do I change the parameters of an SQL function after a release?', 'adding-an-operation.md'],
  ['What does the contract ledger compare?', 'adding-an-operation.md'],
  ['What does the word cell mean?', 'glossary.md'],
  ['How are uploaded images inspected?', 'file-inspection.md'],
  ['Which thumbnails does a picture get?', 'files.md'],
  ['How do I upload a file in parts?', 'files.md'],
  ['How do I import users and messages from another service?', 'import.md'],
  ['What does an export contain?', 'import.md'],
  ['How do operators sign in with a second factor?', 'management.md'],
  ['How do I write a rule with keywords?', 'moderation.md'],
  ['What becomes of a message that moderation holds?', 'moderation.md'],
  ['How do I send push notifications with Firebase?', 'notifications.md'],
  ['When does a user get an email about unread messages?', 'notifications.md'],
  ['How does the service talk to Apple push?', 'push-transport.md'],
  ['How do I back up and restore the database?', 'operating.md'],
  ['Which alerts should I set up?', 'operating.md'],
  ['How do I erase everything about a person?', 'privacy.md'],
  ['How do I show a conversation in React?', 'react.md'],
  ['How do I theme the colors of the kit?', 'react.md'],
  ['How does a device resume after a lost connection?', 'realtime.md'],
  ['Which close codes does the gateway use?', 'realtime.md'],
  ['What is lost if a machine crashes?', 'reliability.md'],
  ['How do I deny a permission to a role?', 'access.md'],
  ['Why was a user not allowed to do something?', 'access.md'],
  ['How do I record a call?', 'calls.md'],
  ['How do I run Janus as a media server?', 'calls.md'],
  ['Where does the time of the test suite go?', 'testing.md'],
  ['How do I run a bench against another commit?', 'benches.md'],
  ['Why do we need re2js?', 'dependencies.md'],
  ['Why is there no JetStream?', 'decisions/0003-no-jetstream.md'],
  ['Why does a budget reserve before each call?', 'decisions/0051-budgets-of-agents.md'],
  ['Why are sends put into batches?', 'decisions/0028-batches.md'],
  ['How are secrets sealed in the database?', 'decisions/0032-sealed-values.md'],
  [
    'How are break points in the log detected after a failover?',
    'decisions/0031-breaks-in-the-log.md',
  ],
  ['Why are rate limits leased in blocks?', 'decisions/0008-limits-in-blocks.md'],
]

/** Adds a source as the job would. */
export async function addSource(
  db: Db,
  { appNo, agentUid }: { appNo: number; agentUid: string },
  title: string,
  texts: string[],
): Promise<number> {
  const none = { body: null, fileId: null, fileName: title, mimeType: null }
  return db.tx(async (tx) => {
    const row = await insertSource.one(tx, {
      ...{ appNo, kind: 'uploads', state: 'indexing', title, ...none },
    })
    const { source_id: sourceId, revision } = row
    const chunks = texts.flatMap((text) => chunksOf(text))
    await storeChunks(tx, { appNo, sourceId, pageId: null, title, first: 0 }, chunks)
    const ended = { state: 'indexed', reason: null, chunks: chunks.length }
    await endIndexing.run(tx, { appNo, sourceId, revision, ...ended })
    await attachSources.run(tx, { appNo, agentUid, ids: [sourceId] })
    return chunks.length
  })
}

/** Embeds all sources of an app as the job would. */
export async function embedSources(db: Db, appNo: number, embedder: Embedder): Promise<void> {
  const { rows: sources } = await db.query<{ source_id: string }>({
    ...{ name: '', text: 'select source_id from knowledge_sources where app_no = $1' },
    values: [appNo],
  })
  const { id: model } = embedder
  for (const { source_id: sourceId } of sources) {
    const wanted = { appNo, sourceId, model, after: -1, limit: 1_000_000 }
    const chunks = await listUnembedded.many(db, wanted)
    for (let from = 0; from < chunks.length; from += 500) {
      const some = chunks.slice(from, from + 500)
      const texts = some.map(({ text }) => text)
      const { vectors } = await embed(embedder, texts)
      await storeVectors.run(db, {
        ...{ appNo, model, dimensions: vectors[0]?.length ?? 0, vectors: vectors.map(packed) },
        ...{ ids: some.map(({ chunk_id: id }) => id), texts },
      })
    }
  }
}

/** The test server's model. */
export function testEmbedder({ url, key }: ModelServer): Embedder & { close(): void } {
  const outbound = new Outbound(new Targets({ privateTargets: true, nameServers: [] }))
  const { signal } = new AbortController()
  const names = { id: 'house meanings', name: 'house meanings' }
  const model = { ...names, outbound, url, key, model: 'meanings' }
  return { ...model, timeoutMs: 60_000, signal, close: () => outbound.close() }
}

export const docs = () =>
  globSync('**/*.md', { cwd: DOCS })
    .filter((file) => !LEFT_OUT.includes(file) && !file.startsWith('measurements'))
    .map((file) => ({ file, text: readFileSync(join(DOCS, file), 'utf8') }))

/** Which questions are answered by one of the first five chunks, of all. */
export async function askDocs(
  db: Db,
  asker: { appNo: number; agentUid: string },
  embedder?: Embedder,
) {
  const missed: string[] = []
  const meaning = embedder && { embedder, ledger: db }
  for (const [question, file] of QUESTIONS) {
    const { chunks: found } = await findKnowledge(db, asker, question, 5, meaning)
    if (!found.some(({ title }) => title === file)) missed.push(`${question} (${file})`)
  }
  return { asked: QUESTIONS.length, hits: QUESTIONS.length - missed.length, missed }
}

export const questions = QUESTIONS.map(([question]) => question)
