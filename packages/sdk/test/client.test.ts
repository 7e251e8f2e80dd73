import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { settleHeldMessage } from '../../server/src/areas/moderation/reviews.actions.ts'
import { announce } from '../../server/src/platform/events/announce.ts'
import { PENDING, sendJudged } from '../../server/test/held.ts'
import { refused, type TestApp, useServer } from '../../server/test/kit.ts'
import { until } from '../../server/test/until.ts'
import { type ClientOptions, LoquatClient, type Target } from '../src/client/index.ts'
import { openProxy } from './proxy.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })

const BEN: Target = { type: 'user', id: 'ben' }
const AMIRA: Target = { type: 'user', id: 'amira' }
const TEAM: Target = { type: 'group', id: 'team' }

async function newChat(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('amira', 'ben', 'cleo')
  const members = { participants: ['ben'] }
  await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'amira', members })
  return app
}

type OptionName = 'baseUrl' | 'renewToken' | 'maxRetries' | 'timeoutMs' | 'presence' | 'fetch'
type Options = Partial<Pick<ClientOptions, OptionName>>

/** A client for a user. It stops with the test. */
async function newClient(t: TestContext, app: TestApp, uid: string, options: Options = {}) {
  const { authToken } = await app.client.authTokens.create(uid, { force: true })
  const baseUrl = options.baseUrl ?? `http://127.0.0.1:${server.service.apiPort}`
  const realtimeUrl =
    options.baseUrl === undefined
      ? `ws://127.0.0.1:${server.service.gatewayPort}/v3/realtime?appId=${app.id}`
      : undefined
  const client = new LoquatClient({
    appId: app.id,
    uid,
    authToken,
    ...options,
    baseUrl,
    realtimeUrl,
  })
  t.after(() => client.stop())
  return { client, authToken }
}

/** Starts a client for a user. */
async function clientOf(t: TestContext, app: TestApp, uid: string, options: Options = {}) {
  const { client, authToken } = await newClient(t, app, uid, options)
  client.start()
  await until(
    'the client is online',
    () => client.state.connection === 'online' && client.state.loaded,
  )
  return { client, authToken }
}

const textsIn = (client: LoquatClient, room: string) =>
  client.state.rooms[room]?.messages.map(({ data }) => data.text)

const unreadIn = (client: LoquatClient, id: string) =>
  client.state.conversations.find(({ conversationId }) => conversationId === id)?.unreadMessageCount

suite('a client', () => {
  test('places and counts a message that moderation releases after a later one', async (t) => {
    const app = await newChat()
    const { client: amira } = await clientOf(t, app, 'amira')
    const { client: ben } = await clientOf(t, app, 'ben')
    amira.open(BEN)
    const room = ben.open(AMIRA)
    await app.as('amira').sendText('ben', 'one')
    const text = { data: { text: 'two' } }
    const { id } = await sendJudged(server, app, ['amira', 'ben'], PENDING, text)
    await app.as('amira').sendText('ben', 'three')
    await until('ben has the last one', () => textsIn(ben, room)?.includes('three'))
    await until('the sender has all', () => textsIn(amira, room)?.length === 3)
    assert.deepEqual(textsIn(ben, room), ['one', 'three'])
    const held = amira.state.rooms[room]?.messages[1]
    assert.deepEqual([held?.pending, held?.data.moderation], [undefined, { status: 'pending' }])
    await settleHeldMessage(app, id, { status: 'approved' })
    const all = ['one', 'two', 'three']
    await until('ben has all', () => String(textsIn(ben, room)) === String(all))
    await until('ben counts all', () => unreadIn(ben, 'amira_user_ben') === 3)
    await until('the sender knows', () => {
      const moderation = amira.state.rooms[room]?.messages[1]?.data.moderation
      return (moderation as { status: string }).status === 'approved'
    })
  })

  test('shows a sent message immediately, and the other user receives it', async (t) => {
    const app = await newChat()
    const { client: amira } = await clientOf(t, app, 'amira')
    const { client: ben } = await clientOf(t, app, 'ben')
    const room = amira.open(BEN)
    ben.open(AMIRA)
    const received: string[] = []
    ben.on('message.sent', ({ message }) => received.push(String(message.data.text)))
    const sending = amira.send(BEN, { text: 'Hello' })
    assert.equal(amira.state.rooms[room]?.messages[0]?.pending, 'sending')
    const { id } = await sending
    await until('ben has the message', () => textsIn(ben, room)?.length === 1)
    await until('ben has the conversation', () => unreadIn(ben, room) === 1)
    assert.deepEqual(received, ['Hello'])
    await amira.settled()
    assert.deepEqual(
      amira.state.rooms[room]?.messages.map((message) => [message.id, message.pending]),
      [[id, undefined]],
    )
    assert.equal(unreadIn(amira, room), 0)

    await ben.markRead(AMIRA)
    await until('the message is read', () => amira.state.rooms[room]?.messages[0]?.readAt)
    await until('nothing is unread', () => unreadIn(ben, room) === 0)
  })

  test('shows threads, reactions, edits and deletions', async (t) => {
    const app = await newChat()
    const { client: amira } = await clientOf(t, app, 'amira')
    const { client: ben } = await clientOf(t, app, 'ben')
    const room = ben.open(TEAM)
    amira.open(TEAM)
    const { id } = await amira.send(TEAM, { text: 'Lunch?' })
    const thread = ben.open(TEAM, id)
    await amira.send(TEAM, { text: 'At noon' }, id)
    await until('the reply is in the thread', () => textsIn(ben, thread)?.[0] === 'At noon')
    await until(
      'the reply is counted',
      () => ben.state.rooms[room]?.messages.at(-1)?.replyCount === 1,
    )
    await amira.react(id, '🍜')
    const reactions = () => ben.state.rooms[room]?.messages.at(-1)?.data.reactions
    await until('the reaction is shown', () => reactions() !== undefined)
    assert.deepEqual(reactions(), [{ reaction: '🍜', count: 1 }])
    await amira.api.messages.update(id, { data: { text: 'Dinner?' } })
    await until('the edit is shown', () => textsIn(ben, room)?.includes('Dinner?'))
    await amira.api.messages.delete(id, {})
    await until('the message is deleted', () => ben.state.rooms[room]?.messages.at(-1)?.deletedAt)
    assert.deepEqual(textsIn(ben, room)?.filter(Boolean), [])
  })

  test('is ready when its conversations are there, and not settled before that', async (t) => {
    const app = await newChat()
    await app.as('ben').sendText('amira')
    const released = Promise.withResolvers<void>()
    const fetching: Options['fetch'] = async (url, init) => {
      await released.promise
      return fetch(url, init)
    }
    const { client } = await newClient(t, app, 'amira', { fetch: fetching })
    const order: string[] = []
    const shows = () => client.state.conversations.some((one) => one.conversationType === 'user')
    const ready = client.ready().then(() => order.push(`ready ${shows()}`))
    client.start()
    const settled = client.settled().then(() => order.push(`settled ${shows()}`))
    await until('the client is online', () => client.state.connection === 'online')
    await new Promise(setImmediate)
    assert.deepEqual(order, [])
    released.resolve()
    await Promise.all([ready, settled])
    assert.deepEqual(order, ['ready true', 'settled true'])
    await client.ready()
  })

  test('is never ready if it stops before its conversations are there', async (t) => {
    const { client } = await newClient(t, await newChat(), 'amira')
    client.start()
    const ready = client.ready()
    client.stop()
    await assert.rejects(ready, /No conversations were fetched: the client is stopped/)
    await client.settled()
    assert.equal(client.state.loaded, false)
  })

  test('counts custom messages as the server does', async (t) => {
    const app = await newChat()
    const amira = app.client.onBehalfOf('amira')
    const { client: ben } = await clientOf(t, app, 'ben')
    const room = ben.open(AMIRA)
    const to = { receiver: 'ben', receiverType: 'user' } as const
    const custom = { ...to, category: 'custom', type: 'note', data: { customData: {} } } as const
    await amira.messages.send({ ...to, data: { text: 'Hello' } })
    await until('the message counts as unread', () => unreadIn(ben, room) === 1)
    await amira.messages.send({ ...custom, updateConversation: false })
    await until(
      'the message that does not count has arrived',
      () => ben.state.rooms[room]?.messages.length === 2,
    )
    await ben.settled()
    const [conversation] = ben.state.conversations
    assert.deepEqual(
      [conversation?.unreadMessageCount, conversation?.lastMessage?.data.text],
      [1, 'Hello'],
    )
    await amira.messages.send(custom)
    await until('the other custom message counts', () => unreadIn(ben, room) === 2)
  })

  test('shows who is typing until they send', async (t) => {
    const app = await newChat()
    const { client: amira } = await clientOf(t, app, 'amira')
    const { client: ben } = await clientOf(t, app, 'ben')
    const room = ben.idOf(AMIRA)
    await until('amira is typing', () => {
      amira.typing(BEN)
      return ben.state.typing[room]?.includes('amira')
    })
    await amira.send(BEN, { text: 'Hello' })
    await until('nobody is typing', () => ben.state.typing[room] === undefined)
  })

  test('neither loses nor duplicates messages when the network fails', async (t) => {
    const app = await newChat()
    const proxy = await openProxy(t, server.service.apiPort ?? 0)
    const baseUrl = `http://127.0.0.1:${proxy.port}`
    const { client: amira } = await clientOf(t, app, 'amira', { baseUrl, timeoutMs: 5_000 })
    const { client: ben } = await clientOf(t, app, 'ben')
    const room = amira.open(BEN)
    ben.open(AMIRA)
    await amira.send(BEN, { text: '0' })
    proxy.cut()
    await until('the client is offline', () => amira.state.connection !== 'online')
    const sending = ['1', '2', '3'].map((text) => amira.send(BEN, { text }))
    await ben.send(AMIRA, { text: 'Are you there?' })
    proxy.mend()
    await Promise.all(sending)
    await until('both clients show the same messages', async () => {
      await Promise.all([amira.settled(), ben.settled()])
      return (
        textsIn(amira, room)?.length === 5 &&
        String(textsIn(amira, room)) === String(textsIn(ben, room))
      )
    })
    const texts = textsIn(ben, room) ?? []
    assert.deepEqual([...texts].sort(), ['0', '1', '2', '3', 'Are you there?'])
    assert.deepEqual(
      texts.filter((text) => /\d/.test(String(text))),
      ['0', '1', '2', '3'],
    )
  })

  test('shows that a message failed, and resends it without duplicating it', async (t) => {
    const app = await newChat()
    const { client: amira } = await clientOf(t, app, 'amira')
    const room = amira.open(BEN)
    await app.client.blockedUsers.block('ben', { blockedUids: ['amira'] })
    await refused(amira.send(BEN, { text: 'Hello' }), 'ERR_BLOCKED_SENDER')
    const failed = amira.state.rooms[room]?.messages[0]
    assert.equal(failed?.pending, 'failed')
    assert.equal(failed?.error?.code, 'ERR_BLOCKED_SENDER')
    await app.client.blockedUsers.unblock('ben', { blockedUids: ['amira'] })
    assert.ok(failed)
    const { id } = await amira.resend(failed)
    assert.equal((await amira.resend(failed)).id, id)
    await amira.settled()
    assert.deepEqual(
      amira.state.rooms[room]?.messages.map((message) => message.id),
      [id],
    )
  })

  test('is signed out when its token is revoked, unless it gets a new one', async (t) => {
    const app = await newChat()
    const { client, authToken } = await clientOf(t, app, 'amira')
    const renewToken = async () =>
      (await app.client.authTokens.create('ben', { force: true })).authToken
    const renewing = await clientOf(t, app, 'ben', { renewToken })
    await app.client.authTokens.delete('amira', authToken)
    await app.client.authTokens.delete('ben', renewing.authToken)
    await until('the client is signed out', () => client.state.connection === 'signedOut')
    await assert.rejects(client.send(BEN, { text: 'Hello' }), { status: 401 })
    await renewing.client.send(AMIRA, { text: 'Still here' })
    await until('the client is back online', () => renewing.client.state.connection === 'online')
  })

  test('knows who is online, even after the connection was lost', async (t) => {
    const app = await newChat()
    const proxy = await openProxy(t, server.service.apiPort ?? 0)
    const baseUrl = `http://127.0.0.1:${proxy.port}`
    await clientOf(t, app, 'ben')
    await app.client.friends.add('cleo', { accepted: ['ben'] })
    const { client: amira } = await clientOf(t, app, 'amira', { baseUrl, presence: 'all' })
    await until('ben is shown as online', () => amira.state.presence.ben === 'online')
    const { client: cleo } = await clientOf(t, app, 'cleo', { presence: 'friends' })
    await until('cleo is shown as online', () => amira.state.presence.cleo === 'online')
    await until('cleo sees that ben is online', () => cleo.state.presence.ben === 'online')
    assert.equal(cleo.state.presence.amira, undefined)
    proxy.cut()
    await until('amira is offline', () => amira.state.connection !== 'online')
    cleo.stop()
    await until('cleo is offline', async () => {
      return (await app.client.users.get('cleo')).status === 'offline'
    })
    proxy.mend()
    // Reconnect without waiting for the delay.
    amira.stop()
    amira.start()
    await until('amira sees that cleo is offline', () => amira.state.presence.cleo === 'offline')
    assert.equal(amira.state.presence.ben, 'online')
  })

  test('receives receipts in groups without fetching anything', async (t) => {
    const app = await newChat()
    const requests: string[] = []
    const fetching: ClientOptions['fetch'] = (url, init) => {
      if (init.method === 'GET') requests.push(url)
      return fetch(url, init)
    }
    const { client: amira } = await clientOf(t, app, 'amira', { fetch: fetching })
    const { client: ben } = await clientOf(t, app, 'ben')
    const received: [string, string][] = []
    amira.on('conversation.read', ({ uid, receiver }) => received.push([uid, receiver]))
    await amira.send(TEAM, { text: 'Lunch?' })
    await until('ben has the message', () => unreadIn(ben, 'group_team') === 1)
    await amira.settled()
    requests.length = 0
    await ben.markRead(TEAM)
    await until('amira receives the receipt', () => received.length > 0)
    await amira.settled()
    assert.deepEqual(received, [['ben', 'team']])
    assert.deepEqual(requests, [])
  })

  test('accepts ids in any case and uses them in lower case', async (t) => {
    const app = await newChat()
    const { client: amira } = await clientOf(t, app, 'amira')
    const { client: ben } = await clientOf(t, app, 'ben')
    const room = amira.open({ type: 'user', id: 'Ben' })
    const team = amira.open({ type: 'group', id: 'Team' })
    assert.deepEqual([room, team], ['amira_user_ben', 'group_team'])
    assert.deepEqual(amira.state.rooms[room]?.target, BEN)
    await ben.send(AMIRA, { text: 'Hello' })
    await ben.send(TEAM, { text: 'All' })
    await until('amira has the 1:1 message', () => textsIn(amira, room)?.includes('Hello'))
    await until('amira has the group message', () => textsIn(amira, team)?.includes('All'))
    const sending = amira.send({ type: 'user', id: 'BEN' }, { text: 'Hi' })
    assert.equal(amira.state.rooms[room]?.messages[1]?.pending, 'sending')
    await sending
    await until('ben is typing', () => {
      ben.typing({ type: 'user', id: 'Amira' })
      return amira.state.typing[room]?.includes('ben')
    })
    await amira.markRead({ type: 'user', id: 'Ben' })
    await until('the message is read', () => amira.state.rooms[room]?.messages[0]?.readAt)
    await amira.settled()
    assert.deepEqual(textsIn(amira, room), ['Hello', 'Hi'])
  })

  for (const what of ['edited', 'deleted', 'read'] as const) {
    test(`shows that older messages were ${what} while they were being loaded`, async (t) => {
      const app = await newChat()
      const { messages } = app.client.onBehalfOf('ben')
      const ids: string[] = []
      for (let nth = 0; nth < 60; nth++) {
        const data = { text: `${nth}` }
        const sent = await messages.send({ receiver: 'amira', receiverType: 'user', data })
        ids.push(sent.id)
      }
      const requested = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      const fetching: ClientOptions['fetch'] = async (url, init) => {
        const response = await fetch(url, init)
        if (new URL(url).searchParams.get('id') === ids[10]) {
          requested.resolve()
          await released.promise
        }
        return response
      }
      const { client: amira } = await clientOf(t, app, 'amira', { fetch: fetching })
      const room = amira.open(BEN)
      await until('the room is loaded', () => amira.state.rooms[room]?.loading === false)
      assert.equal(amira.state.rooms[room]?.messages[0]?.id, ids[10])
      let notified = false
      amira.on(what === 'read' ? 'conversation.read' : `message.${what}`, () => {
        notified = true
      })
      const loading = amira.loadOlder(room)
      await requested.promise
      const [id = ''] = ids
      if (what === 'edited') await messages.update(id, { data: { text: 'edited' } })
      else if (what === 'deleted') await messages.delete(id, { permanent: true })
      else await amira.markRead(BEN)
      await until('the event has arrived', () => notified)
      await amira.settled()
      released.resolve()
      await loading
      await amira.settled()
      const shown = amira.state.rooms[room]?.messages ?? []
      assert.equal(shown.length, what === 'deleted' ? 59 : 60)
      if (what === 'edited') assert.equal(shown[0]?.data.text, 'edited')
      if (what === 'read') assert.ok(shown.every(({ readAt }) => readAt))
    })
  }

  test('shows a message that is older than others in its place, once', async (t) => {
    const app = await newChat()
    const { messages } = app.client.onBehalfOf('ben')
    const ids: number[] = []
    for (let nth = 0; nth < 60; nth++) {
      const data = { text: `${nth}` }
      const { id } = await messages.send({ receiver: 'amira', receiverType: 'user', data })
      ids.push(Number(id))
    }
    /** Inserts a message right after another, as an import does. */
    const insertAfter = async (nth: number, text: string) => {
      const message = await app.client.messages.get(String(ids[nth]))
      const id = Number(message.id) + 1
      await app.cell.db.tx(async (tx) => {
        const copy = `insert into messages (app_no, id, conversation, sender, category, type, data,
            counts, shows, counted)
          select app_no, $3, conversation, sender, category, type, $4, false, false, counted
          from messages where app_no = $1 and id = $2 returning conversation`
        const values = [app.no, ids[nth], id, JSON.stringify({ text })]
        const { rows } = await tx.query<{ conversation: number }>({ name: '', text: copy, values })
        const key = `conversation:${rows[0]?.conversation}`
        const sent = { ...message, id: String(id), data: { ...message.data, text } }
        await announce(tx, { appNo: app.no, type: 'message.sent', key, payload: { message: sent } })
      })
    }
    const { client: amira } = await clientOf(t, app, 'amira')
    const room = amira.open(BEN)
    await until('the room is loaded', () => amira.state.rooms[room]?.loading === false)
    const arrived: unknown[] = []
    amira.on('message.sent', ({ message }) => arrived.push(message.data.text))
    const unread = unreadIn(amira, 'amira_user_ben')
    await insertAfter(3, 'below')
    await insertAfter(30, 'between')
    await until('both events have arrived', () => arrived.length === 2)
    await amira.settled()
    assert.equal(textsIn(amira, room)?.[0], '10')
    assert.equal(textsIn(amira, room)?.[21], 'between')
    await amira.loadOlder(room)
    const texts = Array.from({ length: 60 }, (_, nth) => `${nth}`)
    texts.splice(31, 0, 'between')
    texts.splice(4, 0, 'below')
    assert.deepEqual(textsIn(amira, room), texts)
    assert.equal(unreadIn(amira, 'amira_user_ben'), unread)
  })

  test('keeps older pages through a reload', async (t) => {
    const app = await newChat()
    const { messages } = app.client.onBehalfOf('ben')
    for (let nth = 0; nth < 110; nth++) {
      await messages.send({ receiver: 'amira', receiverType: 'user', data: { text: `${nth}` } })
    }
    const { client: amira } = await clientOf(t, app, 'amira')
    const room = amira.open(BEN)
    await until('the room is loaded', () => amira.state.rooms[room]?.loading === false)
    assert.equal(textsIn(amira, room)?.length, 50)
    await amira.loadOlder(room)
    await amira.loadOlder(room)
    assert.equal(amira.state.rooms[room]?.more, false)
    const before = amira.state.rooms[room]?.messages
    // Blocking a user makes the client refetch everything.
    await app.client.blockedUsers.block('amira', { blockedUids: ['cleo'] })
    await until('the room was refetched', () => amira.state.rooms[room]?.messages !== before)
    await amira.settled()
    assert.deepEqual(
      textsIn(amira, room),
      Array.from({ length: 110 }, (_, nth) => `${nth}`),
    )
  })
})
