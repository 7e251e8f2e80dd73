import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, suite, test } from 'node:test'
import { operations } from './conformity.ts'
import { type Answer, type TestApp, useServer } from './kit.ts'
import { maskIds } from './mask-ids.ts'
import {
  type Ids,
  idNames,
  prepare,
  resourceOf,
  send,
  staleEntries,
  type ValidRequest,
} from './resources.ts'
import { rowsOf } from './rows.ts'

const server = useServer()

test('test/resources contains nothing that no operation needs', () => {
  assert.deepEqual(staleEntries(), [])
})

const headersOf = ({ headers }: Answer) =>
  [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name))

for (const operation of operations) {
  suite(operation.operationId, () => {
    let own: TestApp
    let other: TestApp
    let request: ValidRequest
    let foreign: ValidRequest
    before(async () => {
      own = await server.newApp()
      other = await server.newApp()
      request = await prepare(own, operation)
      foreign = await prepare(other, operation)
    })

    test("treats another app's key like an unknown one", async () => {
      const before = [await rowsOf(own), await rowsOf(other)]
      for (const apiKey of [other.apiKey, other.authKey]) {
        const theirs = await send(own, request, { apiKey })
        const unknown = await send(own, request, { apiKey: randomBytes(20).toString('hex') })
        assert.equal(theirs.body.error?.code, 'AUTH_ERR_APIKEY_NOT_FOUND')
        assert.deepEqual(maskIds(theirs, {}), maskIds(unknown, {}))
        assert.deepEqual(headersOf(theirs), headersOf(unknown))
      }
      assert.deepEqual([await rowsOf(own), await rowsOf(other)], before)
    })

    test('refuses a missing or blank key', async () => {
      const before = await rowsOf(own)
      for (const apiKey of [null, '', '  ']) {
        const { status, body } = await send(own, request, { apiKey })
        assert.equal(status, 401)
        assert.equal(body.error.code, 'AUTH_ERR_EMPTY_APIKEY')
      }
      assert.deepEqual(await rowsOf(own), before)
    })

    const names = idNames(operation).filter((name) => !resourceOf(operation, name).free)
    const choices = names.map((name) => [name]).concat(names.length > 1 ? [names] : [])
    for (const chosen of choices) {
      test(`treats another app's ${chosen.join(' and ')} as unknown`, async () => {
        const theirs: Ids = {}
        const unknown: Ids = {}
        for (const name of chosen) {
          theirs[name] = foreign.ids[name] ?? ''
          unknown[name] = resourceOf(operation, name).unknown()
        }
        const before = await rowsOf(other)
        const answer = await send(own, { ...request, ids: { ...request.ids, ...theirs } })
        const asUnknown = await send(own, { ...request, ids: { ...request.ids, ...unknown } })
        assert.deepEqual(maskIds(answer, theirs), maskIds(asUnknown, unknown))
        assert.deepEqual(await rowsOf(other), before)
      })
    }

    // Last, because it may use up the prepared resources. Without it the tests above would prove nothing.
    test("accepts the same request with the app's own key", async () => {
      const before = await rowsOf(other)
      const { status, body } = await send(own, request)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(await rowsOf(other), before)
    })
  })
}
