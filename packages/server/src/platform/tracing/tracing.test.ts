import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { suite, test } from 'node:test'
import { newApp, useServer } from '../../../test/kit.ts'
import { readConfig } from '../../config.ts'
import { serve } from '../../serve.ts'

interface SentSpan {
  traceId: string
  spanId: string
  parentSpanId: string
  name: string
}

interface Sent {
  resourceSpans: { scopeSpans: { spans: SentSpan[] }[] }[]
}

const server = useServer()

suite('traces', () => {
  test("a request is a span of the caller's trace, and its statements are spans within it", async (t) => {
    const spans: SentSpan[] = []
    const collector = createServer(async (request, response) => {
      const sent: Sent = JSON.parse(await text(request))
      for (const { scopeSpans } of sent.resourceSpans) {
        spans.push(...scopeSpans.flatMap((scope) => scope.spans))
      }
      response.end('{}')
    })
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
    t.after(() => collector.close())

    const { port } = collector.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/v1/traces`
    const service = await serve(readConfig({ ...server.env, LOQUAT_TRACES_URL: url }), ['api'])
    const app = await newApp(service)
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`
    await app.call('GET', `/v3/apikeys/${app.authKey}`, { headers: { traceparent } })
    await app.users('amira', 'ben')
    const traces = ['1', '2', '3', '4', '5'].map((digit) => digit.repeat(32))
    await Promise.all(
      traces.map((trace) =>
        app.as('amira').call('POST', '/v3/messages', {
          body: { receiver: 'ben', receiverType: 'user', data: { text: 'Hi' } },
          headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` },
        }),
      ),
    )
    await service.drain() // sends what is left

    const request = spans.find((span) => span.name === 'getApiKey')
    assert.equal(request?.traceId, traceId)
    assert.equal(request?.parentSpanId, 'b7ad6b7169203331')
    const statement = spans.find((span) => span.name === 'apikeys.find')
    assert.equal(statement?.traceId, traceId)
    assert.equal(statement?.parentSpanId, request?.spanId)

    // A call of several messages is a statement of each request.
    const sends = spans.filter((span) => span.name === 'messages.sendAll')
    assert.deepEqual(sends.map((span) => span.traceId).sort(), traces)
  })
})
