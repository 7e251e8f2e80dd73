import assert from 'node:assert/strict'
import { test } from 'node:test'
import { useServer } from '../../../../test/kit.ts'
import { addSource, askDocs, docs } from '../../../../test/knowledge-docs.ts'

const server = useServer()

test("most questions about this project's documents find the document", async () => {
  const app = await server.newApp()
  const { uid: agentUid } = await app.client.agents.create({ name: 'Librarian' })
  const asker = { appNo: app.no, agentUid }
  const { db } = app.cell
  for (const { file, text } of docs()) await addSource(db, asker, file, [text])
  const { asked, hits, missed } = await askDocs(db, asker)
  assert.equal(asked, 50)
  // Documents change; the bench prints the exact number.
  assert.ok(hits >= 35, `${hits} of ${asked}, without ${missed.join(', ')}`)
})
