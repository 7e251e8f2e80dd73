/** What answers show users of each other: no presence across a block, and no private metadata. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'

const server = useServer()

type Json = Record<string, unknown>
type Asking = (method: string, path: string, body?: unknown) => ReturnType<TestApp['call']>

/** Who asks: the device of a user, or the app on behalf of that user. */
interface Viewer {
  uid: string
  device: Asking
  app: Asking
}

async function viewerOf(app: TestApp, uid: string): Promise<Viewer> {
  const { authToken } = await app.client.authTokens.create(uid, { force: true })
  const asking =
    (options: { apiKey?: null; headers: Record<string, string> }): Asking =>
    (method, path, body) =>
      app.call(method, `/v3${path}`, { ...options, ...(body !== undefined && { body }) })
  return {
    uid,
    device: asking({ apiKey: null, headers: { authtoken: authToken } }),
    app: asking({ headers: { onbehalfof: uid } }),
  }
}

/** All records of users in an answer or event, however deep. */
function* recordsIn(value: unknown): Generator<Json> {
  if (typeof value !== 'object' || value === null) return
  if ('uid' in value && 'name' in value && 'role' in value) yield value as Json
  for (const inner of Object.values(value)) yield* recordsIn(inner)
}

const showsPresence = ({ status, lastActiveAt }: Json) =>
  status === 'available' || lastActiveAt !== undefined

const showsPrivate = ({ metadata }: Json) => '@private' in ((metadata ?? {}) as Json)

interface World {
  app: TestApp
  /** Sent by Bob and by Ann to the group, and by each to the other. */
  ofBob: string
  ofAnn: string
  toAnn: string
  toBob: string
  ann: Viewer
  bob: Viewer
  cat: Viewer
}

/** Three users who have all done something in a group; then Ann blocks Bob. All are online. */
async function newWorld(): Promise<World> {
  const app = await server.newApp()
  for (const uid of ['ann', 'bob', 'cat']) {
    const metadata = { '@private': { email: `${uid}@example.org` }, color: 'red' }
    await app.client.users.create({ uid, name: uid, metadata })
  }
  const [ann, bob, cat] = await Promise.all(['ann', 'bob', 'cat'].map((uid) => viewerOf(app, uid)))
  assert.ok(ann && bob && cat)
  const done = async (answer: ReturnType<TestApp['call']>) => {
    const { status, body } = await answer
    assert.equal(status, 200, JSON.stringify(body))
    return body.data
  }
  await done(app.call('POST', '/v3/users/ann/friends', { body: { accepted: ['bob', 'cat'] } }))
  for (const guid of ['team', 'club']) {
    await done(ann.app('POST', '/groups', { guid, name: guid, type: 'public' }))
    await done(ann.app('POST', `/groups/${guid}/members`, { participants: ['bob', 'cat'] }))
  }
  await done(ann.app('POST', '/groups/club/bannedusers/bob'))
  const send = async ({ app: as }: Viewer, receiver: string, text: string, more: object = {}) => {
    const receiverType = receiver === 'team' ? 'group' : 'user'
    const message = { receiver, receiverType, category: 'message', type: 'text' }
    const { id } = await done(as('POST', '/messages', { ...message, data: { text }, ...more }))
    return id as string
  }
  const both = '<@uid:ann> <@uid:bob>'
  const toBob = await send(ann, 'bob', both)
  const toAnn = await send(bob, 'ann', both, { quotedMessageId: toBob })
  const ofBob = await send(bob, 'team', both)
  const ofAnn = await send(ann, 'team', both, { quotedMessageId: ofBob })
  await done(ann.app('PUT', `/messages/${ofAnn}`, { data: { text: `${both}!` } }))
  await done(bob.app('PUT', `/messages/${ofBob}`, { data: { text: `${both}!` } }))
  for (const id of [toBob, toAnn, ofBob, ofAnn]) {
    for (const { app: as } of [ann, bob]) {
      const reply = { category: 'message', type: 'text', data: { text: both } }
      await done(as('POST', `/messages/${id}/thread`, reply))
      await done(as('POST', `/messages/${id}/reactions/${encodeURIComponent('👍')}`))
      await done(as('POST', `/messages/${id}/save`))
    }
    await done(ann.app('POST', `/messages/${id}/pin`))
  }
  await done(app.call('POST', '/v3/users/ann/blockedusers', { body: { blockedUids: ['bob'] } }))
  await rows(
    app.cell.db,
    `update users set online = true, last_active_at = now() where app_no = ${app.no}`,
  )
  return { app, ofBob, ofAnn, toAnn, toBob, ann, bob, cat }
}

/** Every read that shows users to a user, by who can ask: the user's device, the app on the user's behalf, or both. */
function readsOf({ ofBob, ofAnn, toAnn, toBob }: World, me: string, other: string) {
  const thumb = encodeURIComponent('👍')
  const ofMessage = (id: string) => [
    `/messages/${id}`,
    `/messages/${id}/thread?affix=prepend`,
    `/messages/${id}/reactions`,
    `/messages/${id}/reactions/${thumb}`,
  ]
  return {
    byDevice: [
      '/users',
      `/users/${me}/friends`,
      `/users/${me}/blockedusers?direction=both`,
      '/groups/team/members',
      ...(me === 'ann' ? ['/groups/club/bannedusers'] : []),
    ],
    byBoth: [
      `/users/${other}`,
      '/messages?mentionsWithBlockedInfo=true',
      ...[ofBob, ofAnn, toAnn, toBob].flatMap(ofMessage),
      `/users/${other}/messages?affix=prepend`,
      '/groups/team/messages?affix=prepend',
      `/users/${other}/messages/pinned`,
      '/groups/team/messages/pinned',
      '/messages/saved',
      '/threads',
      '/conversations?includeBlockedUsers=true',
      '/conversations?includeBlockedUsers=true&searchKey=o',
      `/users/${other}/conversation`,
      '/groups/team/conversation',
    ],
    byApp: ['/conversations/ann_user_bob', '/conversations/group_team'],
  }
}

suite('a user sees others', () => {
  let world: World
  before(async () => {
    world = await newWorld()
  })

  for (const [me, other] of [
    ['ann', 'bob'],
    ['bob', 'ann'],
  ] as const) {
    test(`without presence across a block: ${me} looks at ${other}`, async () => {
      const { device, app } = world[me]
      const { byDevice, byBoth, byApp } = readsOf(world, me, other)
      const asked = [
        ...[...byDevice, ...byBoth].map((path) => [device, path] as const),
        ...[...byBoth, ...byApp].map((path) => [app, path] as const),
      ]
      const leaks: string[] = []
      let shown = 0
      for (const [ask, path] of asked) {
        const { status, body } = await ask('GET', path)
        assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`)
        const records = [...recordsIn(body.data)].filter(({ uid }) => uid === other)
        if (records.length > 0) shown++
        const who = ask === device ? 'device' : 'app'
        if (records.some(showsPresence)) leaks.push(`presence: ${who} ${path}`)
        if (records.some(showsPrivate)) leaks.push(`private: ${who} ${path}`)
      }
      assert.deepEqual(leaks, [])
      assert.ok(shown > asked.length * 0.9, `${shown} of ${asked.length} answers show ${other}`)
    })
  }

  test('with presence if nobody blocks', async () => {
    const { cat } = world
    for (const path of [
      ...['/users', '/users/bob', '/users/cat/friends', '/groups/team/members'],
      ...['/messages', `/messages/${world.ofBob}`, `/messages/${world.ofBob}/reactions`],
      ...['/groups/team/messages', '/groups/team/messages/pinned', '/threads'],
    ]) {
      const records = [...recordsIn((await cat.device('GET', path)).body.data)]
      const others = records.filter(({ uid }) => uid === 'bob' || uid === 'ann')
      assert.ok(others.length > 0 && others.every(showsPresence), path)
      assert.ok(!others.some(showsPrivate), path)
    }
    const { body } = await world.ann.device('GET', '/users/ann')
    assert.ok(showsPresence(body.data) && showsPrivate(body.data))
  })

  test('without presence across a block in what writes answer', async () => {
    const text = { category: 'message', type: 'text', data: { text: '<@uid:bob> <@uid:cat>' } }
    const toTeam = { receiver: 'team', receiverType: 'group', ...text }
    for (const ask of [world.ann.device, world.ann.app]) {
      const sent = await ask('POST', '/messages', { ...toTeam, quotedMessageId: world.ofBob })
      const { id } = sent.body.data
      const answers = [
        sent,
        await ask('POST', `/messages/${world.ofBob}/thread`, text),
        await ask('PUT', `/messages/${id}`, { data: { text: '<@uid:bob>' } }),
        await ask('POST', `/messages/${world.ofBob}/reactions/x`),
        await ask('POST', `/messages/${world.ofBob}/pin`),
        await ask('POST', '/groups/team/conversation/read'),
        await ask('DELETE', `/messages/${id}`),
      ]
      for (const { status, body } of answers) {
        assert.equal(status, 200, JSON.stringify(body))
        const bobs = [...recordsIn(body.data)].filter(({ uid }) => uid === 'bob')
        assert.deepEqual(bobs.filter(showsPresence), [])
        assert.deepEqual(bobs.filter(showsPrivate), [])
      }
    }
  })

  test('without presence in every event but those about presence', async () => {
    const shown = new Map<string, number>()
    for (const { type, payload } of await world.app.events()) {
      const records = [...recordsIn(payload)]
      shown.set(type, (shown.get(type) ?? 0) + records.length)
      const leaks = records.filter((record) => 'status' in record || 'lastActiveAt' in record)
      if (type !== 'user.connection.changed') assert.deepEqual(leaks, [], type)
    }
    const types = [...shown].filter(([, count]) => count > 0).map(([type]) => type)
    for (const type of [
      ...['user.created', 'user.blocked', 'group.created', 'group.member.added'],
      ...['group.member.banned', 'message.sent', 'message.edited', 'message.deleted'],
      ...['message.pinned', 'message.reaction.added', 'user.mentioned', 'conversation.read'],
    ]) {
      assert.ok(types.includes(type), `${type} shows a user`)
    }
  })
})
