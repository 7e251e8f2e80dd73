import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { before, suite, test } from 'node:test'
import { operations } from './conformity.ts'
import { type Answer, type TestApp, useServer } from './kit.ts'
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
import { visible } from './visible.ts'

const server = useServer()

test('test/resources.ts holds nothing but what operations need', () => {
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

    test("another app's key is as good as one that nobody has", async () => {
      const before = [await rowsOf(own), await rowsOf(other)]
      for (const apiKey of [other.apiKey, other.authKey]) {
        const theirs = await send(own, request, { apiKey })
        const unknown = await send(own, request, { apiKey: randomBytes(20).toString('hex') })
        assert.equal(theirs.body.error?.code, 'AUTH_ERR_APIKEY_NOT_FOUND')
        assert.deepEqual(visible(theirs, {}), visible(unknown, {}))
        assert.deepEqual(headersOf(theirs), headersOf(unknown))
      }
      assert.deepEqual([await rowsOf(own), await rowsOf(other)], before)
    })

    test('no key, or a blank one', async () => {
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
      test(`another app's ${chosen.join(' and ')} is as unknown as any`, async () => {
        const theirs: Ids = {}
        const unknown: Ids = {}
        for (const name of chosen) {
          theirs[name] = foreign.ids[name] ?? ''
          unknown[name] = resourceOf(operation, name).unknown()
        }
        const before = await rowsOf(other)
        const answer = await send(own, { ...request, ids: { ...request.ids, ...theirs } })
        const asUnknown = await send(own, { ...request, ids: { ...request.ids, ...unknown } })
        assert.deepEqual(visible(answer, theirs), visible(asUnknown, unknown))
        assert.deepEqual(await rowsOf(other), before)
      })
    }

    // Last, since it may use up what was prepared: without it the tests above prove nothing.
    test('the same request with the own key succeeds', async () => {
      const before = await rowsOf(other)
      const { status, body } = await send(own, request)
      assert.equal(status, 200, JSON.stringify(body))
      assert.deepEqual(await rowsOf(other), before)
    })
  })
}
