import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { snapshotOf } from '../../../test/snapshot.ts'
import { until } from '../../../test/until.ts'
import { readConfig } from '../../config.ts'
import { serve } from '../../serve.ts'
import { verify } from '../../verify/verify.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()
const UP = '\u{1F44D}'
const HEART = '\u2764\uFE0F'

/** A group g with the owner o, the moderator m and the participants p and q; s is outside, b is banned. */
async function newGroup(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('o', 'm', 'p', 'q', 's', 'b')
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'o' })
  const body = { moderators: ['m'], participants: ['p', 'q'], usersToBan: ['b'] }
  await app.client.groupMembers.add('g', body)
  return app
}

async function say(app: TestApp, from: string, to: string, more: object = {}): Promise<string> {
  const receiverType = to === 'g' ? 'group' : 'user'
  return (await app.as(from).sendText(to, 'Hello', { receiverType, ...more })).id
}

const react = (app: TestApp, uid: string, id: string, reaction = UP, method = 'POST') =>
  app.as(uid).call(method, `/v3/messages/${id}/reactions/${encodeURIComponent(reaction)}`)
const codeOf = async (answer: ReturnType<TestApp['call']>) => (await answer).body.error?.code

const shown = async (app: TestApp, id: string, uid?: string) =>
  (await app.as(uid).call('GET', `/v3/messages/${id}`)).body.data.data.reactions

async function rows(app: TestApp, table: string): Promise<number> {
  const text = `select count(*) from ${table} where app_no = $1`
  const { rows } = await app.cell.db.query<{ count: number }>({ name: '', text, values: [app.no] })
  return rows[0]?.count ?? 0
}

const assertVerified = async (app: TestApp) => assert.deepEqual(await verify(app.cell, app.no), [])

suite('removeMessageReaction', () => {
  test('takes back a reaction, which was counted once and shown to everyone', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const id = await say(app, 'a', 'b')
    assert.equal(await shown(app, id, 'a'), undefined)

    const { body } = await react(app, 'b', id)
    assert.deepEqual(body.data.data.reactions, [{ reaction: UP, count: 1, reactedByMe: true }])
    assert.equal(body.data.data.text, 'Hello')
    await react(app, 'b', id)
    await react(app, 'a', id, HEART)
    await react(app, 'a', id)
    const heart = { reaction: HEART, count: 1 }
    const both = { reaction: UP, count: 2, reactedByMe: true }
    assert.deepEqual(await shown(app, id, 'b'), [both, heart])
    assert.deepEqual(await shown(app, id), [{ reaction: UP, count: 2 }, heart])
    const page = await app.as('b').call('GET', '/v3/users/a/messages')
    assert.deepEqual(page.body.data[0].data.reactions, [both, heart])
    const views = await app.as('b').call('GET', '/v3/conversations')
    assert.deepEqual(views.body.data[0].lastMessage.data.reactions, [both, heart])
    const whole = await app.call('GET', '/v3/conversations')
    assert.equal(whole.body.data[0].lastMessage.data.reactions[0].reactedByMe, undefined)

    await react(app, 'b', id, UP, 'DELETE')
    const left = await react(app, 'b', id, UP, 'DELETE')
    assert.deepEqual(left.body.data.data.reactions, [{ reaction: UP, count: 1 }, heart])
    await react(app, 'a', id, UP, 'DELETE')
    await react(app, 'a', id, HEART, 'DELETE')
    assert.equal(await shown(app, id, 'a'), undefined)
    const types = (await app.eventTypes()).filter((type) => type.startsWith('message.reaction'))
    const added = Array(3).fill('message.reaction.added')
    assert.deepEqual(types, [...added, ...Array(3).fill('message.reaction.removed')])
    await assertVerified(app)
  })
})

suite('addMessageReaction', () => {
  test('sends an event that names the user and the conversation', async () => {
    const app = await newGroup()
    const id = await say(app, 'p', 'g')
    await react(app, 'q', id, 'a "quoted" \\ text')
    const { payload } = await app.waitFor('message.reaction.added')
    const [listed] = (await app.client.messages.listReactions(id)).data
    assert.deepEqual(payload, {
      ...{ conversationId: 'group_g', receiverType: 'group', receiver: 'g' },
      ...{ messageCategory: 'message', messageType: 'text', reaction: snapshotOf(listed) },
    })
    assert.equal(listed?.reactedBy.uid, 'q')
  })

  const values: [string, number][] = [
    ['x'.repeat(64), 200],
    ['\u{1F44D}'.repeat(32), 200],
    ['x'.repeat(65), 400],
    ['\u{1F44D}'.repeat(33), 400],
    ['a/b', 200],
    ['100%', 200],
    [' ', 200],
    [':wave:', 200],
    ["';drop table users--", 200],
  ]
  test('accepts any text of 1 to 64 code units', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const id = await say(app, 'a', 'b')
    for (const [value, status] of values) {
      assert.equal((await react(app, 'a', id, value)).status, status, value)
    }
    const fit = values.filter(([, status]) => status === 200).map(([value]) => value)
    const kept = (await shown(app, id)).map((one: { reaction: string }) => one.reaction)
    assert.deepEqual(kept, fit)
    const path = `/v3/messages/${id}/reactions/${encodeURIComponent('a/b')}`
    assert.equal((await app.call('GET', path)).body.data.length, 1)
  })

  test('refuses interactive, action and deleted messages', async () => {
    const app = await newGroup()
    const url = 'https://files.example/a.png'
    const more = {
      image: { type: 'image', data: { attachments: [{ url }] } },
      custom: { category: 'custom', type: 'poll', data: { customData: {} } },
      card: { category: 'interactive', data: { interactiveData: {} } },
    }
    assert.equal((await react(app, 'p', await say(app, 'p', 'g', more.image))).status, 200)
    assert.equal((await react(app, 'p', await say(app, 'p', 'g', more.custom))).status, 200)
    const not = 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
    await refused(react(app, 'p', await say(app, 'p', 'g', more.card)), not)
    const [action] = (await app.as('p').messages.listGroup('g')).data
    assert.equal(action?.category, 'action')
    await refused(react(app, 'p', action.id), not)
    const deleted = await say(app, 'p', 'g')
    await app.client.messages.delete(deleted)
    const { error } = (await react(app, 'p', deleted)).body
    assert.deepEqual([error.code, error.devMessage], [not, 'The message was deleted.'])
    assert.equal((await react(app, 'p', deleted, UP, 'DELETE')).status, 200)
  })

  test('keeps to the limit of values, even when all requests arrive at once', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await storeSettings(server.deps, app, { 'limits.reactionsPerMessage': 5 })
    await until('the limit is known', async () => {
      const probe = await say(app, 'a', 'b')
      for (let nth = 0; nth < 5; nth++) await react(app, 'a', probe, `r${nth}`)
      return (await react(app, 'a', probe, 'r5')).status === 403
    })
    const id = await say(app, 'a', 'b')
    const all = Array.from({ length: 12 }, (_, nth) =>
      react(app, nth % 2 ? 'a' : 'b', id, `r${nth}`),
    )
    const codes = (await Promise.all(all)).map(({ body }) => body.error?.code)
    assert.equal(codes.filter((code) => code === 'ERR_PLAN_QUOTA_RESTRICTION').length, 7)
    const [known] = await shown(app, id)
    assert.equal((await react(app, 'a', id, known.reaction)).status, 200)
    await assertVerified(app)
  })

  test('counts a user once per message, whatever requests arrive at once', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const id = await say(app, 'a', 'b')
    const same = Array.from({ length: 20 }, (_, nth) =>
      react(app, 'a', id, UP, nth % 3 === 2 ? 'DELETE' : 'POST'),
    )
    for (const { status } of await Promise.all(same)) assert.equal(status, 200)
    await react(app, 'a', id)
    assert.deepEqual(await shown(app, id), [{ reaction: UP, count: 1 }])
    const types = (await app.eventTypes()).filter((type) => type.startsWith('message.reaction'))
    const expected = types.map((_, nth) =>
      nth % 2 ? 'message.reaction.removed' : 'message.reaction.added',
    )
    assert.deepEqual(types, expected)
    await assertVerified(app)
  })

  test('acts once when it is retried with the same Idempotency-Key', async () => {
    const app = await server.newApp()
    const [a] = await app.users('a', 'b')
    const { id } = await a.sendText('b')
    const add = (reaction: string) => a.messages.addReaction(id, reaction, { idempotencyKey: 'k1' })
    await add('one')
    await a.messages.removeReaction(id, 'one')
    assert.equal((await add('one')).data.reactions, undefined)
    await refused(add('two'), 'ERR_IDEMPOTENCY_KEY_REUSED')
  })
})

suite('the right to react', () => {
  const NO = 'ERR_MESSAGE_NO_ACCESS'
  const table: [string, string | undefined][] = [
    ['o', undefined],
    ['m', undefined],
    ['p', undefined],
    ['q', undefined],
    ['s', NO],
    ['b', NO],
  ]
  test('in a group belongs to its members', async () => {
    const app = await newGroup()
    const id = await say(app, 'p', 'g')
    for (const [uid, code] of table) {
      assert.equal(await codeOf(react(app, uid, id)), code, uid)
      assert.equal(await codeOf(react(app, uid, id, UP, 'DELETE')), code, uid)
      const lists = [`/v3/messages/${id}/reactions`, `/v3/messages/${id}/reactions/x`]
      for (const path of lists) assert.equal(await codeOf(app.as(uid).call('GET', path)), code, uid)
    }
    await refused(app.call('POST', `/v3/messages/${id}/reactions/x`), 'ERR_BAD_REQUEST')
    await app.client.messages.listReactions(id)
    await app.client.groupMembers.kick('g', 'q')
    await refused(react(app, 'q', id), NO)
  })

  test('in a 1:1 conversation belongs to both users, unless one blocks the other or has cleared it', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    const id = await say(app, 'a', 'b')
    await refused(react(app, 'c', id), NO)
    await react(app, 'b', id)
    await app.client.blockedUsers.block('a', { blockedUids: ['b'] })
    await refused(react(app, 'a', id), 'ERR_BLOCKED_RECEIVER')
    await refused(react(app, 'b', id, HEART), 'ERR_BLOCKED_SENDER')
    assert.equal(await codeOf(react(app, 'b', id, UP, 'DELETE')), undefined)
    await app.client.blockedUsers.unblock('a', { blockedUids: ['b'] })
    const conversationWith = { conversationWith: 'a' }
    await app.as('b').conversations.resetUser('a', conversationWith)
    await refused(react(app, 'b', id), 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.equal(await codeOf(react(app, 'a', id)), undefined)
  })
})

suite('listMessageReactions', () => {
  test('pages in both directions, over all reactions or those of one value', async () => {
    const uids = ['u1', 'u2', 'u3', 'u4', 'u5']
    const app = await server.newApp()
    await app.users(...uids)
    await app.client.groups.create({ guid: 'g', name: 'G' })
    await app.client.groupMembers.add('g', { participants: uids })
    const id = await say(app, 'u1', 'g')
    for (const uid of uids) await react(app, uid, id, uid === 'u3' ? HEART : UP)
    const list = async (value: string, query: string) => {
      const path = `/v3/messages/${id}/reactions${value && `/${encodeURIComponent(value)}`}`
      const { data, meta } = (await app.call('GET', `${path}?${query}`)).body
      return { uids: data.map((one: { uid: string }) => one.uid).join(' '), ...meta }
    }
    const first = await list('', 'limit=2')
    assert.deepEqual([first.uids, first.current], ['u1 u2', { limit: 2, count: 2 }])
    assert.equal(first.next.affix, 'append')
    const second = await list('', `limit=2&affix=append&id=${first.next.id}`)
    assert.equal(second.uids, 'u3 u4')
    const last = await list('', 'limit=2&affix=prepend')
    assert.equal(last.uids, 'u4 u5')
    assert.equal((await list('', `limit=9&affix=prepend&id=${last.next.id}`)).uids, 'u1 u2 u3')
    assert.deepEqual((await list('', '')).current, { limit: 100, count: 5 })
    assert.equal((await list(UP, `limit=2&affix=append&id=${first.next.id}`)).uids, 'u4 u5')
    assert.equal((await list(UP, 'limit=3&affix=prepend')).uids, 'u2 u4 u5')
    assert.deepEqual([(await list('none', '')).uids, (await list(HEART, '')).next], ['', undefined])
  })
})

suite('reactions', () => {
  test('are removed with their message, their user and their group', async () => {
    const app = await newGroup()
    const worker = await serve(readConfig(server.env), ['worker'])
    try {
      const [soft, hard, kept] = [
        await say(app, 'p', 'g'),
        await say(app, 'p', 'g'),
        await say(app, 'p', 'g'),
      ]
      for (const id of [soft, hard, kept]) {
        for (const uid of ['o', 'm', 'q']) await react(app, uid, id)
      }
      await app.client.messages.delete(soft)
      await app.client.messages.delete(hard, { permanent: true })
      assert.equal(await shown(app, soft), undefined)
      assert.deepEqual((await app.client.messages.listReactions(soft)).data, [])
      await until(
        'only the reactions to the third are left',
        async () => (await rows(app, 'reactions')) === 3,
      )
      await until('nothing waits', async () => (await rows(app, 'gone_messages')) === 0)
      assert.equal(await rows(app, 'reaction_counts'), 1)

      await app.client.users.delete('q', { permanent: true })
      assert.deepEqual(await shown(app, kept), [{ reaction: UP, count: 2 }])
      await assertVerified(app)
      await app.client.groups.delete('g')
      await until('nothing is left', async () => (await rows(app, 'reactions')) === 0)
      await until('nothing waits', async () => (await rows(app, 'gone_messages')) === 0)
      assert.equal(await rows(app, 'reaction_counts'), 0)
      await assertVerified(app)
    } finally {
      await worker.drain()
    }
  })

  test('of a user who is being removed leave nothing behind', async () => {
    const app = await newGroup()
    const ids: string[] = []
    for (let nth = 0; nth < 8; nth++) ids.push(await say(app, 'p', 'g'))
    const reacting = ids.map((id) => react(app, 'q', id))
    const removal = app.call('DELETE', '/v3/users/q', { body: { permanent: true } })
    const answers = await Promise.all([...reacting, removal])
    for (const { status } of answers) assert.ok([200, 403, 404].includes(status), String(status))
    assert.equal(await rows(app, 'reactions'), 0)
    assert.equal(await rows(app, 'reaction_counts'), 0)
    await assertVerified(app)
  })

  test('to a message that is being deleted leave nothing behind', async () => {
    const app = await newGroup()
    for (let round = 0; round < 5; round++) {
      const id = await say(app, 'p', 'g')
      const all = ['o', 'm', 'p', 'q'].map((uid) => react(app, uid, id))
      const removal = app.call('DELETE', `/v3/messages/${id}`, {
        body: { permanent: round % 2 > 0 },
      })
      for (const { status } of await Promise.all([...all, removal])) {
        assert.ok([200, 403, 404].includes(status), String(status))
      }
    }
    await assertVerified(app)
  })
})
