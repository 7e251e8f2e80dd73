import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { until } from '../../../test/until.ts'
import { readConfig } from '../../config.ts'
import { serve } from '../../serve.ts'
import { verify } from '../../verify/verify.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()
const as = (uid: string) => ({ headers: { onbehalfof: uid } })
const UP = '\u{1F44D}'
const HEART = '\u2764\uFE0F'

async function appWithUsers(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of uids) await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  return app
}

/** The group g: owner and admin o, moderator m, participants p and q, stranger s; b is banned. */
async function appWithGroup(): Promise<TestApp> {
  const app = await appWithUsers('o', 'm', 'p', 'q', 's', 'b')
  await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G', owner: 'o' } })
  const body = { moderators: ['m'], participants: ['p', 'q'], usersToBan: ['b'] }
  await app.call('POST', '/v3/groups/g/members', { body })
  return app
}

async function say(app: TestApp, from: string, to: string, more: object = {}): Promise<string> {
  const receiverType = to === 'g' ? 'group' : 'user'
  const body = { receiver: to, receiverType, data: { text: 'Hello' }, ...more }
  return (await app.call('POST', '/v3/messages', { ...as(from), body })).body.data.id
}

const react = (app: TestApp, uid: string, id: string, reaction = UP, method = 'POST') =>
  app.call(method, `/v3/messages/${id}/reactions/${encodeURIComponent(reaction)}`, as(uid))
const codeOf = async (answer: ReturnType<TestApp['call']>) => (await answer).body.error?.code

const shown = async (app: TestApp, id: string, uid?: string) =>
  (await app.call('GET', `/v3/messages/${id}`, uid ? as(uid) : {})).body.data.data.reactions

async function rows(app: TestApp, table: string): Promise<number> {
  const text = `select count(*) from ${table} where app_no = $1`
  const { rows } = await app.cell.db.query<{ count: number }>({ name: '', text, values: [app.no] })
  return rows[0]?.count ?? 0
}

const assertVerified = async (app: TestApp) => assert.deepEqual(await verify(app.cell, app.no), [])

suite('a reaction', () => {
  test('is added once, seen by all, and taken back', async () => {
    const app = await appWithUsers('a', 'b')
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
    const page = await app.call('GET', '/v3/users/a/messages', as('b'))
    assert.deepEqual(page.body.data[0].data.reactions, [both, heart])
    const views = await app.call('GET', '/v3/conversations', as('b'))
    assert.deepEqual(views.body.data[0].lastMessage.data.reactions, [both, heart])
    const whole = await app.call('GET', '/v3/conversations')
    assert.equal(whole.body.data[0].lastMessage.data.reactions[0].reactedByMe, undefined)

    await react(app, 'b', id, UP, 'DELETE')
    const left = await react(app, 'b', id, UP, 'DELETE')
    assert.deepEqual(left.body.data.data.reactions, [{ reaction: UP, count: 1 }, heart])
    await react(app, 'a', id, UP, 'DELETE')
    await react(app, 'a', id, HEART, 'DELETE')
    assert.equal(await shown(app, id, 'a'), undefined)
    const told = (await app.eventTypes()).filter((type) => type.startsWith('message.reaction'))
    const added = Array(3).fill('message.reaction.added')
    assert.deepEqual(told, [...added, ...Array(3).fill('message.reaction.removed')])
    await assertVerified(app)
  })

  test('is told with who reacted, and where', async () => {
    const app = await appWithGroup()
    const id = await say(app, 'p', 'g')
    await react(app, 'q', id, 'a "quoted" \\ text')
    const text = `select payload from outbox
      where app_no = $1 and type = 'message.reaction.added'`
    const { rows } = await app.cell.db.query<{ payload: Record<string, unknown> }>({
      ...{ name: '', text, values: [app.no] },
    })
    const [{ payload }] = rows as [{ payload: Record<string, unknown> }]
    const listed = (await app.call('GET', `/v3/messages/${id}/reactions`)).body.data
    assert.deepEqual(payload, {
      ...{ reaction: listed[0], conversationId: 'group_g', receiverType: 'group', receiver: 'g' },
    })
    assert.equal(listed[0].reactedBy.uid, 'q')
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
  test('is any text of 1 to 64 code units', async () => {
    const app = await appWithUsers('a', 'b')
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

  test('needs a message that can have one', async () => {
    const app = await appWithGroup()
    const url = 'https://files.example/a.png'
    const more = {
      image: { type: 'image', data: { attachments: [{ url }] } },
      custom: { category: 'custom', type: 'poll', data: { customData: {} } },
      card: { category: 'interactive', data: { interactiveData: {} } },
    }
    assert.equal((await react(app, 'p', await say(app, 'p', 'g', more.image))).status, 200)
    assert.equal((await react(app, 'p', await say(app, 'p', 'g', more.custom))).status, 200)
    const not = 'ERR_MESSAGE_ACTION_NOT_ALLOWED'
    assert.equal(await codeOf(react(app, 'p', await say(app, 'p', 'g', more.card))), not)
    const { data } = (await app.call('GET', '/v3/groups/g/messages', as('p'))).body
    assert.equal(data[0].category, 'action')
    assert.equal(await codeOf(react(app, 'p', data[0].id)), not)
    const deleted = await say(app, 'p', 'g')
    await app.call('DELETE', `/v3/messages/${deleted}`)
    const { error } = (await react(app, 'p', deleted)).body
    assert.deepEqual([error.code, error.devMessage], [not, 'The message was deleted.'])
    assert.equal((await react(app, 'p', deleted, UP, 'DELETE')).status, 200)
  })

  test('of many values: up to the limit, also when all come at once', async () => {
    const app = await appWithUsers('a', 'b')
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

  test('of a user and a message once, whatever comes at once', async () => {
    const app = await appWithUsers('a', 'b')
    const id = await say(app, 'a', 'b')
    const same = Array.from({ length: 20 }, (_, nth) =>
      react(app, 'a', id, UP, nth % 3 === 2 ? 'DELETE' : 'POST'),
    )
    for (const { status } of await Promise.all(same)) assert.equal(status, 200)
    await react(app, 'a', id)
    assert.deepEqual(await shown(app, id), [{ reaction: UP, count: 1 }])
    const told = (await app.eventTypes()).filter((type) => type.startsWith('message.reaction'))
    const expected = told.map((_, nth) =>
      nth % 2 ? 'message.reaction.removed' : 'message.reaction.added',
    )
    assert.deepEqual(told, expected)
    await assertVerified(app)
  })

  test('with an Idempotency-Key acts once', async () => {
    const app = await appWithUsers('a', 'b')
    const id = await say(app, 'a', 'b')
    const headers = { onbehalfof: 'a', 'idempotency-key': 'k1' }
    const post = (reaction: string) =>
      app.call('POST', `/v3/messages/${id}/reactions/${reaction}`, { headers })
    assert.equal((await post('one')).status, 200)
    await react(app, 'a', id, 'one', 'DELETE')
    assert.equal((await post('one')).body.data.data.reactions, undefined)
    assert.equal(await codeOf(post('two')), 'ERR_IDEMPOTENCY_KEY_REUSED')
  })
})

suite('who may', () => {
  const NO = 'ERR_MESSAGE_NO_ACCESS'
  const table: [string, string | undefined][] = [
    ['o', undefined],
    ['m', undefined],
    ['p', undefined],
    ['q', undefined],
    ['s', NO],
    ['b', NO],
  ]
  test('in a group: members, and nobody else', async () => {
    const app = await appWithGroup()
    const id = await say(app, 'p', 'g')
    for (const [uid, code] of table) {
      assert.equal(await codeOf(react(app, uid, id)), code, uid)
      assert.equal(await codeOf(react(app, uid, id, UP, 'DELETE')), code, uid)
      const lists = [`/v3/messages/${id}/reactions`, `/v3/messages/${id}/reactions/x`]
      for (const path of lists)
        assert.equal(await codeOf(app.call('GET', path, as(uid))), code, uid)
    }
    const app_ = await app.call('POST', `/v3/messages/${id}/reactions/x`)
    assert.equal(app_.body.error.code, 'ERR_BAD_REQUEST')
    assert.equal((await app.call('GET', `/v3/messages/${id}/reactions`)).status, 200)
    await app.call('DELETE', '/v3/groups/g/members/q')
    assert.equal(await codeOf(react(app, 'q', id)), NO)
  })

  test('between two: both, unless one blocks the other or has cleared it away', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    const id = await say(app, 'a', 'b')
    assert.equal(await codeOf(react(app, 'c', id)), NO)
    await react(app, 'b', id)
    await app.call('POST', '/v3/users/a/blockedusers', { body: { blockedUids: ['b'] } })
    assert.equal(await codeOf(react(app, 'a', id)), 'ERR_BLOCKED_RECEIVER')
    assert.equal(await codeOf(react(app, 'b', id, HEART)), 'ERR_BLOCKED_SENDER')
    assert.equal(await codeOf(react(app, 'b', id, UP, 'DELETE')), undefined)
    await app.call('DELETE', '/v3/users/a/blockedusers', { body: { blockedUids: ['b'] } })
    const conversationWith = { conversationWith: 'a' }
    await app.call('DELETE', '/v3/users/a/conversation', { ...as('b'), body: conversationWith })
    assert.equal(await codeOf(react(app, 'b', id)), 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.equal(await codeOf(react(app, 'a', id)), undefined)
  })
})

suite('lists of reactions', () => {
  test('in both directions, all or of one value', async () => {
    const uids = ['u1', 'u2', 'u3', 'u4', 'u5']
    const app = await appWithUsers(...uids)
    await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G' } })
    await app.call('POST', '/v3/groups/g/members', { body: { participants: uids } })
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

suite('reactions go', () => {
  test('with their message, their user, their group', async () => {
    const app = await appWithGroup()
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
      await app.call('DELETE', `/v3/messages/${soft}`)
      await app.call('DELETE', `/v3/messages/${hard}`, { body: { permanent: true } })
      assert.equal(await shown(app, soft), undefined)
      assert.deepEqual((await app.call('GET', `/v3/messages/${soft}/reactions`)).body.data, [])
      await until(
        'only those of the third are left',
        async () => (await rows(app, 'reactions')) === 3,
      )
      await until('nothing waits', async () => (await rows(app, 'gone_messages')) === 0)
      assert.equal(await rows(app, 'reaction_counts'), 1)

      await app.call('DELETE', '/v3/users/q', { body: { permanent: true } })
      assert.deepEqual(await shown(app, kept), [{ reaction: UP, count: 2 }])
      await assertVerified(app)
      await app.call('DELETE', '/v3/groups/g')
      await until('nothing is left', async () => (await rows(app, 'reactions')) === 0)
      await until('nothing waits', async () => (await rows(app, 'gone_messages')) === 0)
      assert.equal(await rows(app, 'reaction_counts'), 0)
      await assertVerified(app)
    } finally {
      await worker.drain()
    }
  })

  test('of a user removed while it reacts', async () => {
    const app = await appWithGroup()
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

  test('of a message deleted while many react', async () => {
    const app = await appWithGroup()
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
