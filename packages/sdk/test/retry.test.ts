import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { suite, test } from 'node:test'
import { refused, useServer } from '../../server/test/kit.ts'
import { Loquat, LoquatError, LoquatManagement, type LoquatOptions } from '../src/index.ts'
import { readRetryAfter, reconnectDelay, retryDelay } from '../src/retry.ts'
import {
  answer,
  cutBody,
  cutConnection,
  hang,
  play,
  type Received,
  refuse,
  type Script,
  type Step,
} from './http-script.ts'

const server = useServer()

const amira = { uid: 'amira', name: 'Amira' }
const done = answer(200, { data: amira })
const busy = refuse(503, 'ERR_MISSION_FAILED')

/** Fails the test if it hangs. */
const within = { timeout: 120_000 }

type Options = Partial<Pick<LoquatOptions, 'maxRetries' | 'timeoutMs' | 'fetch'>>

const clientOf = ({ baseUrl }: Pick<Script, 'baseUrl'>, options: Options = {}) =>
  new Loquat({ appId: 'app', apiKey: 'key', baseUrl, ...options })

suite('a request is retried', () => {
  const faults: [string, Step][] = [
    ['429', refuse(429, 'ERR_TOO_MANY_REQUESTS', { 'retry-after': '0' })],
    ['503', busy],
    ['a proxy’s 502', answer(502, 'Bad gateway', { 'content-type': 'text/html' })],
    ['a closed connection', cutConnection],
    ['a body shorter than its content-length', cutBody('length')],
    ['a chunked body that ends early', cutBody('chunks')],
    ['incomplete JSON', cutBody('close')],
  ]
  for (const [what, fault] of faults) {
    test(`after ${what}, with the same key and body`, async () => {
      const script = await play(fault, fault, done)
      assert.deepEqual(await clientOf(script).users.create(amira), amira)
      assert.equal(script.received.length, 3)
      const keys = script.received.map(({ headers }) => headers['idempotency-key'])
      assert.match(String(keys[0]), /^[0-9a-f]{32}$/)
      assert.equal(new Set(keys).size, 1)
      for (const { body } of script.received) assert.deepEqual(JSON.parse(body), amira)
    })
  }

  test('after a timeout', within, async () => {
    const script = await play(hang, done)
    const user = await clientOf(script, { timeoutMs: 500 }).users.get('amira')
    assert.deepEqual(user, amira)
    assert.ok(script.received.length >= 2)
  })

  test('no earlier than Retry-After says', async () => {
    const script = await play(refuse(429, 'ERR_TOO_MANY_REQUESTS', { 'retry-after': '1' }), done)
    await clientOf(script).users.get('amira')
    const [first, second] = script.received
    assert.ok(second && first && second.at - first.at >= 1000)
  })

  test('maxRetries times, then rejects with the last error', async () => {
    const script = await play(busy)
    const failed = clientOf(script, { maxRetries: 2 }).users.get('amira')
    await assert.rejects(failed, { code: 'ERR_MISSION_FAILED', status: 503 })
    assert.equal(script.received.length, 3)
  })

  test('until retryForMs has passed, also for operators', async () => {
    const script = await play(busy, done)
    const { origin } = new URL(script.baseUrl)
    // Negative, because the first failure may come within a millisecond.
    const manage = new LoquatManagement({ baseUrl: `${origin}/manage`, retryForMs: -1 })
    await refused(manage.app('app').users.get('amira'), 'ERR_MISSION_FAILED')
    assert.equal(script.received.length, 1)
  })

  test('and a write whose response was lost happens only once', async () => {
    const app = await server.newApp()
    const script = await play(
      async (request, response) => {
        assert.equal((await forward(request)).status, 200)
        response.destroy()
      },
      async (request, response) => {
        const { status, body } = await forward(request)
        answer(status, body)(request, response)
      },
    )
    const forward = ({ method = '', url = '', headers, body }: Received) =>
      app.call(method, url, {
        body,
        headers: { 'idempotency-key': String(headers['idempotency-key']) },
      })
    assert.equal((await clientOf(script).users.create(amira)).uid, 'amira')
    assert.equal(script.received.length, 2)
    assert.deepEqual(await app.eventTypes(), ['app.created', 'user.created'])
  })
})

suite('a request is not retried', () => {
  for (const [status, code] of [
    [400, 'ERR_BAD_REQUEST'],
    [404, 'ERR_UID_NOT_FOUND'],
    [409, 'ERR_UID_ALREADY_EXISTS'],
    [500, 'ERR_EXCEPTION'],
  ] as const) {
    test(`after status ${status}`, async () => {
      const script = await play(refuse(status, code), done)
      await assert.rejects(clientOf(script).users.create(amira), { code, status })
      assert.equal(script.received.length, 1)
    })
  }

  test('if Retry-After is more than a minute', async () => {
    const later = { 'retry-after': '61' }
    const script = await play(refuse(503, 'ERR_MISSION_FAILED', later), done)
    await assert.rejects(clientOf(script).users.get('amira'), { status: 503, retryAfter: 61 })
    assert.equal(script.received.length, 1)
  })

  test('if a custom fetch throws', async () => {
    let calls = 0
    const fault = new RangeError('a bug')
    const fetch = () => {
      calls++
      return Promise.reject(fault)
    }
    const baseUrl = 'http://127.0.0.1'
    await assert.rejects(clientOf({ baseUrl }, { fetch }).users.get('amira'), fault)
    assert.equal(calls, 1)
  })
})

suite('an abort', () => {
  test('ends a pending request and its connection', within, async () => {
    const arrived = Promise.withResolvers<ServerResponse>()
    const script = await play((_request, response) => arrived.resolve(response))
    const abort = new AbortController()
    const patient = clientOf(script, { timeoutMs: 600_000 })
    const call = patient.users.get('amira', { signal: abort.signal })
    const response = await arrived.promise
    const closed = once(response, 'close')
    abort.abort(new Error('no longer wanted'))
    await assert.rejects(call, { message: 'no longer wanted' })
    await closed
    assert.equal(script.received.length, 1)
  })

  test('ends the delay before the next attempt', within, async () => {
    const abort = new AbortController()
    const later = { 'retry-after': '60' }
    const script = await play(refuse(429, 'ERR_TOO_MANY_REQUESTS', later))
    // Aborts after the response was read and the client has started to wait.
    const fetch: LoquatOptions['fetch'] = async (url, init) => {
      const response = await globalThis.fetch(url, init)
      const text = await response.text()
      return Object.assign(response, {
        text: async () => {
          setImmediate(() => abort.abort(new Error('no longer wanted')))
          return text
        },
      })
    }
    const call = clientOf(script, { fetch }).users.get('amira', { signal: abort.signal })
    await assert.rejects(call, { message: 'no longer wanted' })
    assert.equal(script.received.length, 1)
  })

  test('before the call sends nothing', async () => {
    const script = await play(done)
    const signal = AbortSignal.abort(new Error('no longer wanted'))
    const call = clientOf(script).users.get('amira', { signal })
    await assert.rejects(call, { message: 'no longer wanted' })
    assert.equal(script.received.length, 0)
  })
})

suite('a request', () => {
  test('has API key, app and user; writes also have an idempotency key', async () => {
    const script = await play(done)
    const client = clientOf(script)
    await client.onBehalfOf('ben').users.get('amira')
    await client.users.create(amira)
    await client.users.create(amira)
    await client.users.create(amira, { idempotencyKey: 'mine' })
    const [read, ...writes] = script.received.map(({ headers }) => headers)
    assert.deepEqual([read?.apikey, read?.appid, read?.onbehalfof], ['key', 'app', 'ben'])
    assert.equal(read?.['idempotency-key'], undefined)
    const keys = writes.map((headers) => headers['idempotency-key'])
    assert.equal(new Set(keys).size, 3)
    assert.equal(keys[2], 'mine')
    assert.equal(writes[0]?.onbehalfof, undefined)
  })

  test('to the app’s own host needs no app header', async () => {
    const sent: [string, RequestInit][] = []
    const fetch: LoquatOptions['fetch'] = async (...given) => {
      sent.push(given)
      return Response.json({ data: amira })
    }
    const address = { region: 'eu', host: 'chat.example' } as const
    await new Loquat({ appId: 'app', apiKey: 'key', ...address, fetch }).users.get('amira')
    const [[url, { headers }] = ['', {} as RequestInit]] = sent
    assert.equal(url, 'https://app.api-eu.chat.example/v3/users/amira')
    assert.deepEqual(headers, { apikey: 'key' })
  })
})

suite('unusable responses', () => {
  test('an HTML page', async () => {
    const page = answer(200, '<html>', { 'content-type': 'text/html' })
    const script = await play(page)
    await assert.rejects(clientOf(script).users.get('amira'), {
      code: 'CLIENT_ERR_UNREADABLE_ANSWER',
      status: 200,
    })
  })

  test('a redirect is not followed, so that the API key does not leak', async () => {
    const other = await play(done)
    const script = await play(answer(307, {}, { location: `${other.baseUrl}/v3/users/amira` }))
    await assert.rejects(clientOf(script).users.get('amira'), { status: 307 })
    assert.equal(other.received.length, 0)
  })

  test('a connection error is the cause of the error', async () => {
    const failed = clientOf({ baseUrl: 'http://127.0.0.1:1' }, { maxRetries: 1 }).users.get('amira')
    await assert.rejects(failed, (error) => {
      assert.ok(error instanceof LoquatError)
      assert.equal(error.code, 'CLIENT_ERR_NO_ANSWER')
      assert.equal(error.status, undefined)
      assert.ok(error.cause instanceof TypeError)
      return true
    })
  })
})

suite('delays', () => {
  test('double up to a limit, are half random, and add to Retry-After', () => {
    assert.deepEqual(
      [0, 1, 2, 3, 20].map((retry) => retryDelay(retry, 0, 1)),
      [200, 400, 800, 1600, 10_000],
    )
    assert.equal(retryDelay(2, 0, 0), 400)
    assert.equal(retryDelay(0, 30, 0), 30_100)
  })

  test('before reconnecting follow docs/realtime.md', () => {
    assert.deepEqual(
      [0, 1, 2, 3, 4, 5, 1_000].map((failures) => reconnectDelay(failures, 1)),
      [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000],
    )
    assert.equal(reconnectDelay(0, 0), 500)
    assert.equal(reconnectDelay(9, 0), 15_000)
  })

  test('Retry-After can be a number of seconds or a date', () => {
    const now = Date.parse('2026-01-01T00:00:00Z')
    assert.equal(readRetryAfter('17', now), 17)
    assert.equal(readRetryAfter('Thu, 01 Jan 2026 00:00:20 GMT', now), 20)
    assert.equal(readRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now), 0)
    assert.equal(readRetryAfter('soon', now), undefined)
    assert.equal(readRetryAfter(null, now), undefined)
  })
})
