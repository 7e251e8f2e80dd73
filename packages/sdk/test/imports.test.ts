import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const SRC = fileURLToPath(new URL('../src', import.meta.url))

test('nothing is loaded but the SDK itself: others are named for their types alone', () => {
  const loaded = globSync('**/*.ts', { cwd: SRC }).flatMap((file) => {
    const statements = readFileSync(`${SRC}/${file}`, 'utf8').matchAll(
      /^(import|export)\b(?! type\b)[^;]*?\bfrom '([^']+)'/gm,
    )
    return [...statements].map(([, , specifier = '']) => specifier)
  })
  assert.ok(loaded.includes('./transport.ts'))
  assert.deepEqual(
    loaded.filter((specifier) => !/^\.\.?\//.test(specifier)),
    [],
  )
})
