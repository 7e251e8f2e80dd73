import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { operations } from './conformity.ts'
import { type TestApp, useServer } from './kit.ts'
import { prepare, send } from './resources.ts'
import { rowsOf } from './rows.ts'

const server = useServer()

test('authOnly keys are enough only for operations on auth tokens', () => {
  const open = operations.filter(({ scope }) => scope === 'authOnly')
  const ofTokens = operations.filter(({ tags }) => tags.includes('auth_tokens'))
  assert.deepEqual(open, ofTokens)
})

for (const operation of operations) {
  const { operationId, scope, onBehalfOf, rate } = operation
  suite(operationId, () => {
    let app: TestApp
    before(async () => {
      app = await server.newApp()
    })

    test(`${scope === 'authOnly' ? 'accepts' : 'refuses'} an authOnly key`, async () => {
      const request = await prepare(app, operation)
      const before = await rowsOf(app)
      const { status, body } = await send(app, request, { apiKey: app.authKey })
      if (scope === 'authOnly') return assert.equal(status, 200, JSON.stringify(body))
      assert.equal(status, 403)
      assert.equal(body.error.code, 'AUTH_ERR_NO_ACCESS')
      assert.deepEqual(await rowsOf(app), before)
    })

    test(`has the header onBehalfOf ${onBehalfOf} and the rate class ${rate}`, async () => {
      const request = await prepare(app, operation)
      const { onBehalfOf: _, ...ids } = request.ids
      if (onBehalfOf === 'required') {
        assert.equal((await send(app, { ...request, ids })).status, 400)
      }
      const { status, headers } = await {
        required: () => send(app, request),
        optional: () => send(app, { ...request, ids }),
        ignored: () => send(app, request, { headers: { onbehalfof: 'nobody' } }),
      }[onBehalfOf]()
      assert.equal(status, 200)
      assert.match(headers.get('ratelimit-policy') ?? '', new RegExp(`^"${rate}";`))
    })
  })
}
