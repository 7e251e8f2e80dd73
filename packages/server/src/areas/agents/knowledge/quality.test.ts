import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useServer } from '../../../../test/kit.ts'
import {
  addSource,
  askDocs,
  docs,
  embedSources,
  testEmbedder,
} from '../../../../test/knowledge-docs.ts'
import { useModelServer } from '../../../../test/model-server.ts'

const server = useServer()

const models = useModelServer(() => [])

test("most questions about this project's documents find the document", async (t) => {
  const app = await server.newApp()
  const { uid: agentUid } = await app.client.agents.create({ name: 'Librarian' })
  const asker = { appNo: app.no, agentUid }
  const { db } = app.cell
  for (const { file, text } of docs()) await addSource(db, asker, file, [text])
  const { asked, hits, missed } = await askDocs(db, asker)
  assert.equal(asked, 50)
  // Documents change; the bench prints the exact number.
  assert.ok(hits >= 35, `${hits} of ${asked}, without ${missed.join(', ')}`)
  const embedder = testEmbedder(models)
  t.after(() => embedder.close())
  await embedSources(db, app.no, embedder)
  const meant = await askDocs(db, asker, embedder)
  t.diagnostic(`of ${asked} questions, ${hits} by words alone, ${meant.hits} with embeddings`)
  assert.ok(meant.hits >= 35, `${meant.hits} of ${asked}, without ${meant.missed.join(', ')}`)
})
