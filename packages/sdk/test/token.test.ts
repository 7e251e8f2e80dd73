/** Rejected tokens and the `renewToken` hook. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { type TestApp, useServer } from '../../server/test/kit.ts'
import { until } from '../../server/test/until.ts'
import { type ClientOptions, type ConnectionState, LoquatClient } from '../src/client/index.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })

/** Fails the test if it hangs. */
const within = { timeout: 120_000 }

type Renew = NonNullable<ClientOptions['renewToken']>
type Options = Pick<ClientOptions, 'timeoutMs' | 'fetch'>

const never: Renew = () => new Promise(() => {})

interface World {
  app: TestApp
  client: LoquatClient
  /** All states of the connection, in order. */
  states: ConnectionState[]
  newToken(): Promise<string>
  revoke(): Promise<unknown>
}

/** An app with an online client for amira. */
async function newWorld(t: TestContext, renewToken: Renew, options: Options = {}): Promise<World> {
  const app = await server.newApp()
  await app.client.users.create({ uid: 'amira', name: 'Amira' })
  const { authTokens } = app.client
  const newToken = async () => (await authTokens.create('amira', { force: true })).authToken
  const { apiPort, gatewayPort } = server.service
  const client = new LoquatClient({
    ...{ appId: app.id, uid: 'amira', authToken: await newToken(), renewToken, ...options },
    baseUrl: `http://127.0.0.1:${apiPort}`,
    realtimeUrl: `ws://127.0.0.1:${gatewayPort}/v3/realtime?appId=${app.id}`,
  })
  t.after(() => client.stop())
  const states: ConnectionState[] = []
  client.subscribe(() => {
    if (client.state.connection !== states.at(-1)) states.push(client.state.connection)
  })
  client.start()
  await until(
    'the client is online',
    () => client.state.connection === 'online' && client.state.loaded,
  )
  return { app, client, states, newToken, revoke: () => authTokens.flush('amira') }
}

suite('a rejected token', () => {
  const fault = new Error('The customer’s server is down.')
  const faults: [string, Renew, Options][] = [
    ['rejects', () => Promise.reject(fault), {}],
    [
      'throws',
      () => {
        throw fault
      },
      {},
    ],
    ['never settles', never, { timeoutMs: 2_000 }],
  ]
  for (const [what, fail, options] of faults) {
    test(
      `leads to another call of a hook that ${what}, and does not sign the user out`,
      within,
      async (t) => {
        let next: string | undefined
        let calls = 0
        // Returns a string instead of a promise, as an untyped program may do.
        const renewToken = () => {
          calls++
          return next === undefined ? fail() : (next as unknown as Promise<string>)
        }
        const { client, states, newToken, revoke } = await newWorld(t, renewToken, options)
        await revoke()
        await assert.rejects(client.api.users.get('amira'), (error: Error & { code?: string }) => {
          assert.equal(error.code, 'CLIENT_ERR_TOKEN_NOT_RENEWED')
          if (fail !== never) assert.equal(error.cause, fault)
          return true
        })
        await until(
          'the connection called the hook too',
          () => calls > 1 && states.includes('offline'),
        )
        const before = states.length
        next = await newToken()
        await until('the client is back online', () => states.slice(before).includes('online'))
        assert.equal((await client.api.users.get('amira')).uid, 'amira')
        assert.ok(!states.includes('signedOut'), String(states))
      },
    )
  }

  test('is renewed only once for all requests that used it', within, async (t) => {
    const released = Promise.withResolvers<void>()
    let refused = 0
    // All requests but the first get their 401 only after the token was renewed.
    const fetching: ClientOptions['fetch'] = async (url, init) => {
      const response = await fetch(url, init)
      if (response.status === 401 && refused++ > 0) await released.promise
      return response
    }
    const requested = Promise.withResolvers<void>()
    let calls = 0
    const renewToken = async () => {
      calls++
      await requested.promise
      return newToken()
    }
    const { client, states, newToken, revoke } = await newWorld(t, renewToken, { fetch: fetching })
    await revoke()
    const reads = Array.from({ length: 10 }, () => client.api.users.get('amira'))
    requested.resolve()
    await Promise.race(reads)
    await until('the other requests are rejected', () => refused >= 10)
    released.resolve()
    await Promise.all(reads)
    await until('the connection is back', () => states.lastIndexOf('online') > 2)
    await client.settled()
    assert.equal(calls, 1)
  })

  test('can be aborted while a call waits for a new one', within, async (t) => {
    const requested = Promise.withResolvers<void>()
    const renewed = Promise.withResolvers<undefined>()
    const renewToken = () => {
      requested.resolve()
      return renewed.promise
    }
    const { client, revoke } = await newWorld(t, renewToken, { timeoutMs: 600_000 })
    await revoke()
    const abort = new AbortController()
    const call = client.api.users.get('amira', { signal: abort.signal })
    await requested.promise
    const reason = new Error('no longer wanted')
    abort.abort(reason)
    await assert.rejects(call, reason)
    assert.notEqual(client.state.connection, 'signedOut')
    renewed.resolve(undefined)
    await until('the client is signed out without a new token', () => {
      return client.state.connection === 'signedOut'
    })
  })

  test('fails all queued messages, which can be resent without duplicates', within, async (t) => {
    let next: string | undefined
    const renewToken = () => (next ? Promise.resolve(next) : Promise.reject(new Error('down')))
    const { app, client, newToken, revoke } = await newWorld(t, renewToken)
    await app.client.users.create({ uid: 'ben', name: 'Ben' })
    const ben = { type: 'user', id: 'ben' } as const
    const room = client.open(ben)
    await until('the room is loaded', () => client.state.rooms[room]?.loading === false)
    await revoke()
    const sends = ['1', '2', '3'].map((text) => client.send(ben, { text }))
    const ended = await Promise.allSettled(sends)
    const reasons = ended.map((one) => one.status === 'rejected' && one.reason)
    assert.equal(reasons[0].code, 'CLIENT_ERR_TOKEN_NOT_RENEWED')
    assert.equal(new Set(reasons).size, 1)
    next = await newToken()
    for (const message of client.state.rooms[room]?.messages ?? []) await client.resend(message)
    await client.settled()
    const texts = client.state.rooms[room]?.messages.map(({ data }) => data.text)
    assert.deepEqual(texts, ['1', '2', '3'])
  })
})
