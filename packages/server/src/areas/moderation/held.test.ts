/** Messages that moderation holds: who sees them, what they count, and what their release does. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DISAPPROVED, PENDING, sendJudged } from '../../../test/held.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { holdLock, whileWaiting } from '../../../test/locks.ts'
import { rows } from '../../../test/log-writers.ts'
import type { Verdict } from '../../core/moderation/verdict.ts'
import { verify } from '../../verify/verify.ts'
import { settleHeldMessage } from './reviews.actions.ts'

const server = useServer()
const APPROVED = { status: 'approved' } as const
const GROUP = { receiverType: 'group' }

/** An app with the users a, b and c, and a group g of all of them. */
async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('a', 'b', 'c')
  const members = { participants: ['b', 'c'] }
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a', members })
  return app
}

const hold = (app: TestApp, verdict: Verdict = PENDING, more: object = {}) =>
  sendJudged(server, app, ['a', 'receiverType' in more ? 'g' : 'b'], verdict, more)

const pathTo = (other: string) => `/v3/${other === 'g' ? 'groups' : 'users'}/${other}`

async function history(app: TestApp, uid: string | undefined, other: string, filter = '') {
  const { body } = await app.as(uid).call('GET', `${pathTo(other)}/messages?limit=100${filter}`)
  const texts = body.data.filter(({ category }: { category: string }) => category === 'message')
  return texts.map(({ id }: { id: string }): string => id)
}

async function view(app: TestApp, uid: string, other: string) {
  const { body } = await app.as(uid).call('GET', '/v3/conversations')
  const named = body.data.find(
    ({ conversationWith: { uid, guid } }: { conversationWith: { uid?: string; guid?: string } }) =>
      (uid ?? guid) === other,
  )
  return named && { last: named.lastMessage?.id, unread: Number(named.unreadMessageCount) }
}

const read = (app: TestApp, uid: string, other: string) =>
  app.as(uid).call('POST', `${pathTo(other)}/conversation/read`)

const clean = async (app: TestApp) => assert.deepEqual(await verify(app.cell, app.no), [])
const approve = (app: TestApp, id: string) => settleHeldMessage(app, id, APPROVED)

suite('a held message', () => {
  for (const [status, verdict] of Object.entries({ pending: PENDING, disapproved: DISAPPROVED })) {
    test(`that is ${status} is shown to its sender and the app alone`, async () => {
      const app = await newApp()
      for (const [other, more] of [
        ['b', {}],
        ['g', GROUP],
      ] as const) {
        const first = (await app.as('b').sendText(other === 'g' ? 'g' : 'a', 'x', more)).id
        const { id, data } = await hold(app, verdict, more)
        const { status: told } = data.moderation as { status: string }
        assert.equal(told, status)
        const last = (await app.as('b').sendText(other === 'g' ? 'g' : 'a', 'x', more)).id
        assert.deepEqual(await history(app, 'a', other), [first, id, last])
        assert.deepEqual(await history(app, 'a', other, '&hideReplies=true'), [first, id, last])
        assert.deepEqual(await history(app, 'b', other === 'g' ? 'g' : 'a'), [first, last])
        if (other === 'g') assert.deepEqual(await history(app, undefined, 'g'), [first, id, last])
        for (const uid of ['a', undefined]) {
          const { body } = await app.as(uid).call('GET', `/v3/messages/${id}`)
          assert.equal(body.data.data.moderation.status, status)
        }
        for (const uid of ['b', 'c']) {
          await refused(app.as(uid).call('GET', `/v3/messages/${id}`), 'ERR_MESSAGE_ID_NOT_FOUND')
        }
        await clean(app)
      }
    })
  }

  test('tells its sender, and a webhook if it is disapproved', async () => {
    const app = await newApp()
    const { id } = await hold(app)
    const { id: blocked } = await hold(app, DISAPPROVED)
    const events = (await app.events()).filter(({ type }) => /^message|^moderation/.test(type))
    assert.deepEqual(
      events.map(({ type, payload }) => [type, payload.message.id]),
      [
        ['message.held', id],
        ['message.held', blocked],
        ['moderation.blocked', blocked],
      ],
    )
    const { blockedAt, ...rule } = events.at(-1)?.payload.moderation[0].rule ?? {}
    assert.ok(blockedAt > 0)
    const { revisionId } = rule
    assert.deepEqual(rule, {
      id: 'no-spoilers',
      name: 'Spoilers',
      revisionId,
      action: ['blockMessage'],
    })
  })

  test("neither makes nor changes anyone's view, and counts for nobody", async () => {
    const app = await newApp()
    await hold(app)
    assert.deepEqual([await view(app, 'a', 'b'), await view(app, 'b', 'a')], [undefined, undefined])
    const { id } = await app.as('b').sendText('a', 'first')
    await hold(app)
    assert.deepEqual(await view(app, 'a', 'b'), { last: id, unread: 1 })
    assert.deepEqual(await view(app, 'b', 'a'), { last: id, unread: 0 })
    await clean(app)
  })

  test('accepts no reply, quote, reaction, pin, save or mark, not even of its sender', async () => {
    const app = await newApp()
    await app.as('b').sendText('a', 'first')
    const { id } = await hold(app)
    for (const uid of ['a', 'b']) {
      const as = app.as(uid)
      const body = { receiver: uid === 'a' ? 'b' : 'a', receiverType: 'user', data: { text: 'x' } }
      const other = pathTo(body.receiver)
      for (const [method, path, sent] of [
        ['POST', '/v3/messages', { ...body, parentMessageId: id }],
        ['POST', '/v3/messages', { ...body, quotedMessageId: id }],
        ['POST', `/v3/messages/${id}/reactions/%F0%9F%91%8D`, undefined],
        ['POST', `/v3/messages/${id}/pin`, undefined],
        ['POST', `/v3/messages/${id}/save`, undefined],
        ['POST', `${other}/conversation/read`, { messageId: id }],
        ['POST', `${other}/conversation/delivered`, { messageId: id }],
        ['PUT', `/v3/messages/${id}`, { data: { text: 'y' } }],
      ] as const) {
        await refused(as.call(method, path, { body: sent }), 'ERR_MESSAGE_ID_NOT_FOUND')
      }
    }
    await clean(app)
  })

  test('is sent once, with a muid or an idempotency key', async () => {
    const app = await newApp()
    const once = await hold(app, PENDING, { muid: 'm1' })
    const again = await hold(app, PENDING, { muid: 'm1' })
    assert.equal(again.id, once.id)
    assert.deepEqual(again.data.moderation, { status: 'pending' })
    await approve(app, once.id)
    assert.equal((await hold(app, PENDING, { muid: 'm1' })).id, once.id)
    await clean(app)
  })
})

suite('the release of a held message', () => {
  test('shows and counts it, as if it had just been sent', async () => {
    const app = await newApp()
    const { id } = await hold(app)
    assert.equal(await approve(app, id), true)
    assert.equal(await approve(app, id), false, 'only once')
    assert.deepEqual(await view(app, 'b', 'a'), { last: id, unread: 1 })
    assert.deepEqual(await view(app, 'a', 'b'), { last: id, unread: 0 })
    assert.deepEqual(await history(app, 'b', 'a'), [id])
    const { body } = await app.as('b').call('GET', `/v3/messages/${id}`)
    assert.deepEqual(body.data.data.moderation, { status: 'approved' })
    const types = (await app.eventTypes()).filter((type) => /^message|^moderation/.test(type))
    assert.deepEqual(types, [
      'message.held',
      'message.sent',
      'message.moderated',
      'moderation.approved',
    ])
    await clean(app)
  })

  test('puts it before later messages, which stay the last ones', async () => {
    const app = await newApp()
    for (const more of [{}, GROUP]) {
      const [mine, theirs] = more === GROUP ? ['g', 'g'] : ['b', 'a']
      for (const uid of ['a', 'b']) await read(app, uid, uid === 'a' ? mine : theirs)
      const { id } = await hold(app, PENDING, more)
      const { id: last } = await app.as('a').sendText(mine, 'later', more)
      await approve(app, id)
      assert.deepEqual(await view(app, 'b', theirs), { last, unread: 2 })
      assert.deepEqual(await view(app, 'a', mine), { last, unread: 0 })
      assert.deepEqual(await history(app, 'b', theirs), [id, last])
      await clean(app)
    }
  })

  test('leaves it read for those whose mark passed it, and unread for those who marked all before', async () => {
    const app = await newApp()
    await app.as('a').sendText('g', 'first', GROUP)
    const { id } = await hold(app, PENDING, GROUP)
    await read(app, 'c', 'g')
    await read(app, 'a', 'g')
    await clean(app)
    await app.as('a').sendText('g', 'later', GROUP)
    await read(app, 'b', 'g')
    await approve(app, id)
    assert.equal((await view(app, 'b', 'g'))?.unread, 0)
    assert.equal((await view(app, 'c', 'g'))?.unread, 2)
    assert.equal((await view(app, 'a', 'g'))?.unread, 0)
    await clean(app)
  })

  test("is right for the sender's own count whether the mark is before it or after it", async () => {
    const app = await newApp()
    const { id: first } = await app.as('b').sendText('a', 'first')
    const { id } = await hold(app)
    await app.as('b').sendText('a', 'second')
    await app.as('a').call('DELETE', `${pathTo('b')}/conversation/read`, { body: { id: first } })
    await read(app, 'a', 'b')
    assert.equal((await view(app, 'a', 'b'))?.unread, 0)
    await app.as('b').sendText('a', 'third')
    await approve(app, id)
    assert.equal((await view(app, 'a', 'b'))?.unread, 1)
    await clean(app)
  })

  test('stays hidden for those who cleared the conversation since', async () => {
    const app = await newApp()
    for (const more of [{}, GROUP]) {
      const [mine, theirs] = more === GROUP ? ['g', 'g'] : ['b', 'a']
      await app.as('a').sendText(mine, 'first', more)
      const { id } = await hold(app, PENDING, more)
      await app.as('b').call('DELETE', `${pathTo(theirs)}/conversation`)
      await approve(app, id)
      await clean(app)
      assert.equal(await view(app, 'b', theirs), undefined)
      assert.deepEqual(await history(app, 'b', theirs), [])
      assert.equal((await view(app, 'a', mine))?.last, id)
    }
  })

  test('brings replies and mentions', async () => {
    const app = await newApp()
    const { id: parent } = await app.as('b').sendText('g', 'thread', GROUP)
    const text = 'see <@uid:c>'
    const { id } = await hold(app, PENDING, { ...GROUP, parentMessageId: parent, data: { text } })
    const before = await app.as('b').call('GET', `/v3/messages/${parent}`)
    assert.equal(before.body.data.replyCount, undefined)
    await clean(app)
    await approve(app, id)
    const after = await app.as('b').call('GET', `/v3/messages/${parent}`)
    assert.deepEqual([after.body.data.replyCount, after.body.data.lastReply.id], [1, id])
    const told = (await app.events()).filter(({ type }) => type === 'user.mentioned')
    assert.deepEqual(
      told.map(({ payload }) => payload.uid),
      ['c'],
    )
    await clean(app)
  })

  test('does not happen after a block, ban, kick or removal', async () => {
    const app = await newApp()
    const direct = await hold(app)
    const inGroup = await hold(app, PENDING, GROUP)
    await app.call('POST', '/v3/users/b/blockedusers', { body: { blockedUids: ['a'] } })
    await app.as('a').call('PUT', '/v3/groups/g/owner', { body: { owner: 'b' } })
    await app.as('b').call('POST', '/v3/groups/g/bannedusers/a')
    await approve(app, direct.id)
    await approve(app, inGroup.id)
    const { body } = await app.call('GET', '/v3/moderation/blocked-messages')
    assert.deepEqual(
      body.data.map(({ message: { id }, reason }: { message: { id: string }; reason: string }) => [
        id,
        reason,
      ]),
      [
        [direct.id, 'One of the two users blocks the other.'],
        [inGroup.id, 'The sender was banned from the group.'],
      ],
    )
    assert.deepEqual(await history(app, 'b', 'g'), [])
    await refused(
      app.call('PATCH', `/v3/moderation/blocked-messages/${direct.id}`, {
        body: { status: 'approved' },
      }),
      'ERR_MESSAGE_ACTION_NOT_ALLOWED',
    )
    await clean(app)
  })
})

suite('the deletion of a held message', () => {
  test('is for its sender and the app, tells nobody and uncounts it once', async () => {
    const app = await newApp()
    await app.as('b').sendText('a', 'first')
    for (const uid of ['a', undefined]) {
      const { id } = await hold(app, DISAPPROVED, { muid: `of ${uid}` })
      await refused(app.as('b').call('DELETE', `/v3/messages/${id}`), 'ERR_MESSAGE_ID_NOT_FOUND')
      const { status, body } = await app.as(uid).call('DELETE', `/v3/messages/${id}`)
      assert.deepEqual([status, body.data.data.action], [200, 'deleted'])
      await refused(app.as('a').call('GET', `/v3/messages/${id}`), 'ERR_MESSAGE_ID_NOT_FOUND')
      assert.equal(await approve(app, id), false)
      await clean(app)
    }
    await app.as('a').sendText('b', 'later')
    assert.equal((await view(app, 'b', 'a'))?.unread, 1)
    assert.ok(!(await app.eventTypes()).includes('message.deleted'))
  })

  test('comes with that of its sender, its group and its conversation', async () => {
    const app = await newApp()
    await app.as('b').sendText('g', 'first', GROUP)
    await hold(app)
    await hold(app, DISAPPROVED, GROUP)
    await app.as('a').call('PUT', '/v3/groups/g/owner', { body: { owner: 'b' } })
    await app.call('DELETE', '/v3/users/a', { body: { permanent: true } })
    const { body } = await app.call('GET', '/v3/moderation/blocked-messages')
    assert.deepEqual(body.data, [])
    await clean(app)
  })
})

suite('reviewBlockedMessage', () => {
  const blocked = async (app: TestApp, list = 'blocked') => {
    const { body } = await app.call('GET', `/v3/moderation/${list}-messages`)
    return body.data.map((row: { message: { id: string }; decision?: string }) =>
      [row.message.id, row.decision].filter(Boolean).join(' '),
    )
  }
  const decide = (app: TestApp, id: string, status: string) =>
    app.call('PATCH', `/v3/moderation/blocked-messages/${id}`, { body: { status } })

  test('delivers an approved message once, and moves it to the reviewed ones', async () => {
    const app = await newApp()
    const { id } = await hold(app, DISAPPROVED)
    const { id: other } = await hold(app, DISAPPROVED)
    assert.deepEqual(await blocked(app), [id, other])
    for (let twice = 0; twice < 2; twice++) {
      const { body } = await decide(app, id, 'approved')
      assert.deepEqual(body, { data: { success: true, message: 'approved' } })
    }
    await decide(app, other, 'rejected')
    assert.deepEqual(await blocked(app), [])
    assert.deepEqual(await blocked(app, 'reviewed'), [`${id} approved`, `${other} rejected`])
    assert.deepEqual(await history(app, 'b', 'a'), [id])
    const types = (await app.eventTypes()).filter((type) => /^message.sent|manual/.test(type))
    assert.deepEqual(types, [
      'message.sent',
      'moderation.manual.approved',
      'moderation.manual.rejected',
    ])
    await decide(app, other, 'approved')
    assert.deepEqual(await history(app, 'b', 'a'), [id, other])
    await refused(decide(app, '999999', 'approved'), 'ERR_MESSAGE_ID_NOT_FOUND')
    await refused(decide(app, (await hold(app)).id, 'approved'), 'ERR_MESSAGE_ID_NOT_FOUND')
    await clean(app)
  })

  test('locks the users whom a message mentions before the group, as others do', async () => {
    const app = await newApp()
    const { id } = await hold(app, DISAPPROVED, { ...GROUP, data: { text: 'Hi <@uid:c>' } })
    const user = await holdLock(
      app,
      'select from users where app_no = $1 and uid = $2 for update',
      [...[app.no, 'c']],
    )
    await whileWaiting(user, decide(app, id, 'approved'), async () => {
      const head = `select from conversations where app_no = $1 and kind = 'group' for update nowait`
      await rows(app.cell.db, head, [app.no])
    })
    assert.deepEqual(await history(app, 'c', 'g'), [id])
  })

  test('reads no members of a group in which nobody cleared the conversation', async () => {
    const app = await newApp()
    const uids = Array.from({ length: 20 }, (_, n) => `m${n}`)
    await app.users(...uids)
    await app.client.groupMembers.add('g', { participants: uids })
    await app.as('b').sendText('g', 'first', GROUP)
    const { id } = await hold(app, PENDING, GROUP)
    const read = await app.cell.db.tx(async (tx) => {
      await rows(tx, 'select release_message($1, $2)', [app.no, id])
      const [found] = await rows<{ members: number }>(
        tx,
        `select pg_stat_get_xact_tuples_fetched('inbox'::regclass)::int as members`,
      )
      return found?.members
    })
    assert.ok(read !== undefined && read < uids.length, `it read ${read} members`)
    await clean(app)
  })
})

suite('listBlockedMessagesReviewed', () => {
  test('finds the messages of a sender and those of a rule, in pages', async () => {
    const app = await newApp()
    const byB = await sendJudged(server, app, ['b', 'a'], DISAPPROVED)
    const others = [await hold(app, DISAPPROVED), await hold(app, DISAPPROVED, GROUP)]
    const { id: flagged } = await app.as('b').sendText('a', 'Flagged')
    const remark = { body: { reasonId: 'spam' } }
    await app.as('a').call('POST', `/v3/messages/${flagged}/flagged`, remark)
    const list = async (which: string, query: string): Promise<string[]> => {
      const { body } = await app.call('GET', `/v3/moderation/${which}-messages${query}`)
      return body.data.map(({ message }: { message: { id: string } }) => message.id)
    }
    const [first = '', second = ''] = others.map(({ id }) => id)
    assert.deepEqual(await list('blocked', '?sender=a'), [first, second])
    assert.deepEqual(await list('reviewed', '?sender=a'), [])
    const decide = (what: string, id: string) =>
      app.call('PATCH', `/v3/moderation/${what}-messages/${id}`, { body: { status: 'approved' } })
    await decide('flagged', flagged)
    for (const id of [byB.id, first, second]) await decide('blocked', id)
    assert.deepEqual(await list('blocked', '?sender=a'), [])
    assert.deepEqual(await list('reviewed', '?sender=a'), [first, second])
    assert.deepEqual(await list('reviewed', `?sender=a&limit=1&id=${first}`), [second])
    assert.deepEqual(await list('reviewed', '?sender=a&limit=1&affix=prepend'), [second])
    assert.deepEqual(await list('reviewed', '?sender=b'), [byB.id, flagged])
    assert.deepEqual(await list('reviewed', '?sender=c'), [])
    assert.deepEqual(await list('reviewed', '?ruleId=no-spoilers'), [byB.id, first, second])
    assert.deepEqual(await list('reviewed', '?ruleId=no-spoilers&sender=b'), [byB.id])
    assert.deepEqual(await list('reviewed', '?ruleId=other'), [])
    await clean(app)
  })
})
