import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { Outbound } from '../../platform/net/outbound.ts'
import { Targets } from '../../platform/net/targets.ts'
import { BadArguments, requestOf, sendRequest } from './api-tools.ts'

const TOOL = {
  ...{ description: 'Finds orders', method: 'GET' as const, enableBasicAuth: false },
  endpoint: 'https://api.example.com/orders/{{order}}/items',
  parameters: [{ key: 'order', type: 'string' as const }],
}
const urlOf = (order: unknown) => requestOf(TOOL, {}, { order }, () => undefined).url

suite('a request of an API tool', () => {
  test('stays on the path that the tool names', () => {
    assert.equal(urlOf('a/b?c#d'), 'https://api.example.com/orders/a%2Fb%3Fc%23d/items')
    assert.equal(urlOf('@evil.example'), 'https://api.example.com/orders/%40evil.example/items')
    for (const order of ['..', '.', '', undefined]) assert.throws(() => urlOf(order), BadArguments)
  })

  test('does not go to private addresses', async () => {
    const outbound = new Outbound(new Targets({ privateTargets: false, nameServers: [] }))
    const { signal } = new AbortController()
    for (const url of ['https://127.0.0.1/', 'https://[::1]/', 'http://example.com/']) {
      const request = { url, method: 'GET', headers: {} }
      const result = await sendRequest(outbound, request, { timeoutMs: 60_000, signal })
      assert.match(result.text, /can't be reached: the URL must/)
    }
    outbound.close()
  })
})
