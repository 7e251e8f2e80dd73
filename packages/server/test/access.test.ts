import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { operations } from './conformity.ts'
import { useServer } from './kit.ts'
import { prepare, send } from './resources.ts'
import { rowsOf } from './rows.ts'

const server = useServer()

test('an authOnly key is for auth tokens and nothing else', () => {
  const open = operations.filter(({ scope }) => scope === 'authOnly')
  const ofTokens = operations.filter(({ tags }) => tags.includes('auth_tokens'))
  assert.deepEqual(open, ofTokens)
})

for (const operation of operations) {
  const { operationId, scope, onBehalfOf, rate } = operation
  suite(operationId, () => {
    test(`an authOnly key is ${scope === 'authOnly' ? 'enough' : 'refused'}`, async () => {
      const app = await server.newApp()
      const request = await prepare(app, operation)
      const before = await rowsOf(app)
      const { status, body } = await send(app, request, { apiKey: app.authKey })
      if (scope === 'authOnly') return assert.equal(status, 200, JSON.stringify(body))
      assert.equal(status, 403)
      assert.equal(body.error.code, 'AUTH_ERR_NO_ACCESS')
      assert.deepEqual(await rowsOf(app), before)
    })

    test(`counts as ${rate}`, async () => {
      const app = await server.newApp()
      const { headers } = await send(app, await prepare(app, operation))
      assert.match(headers.get('ratelimit-policy') ?? '', new RegExp(`^"${rate}";`))
    })

    test(`the header onBehalfOf is ${onBehalfOf}`, async () => {
      const app = await server.newApp()
      const request = await prepare(app, operation)
      if (onBehalfOf === 'ignored') {
        const { status } = await send(app, request, { headers: { onbehalfof: 'nobody' } })
        return assert.equal(status, 200)
      }
      const { onBehalfOf: _, ...ids } = request.ids
      const { status } = await send(app, { ...request, ids })
      assert.equal(status, onBehalfOf === 'required' ? 400 : 200)
    })
  })
}
