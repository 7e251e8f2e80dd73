/** Who may do what with a thread, and with interactive messages; and what happens at once. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer()

const as = (uid: string | undefined) => (uid ? { headers: { onbehalfof: uid } } : {})

/** A group of an owner, a moderator, two participants; one who is banned and one who is outside. */
async function newApp() {
  const app = await server.newApp()
  for (const uid of ['owner', 'mod', 'sender', 'other', 'banned', 'out']) {
    await app.call('POST', '/v3/users', { body: { uid, name: uid } })
  }
  const members = { moderators: ['mod'], participants: ['sender', 'other'], usersToBan: ['banned'] }
  await app.call('POST', '/v3/groups', { body: { guid: 'g', name: 'G', owner: 'owner', members } })
  const message = (receiver: string, receiverType: string) => ({
    ...{ receiver, receiverType, category: 'interactive' },
    data: {
      allowSenderInteraction: true,
      interactiveData: { text: 'Hi', cardActions: [{ elementType: 'button', elementId: 'yes' }] },
    },
  })
  const send = async (receiver: string, receiverType: string) =>
    (
      await app.call('POST', '/v3/messages', {
        ...as('sender'),
        body: message(receiver, receiverType),
      })
    ).body.data.id as string
  return { app, inGroup: await send('g', 'group'), direct: await send('other', 'user') }
}

type Act = (app: TestApp, uid: string | undefined, id: string) => ReturnType<TestApp['call']>

const acts: Record<string, Act> = {
  reply: (app, uid, id) =>
    app.call('POST', `/v3/messages/${id}/thread`, { ...as(uid), body: { data: { text: 'Hi' } } }),
  list: (app, uid, id) => app.call('GET', `/v3/messages/${id}/thread`, as(uid)),
  follow: (app, uid, id) => app.call('POST', `/v3/messages/${id}/thread/subscription`, as(uid)),
  unfollow: (app, uid, id) => app.call('DELETE', `/v3/messages/${id}/thread/subscription`, as(uid)),
  interact: (app, uid, id) =>
    app.call('PATCH', `/v3/messages/${id}/interacted`, {
      ...as(uid),
      body: { interactions: ['yes'] },
    }),
}

const MEMBERS = ['sender', 'owner', 'mod', 'other']

suite('rights', () => {
  for (const [what, act] of Object.entries(acts)) {
    test(`${what}: whoever takes part`, async () => {
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
    test(`${what}: a block holds it up between two, and none in a group`, async () => {
      const { app, inGroup, direct } = await newApp()
      await app.call('POST', '/v3/users/sender/blockedusers', { body: { blockedUids: ['other'] } })
      const codeOf = async (uid: string, id: string) =>
        (await acts[what]?.(app, uid, id))?.body.error?.code
      assert.equal(await codeOf('sender', direct), 'ERR_BLOCKED_RECEIVER')
      assert.equal(await codeOf('other', direct), 'ERR_BLOCKED_SENDER')
      assert.equal(await codeOf('other', inGroup), undefined)
    })
  }
})

suite('at once', () => {
  const statusOf = ({ status }: { status: number }) => status

  test('replies and the removal of their message leave the count right', async () => {
    const { app, inGroup } = await newApp()
    const replies = Array.from({ length: 6 }, (_, n) =>
      app.call('POST', '/v3/messages', {
        ...as(MEMBERS[n % 4]),
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

  test('edits, deletions and mentions of a user that is removed leave nothing behind', async () => {
    const { app } = await newApp()
    const say = (text: string) =>
      app.call('POST', '/v3/messages', {
        ...as('sender'),
        body: { receiver: 'g', receiverType: 'group', data: { text } },
      })
    const { id } = (await say('Hi')).body.data
    const text = 'Hi <@uid:other> <@uid:mod>'
    const answers = await Promise.all([
      say(text),
      app.call('PUT', `/v3/messages/${id}`, { ...as('sender'), body: { data: { text } } }),
      app.call('DELETE', '/v3/users/other', { body: { permanent: true } }),
      say(text),
      app.call('PUT', `/v3/messages/${id}`, { ...as('owner'), body: { data: { text: 'No' } } }),
      app.call('DELETE', `/v3/messages/${id}`, as('mod')),
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

  test('removed with a group: nothing of its threads stays', async () => {
    const { app, inGroup } = await newApp()
    for (const act of Object.values(acts)) await act(app, 'other', inGroup)
    const text = '<@uid:mod>'
    await app.call('POST', `/v3/messages/${inGroup}/thread`, {
      ...as('other'),
      body: { data: { text } },
    })
    await app.call('DELETE', '/v3/groups/g')
    for (const table of ['threads', 'thread_users', 'mentions', 'interactions']) {
      const { rows } = await app.cell.db.query<{ n: number }>({
        ...{ name: '', values: [app.no] },
        text: `select count(*) as n from ${table} where app_no = $1`,
      })
      assert.equal(rows[0]?.n, 0, table)
    }
  })
})
