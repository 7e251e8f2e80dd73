/** A room is a window of a conversation: it moves to any message, grows in both directions and may become large. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { announce } from '../../server/src/platform/events/announce.ts'
import { type TestApp, useServer } from '../../server/test/kit.ts'
import { seeded } from '../../server/test/seed.ts'
import { until } from '../../server/test/until.ts'
import {
  type ChatMessage,
  type ClientOptions,
  LoquatClient,
  type Message,
  type Target,
} from '../src/client/index.ts'
import { withMessage } from '../src/client/state.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })
const BEN: Target = { type: 'user', id: 'ben' }
const ROOM = 'amira_user_ben'

/** An app in which Ben has sent messages to Amira: the texts are 0, 1, 2 … */
async function chatWith(count: number) {
  const app = await server.newApp()
  await app.users('amira', 'ben', 'cleo')
  const ids: string[] = []
  for (let nth = 0; nth < count; nth++) ids.push(await sendAsBen(app, `${nth}`))
  return { app, ids }
}

let long: ReturnType<typeof chatWith> | undefined
/** An app with 260 messages for all tests that need several pages. Tests add more at its end. */
const longChat = () => (long ??= chatWith(260))

async function sendAsBen(app: TestApp, text: string): Promise<string> {
  const { messages } = app.client.onBehalfOf('ben')
  const sent = await messages.send({ receiver: 'amira', receiverType: 'user', data: { text } })
  return sent.id
}

/** Amira's client, with Ben's conversation open. */
async function amiraOf(t: TestContext, app: TestApp, fetching?: ClientOptions['fetch']) {
  const { authToken } = await app.client.authTokens.create('amira', { force: true })
  const client = new LoquatClient({
    ...{ appId: app.id, uid: 'amira', authToken, fetch: fetching },
    baseUrl: `http://127.0.0.1:${server.service.apiPort}`,
    realtimeUrl: `ws://127.0.0.1:${server.service.gatewayPort}/v3/realtime?appId=${app.id}`,
  })
  t.after(() => client.stop())
  client.start()
  client.open(BEN)
  await until('the room is loaded', () => {
    const { connection, rooms, loaded } = client.state
    return connection === 'online' && loaded && rooms[ROOM]?.loading === false
  })
  return client
}

const roomOf = (client: LoquatClient) => client.state.rooms[ROOM] ?? assert.fail('no room')
const textsOf = (client: LoquatClient) => roomOf(client).messages.map(({ data }) => data.text)
const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, nth) => `${from + nth}`)
const unreadOf = ({ state }: LoquatClient) =>
  state.conversations.find(({ conversationId }) => conversationId === ROOM)?.unreadMessageCount

suite('a room', () => {
  test('jumps to a message and grows in both directions, without gaps', async (t) => {
    const { app, ids } = await longChat()
    const client = await amiraOf(t, app)
    assert.deepEqual(textsOf(client), numbers(210, 259))
    assert.equal(await client.jumpTo(ROOM, ids[100]), true)
    const { more, newer, loading } = roomOf(client)
    assert.deepEqual([more, newer, loading], [true, true, false])
    assert.deepEqual(textsOf(client), numbers(51, 150))

    const arrived: unknown[] = []
    client.on('message.sent', ({ message }) => arrived.push(message.data.text))
    await sendAsBen(app, '260')
    await until('the new message has arrived', () => arrived.length === 1)
    assert.equal(textsOf(client).at(-1), '150')
    assert.equal(unreadOf(client), 261)

    await client.loadOlder(ROOM)
    await client.loadNewer(ROOM)
    assert.deepEqual(textsOf(client), numbers(1, 200))
    await client.loadNewer(ROOM)
    await client.loadNewer(ROOM)
    assert.equal(roomOf(client).newer, false)
    await client.loadOlder(ROOM)
    assert.equal(roomOf(client).more, false)
    assert.deepEqual(textsOf(client), numbers(0, 260))
    await sendAsBen(app, '261')
    await until('new messages appear again', () => textsOf(client).at(-1) === '261')
  })

  test('keeps its place when everything is refetched', async (t) => {
    const { app, ids } = await longChat()
    const client = await amiraOf(t, app)
    await client.jumpTo(ROOM, ids[100])
    const before = textsOf(client)
    const { messages } = roomOf(client)
    await client.settled()
    // Blocking a user makes the client refetch everything.
    await app.client.blockedUsers.block('amira', { blockedUids: ['cleo'] })
    await until('the room was refetched', () => roomOf(client).messages !== messages)
    await client.settled()
    assert.deepEqual(textsOf(client), before)
    assert.equal(roomOf(client).newer, true)
  })

  test('opens at a message although the newest ones are being fetched', async (t) => {
    const { app, ids } = await longChat()
    const jumped = Promise.withResolvers<void>()
    let holds = false
    const client = await amiraOf(t, app, async (url, init) => {
      const response = await fetch(url, init)
      const { pathname, searchParams } = new URL(url)
      if (holds && pathname.endsWith('/messages') && !searchParams.has('id')) await jumped.promise
      return response
    })
    holds = true
    client.close(ROOM)
    client.open(BEN)
    assert.equal(await client.jumpTo(ROOM, ids[10]), true)
    jumped.resolve()
    await client.settled()
    const { loading, newer } = roomOf(client)
    assert.deepEqual([textsOf(client)[0], newer, loading], ['0', true, false])
  })

  test('moves to its end when the user sends a message, and shows it once', async (t) => {
    const { app, ids } = await longChat()
    const client = await amiraOf(t, app)
    const last = textsOf(client).at(-1)
    await client.jumpTo(ROOM, ids[20])
    await client.send(BEN, { text: 'own', quotedMessageId: ids[20] as string })
    await until('the room is at its end', () => !roomOf(client).newer && !roomOf(client).loading)
    await until(
      'the message is stored',
      () => roomOf(client).messages.at(-1)?.pending === undefined,
    )
    assert.deepEqual(textsOf(client).slice(-2), [last, 'own'])
    assert.equal(roomOf(client).messages.at(-1)?.quotedMessage?.id, ids[20])
    await client.settled()
    assert.deepEqual(textsOf(client).slice(-2), [last, 'own'])
  })

  test('shows a message that arrived while the last page was being loaded', async (t) => {
    const { app, ids } = await chatWith(60)
    const requested = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    let holds = false
    const client = await amiraOf(t, app, async (url, init) => {
      const response = await fetch(url, init)
      if (holds && new URL(url).searchParams.get('affix') === 'append') {
        requested.resolve()
        await released.promise
      }
      return response
    })
    await client.jumpTo(ROOM, ids[5])
    assert.equal(textsOf(client).at(-1), '55')
    holds = true
    const loading = client.loadNewer(ROOM)
    await requested.promise
    let notified = false
    client.on('message.sent', () => {
      notified = true
    })
    await sendAsBen(app, '60')
    await until('the event has arrived', () => notified)
    released.resolve()
    await loading
    assert.deepEqual(textsOf(client).slice(-3), ['58', '59', '60'])
  })

  test('says that a message to jump to is gone, and shows its neighbours', async (t) => {
    const { app, ids } = await longChat()
    await app.client.onBehalfOf('ben').messages.delete(ids[30] as string, { permanent: true })
    const client = await amiraOf(t, app)
    const last = textsOf(client).at(-1)
    assert.equal(await client.jumpTo(ROOM, ids[30]), false)
    assert.deepEqual(textsOf(client).slice(28, 32), ['28', '29', '31', '32'])
    assert.equal(await client.jumpTo(ROOM), true)
    assert.equal(textsOf(client).at(-1), last)
  })

  test('stays where it is if a jump fails', async (t) => {
    const { app, ids } = await longChat()
    let fails = false
    const client = await amiraOf(t, app, (url, init) => {
      const { pathname } = new URL(url)
      if (!fails || !pathname.endsWith('/messages')) return fetch(url, init)
      return Promise.resolve(Response.json({ error: { code: 'ERR_AUTH' } }, { status: 401 }))
    })
    const before = textsOf(client)
    fails = true
    await assert.rejects(client.jumpTo(ROOM, ids[10]))
    fails = false
    assert.equal(roomOf(client).anchor, undefined)
    await sendAsBen(app, 'after the jump')
    await until('it has arrived', () => textsOf(client).at(-1) === 'after the jump')
    client.stop()
    client.start()
    await client.settled()
    assert.deepEqual(textsOf(client).slice(-before.length - 1), [...before, 'after the jump'])
  })

  test('lets the server count messages of categories that it does not know', async (t) => {
    const { app, ids } = await chatWith(2)
    const client = await amiraOf(t, app)
    assert.equal(unreadOf(client), 2)
    const last = await app.client.messages.get(ids[1] as string)
    const arrived: string[] = []
    client.on('message.sent', ({ message }) => arrived.push(message.category))
    for (const category of ['agentic', 'call']) {
      const id = String(Number(last.id) + arrived.length + 1)
      const message = { ...last, id, category, type: 'any' }
      await app.cell.db.tx((tx) =>
        announce(tx, { appNo: app.no, type: 'message.sent', key: ROOM, payload: { message } }),
      )
      await until('it has arrived', () => arrived.includes(category))
    }
    await client.settled()
    assert.equal(unreadOf(client), 2)
    assert.equal(roomOf(client).messages.length, 4)
  })
})

suite('withMessage', () => {
  const messageOf = (id: number) => ({ id: String(id), muid: `m${id}` }) as Message

  test('keeps messages in order, once each, with pending ones last', () => {
    const step = fc.record({ id: fc.integer({ min: 1, max: 30 }), pending: fc.boolean() })
    const property = fc.property(fc.array(step), (steps) => {
      let messages: readonly ChatMessage[] = []
      const stored = new Set<number>()
      const sending: number[] = []
      for (const { id, pending } of steps) {
        if (pending && !stored.has(id) && !sending.includes(id)) {
          sending.push(id)
          const own = { ...messageOf(id), id: `pending_m${id}`, pending: 'sending' } as ChatMessage
          messages = [...messages, own]
        } else if (!pending) {
          stored.add(id)
          messages = withMessage(messages, messageOf(id))
        }
      }
      const left = sending.filter((id) => !stored.has(id)).map((id) => `pending_m${id}`)
      const sorted = [...stored].sort((one, other) => one - other).map(String)
      assert.deepEqual(
        messages.map(({ id }) => id),
        [...sorted, ...left],
      )
    })
    fc.assert(property, seeded)
  })

  test('looks at few of 50,000 messages to add one', () => {
    let looks = 0
    const messages = Array.from({ length: 50_000 }, (_, nth) => ({
      muid: `m${nth}`,
      get id() {
        looks++
        return String(nth * 2)
      },
    })) as ChatMessage[]
    for (const id of [100_001, 50_001, 1]) {
      looks = 0
      assert.equal(withMessage(messages, messageOf(id)).length, 50_001)
      assert.ok(looks < 100, `${looks} messages looked at`)
    }
  })
})
