/** Every write, repeated with its Idempotency-Key, returns the same answer and has no second effect. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { managementOperations, type Operation, operations } from './conformity.ts'
import { type Answer, type TestApp, useServer } from './kit.ts'
import { prepareManaged } from './management-resources.ts'
import { prepare, send, urlOf } from './resources.ts'
import { rowsOf } from './rows.ts'

const server = useServer({ env: { LOQUAT_SIGN_UP: 'open' } })

const takesKey = ({ parameters }: Operation) =>
  parameters.some(({ name }) => name === 'Idempotency-Key')

/** A retry shows a message as it is then, with the receipts it has got since, and signs URLs anew. */
function withoutNews({ body: { data, ...body } }: Answer) {
  const { receipts: _receipts, ...rest } = data
  const shown = { ...body, data: Array.isArray(data) ? data : rest }
  return JSON.parse(JSON.stringify(shown).replace(/(https?:[^"?]+)\?[^"]+/g, '$1'))
}

suite('a retry of', () => {
  let app: TestApp
  before(async () => {
    app = await server.newApp()
  })

  for (const operation of operations.filter(({ method }) => method !== 'GET')) {
    const { operationId } = operation
    test(`${operationId} changes nothing`, async () => {
      assert.ok(takesKey(operation))
      const request = await prepare(app, operation)
      const headers = { 'idempotency-key': operationId }
      const first = await send(app, request, { headers })
      assert.equal(first.status, 200, JSON.stringify(first.body))
      const rows = await rowsOf(app)
      const again = await send(app, request, { headers })
      assert.deepEqual([again.status, withoutNews(again)], [200, withoutNews(first)])
      assert.deepEqual(await rowsOf(app), rows)
    })
  }
})

suite("an operator's retry of", () => {
  const audited = async (operatorNo: number) => {
    const text = 'select count(*) from audit where operator_no = $1'
    return (await server.deps.directory.db.query({ name: '', text, values: [operatorNo] })).rows
  }

  // A caller who has ended their own session can't retry.
  const writes = managementOperations.filter(
    (operation) => takesKey(operation) && operation.operationId !== 'endSession',
  )
  for (const operation of writes) {
    const { operationId, method } = operation
    test(`${operationId} changes nothing`, async () => {
      const request = await prepareManaged(server, operation)
      const { caller, body } = request
      const path = urlOf(request).replace(/^\/manage/, '')
      const options = {
        headers: { 'idempotency-key': 'again' },
        ...(body !== undefined && { body }),
      }
      const first = await caller.call(method, path, options)
      assert.equal(first.status, 200, JSON.stringify(first.body))
      const entries = await audited(caller.no)
      const again = await caller.call(method, path, options)
      assert.deepEqual([again.status, again.body], [200, first.body])
      assert.deepEqual(await audited(caller.no), entries)
    })
  }
})
