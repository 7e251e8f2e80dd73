import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DISAPPROVED, sendJudged } from '../../../test/held.ts'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { verify } from '../../verify/verify.ts'
import type { ReviewItem } from './queue.schema.ts'

const server = useServer({ roles: ['api', 'worker'] })

/** A group g of a, b and c. */
async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('a', 'b', 'c')
  const members = { participants: ['b', 'c'] }
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a', members })
  return app
}

const toGroup = { receiverType: 'group' }
const block = async (app: TestApp, from: string, to: string, more: object = {}) =>
  (await sendJudged(server, app, [from, to], DISAPPROVED, more)).id
const flag = (app: TestApp, uid: string, path: string) =>
  app.as(uid).call('POST', `/v3${path}/flagged`, { body: { reasonId: 'spam', remark: 'why' } })
const queue = async (app: TestApp, query = ''): Promise<ReviewItem[]> =>
  (await app.call('GET', `/v3/moderation/queue${query}`)).body.data
const claim = (app: TestApp, id: string, body: object) =>
  app.call('POST', `/v3/moderation/queue/${id}/claim`, { body })
const decide = (app: TestApp, id: string, body: object) =>
  app.call('POST', `/v3/moderation/queue/${id}/decision`, { body })
const clean = async (app: TestApp) => assert.deepEqual(await verify(app.cell, app.no), [])
const kinds = (items: ReviewItem[]) => items.map(({ id, kind }) => [id, kind])

suite('listReviewItems', () => {
  test('has everything that waits for a moderator, oldest first, by filters', async () => {
    const app = await newApp()
    const { id: shown } = await app.as('b').sendText('g', 'Buy MORE', toGroup)
    const blocked = await block(app, 'b', 'a')
    await flag(app, 'c', `/messages/${shown}`)
    await flag(app, 'a', '/users/b')
    await flag(app, 'c', '/users/b')
    await flag(app, 'b', '/groups/g')
    const all = await queue(app)
    assert.deepEqual(
      all.map(({ kind }) => kind),
      ['flagged', 'blocked', 'user', 'group'],
    )
    const [flagged, held, user, group] = all
    assert.deepEqual([flagged?.id, held?.id], [shown, blocked])
    assert.deepEqual([held?.ruleId, held?.condition], ['no-spoilers', { id: 1, found: 'ending' }])
    assert.deepEqual([user?.user?.uid, user?.flaggedBy.length], ['b', 2])
    assert.deepEqual([group?.group?.guid, group?.flaggedBy[0]?.remark], ['g', 'why'])
    const found = async (query: string) => (await queue(app, query)).map(({ kind }) => kind)
    assert.deepEqual(await found('?kind=blocked'), ['blocked'])
    assert.deepEqual(await found('?sender=b'), ['flagged', 'blocked', 'user'])
    assert.deepEqual(await found('?receiver=g'), ['flagged', 'group'])
    assert.deepEqual(await found('?receiver=a'), ['blocked'])
    assert.deepEqual(await found('?receiver=b'), [])
    assert.deepEqual(await found('?ruleId=no-spoilers'), ['blocked'])
    assert.deepEqual(await found('?searchKey=buy%20more'), ['flagged'])
    assert.deepEqual(await found('?to=1700000000'), [])
    assert.deepEqual(await found('?from=1700000000&limit=2'), ['flagged', 'blocked'])
    assert.deepEqual(await found(`?id=${blocked}&affix=append`), ['user', 'group'])
    assert.deepEqual(await found('?affix=prepend&limit=2'), ['user', 'group'])
    assert.deepEqual(await queue(await server.newApp()), [])
  })
})

suite('getReviewItem', () => {
  test('has five messages before and after', async () => {
    const app = await newApp()
    for (let n = 0; n < 6; n++) await app.as('a').sendText('b', `before ${n}`)
    const id = await block(app, 'b', 'a')
    for (let n = 0; n < 6; n++) await app.as('a').sendText('b', `after ${n}`)
    await app.as('a').sendText('c', 'elsewhere')
    const { body } = await app.call('GET', `/v3/moderation/queue/${id}`)
    const texts = (messages: { data: { text: string } }[]) => messages.map(({ data }) => data.text)
    assert.deepEqual(
      texts(body.data.before),
      [1, 2, 3, 4, 5].map((n) => `before ${n}`),
    )
    assert.deepEqual(
      texts(body.data.after),
      [0, 1, 2, 3, 4].map((n) => `after ${n}`),
    )
    assert.equal(body.data.message.data.text, 'the ending')
    await refused(app.call('GET', '/v3/moderation/queue/4'), 'ERR_REVIEW_ITEM_NOT_FOUND')
  })
})

suite('claimReviewItem', () => {
  test('lets one moderator decide, until the claim ends', async () => {
    const app = await newApp()
    const id = await block(app, 'b', 'a')
    const answers = await Promise.all(
      ['anna', 'omar'].map((moderator) => claim(app, id, { moderator })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
    const [anna, omar] = answers[0]?.status === 200 ? ['anna', 'omar'] : ['omar', 'anna']
    const late = await refused(
      decide(app, id, { decision: 'approve', moderator: omar }),
      'ERR_REVIEW_ITEM_CLAIMED',
    )
    assert.deepEqual(late.details?.moderator, [anna])
    assert.deepEqual((await queue(app))[0]?.claim?.moderator, anna)
    assert.equal((await claim(app, id, { moderator: anna, seconds: 60 })).status, 200)
    // As if the claim had ended.
    await app.cell.db.query({
      ...{ name: '', label: 'test', values: [app.no] },
      text: "update review_claims set until = now() - interval '1 second' where app_no = $1",
    })
    assert.equal((await queue(app))[0]?.claim, undefined)
    assert.equal((await claim(app, id, { moderator: omar })).status, 200)
    await refused(claim(app, id, { moderator: anna }), 'ERR_REVIEW_ITEM_CLAIMED')
    await claim(app, id, { moderator: omar, seconds: 0 })
    assert.equal((await decide(app, id, { decision: 'reject', moderator: anna })).status, 200)
    await refused(decide(app, id, { decision: 'reject' }), 'ERR_REVIEW_ITEM_NOT_FOUND')
    await refused(claim(app, id, {}), 'ERR_REVIEW_ITEM_NOT_FOUND')
  })
})

suite('decideReviewItem', () => {
  test('approves, rejects and deletes messages', async () => {
    const app = await newApp()
    const [one, two, three] = [
      await block(app, 'b', 'a'),
      await block(app, 'b', 'a'),
      await block(app, 'b', 'a'),
    ]
    const { id: four } = await app.as('b').sendText('g', 'four', toGroup)
    const { id: five } = await app.as('b').sendText('g', 'five', toGroup)
    const { id: six } = await app.as('b').sendText('g', 'six', toGroup)
    for (const id of [four, five, six]) await flag(app, 'c', `/messages/${id}`)
    for (const [id, decision] of [
      [one, 'approve'],
      [two, 'reject'],
      [three, 'delete'],
      [four, 'approve'],
      [five, 'reject'],
      [six, 'delete'],
    ] as const) {
      const answer = await decide(app, id, { decision, note: `note ${decision}` })
      assert.equal(answer.status, 200, JSON.stringify(answer.body))
    }
    assert.deepEqual(await queue(app), [])
    const seen = async (id: string) => {
      const { body, status } = await app.as('a').call('GET', `/v3/messages/${id}`)
      return status === 200 && body.data.deletedAt === undefined
    }
    assert.deepEqual(await Promise.all([one, two, three, four, five, six].map(seen)), [
      ...[true, false, false],
      ...[true, false, false],
    ])
    const decided = (await app.events()).filter(({ type }) => type === 'moderation.decided')
    assert.deepEqual(
      decided.map(({ payload }) => [
        payload.itemId,
        payload.decision,
        payload.moderator,
        payload.uid,
      ]),
      [one, two, three, four, five, six].map((id, n) => [
        ...[id, ['approve', 'reject', 'delete'][n % 3], 'app', 'b'],
      ]),
    )
    await clean(app)
  })

  test('acts on the user, each action once', async () => {
    const app = await newApp()
    const id = await block(app, 'b', 'g', toGroup)
    const until = 4_000_000_000
    const actions = [{ does: 'kick' }, { does: 'ban', until }, { does: 'mute', everywhere: true }]
    await decide(app, id, { decision: 'reject', reason: 'Spoilers', actions })
    await app.waitFor(
      'moderation.sanction.created',
      ({ payload }) => payload.sanction.kind === 'mute',
    )
    const { body } = await app.call('GET', '/v3/moderation/sanctions')
    assert.deepEqual(
      body.data.map(({ kind, guid, reason, until: end }: Record<string, unknown>) => [
        ...[kind, guid, reason, end],
      ]),
      [
        ['ban', 'g', 'Spoilers', until],
        ['mute', undefined, 'Spoilers', undefined],
      ],
    )
    const other = await block(app, 'c', 'a')
    await refused(
      decide(app, other, { decision: 'reject', actions: [{ does: 'kick' }] }),
      'ERR_BAD_REQUEST',
    )
    await decide(app, other, { decision: 'reject', actions: [{ does: 'deactivate' }] })
    await app.waitFor('user.deactivated', ({ payload }) => payload.user.uid === 'c')
    const told = (await app.eventTypes()).filter((type) => /kicked|banned|deactivated/.test(type))
    assert.deepEqual(told, ['group.member.kicked', 'group.member.banned', 'user.deactivated'])
    await clean(app)
  })

  test('drops the flags of users and groups', async () => {
    const app = await newApp()
    await flag(app, 'a', '/users/b')
    await flag(app, 'c', '/groups/g')
    const [user, group] = await queue(app)
    await refused(decide(app, String(user?.id), { decision: 'delete' }), 'ERR_BAD_REQUEST')
    const actions = [{ does: 'mute' }]
    await refused(
      decide(app, String(group?.id), { decision: 'reject', actions }),
      'ERR_BAD_REQUEST',
    )
    await decide(app, String(user?.id), { decision: 'reject', actions })
    await decide(app, String(group?.id), { decision: 'approve' })
    await app.waitFor('moderation.sanction.created')
    assert.deepEqual(await queue(app), [])
    await flag(app, 'a', '/users/b')
    assert.deepEqual(
      kinds(await queue(app)).map(([, kind]) => kind),
      ['user'],
    )
    await app.call('DELETE', '/v3/users/b', { body: { permanent: true } })
    assert.deepEqual(await queue(app), [])
  })
})

suite('flagUser', () => {
  test('is for others, with a known reason', async () => {
    const app = await newApp()
    await refused(flag(app, 'a', '/users/a'), 'ERR_BAD_REQUEST')
    await refused(flag(app, 'a', '/users/nobody'), 'ERR_UID_NOT_FOUND')
    const unknown = app.as('a').call('POST', '/v3/users/b/flagged', { body: { reasonId: 'x' } })
    await refused(unknown, 'ERR_REASON_NOT_FOUND')
    assert.equal((await flag(app, 'a', '/users/b')).status, 200)
  })
})

suite('flagGroup', () => {
  test('is for users who see the group', async () => {
    const app = await newApp()
    await app.users('outside')
    const secret = { guid: 'secret', name: 'S', type: 'private' as const, owner: 'a' }
    await app.client.groups.create(secret)
    await refused(flag(app, 'outside', '/groups/secret'), 'ERR_GROUP_NOT_JOINED')
    await refused(flag(app, 'a', '/groups/nowhere'), 'ERR_GUID_NOT_FOUND')
    assert.equal((await flag(app, 'outside', '/groups/g')).status, 200)
    await app.call('DELETE', '/v3/groups/g')
    assert.deepEqual(await queue(app), [])
  })
})

suite('listReviewItemFigures', () => {
  test('counts by rule and day', async () => {
    const app = await newApp()
    const id = await block(app, 'b', 'a')
    await block(app, 'b', 'a')
    await decide(app, id, { decision: 'approve' })
    const { body } = await app.call('GET', '/v3/moderation/queue/figures')
    const [figure] = body.data
    const counts = { blocked: 2, approved: 1, rejected: 0 }
    assert.deepEqual(figure, {
      ...{ day: figure.day, ruleId: 'no-spoilers', ruleName: 'Spoilers', ...counts },
    })
    assert.match(figure.day, /^\d{4}-\d\d-\d\d$/)
  })
})

suite('the actions of a rule', () => {
  test('run once after a hit, as the operations do', async () => {
    const app = await newApp()
    const rule = {
      ...{ id: 'strict', name: 'Strict', enabled: true },
      conditions: [{ category: 'word', value: ['casino'] }],
      action: ['blockMessage', 'kickUser', 'banUser', 'blockUser'],
    }
    assert.equal((await app.call('POST', '/v3/moderation/rules', { body: rule })).status, 200)
    await app.as('b').sendText('g', 'casino', toGroup)
    await app.waitFor('moderation.sanction.created')
    await app.as('b').sendText('c', 'casino')
    await app.waitFor('user.blocked')
    const body = { ...rule, action: ['deactivateUser'] }
    await app.call('PUT', '/v3/moderation/rules/strict', { body })
    await app.as('b').sendText('a', 'casino')
    await app.waitFor('user.deactivated')
    const told = (await app.eventTypes()).filter((type) =>
      /kicked|banned|user\.(blocked|deact)/.test(type),
    )
    assert.deepEqual(told, [
      ...['group.member.kicked', 'group.member.banned', 'user.blocked', 'user.deactivated'],
    ])
    const blocked = await app.call('GET', '/v3/users/c/blockedusers')
    assert.deepEqual(
      blocked.body.data.map(({ uid }: { uid: string }) => uid),
      [],
      'a deactivated user is in no list',
    )
    assert.equal((await queue(app)).length, 3)
    await clean(app)
  })
})
