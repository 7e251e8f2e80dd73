/** Many requests at once on one conversation. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { verify } from '../src/verify/verify.ts'
import { type Answer, refused, type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { until } from './until.ts'

const server = useServer({ roles: ['api', 'worker'], env: { LOQUAT_POOL_SIZE: '64' } })

const SENDERS = 64
const EACH = 5

const send = (app: TestApp, sender: string, receiverType: string, receiver: string) =>
  app
    .as(sender)
    .call('POST', '/v3/messages', { body: { receiver, receiverType, data: { text: 'Hello' } } })

const verified = async ({ cell, no }: TestApp) => assert.deepEqual(await verify(cell, no), [])

async function newGroup(app: TestApp, guid: string, participants: string[], owner?: string) {
  await app.client.groups.create({ guid, name: guid, type: 'public', ...(owner && { owner }) })
  for (let from = 0; from < participants.length; from += 25) {
    const some = participants.slice(from, from + 25)
    await app.client.groupMembers.add(guid, { participants: some })
  }
}

const statusesOf = (answers: Answer[]) => [...new Set(answers.map(({ status }) => status))].sort()
const codesOf = (answers: Answer[]) =>
  [...new Set(answers.map(({ body }) => body.error?.code ?? 'ok'))].sort()

/** The app's messages in the order of their conversations, and its events by position. */
async function messagesAndEvents({ cell, no }: TestApp, count: number) {
  const messages = await rows<{ id: string; counted: number }>(
    cell.db,
    `select id::text, counted from messages where app_no = ${no} order by conversation, id`,
  )
  const events = await until('all events have positions', async () => {
    const logged = await rows<{ id: string }>(
      cell.db,
      `select coalesce(payload -> 'message' ->> 'id', '') as id from events
       where app_no = ${no} and payload -> 'message' is not null order by position`,
    )
    return logged.length >= count && logged
  })
  return { messages, events }
}

suite(`${SENDERS} simultaneous senders`, () => {
  const uids = Array.from({ length: SENDERS }, (_, n) => `u${n}`)

  test('to one group leave no gap, and ids, counts and positions in the same order', async () => {
    const app = await server.newApp()
    await app.users(...uids)
    await newGroup(app, 'g', uids)
    const before = SENDERS
    const answers = await Promise.all(
      uids.map(async (uid) => {
        const own: Answer[] = []
        for (let n = 0; n < EACH; n++) own.push(await send(app, uid, 'group', 'g'))
        return own
      }),
    )
    assert.deepEqual(statusesOf(answers.flat()), [200])
    const count = before + SENDERS * EACH
    const { messages, events } = await messagesAndEvents(app, count)
    assert.deepEqual(
      messages.map(({ counted }) => counted),
      Array.from({ length: count }, (_, n) => n + 1),
    )
    assert.deepEqual(
      events.map(({ id }) => id),
      messages.map(({ id }) => id),
    )
    const view = await app.as('u0').call('GET', '/v3/groups/g/conversation')
    // The messages about members who were added later, and those of the others.
    assert.equal(view.body.data.unreadMessageCount, String(SENDERS + (SENDERS - 1) * EACH))
    await verified(app)
  })

  test('from both sides of one conversation leave exact counts, with marks in between', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await Promise.all(
      uids.map(async (_, n) => {
        const [me, other] = n % 2 ? (['a', 'b'] as const) : (['b', 'a'] as const)
        for (let nth = 0; nth < EACH; nth++) {
          assert.equal((await send(app, me, 'user', other)).status, 200)
          if (n % 4 < 2) await app.as(me).conversations.markUserRead(other)
        }
      }),
    )
    await verified(app)
    for (const [me, other] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const) {
      await app.as(me).conversations.markUserRead(other)
      const view = await app.as(me).call('GET', `/v3/users/${other}/conversation`)
      assert.equal(view.body.data.unreadMessageCount, '0')
    }
  })
})

suite('simultaneous requests', () => {
  test('that send the first message of two users create one conversation', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        n % 2 ? send(app, 'a', 'user', 'b') : send(app, 'b', 'user', 'a'),
      ),
    )
    assert.deepEqual(statusesOf(answers), [200])
    const heads = await rows(app.cell.db, `select no from conversations where app_no = ${app.no}`)
    assert.equal(heads.length, 1)
    await verified(app)
  })

  test('of a member who is being kicked leave no message after the kick', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await newGroup(app, 'g', ['b'], 'a')
    const sending = Array.from({ length: 20 }, () => send(app, 'b', 'group', 'g'))
    const kicked = await app.as('a').call('DELETE', '/v3/groups/g/members/b')
    const late = await send(app, 'b', 'group', 'g')
    const answers = await Promise.all(sending)
    assert.deepEqual([kicked.status, late.body.error.code], [200, 'ERR_GROUP_NOT_JOINED'])
    for (const code of codesOf(answers)) assert.match(code, /^(ok|ERR_GROUP_NOT_JOINED)$/)
    const { data } = await app.client.messages.listGroup('g', { limit: 1000 })
    const said = data.filter((message: { category: string }) => message.category === 'message')
    assert.equal(said.length, answers.filter(({ status }) => status === 200).length)
    assert.equal(data.at(-1)?.data.action, 'kicked', 'no message follows it')
    await verified(app)
  })

  test('to ban a user who is joining end with the ban', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    await newGroup(app, 'g', [], 'a')
    const joining = Array.from({ length: 5 }, () =>
      app.as('b').call('POST', '/v3/groups/g/join', { body: {} }),
    )
    const banned = await app.as('a').call('POST', '/v3/groups/g/bannedusers/b')
    await Promise.all(joining)
    assert.equal(banned.status, 200)
    await refused(send(app, 'b', 'group', 'g'), 'ERR_BANNED_GROUPMEMBER')
    await verified(app)
  })

  test('to transfer a group end with one owner', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    await newGroup(app, 'g', ['b', 'c'], 'a')
    const answers = await Promise.all(
      ['b', 'c'].map((owner) => app.as('a').call('PUT', '/v3/groups/g/owner', { body: { owner } })),
    )
    assert.equal(answers.filter(({ status }) => status === 200).length, 1)
    await verified(app)
  })

  test('of and to a user who is being removed leave nothing of the user', async () => {
    const app = await server.newApp()
    await app.users('a', 'b', 'c')
    await newGroup(app, 'g', ['b', 'c'], 'a')
    const writing = Array.from({ length: 24 }, (_, n) => {
      if (n % 3 === 0) return send(app, 'b', 'group', 'g')
      return n % 3 === 1 ? send(app, 'b', 'user', 'c') : send(app, 'a', 'user', 'b')
    })
    const removed = await app.call('DELETE', '/v3/users/b', { body: { permanent: true } })
    assert.equal(removed.status, 200)
    for (const code of codesOf(await Promise.all(writing))) {
      assert.match(code, /^(ok|ERR_UID_NOT_FOUND|ERR_GROUP_NOT_JOINED)$/)
    }
    const left = await rows(
      app.cell.db,
      `select 1 from messages where app_no = ${app.no} and sender = 'b'
       union all select 1 from inbox where app_no = ${app.no} and 'b' in (uid, with_id)`,
    )
    assert.deepEqual(left, [])
    await verified(app)
  })

  test('to delete the same message leave an exact count', async () => {
    const app = await server.newApp()
    await app.users('a', 'b')
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push((await send(app, 'a', 'user', 'b')).body.data.id)
    await Promise.all(
      ids.flatMap((id) => [
        app.as('a').call('DELETE', `/v3/messages/${id}`),
        app.call('DELETE', `/v3/messages/${id}`, { body: { permanent: true } }),
        app.as('b').call('POST', '/v3/users/a/conversation/read', { body: { messageId: id } }),
      ]),
    )
    const view = await app.as('b').call('GET', '/v3/users/a/conversation')
    assert.equal(view.body.data.unreadMessageCount, '0')
    await verified(app)
  })
})
