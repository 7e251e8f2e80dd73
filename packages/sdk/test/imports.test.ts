import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const SRC = fileURLToPath(new URL('../src', import.meta.url))

test('the SDK imports nothing from outside, not even types', () => {
  const loaded = globSync('**/*.ts', { cwd: SRC }).flatMap((file) => {
    const statements = readFileSync(`${SRC}/${file}`, 'utf8').matchAll(
      /^(import|export)\b[^;]*?\bfrom '([^']+)'/gm,
    )
    return [...statements].map(([, , specifier = '']) => specifier)
  })
  assert.ok(loaded.includes('./transport.ts'))
  assert.deepEqual(
    loaded.filter((specifier) => !/^\.\.?\//.test(specifier)),
    [],
  )
})
