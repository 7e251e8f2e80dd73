/** Which of a user's marks others learn about, and which only the user's own devices do. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { holdLock, whileWaiting } from '../../../test/locks.ts'
import { rows } from '../../../test/log-writers.ts'

const server = useServer()

/** An app with users and a group g of all of them. */
async function newTeam(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  await app.users(...uids)
  const members = { participants: uids.slice(1) }
  await app.client.groups.create({ guid: 'g', name: 'G', owner: uids[0], members })
  return app
}

async function say(app: TestApp, sender: string, receiver: string): Promise<string> {
  const receiverType = receiver === 'g' ? 'group' : 'user'
  return (await app.as(sender).sendText(receiver, 'Hello', { receiverType })).id
}

const pathTo = (other: string) => `/v3/${other === 'g' ? 'groups' : 'users'}/${other}/conversation`

async function mark(app: TestApp, uid: string, other: string, what: 'delivered' | 'read') {
  assert.equal((await app.as(uid).call('POST', `${pathTo(other)}/${what}`)).status, 200)
}

/** The events about marks so far. */
const markEvents = async (app: TestApp) =>
  (await app.events())
    .filter(({ type }) => /^conversation\.(delivered|read|mark\.moved)$/.test(type))
    .map(({ type, payload: { uid, messageId, messageSender, senders } }) => [
      type.slice('conversation.'.length),
      ...[uid, messageId, messageSender, ...(senders ? [[...senders].sort()] : [])],
    ])

const marks = async (app: TestApp) =>
  (await rows(app.cell.db, 'select from marks where app_no = $1', [app.no])).length

const unread = async (app: TestApp, uid: string, other: string) =>
  (await app.as(uid).call('GET', pathTo(other))).body.data.unreadMessageCount

suite('receipts', () => {
  test("in 1:1 conversations are for the other user's messages, never for one's own", async () => {
    const app = await newTeam('a', 'b')
    const own = await say(app, 'a', 'b')
    await mark(app, 'a', 'b', 'delivered')
    assert.deepEqual([await markEvents(app), await marks(app)], [[], 0])
    await mark(app, 'a', 'b', 'read')
    const moved = [['mark.moved', 'a', own, 'a']]
    assert.deepEqual([await markEvents(app), await marks(app)], [moved, 0], 'for own devices only')

    const theirs = await say(app, 'b', 'a')
    await say(app, 'a', 'b')
    await mark(app, 'a', 'b', 'delivered')
    await mark(app, 'a', 'b', 'read')
    for (const what of ['delivered', 'read'] as const) await mark(app, 'a', 'b', what)
    const both = [
      ['delivered', 'a', theirs, 'b'],
      ['read', 'a', theirs, 'b'],
    ]
    assert.deepEqual(await markEvents(app), [...moved, ...both], 'once')
    assert.equal(await marks(app), 2)
    const message = await app.client.messages.get(theirs)
    assert.ok(message.readAt)
    assert.equal(await unread(app, 'a', 'b'), '0')
  })

  test("in a group are for the other members' messages", async () => {
    const app = await newTeam('a', 'b', 'c')
    for (const uid of ['a', 'b', 'c']) await mark(app, uid, 'g', 'read')
    const before = await markEvents(app)
    await say(app, 'a', 'g')
    await mark(app, 'a', 'g', 'delivered')
    const own = await say(app, 'a', 'g')
    await mark(app, 'a', 'g', 'read')
    await say(app, 'b', 'g')
    const last = await say(app, 'c', 'g')
    await say(app, 'a', 'g')
    await mark(app, 'a', 'g', 'read')
    assert.deepEqual((await markEvents(app)).slice(before.length), [
      ['mark.moved', 'a', own, 'a'],
      ['read', 'a', last, 'c', ['b', 'c']],
    ])
    assert.equal(await unread(app, 'a', 'g'), '0')
  })

  for (const to of ['b', 'g']) {
    test(`name the message, not the action message of an edit or deletion: ${to}`, async () => {
      const app = await newTeam('a', 'b', 'c')
      const from = to === 'g' ? 'g' : 'a'
      await mark(app, 'b', 'g', 'read')
      const before = (await markEvents(app)).length
      const [first, second, third] = [
        await say(app, 'a', to),
        await say(app, 'a', to),
        await say(app, 'a', to),
      ]
      const edit = (id: string) => app.as('a').messages.update(id, { data: { text: 'New' } })
      await edit(first)
      await mark(app, 'b', from, 'delivered')
      await app.as('a').messages.delete(third)
      await mark(app, 'b', from, 'read')
      const { id: again } = await edit(second)
      await mark(app, 'b', from, 'read')
      const senders = to === 'g' ? [['a']] : []
      assert.deepEqual((await markEvents(app)).slice(before), [
        ['delivered', 'b', third, 'a', ...senders],
        ['read', 'b', third, 'a', ...senders],
        ['mark.moved', 'b', again, 'a'],
      ])
      const path = `/v3/${to === 'g' ? 'groups' : 'users'}/${from}/messages?undelivered=true`
      const undelivered = await app.as('b').call('GET', path)
      assert.deepEqual(undelivered.body.data, [], 'nothing stays undelivered')
    })
  }

  test('go to own devices only for messages that are read a second time', async () => {
    const app = await newTeam('a', 'b')
    const [first, second] = [await say(app, 'a', 'b'), await say(app, 'a', 'b')]
    await mark(app, 'b', 'a', 'read')
    const body = { messageId: first }
    await app.as('b').conversations.markUserUnread('a', body)
    assert.equal(await unread(app, 'b', 'a'), '1')
    await mark(app, 'b', 'a', 'read')
    assert.deepEqual(await markEvents(app), [
      ['read', 'b', second, 'a'],
      ['mark.moved', 'b', second, 'a'],
    ])
    assert.equal(await unread(app, 'b', 'a'), '0')
  })

  for (const [by, whom] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const) {
    test(`stop while ${by} blocks ${whom}, but unread counts still change`, async () => {
      const app = await newTeam('a', 'b')
      const id = await say(app, 'a', 'b')
      const blocked = { body: { blockedUids: [whom] } }
      await app.call('POST', `/v3/users/${by}/blockedusers`, blocked)
      await mark(app, 'b', 'a', 'delivered')
      await mark(app, 'b', 'a', 'read')
      const shown = async () => {
        const message = await app.as('a').messages.get(id)
        const listed = (await app.client.messages.listReceipts(id)).data
        return [message.deliveredAt, message.readAt, listed.length]
      }
      assert.deepEqual(await shown(), [undefined, undefined, 0])
      assert.deepEqual(await markEvents(app), [['mark.moved', 'b', id, 'a']])
      assert.equal(await unread(app, 'b', 'a'), '0')
      const undelivered = await app.as('b').call('GET', '/v3/users/a/messages?undelivered=true')
      assert.deepEqual(undelivered.body.data, [], 'read messages count as delivered')
      await app.call('DELETE', `/v3/users/${by}/blockedusers`, blocked)
      await mark(app, 'b', 'a', 'read')
      assert.deepEqual((await markEvents(app)).at(-1), ['read', 'b', id, 'a'])
      assert.equal((await shown())[2], 1)
    })
  }

  test('name the sender of a message that arrives while the mark waits', async () => {
    const app = await newTeam('a', 'b', 'c')
    await mark(app, 'b', 'g', 'read')
    const row = `select from inbox where app_no = $1 and uid = 'b' and with_id = 'g' for update`
    const held = await holdLock(app, row, [app.no])
    let id = ''
    await whileWaiting(held, mark(app, 'b', 'g', 'read'), async () => {
      id = await say(app, 'c', 'g')
    })
    assert.deepEqual((await markEvents(app)).at(-1), ['read', 'b', id, 'c', ['c']])
  })
})
