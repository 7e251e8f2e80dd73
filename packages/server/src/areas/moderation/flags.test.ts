import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { verify } from '../../verify/verify.ts'
import { storeSettings } from '../settings/actions.ts'

const server = useServer()

/** A group g of a, b, c and d, with a message of a. */
async function newApp(): Promise<{ app: TestApp; id: string }> {
  const app = await server.newApp()
  await app.users('a', 'b', 'c', 'd', 'outside')
  const members = { participants: ['b', 'c', 'd'] }
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a', members })
  const more = { receiverType: 'group' }
  return { app, id: (await app.as('a').sendText('g', 'buy <@uid:c>', more)).id }
}

const flag = (app: TestApp, uid: string, id: string, body: object = { reasonId: 'spam' }) =>
  app.as(uid).call('POST', `/v3/messages/${id}/flagged`, { body })
const decide = (app: TestApp, id: string, status: string) =>
  app.call('PATCH', `/v3/moderation/flagged-messages/${id}`, { body: { status } })
const flagged = async (app: TestApp) =>
  (await app.call('GET', '/v3/moderation/flagged-messages')).body.data
const unread = async (app: TestApp, uid: string) =>
  (await app.as(uid).call('GET', '/v3/groups/g/conversation')).body.data.unreadMessageCount
const clean = async (app: TestApp) => assert.deepEqual(await verify(app.cell, app.no), [])

suite('flagMessage', () => {
  test('counts each user once and keeps the last reason', async () => {
    const { app, id } = await newApp()
    await flag(app, 'b', id, { reasonId: 'harassment', remark: 'first' })
    await flag(app, 'b', id, { reasonId: 'spam', remark: 'again' })
    await flag(app, 'c', id)
    const [message, ...others] = await flagged(app)
    assert.deepEqual(others, [])
    assert.deepEqual([message.id, message.flaggedCount, message.appId], [id, 2, app.id])
    const [first, second] = message.flaggedBy
    assert.deepEqual(
      [first.uid, first.name, first.reasonId, first.remark],
      ['b', 'b', 'spam', 'again'],
    )
    assert.ok(first.reasonName && first.flaggedAt > 0)
    assert.deepEqual([second.uid, second.remark], ['c', undefined])
    const { body } = await app.as('d').call('GET', `/v3/messages/${id}`)
    assert.equal(body.data.deletedAt, undefined, 'flags alone hide nothing')
    await clean(app)
  })

  test('is for readers of the message, with a known reason', async () => {
    const { app, id } = await newApp()
    await refused(flag(app, 'outside', id), 'ERR_MESSAGE_NO_ACCESS')
    const { body } = await app.call(
      'DELETE',
      `/v3/messages/${(await app.as('a').sendText('b', 'x')).id}`,
    )
    await refused(flag(app, 'a', body.data.id), 'ERR_MESSAGE_ACTION_NOT_ALLOWED')
    await refused(flag(app, 'b', id, { reasonId: 'no-such' }), 'ERR_REASON_NOT_FOUND')
    await refused(flag(app, 'b', '999999'), 'ERR_MESSAGE_ID_NOT_FOUND')
    assert.deepEqual(await flagged(app), [])
  })

  test('hides the message after enough users, until a moderator approves it', async () => {
    const { app, id } = await newApp()
    await storeSettings(server.deps, app, { 'moderation.hideAfterFlags': 2 })
    const before = await unread(app, 'd')
    await flag(app, 'b', id)
    await flag(app, 'b', id)
    assert.equal(await unread(app, 'd'), before, 'one user flags twice')
    await flag(app, 'c', id)
    const hidden = (await app.as('d').call('GET', `/v3/messages/${id}`)).body.data
    assert.deepEqual([hidden.deletedBy, hidden.data.text], ['app_system', undefined])
    assert.equal(await unread(app, 'd'), String(Number(before) - 1))
    await clean(app)
    const { body } = await app.call('GET', '/v3/moderation/blocked-messages')
    assert.deepEqual(
      body.data.map(
        ({ reason, message }: { reason: string; message: { data: { text: string } } }) => [
          reason,
          message.data.text,
        ],
      ),
      [['Users flagged the message.', 'buy <@uid:c>']],
    )
    await app.call('PATCH', `/v3/moderation/blocked-messages/${id}`, {
      body: { status: 'approved' },
    })
    const shown = (await app.as('d').call('GET', `/v3/messages/${id}`)).body.data
    assert.deepEqual(
      [shown.deletedAt, shown.data.text, shown.data.moderation],
      [undefined, 'buy <@uid:c>', { status: 'approved' }],
    )
    assert.equal(await unread(app, 'd'), before)
    const told = (await app.eventTypes()).filter((type) =>
      /restored|message.deleted|moderat/.test(type),
    )
    const events = ['message.deleted', 'message.moderated', 'message.restored', 'message.moderated']
    assert.deepEqual(told, [...events, 'moderation.manual.approved'])
    await clean(app)
  })

  test('leaves no sweep behind that would delete reactions to a message that is shown again', async () => {
    const { app, id } = await newApp()
    await app.as('b').messages.addReaction(id, '👍')
    await app.cell.db.tx(async (tx) => {
      // No worker sees the message hidden.
      await rows(tx, `select withhold_message($1, $2, 'Flagged', null)`, [app.no, id])
      await rows(tx, 'select restore_message($1, $2)', [app.no, id])
    })
    await app.as('b').messages.addReaction(id, '👍')
    await rows(app.cell.db, 'select sweep_deleted_message($1, $2, 10)', [app.no, id])
    const reacted = (await app.eventTypes()).filter((type) => type === 'message.reaction.added')
    assert.equal(reacted.length, 2)
    const { body } = await app.as('c').call('GET', `/v3/messages/${id}`)
    assert.deepEqual(
      body.data.data.reactions.map(({ count }: { count: number }) => count),
      [1],
    )
  })
})

suite('reviewFlaggedMessage', () => {
  test('drops the flags or hides the message, and moves it to the reviewed ones', async () => {
    const { app, id } = await newApp()
    const { id: other } = await app.as('a').sendText('b', 'sell')
    await flag(app, 'b', id)
    await flag(app, 'b', other)
    await decide(app, id, 'approved')
    await decide(app, other, 'disapproved')
    assert.deepEqual(await flagged(app), [])
    const { body } = await app.call('GET', '/v3/moderation/reviewed-messages')
    assert.deepEqual(
      body.data.map(
        ({ decision, message }: { decision: string; message: { data: { text: string } } }) => [
          decision,
          message.data.text,
        ],
      ),
      [
        ['approved', 'buy <@uid:c>'],
        ['rejected', 'sell'],
      ],
    )
    assert.ok((await app.as('b').call('GET', `/v3/messages/${other}`)).body.data.deletedAt)
    await refused(decide(app, id, 'approved'), 'ERR_MESSAGE_ID_NOT_FOUND')
    await clean(app)
  })

  test('leaves nothing of a message that is deleted afterwards', async () => {
    const { app, id } = await newApp()
    await flag(app, 'b', id)
    await decide(app, id, 'disapproved')
    await app.call('DELETE', `/v3/messages/${id}`, { body: { permanent: true } })
    assert.deepEqual((await app.call('GET', '/v3/moderation/reviewed-messages')).body.data, [])
    await clean(app)
  })
})
