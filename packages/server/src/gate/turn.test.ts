import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../test/kit.ts'
import { type Held, holdLock } from '../../test/locks.ts'
import { until } from '../../test/until.ts'
import { storeSettings } from '../areas/settings/actions.ts'

const server = useServer({ env: { LOQUAT_READ_POOL_SIZE: '4' } })
const hasty = useServer({ env: { LOQUAT_READ_DEADLINE_MS: '100' } })

/** While `work` runs, every list of saved messages of the cell waits in the database. */
async function whileListsWait(app: TestApp, work: (held: Held) => Promise<void>): Promise<void> {
  const held = await holdLock(app, 'lock table saves', [])
  try {
    await work(held)
  } finally {
    await held.release()
    await held.close()
  }
}

const request = (app: TestApp, path: string, init: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${server.service.apiPort}/v3${path}`, {
    ...init,
    headers: { appid: app.id, apikey: app.apiKey, 'content-type': 'application/json' },
  })

const list = (app: TestApp, signal?: AbortSignal) =>
  fetch(`http://127.0.0.1:${server.service.apiPort}/v3/messages/saved`, {
    headers: { appid: app.id, apikey: app.apiKey, onbehalfof: 'amira' },
    ...(signal && { signal }),
  })

async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('amira', 'ben')
  return app
}

const running = (held: Held) => until('it runs', async () => (await held.waiting()) > 0)
const ended = (held: Held) => until('it has ended', async () => (await held.waiting()) === 0)
/** Waits until so many requests wait for their turn. */
const waiting = ({ cell }: TestApp, count: number) =>
  until(`${count} wait`, () => server.deps.lanes.waiting(cell.id) === count)

suite('requests of an app', () => {
  test('beyond its slots wait, and beyond its queue they are refused; other apps notice nothing', async () => {
    const [loud, quiet] = [await newApp(), await newApp()]
    let answers: Promise<Response>[] = []
    let refusals = 0
    await whileListsWait(loud, async (held) => {
      answers = Array.from({ length: 300 }, () => list(loud))
      for (const answer of answers) void answer.then(({ status }) => status === 429 && refusals++)
      const early = await Promise.race(answers)
      assert.equal(early.status, 429)
      assert.match(early.headers.get('retry-after') ?? '', /^[1-3]$/)
      await running(held)
      await quiet.client.users.list()
      await quiet.as('amira').sendText('ben')
      // The loud app's sends don't wait for its lists either.
      await loud.as('amira').sendText('ben')
      await waiting(loud, 256)
      await until('the rest is refused', () => refusals === 300 - 3 - 256)
      const { body } = await loud.as('amira').call('GET', '/v3/messages/saved')
      assert.equal(body.error.code, 'ERR_TOO_MANY_AT_ONCE')
    })
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 3 + 256)
  })

  test('are at most as many as the app may have at a time', async () => {
    const app = await newApp()
    await storeSettings(server.deps, app, { 'limits.readsAtOnce': 1 })
    let answers: Promise<Response>[] = []
    await whileListsWait(app, async () => {
      answers = [list(app), list(app), list(app)]
      await waiting(app, 2)
    })
    for (const { status } of await Promise.all(answers)) assert.equal(status, 200)
  })

  test('that wait for events hold no slot', async () => {
    const app = await newApp()
    const { body } = await app.call('GET', '/v3/events?limit=100')
    const path = `/events?after=${body.meta.next.after}&wait=30`
    const leaving = new AbortController()
    const waits = Array.from({ length: 8 }, () =>
      request(app, path, { signal: leaving.signal }).catch(() => undefined),
    )
    await waiting(app, 0)
    await app.client.users.list()
    leaving.abort()
    await Promise.all(waits)
  })
})

suite('a read', () => {
  test('is cancelled when its client goes away', async () => {
    const app = await newApp()
    await whileListsWait(app, async (held) => {
      const client = new AbortController()
      const answer = list(app, client.signal).catch(() => undefined)
      await running(held)
      client.abort()
      await answer
      await ended(held)
    })
    assert.equal((await list(app)).status, 200)
  })

  test('that waits for its turn is forgotten when its client goes away', async () => {
    const app = await newApp()
    const first: Promise<Response>[] = []
    await whileListsWait(app, async (held) => {
      first.push(list(app), list(app), list(app))
      await running(held)
      const client = new AbortController()
      const gone = list(app, client.signal).catch(() => undefined)
      await waiting(app, 1)
      client.abort()
      await gone
      await waiting(app, 0)
    })
    for (const { status } of await Promise.all(first)) assert.equal(status, 200)
  })

  test('is cancelled at its deadline, and the answer says so', async () => {
    const app = await hasty.newApp()
    await app.users('amira')
    await whileListsWait(app, async (held) => {
      const late = app.as('amira').call('GET', '/v3/messages/saved')
      const error = await refused(late, 'ERR_MISSION_FAILED')
      assert.match(error.devMessage ?? '', /took too long/)
      await ended(held)
    })
  })
})

suite('a write', () => {
  test('goes on when its client goes away', async () => {
    const app = await newApp()
    const held = await holdLock(app, 'select from users where app_no = $1 for update', [app.no])
    const client = new AbortController()
    const body = JSON.stringify({ name: 'Amira B.' })
    const init = { method: 'PUT', body, signal: client.signal }
    const answer = request(app, '/users/amira', init).catch(() => undefined)
    await running(held)
    client.abort()
    await answer
    await held.release()
    await until('it is stored', async () => {
      const { data } = (await app.call('GET', '/v3/users/amira')).body
      return data.name === 'Amira B.'
    })
    await held.close()
  })

  test('whose connection to the database breaks says that its outcome is unknown', async () => {
    const app = await newApp()
    const held = await holdLock(app, 'select from users where app_no = $1 for update', [app.no])
    const answer = app.call('PUT', '/v3/users/amira', { body: { name: 'Amira B.' } })
    await running(held)
    const { devMessage = '' } = await refused(held.cutOff(answer), 'ERR_MISSION_FAILED')
    assert.match(devMessage, /^It is unknown whether the change was made\./)
    await held.release()
    await held.close()
  })
})
