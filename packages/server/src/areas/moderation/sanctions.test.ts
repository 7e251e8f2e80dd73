import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { SanctionRecord } from '@loquat/protocol'
import { Device, tokenOf } from '../../../test/device.ts'
import { type CallOptions, refused, type TestApp, useServer } from '../../../test/kit.ts'
import { verify } from '../../verify/verify.ts'

const server = useServer({ roles: ['api', 'gateway'] })
const port = () => server.service.gatewayPort ?? 0

/** A group g of a, b and c. */
async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users('a', 'b', 'c')
  const members = { participants: ['b', 'c'] }
  await app.client.groups.create({ guid: 'g', name: 'G', owner: 'a', members })
  return app
}

const sanction = async (app: TestApp, body: object): Promise<SanctionRecord> => {
  const answer = await app.call('POST', '/v3/moderation/sanctions', {
    body: { uid: 'b', kind: 'mute', reason: 'Spam', ...body },
  })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.data
}
const list = async (app: TestApp, query = ''): Promise<SanctionRecord[]> =>
  (await app.call('GET', `/v3/moderation/sanctions${query}`)).body.data
/** Lets the time of a sanction be over, as if it had ended a second ago. Nothing else happens then. */
async function pass(app: TestApp, { id }: SanctionRecord): Promise<void> {
  const params = [app.no, id]
  const past = "until = now() - interval '1 second'"
  const db = app.cell.db
  await db.query({
    ...{ name: '', label: 'test', values: params },
    text: `with s as (update sanctions set ${past} where app_no = $1 and id = $2 returning *)
      update bans b set ${past} from s where b.app_no = s.app_no and b.guid = s.guid and b.uid = s.uid`,
  })
}
const LATER = 4_000_000_000
const toGroup = { receiverType: 'group' }

suite('createSanction', () => {
  test('mutes a user in the app: reading goes on, writing does not', async () => {
    const app = await newApp()
    const { id } = await app.as('a').sendText('g', 'hi', toGroup)
    const { id: own } = await app.as('b').sendText('a', 'mine')
    const mute = await sanction(app, { until: LATER })
    const muted = app.as('b')
    const text = { data: { text: 'x' } }
    const writes: [string, string, CallOptions?][] = [
      ['POST', '/v3/messages', { body: { receiver: 'a', receiverType: 'user', ...text } }],
      ['POST', '/v3/messages', { body: { receiver: 'g', ...toGroup, ...text } }],
      ['POST', `/v3/messages/${id}/thread`, { body: text }],
      ['PUT', `/v3/messages/${own}`, { body: text }],
      ['POST', `/v3/messages/${id}/reactions/x`],
      ['POST', `/v3/messages/${own}/pin`],
      ['POST', '/v3/groups', { body: { guid: 'h', name: 'H', type: 'public' } }],
      ['PUT', '/v3/groups/g', { body: { name: 'H' } }],
    ]
    for (const [method, path, options] of writes) {
      const error = await refused(muted.call(method, path, options), 'ERR_USER_MUTED')
      assert.deepEqual(error.details, { kind: ['mute'], until: [String(LATER)], reason: ['Spam'] })
    }
    const authtoken = await tokenOf(app, 'b')
    const options = { apiKey: null, headers: { authtoken } }
    await refused(
      app.call('POST', '/v3/messages', { ...writes[0]?.[2], ...options }),
      'ERR_USER_MUTED',
    )
    await refused(
      app.call('PUT', '/v3/users/b', { ...options, body: { name: 'Loud' } }),
      'ERR_USER_MUTED',
    )
    assert.equal((await app.call('GET', `/v3/messages/${id}`, options)).status, 200)
    assert.equal((await muted.call('POST', '/v3/groups/g/conversation/read')).status, 200)
    assert.equal((await muted.call('DELETE', `/v3/messages/${own}`)).status, 200)
    await app.as('c').sendText('g', 'others write', toGroup)
    await pass(app, mute)
    await muted.sendText('g', 'over', toGroup)
  })

  test('mutes a user in one group', async () => {
    const app = await newApp()
    const { id } = await app.as('b').sendText('g', 'hi', toGroup)
    await sanction(app, { guid: 'g' })
    const muted = app.as('b')
    const group = { kind: ['mute'], guid: ['g'], reason: ['Spam'] }
    const text = { data: { text: 'x' } }
    const send = { body: { receiver: 'g', ...toGroup, ...text } }
    const writes: [string, string, CallOptions?][] = [
      ['POST', '/v3/messages', send],
      ['POST', `/v3/messages/${id}/thread`, { body: text }],
      ['PUT', `/v3/messages/${id}`, { body: text }],
      ['POST', `/v3/messages/${id}/reactions/x`],
      ['PUT', '/v3/groups/g', { body: { name: 'H' } }],
    ]
    for (const [method, path, options] of writes) {
      const error = await refused(muted.call(method, path, options), 'ERR_USER_MUTED')
      assert.deepEqual(error.details, group)
    }
    const many = { multipleReceivers: { uids: ['a'], guids: ['g'] }, ...text }
    const { body } = await muted.call('POST', '/v3/messages', { body: many })
    assert.deepEqual(
      [body.data.uids.a.success, body.data.guids.g.error.code],
      [true, 'ERR_USER_MUTED'],
    )
    await refused(
      app.call('POST', '/v3/moderation/sanctions', {
        body: { uid: 'b', kind: 'mute', guid: 'nowhere', reason: 'x' },
      }),
      'ERR_GUID_NOT_FOUND',
    )
  })

  test('bans a user from the app, with open connections, until its end', async () => {
    const app = await newApp()
    const token = await tokenOf(app, 'b')
    const device = await Device.connect(port(), app, token)
    const other = await Device.connect(port(), app, await tokenOf(app, 'a'))
    const ban = await sanction(app, { kind: 'ban', until: LATER })
    assert.equal((await device.closed).code, 4403)
    const again = await Device.connect(port(), app, token)
    const { body: why } = await again.waitFor('session.error')
    assert.equal((await again.closed).code, 4403)
    assert.deepEqual(
      [why.code, why.details],
      ['ERR_USER_BANNED', { kind: ['ban'], until: [String(LATER)], reason: ['Spam'] }],
    )
    const own = { apiKey: null, headers: { authtoken: token } }
    await refused(app.call('GET', '/v3/users/a', own), 'ERR_USER_BANNED')
    await refused(app.as('b').call('GET', '/v3/conversations'), 'ERR_USER_BANNED')
    await refused(app.call('POST', '/v3/users/b/auth_tokens', { body: {} }), 'ERR_USER_BANNED')
    await app.as('a').sendText('b', 'others can write to them')
    await pass(app, ban)
    assert.equal((await app.call('GET', '/v3/users/a', own)).status, 200)
    const back = await Device.connect(port(), app, token)
    await back.waitFor('session.ready')
    await other.settled()
    await Promise.all([back.close(), other.close()])
  })

  test('bans a user from a group until its end, even if nobody has announced it', async () => {
    const app = await newApp()
    const ban = await sanction(app, { kind: 'ban', guid: 'g', until: LATER })
    const join = () => app.as('b').call('POST', '/v3/groups/g/join')
    await refused(app.as('b').sendText('g', 'x', toGroup), 'ERR_BANNED_GROUPMEMBER')
    await refused(join(), 'ERR_BANNED_GROUPMEMBER')
    const banned = await app.call('GET', '/v3/groups/g/bannedusers')
    assert.deepEqual(
      banned.body.data.map(({ uid }: { uid: string }) => uid),
      ['b'],
    )
    assert.ok((await app.eventTypes()).includes('group.member.banned'))
    await pass(app, ban)
    assert.deepEqual((await app.call('GET', '/v3/groups/g/bannedusers')).body.data, [])
    assert.deepEqual(await list(app), [])
    assert.equal((await join()).status, 200)
    assert.deepEqual(await verify(app.cell, app.no), [])
    await app.as('a').call('POST', '/v3/groups/g/bannedusers/b')
    await refused(join(), 'ERR_BANNED_GROUPMEMBER')
    assert.deepEqual(await verify(app.cell, app.no), [])
  })

  test('replaces the end and the reason of the same sanction', async () => {
    const app = await newApp()
    const first = await sanction(app, { until: LATER })
    const second = await sanction(app, { reason: 'Again' })
    assert.deepEqual([second.id, second.until, second.reason], [first.id, undefined, 'Again'])
    const [only, ...others] = await list(app)
    assert.deepEqual([only, others], [second, []])
    const bad = { uid: 'b', kind: 'mute', reason: 'x', until: 1_000 }
    await refused(app.call('POST', '/v3/moderation/sanctions', { body: bad }), 'ERR_BAD_REQUEST')
    const owner = { uid: 'a', kind: 'ban', guid: 'g', reason: 'x' }
    await refused(
      app.call('POST', '/v3/moderation/sanctions', { body: owner }),
      'ERR_GROUP_NO_CLEARANCE',
    )
    const nobody = { uid: 'nobody', kind: 'ban', reason: 'x' }
    await refused(
      app.call('POST', '/v3/moderation/sanctions', { body: nobody }),
      'ERR_UID_NOT_FOUND',
    )
    await app.users('outside')
    const outside = { uid: 'outside', kind: 'mute', guid: 'g', reason: 'x' }
    await refused(
      app.call('POST', '/v3/moderation/sanctions', { body: outside }),
      'ERR_NOT_A_MEMBER',
    )
  })
})

suite('deleteSanction', () => {
  test('lifts mutes and bans, and announces it', async () => {
    const app = await newApp()
    const mute = await sanction(app, { until: LATER })
    const ban = await sanction(app, { kind: 'ban', guid: 'g' })
    assert.deepEqual(await list(app, '?uid=b&kind=ban'), [ban])
    assert.deepEqual(await list(app, '?guid=g'), [ban])
    for (const { id } of [mute, ban]) {
      assert.equal((await app.call('DELETE', `/v3/moderation/sanctions/${id}`)).status, 200)
      await refused(app.call('DELETE', `/v3/moderation/sanctions/${id}`), 'ERR_SANCTION_NOT_FOUND')
    }
    assert.deepEqual(await list(app), [])
    assert.equal((await app.as('b').call('POST', '/v3/groups/g/join')).status, 200)
    await app.as('b').sendText('g', 'back', toGroup)
    const told = (await app.eventTypes()).filter((type) => /sanction|banned/.test(type))
    assert.deepEqual(told, [
      'moderation.sanction.created',
      'group.member.banned',
      'moderation.sanction.created',
      'moderation.sanction.ended',
      'group.member.unbanned',
      'moderation.sanction.ended',
    ])
  })

  test('ends with the ban itself', async () => {
    const app = await newApp()
    const { id } = await sanction(app, { kind: 'ban', guid: 'g', until: LATER })
    await app.call('DELETE', '/v3/groups/g/bannedusers/b')
    await refused(app.call('GET', `/v3/moderation/sanctions/${id}`), 'ERR_SANCTION_NOT_FOUND')
  })
})

suite('listSanctions', () => {
  test('pages through all of them', async () => {
    const app = await newApp()
    const all = [
      await sanction(app, {}),
      await sanction(app, { kind: 'ban', guid: 'g' }),
      await sanction(app, { uid: 'c' }),
    ]
    const first = await app.call('GET', '/v3/moderation/sanctions?limit=2')
    assert.deepEqual(first.body.data, all.slice(0, 2))
    const { affix, id } = first.body.meta.next
    const rest = await app.call('GET', `/v3/moderation/sanctions?affix=${affix}&id=${id}`)
    assert.deepEqual([rest.body.data, rest.body.meta.next], [all.slice(2), undefined])
    const other = await server.newApp()
    assert.deepEqual(await list(other), [])
  })
})

suite('getSanction', () => {
  test('shows one', async () => {
    const app = await newApp()
    const mute = await sanction(app, {})
    const { body } = await app.call('GET', `/v3/moderation/sanctions/${mute.id}`)
    assert.deepEqual(body.data, mute)
  })
})
