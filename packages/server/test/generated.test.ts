import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Examples } from '../src/reference/examples.ts'
import { managementOperations, operations } from './conformity.ts'
import { generatedExamples, generatedFiles } from './generated.ts'

const read = (path: string) => (existsSync(path) ? readFileSync(path, 'utf8') : '')

suite('generated files are up to date (npm run generate)', async () => {
  for (const { path, content } of await generatedFiles(process.env)) {
    test(basename(path), () => assert.equal(read(path), content))
  }
})

suite('examples', () => {
  const path = fileURLToPath(new URL('../examples.gen.json', import.meta.url))
  const shown: Examples = JSON.parse(read(path))

  test('get the answers that the documents show', async () => {
    const { content } = await generatedExamples()
    const now: Examples = JSON.parse(content)
    for (const [operationId, examples] of Object.entries(now)) {
      assert.deepEqual(examples, shown[operationId], operationId)
    }
    assert.deepEqual(Object.keys(now), Object.keys(shown))
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
