import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { before, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Examples } from '../src/reference/examples.ts'
import { managementOperations, operations } from './conformity.ts'
import { STORY_SERVER, tellStories } from './examples/tell.ts'
import { generatedFiles } from './generated.ts'
import { useServer } from './kit.ts'
import { findMarked, markSequences } from './shared-numbers.ts'

const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '')

suite('generated files are up to date (npm run generate)', async () => {
  for (const { path, content } of await generatedFiles(process.env)) {
    test(basename(path), () => assert.equal(read(path), content))
  }
})

suite('examples', () => {
  const path = fileURLToPath(new URL('../examples.gen.json', import.meta.url))
  const shown: Examples = JSON.parse(read(path))
  const server = useServer(STORY_SERVER)
  let sequences: string[]
  let now: Examples

  before(async () => {
    const { directory } = server.deps
    const databases = [directory, ...directory.cells()].map(({ db }) => db)
    sequences = (await Promise.all(databases.map(markSequences))).flat()
    now = JSON.parse(JSON.stringify(await tellStories(server.service)))
  })

  test('get the answers that the documents show', () => {
    for (const [operationId, examples] of Object.entries(now)) {
      assert.deepEqual(examples, shown[operationId], operationId)
    }
    assert.deepEqual(Object.keys(now), Object.keys(shown))
  })

  test('and events contain no number from a sequence that apps share', async () => {
    for (const name of ['apps_app_no_seq', 'event_ids', 'conversation_nos']) {
      assert.ok(sequences.includes(name), name)
    }
    const text = 'select distinct on (type) type, payload from event_bodies'
    const [cell] = server.deps.directory.cells()
    const events = (await cell?.db.query({ name: '', text, values: [] }))?.rows ?? []
    assert.ok(events.length > 20)
    assert.deepEqual(findMarked([now, events]), [])
  })

  test('exist for every operation', () => {
    const all = [...operations, ...managementOperations].map(({ operationId }) => operationId)
    const succeeds = (id: string) => shown[id]?.some(({ status }) => status < 300)
    assert.deepEqual(
      all.filter((id) => !succeeds(id)),
      [],
      'operations without an example: let a story in test/examples/ show them',
    )
  })
})
