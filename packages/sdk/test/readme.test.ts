import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { useServer } from '../../server/test/kit.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')

test('the samples of the README make up the program readme.ts', () => {
  const samples = read('../README.md').matchAll(/^```ts\n(.*?)^```$/gms)
  const program = [...samples].map(([, code]) => code).join('\n')
  // readme.ts also exports the values that the samples don't use.
  assert.equal(`${program}\nexport { authToken, ben, count, data, meta }\n`, read('readme.ts'))
})

test('readme.ts runs and gets the expected results', async (t) => {
  const app = await server.newApp()
  process.env.LOQUAT_APP_ID = app.id
  process.env.LOQUAT_API_KEY = app.apiKey
  process.env.LOQUAT_URL = `http://127.0.0.1:${server.service.apiPort}`
  const log = t.mock.method(console, 'log', () => undefined)
  const { authToken, ben, count, data, meta } = await import('./readme.ts')
  assert.match(authToken, /^amira_/)
  assert.equal(ben.conversationId, 'amira_user_ben')
  assert.deepEqual([count, data.length, meta.pagination.total], [2, 1, 1])
  const logged = log.mock.calls.map((call) => call.arguments)
  assert.deepEqual(logged.slice(0, 2), [['Welcome!'], ['Ben']])
  assert.deepEqual(logged.slice(2, 4), [[2, 'Amira'], ['WebhookError']])
  assert.ok(logged.some(([state]) => state === 'connecting'))
  assert.deepEqual(logged.at(-1), [1])
  assert.equal((await app.client.users.get('amira')).name, 'Amira K.')
})
