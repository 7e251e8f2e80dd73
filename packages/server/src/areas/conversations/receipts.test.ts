/** What others are told of a user's marks, and what only the user's own devices are. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { hold, whileWaiting } from '../../../test/hold-keys.ts'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'

const server = useServer()
const as = (uid: string) => ({ headers: { onbehalfof: uid } })

/** With a group g of all of them. */
async function appWithUsers(...uids: string[]): Promise<TestApp> {
  const app = await server.newApp()
  for (const uid of uids) await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  const members = { participants: uids.slice(1) }
  await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G', owner: uids[0], members } })
  return app
}

async function say(app: TestApp, sender: string, receiver: string): Promise<string> {
  const receiverType = receiver === 'g' ? 'group' : 'user'
  const body = { receiver, receiverType, data: { text: 'Hello' } }
  return (await app.call('POST', '/v3/messages', { ...as(sender), body })).body.data.id
}

const pathTo = (other: string) => `/v3/${other === 'g' ? 'groups' : 'users'}/${other}/conversation`

async function mark(app: TestApp, uid: string, other: string, what: 'delivered' | 'read') {
  assert.equal((await app.call('POST', `${pathTo(other)}/${what}`, as(uid))).status, 200)
}

interface Told {
  type: string
  payload: { uid: string; messageId: string; messageSender?: string; senders?: string[] }
}

/** The marks that were announced so far. */
const told = async (app: TestApp) =>
  (
    await rows<Told>(
      app.cell.db,
      `select type, payload from outbox where app_no = $1
         and type in ('conversation.delivered', 'conversation.read', 'conversation.mark.moved')
       order by id`,
      [app.no],
    )
  ).map(({ type, payload: { uid, messageId, messageSender, senders } }) => [
    type.slice('conversation.'.length),
    ...[uid, messageId, messageSender, ...(senders ? [[...senders].sort()] : [])],
  ])

const marks = async (app: TestApp) =>
  (await rows(app.cell.db, 'select from marks where app_no = $1', [app.no])).length

const unread = async (app: TestApp, uid: string, other: string) =>
  (await app.call('GET', pathTo(other), as(uid))).body.data.unreadMessageCount

suite('receipts', () => {
  test('between two are of what the other sent, never of own messages', async () => {
    const app = await appWithUsers('a', 'b')
    const own = await say(app, 'a', 'b')
    await mark(app, 'a', 'b', 'delivered')
    assert.deepEqual([await told(app), await marks(app)], [[], 0])
    await mark(app, 'a', 'b', 'read')
    const moved = [['mark.moved', 'a', own, 'a']]
    assert.deepEqual([await told(app), await marks(app)], [moved, 0], 'of own devices alone')

    const theirs = await say(app, 'b', 'a')
    await say(app, 'a', 'b')
    await mark(app, 'a', 'b', 'delivered')
    await mark(app, 'a', 'b', 'read')
    for (const what of ['delivered', 'read'] as const) await mark(app, 'a', 'b', what)
    const both = [
      ['delivered', 'a', theirs, 'b'],
      ['read', 'a', theirs, 'b'],
    ]
    assert.deepEqual(await told(app), [...moved, ...both], 'once')
    assert.equal(await marks(app), 2)
    const message = (await app.call('GET', `/v3/messages/${theirs}`)).body.data
    assert.ok(message.readAt > 0)
    assert.equal(await unread(app, 'a', 'b'), '0')
  })

  test('in a group are of what others sent', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    for (const uid of ['a', 'b', 'c']) await mark(app, uid, 'g', 'read')
    const before = await told(app)
    await say(app, 'a', 'g')
    await mark(app, 'a', 'g', 'delivered')
    const own = await say(app, 'a', 'g')
    await mark(app, 'a', 'g', 'read')
    await say(app, 'b', 'g')
    const last = await say(app, 'c', 'g')
    await say(app, 'a', 'g')
    await mark(app, 'a', 'g', 'read')
    assert.deepEqual((await told(app)).slice(before.length), [
      ['mark.moved', 'a', own, 'a'],
      ['read', 'a', last, 'c', ['b', 'c']],
    ])
    assert.equal(await unread(app, 'a', 'g'), '0')
  })

  test('what is read again is told to own devices alone', async () => {
    const app = await appWithUsers('a', 'b')
    const [first, second] = [await say(app, 'a', 'b'), await say(app, 'a', 'b')]
    await mark(app, 'b', 'a', 'read')
    const body = { messageId: first }
    await app.call('DELETE', '/v3/users/a/conversation/read', { ...as('b'), body })
    assert.equal(await unread(app, 'b', 'a'), '1')
    await mark(app, 'b', 'a', 'read')
    assert.deepEqual(await told(app), [
      ['read', 'b', second, 'a'],
      ['mark.moved', 'b', second, 'a'],
    ])
    assert.equal(await unread(app, 'b', 'a'), '0')
  })

  for (const [by, whom] of [
    ['a', 'b'],
    ['b', 'a'],
  ] as const) {
    test(`between two there are none while ${by} blocks ${whom}, and counts move`, async () => {
      const app = await appWithUsers('a', 'b')
      const id = await say(app, 'a', 'b')
      const blocked = { body: { blockedUids: [whom] } }
      await app.call('POST', `/v3/users/${by}/blockedusers`, blocked)
      await mark(app, 'b', 'a', 'delivered')
      await mark(app, 'b', 'a', 'read')
      const shown = async () => {
        const message = (await app.call('GET', `/v3/messages/${id}`, as('a'))).body.data
        const listed = (await app.call('GET', `/v3/messages/${id}/receipts`)).body.data
        return [message.deliveredAt, message.readAt, listed.length]
      }
      assert.deepEqual(await shown(), [undefined, undefined, 0])
      assert.deepEqual(await told(app), [['mark.moved', 'b', id, 'a']])
      assert.equal(await unread(app, 'b', 'a'), '0')
      const undelivered = await app.call('GET', '/v3/users/a/messages?undelivered=true', as('b'))
      assert.deepEqual(undelivered.body.data, [], 'what was read was delivered')
      await app.call('DELETE', `/v3/users/${by}/blockedusers`, blocked)
      await mark(app, 'b', 'a', 'read')
      assert.deepEqual((await told(app)).at(-1), ['read', 'b', id, 'a'])
      assert.equal((await shown())[2], 1)
    })
  }

  test('name the sender of a message that comes while the mark waits', async () => {
    const app = await appWithUsers('a', 'b', 'c')
    await mark(app, 'b', 'g', 'read')
    const row = `select from inbox where app_no = $1 and uid = 'b' and with_id = 'g' for update`
    const held = await hold(app, row, [app.no])
    let id = ''
    await whileWaiting(held, mark(app, 'b', 'g', 'read'), async () => {
      id = await say(app, 'c', 'g')
    })
    assert.deepEqual((await told(app)).at(-1), ['read', 'b', id, 'c', ['c']])
  })
})
