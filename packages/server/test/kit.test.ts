/** The test kit itself. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'

test('a file ends although its server is of no use because no test has the wanted name', async () => {
  const file = join(import.meta.dirname, '..', 'src', 'areas', 'roles', 'roles.test.ts')
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const child = spawn(process.execPath, ['--test-name-pattern=^no such test$', file], {
    ...{ env, stdio: 'ignore', timeout: 300_000, killSignal: 'SIGKILL' },
  })
  assert.deepEqual(await once(child, 'exit'), [0, null])
})
