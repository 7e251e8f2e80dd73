/** What users may do with threads and interactive messages, and simultaneous changes of them. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer()

/** A group with an owner, a moderator and two participants; one user is banned, another is outside. */
async function newApp() {
  const app = await server.newApp()
  await app.users('owner', 'mod', 'sender', 'other', 'banned', 'out')
  const members = { moderators: ['mod'], participants: ['sender', 'other'], usersToBan: ['banned'] }
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'owner', members })
  const message = (receiver: string, receiverType: string) => ({
    ...{ receiver, receiverType, category: 'interactive' },
    data: {
      allowSenderInteraction: true,
      interactiveData: { text: 'Hi', cardActions: [{ elementType: 'button', elementId: 'yes' }] },
    },
  })
  const send = async (receiver: string, receiverType: string) =>
    (await app.as('sender').sendText(receiver, '', message(receiver, receiverType))).id
  return { app, inGroup: await send('g', 'group'), direct: await send('other', 'user') }
}

type Act = (app: TestApp, uid: string | undefined, id: string) => ReturnType<TestApp['call']>

const acts: Record<string, Act> = {
  reply: (app, uid, id) =>
    app.as(uid).call('POST', `/v3/messages/${id}/thread`, { body: { data: { text: 'Hi' } } }),
  list: (app, uid, id) => app.as(uid).call('GET', `/v3/messages/${id}/thread`),
  follow: (app, uid, id) => app.as(uid).call('POST', `/v3/messages/${id}/thread/subscription`),
  unfollow: (app, uid, id) => app.as(uid).call('DELETE', `/v3/messages/${id}/thread/subscription`),
  interact: (app, uid, id) =>
    app.as(uid).call('PATCH', `/v3/messages/${id}/interacted`, { body: { interactions: ['yes'] } }),
}

const MEMBERS = ['sender', 'owner', 'mod', 'other']

suite('the right to', () => {
  for (const [what, act] of Object.entries(acts)) {
    test(`${what} belongs to the users of the conversation`, async () => {
      const { app, inGroup, direct } = await newApp()
      const codeOf = async (uid: string | undefined, id: string) =>
        (await act(app, uid, id)).body.error?.code
      for (const uid of MEMBERS) assert.equal(await codeOf(uid, inGroup), undefined, uid)
      for (const uid of ['banned', 'out']) {
        assert.equal(await codeOf(uid, inGroup), 'ERR_MESSAGE_NO_ACCESS', uid)
      }
      for (const uid of ['sender', 'other']) assert.equal(await codeOf(uid, direct), undefined, uid)
      for (const uid of ['owner', 'mod', 'out']) {
        assert.equal(await codeOf(uid, direct), 'ERR_MESSAGE_NO_ACCESS', uid)
      }
      const forApp = what === 'list' ? undefined : 'ERR_BAD_REQUEST'
      assert.equal(await codeOf(undefined, inGroup), forApp)
    })
  }

  for (const what of ['reply', 'interact']) {
    test(`${what} ends with a block in a 1:1 conversation, but not in a group`, async () => {
      const { app, inGroup, direct } = await newApp()
      await app.client.blockedUsers.block('sender', { blockedUids: ['other'] })
      const codeOf = async (uid: string, id: string) =>
        (await acts[what]?.(app, uid, id))?.body.error?.code
      assert.equal(await codeOf('sender', direct), 'ERR_BLOCKED_RECEIVER')
      assert.equal(await codeOf('other', direct), 'ERR_BLOCKED_SENDER')
      assert.equal(await codeOf('other', inGroup), undefined)
    })
  }
})

suite('simultaneous requests', () => {
  const statusOf = ({ status }: { status: number }) => status

  test('to reply and to remove the parent leave an exact count', async () => {
    const { app, inGroup } = await newApp()
    const replies = Array.from({ length: 6 }, (_, n) =>
      app.as(MEMBERS[n % 4]).call('POST', '/v3/messages', {
        body: {
          ...{ receiver: 'g', receiverType: 'group', parentMessageId: inGroup },
          data: { text: 'Hi' },
        },
      }),
    )
    const removal = app.call('DELETE', `/v3/messages/${inGroup}`, { body: { permanent: true } })
    const answers = await Promise.all([removal, ...replies])
    for (const answer of answers) assert.ok([200, 404].includes(statusOf(answer)))
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('to edit, delete and mention leave nothing of a user who is being removed', async () => {
    const { app } = await newApp()
    const say = (text: string) =>
      app.as('sender').call('POST', '/v3/messages', {
        body: { receiver: 'g', receiverType: 'group', data: { text } },
      })
    const { id } = (await say('Hi')).body.data
    const text = 'Hi <@uid:other> <@uid:mod>'
    const answers = await Promise.all([
      say(text),
      app.as('sender').call('PUT', `/v3/messages/${id}`, { body: { data: { text } } }),
      app.call('DELETE', '/v3/users/other', { body: { permanent: true } }),
      say(text),
      app.as('owner').call('PUT', `/v3/messages/${id}`, { body: { data: { text: 'No' } } }),
      app.as('mod').call('DELETE', `/v3/messages/${id}`),
      say(text),
    ])
    for (const answer of answers) assert.ok(statusOf(answer) < 500, JSON.stringify(answer.body))
    assert.deepEqual(await verify(app.cell, app.no), [])
    const { rows } = await app.cell.db.query<{ n: number }>({
      ...{ name: '', values: [app.no] },
      text: `select count(*) as n from mentions where app_no = $1 and uid = 'other'`,
    })
    assert.equal(rows[0]?.n, 0)
  })
})

suite('deleteGroup', () => {
  test('removes the threads of the group', async () => {
    const { app, inGroup } = await newApp()
    for (const act of Object.values(acts)) await act(app, 'other', inGroup)
    const text = '<@uid:mod>'
    await app.as('other').threads.sendReply(inGroup, { data: { text } })
    await app.client.groups.delete('g')
    for (const table of ['threads', 'thread_users', 'mentions', 'interactions']) {
      const { rows } = await app.cell.db.query<{ n: number }>({
        ...{ name: '', values: [app.no] },
        text: `select count(*) as n from ${table} where app_no = $1`,
      })
      assert.equal(rows[0]?.n, 0, table)
    }
  })
})
