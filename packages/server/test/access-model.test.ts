/**
 * Random rules, roles, scopes, friends, messages and reactions: an answer agrees with its explanation, and no list and no
 * device shows what an explanation denies at that moment.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { ExplainPermissionBody } from '@loquat/sdk'
import fc from 'fast-check'
import { Device, type Frame, tokenOf } from './device.ts'
import { type TestApp, useServer } from './kit.ts'
import { LONG } from './long.ts'
import { seeded } from './seed.ts'
import { until } from './until.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })

const HISTORIES = LONG ? 200 : 3
const STEPS = 30
const USERS = ['ana', 'ben', 'cleo']
/** The owner of all groups. No rule binds this user, whose device shows when an event has reached all others. */
const WATCH = 'watch'
const ROLES = ['default', 'one']
const SCOPES = ['admin', 'moderator', 'participant'] as const
const GROUPS = { team: 'public', inner: 'private', locked: 'password' } as const

const KINDS = {
  text: { category: 'message', type: 'text', data: { text: 'Hello' } },
  image: {
    ...{ category: 'message', type: 'image' },
    data: { attachments: [{ name: 'a', url: 'https://a.example/a', mimeType: 'image/png' }] },
  },
  poll: { category: 'custom', type: 'poll', data: { customData: { a: 1 } } },
} as const
type Kind = keyof typeof KINDS

type Rule = [name: string, value: unknown]

const OF_ROLE: Rule[] = [
  ['listMessages.allowedMessageTypes', ['text']],
  ['listMessages.allowedMessageTypes', ['image']],
  ['listMessages.allowedMessageTypes', []],
  ['listMessages.allowedMessageCategories', ['message']],
  ['listMessages.allowedMessageCategories', ['custom', 'action']],
  ['listMessages.allowedMessageCategories', []],
  ['sendMessage.allowedMessageTypes', ['text']],
  ['sendMessage.allowedMessageTypes', []],
  ['sendMessage', 'deny'],
  ['sendMessage', 'allow'],
  ['listUsers', 'deny'],
  ['listUsers', 'allow'],
  ['listUsers.mode', 'friends'],
  ['listUsers.mode', 'all'],
  ['listUsers.allowedRoles', ['one']],
  ['listUsers.allowedRoles', ['default', 'free']],
  ['listUsers.allowedRoles', []],
  ['listGroups.allowedGroupTypes', ['public']],
  ['listGroups.allowedGroupTypes', ['private', 'password']],
  ['listGroups.allowedGroupTypes', []],
]

const OF_SCOPE: Rule[] = [
  ['sendMessage', 'deny'],
  ['sendMessage', 'allow'],
  ['addReaction', 'deny'],
  ['addReaction', 'allow'],
  ['listReactions', 'deny'],
  ['listReactions', 'allow'],
  ['listReactions.allowedScopes', ['participant']],
  ['listReactions.allowedScopes', []],
  ['listMembers', 'deny'],
  ['listMembers', 'allow'],
  ['listMembers.allowedScopes', ['admin', 'moderator']],
  ['listMembers.allowedScopes', []],
]

const FEATURES = ['createMessage', 'listUsers', 'listGroups', 'listGroupMembers']

const kind = fc.constantFrom(...(Object.keys(KINDS) as Kind[]))
const user = fc.constantFrom(...USERS)
const role = fc.constantFrom(...ROLES)
const scope = fc.constantFrom(...SCOPES)
const anyone = fc.constantFrom(...USERS, WATCH)
const does = <T extends string>(what: T) => fc.constant(what)
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: does('send'), by: user, kind }) },
  // Nothing stops this user, so others have something to see.
  { weight: 3, arbitrary: fc.record({ do: does('send'), by: fc.constant(WATCH), kind }) },
  { weight: 3, arbitrary: fc.record({ do: does('react'), by: anyone }) },
  { weight: 2, arbitrary: fc.record({ do: does('read'), by: user }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: does('rule'), role, rule: fc.constantFrom(...OF_ROLE) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: does('scope rule'), scope, rule: fc.constantFrom(...OF_SCOPE) }),
  },
  { weight: 1, arbitrary: fc.record({ do: does('role'), by: user, role }) },
  { weight: 1, arbitrary: fc.record({ do: does('scope'), by: user, scope }) },
  { weight: 1, arbitrary: fc.record({ do: does('friend'), by: user, other: anyone }) },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ do: does('restrict'), role, on: fc.boolean(), feature: fc.constantFrom(...FEATURES) },
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: does('arrive'), role }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

interface World {
  app: TestApp
  devices: Map<string, Device>
  /** Whose rules change with each step, so that its device shows that those before were read. */
  marker: Device
  /** The kinds of all messages of `team` by id. */
  sent: Map<string, Kind>
  /** Users who came online. */
  arrived: string[]
  steps: number
}

async function newWorld(): Promise<World> {
  const app = await server.newApp()
  for (const name of ['one', 'free', 'odd']) await app.client.roles.create({ role: name, name })
  await app.client.permissions.updateRole('odd', {
    permissions: { 'listMessages.allowedMessageTypes': ['text'] },
  })
  await app.users(...USERS)
  for (const uid of [WATCH, 'marker']) {
    await app.client.users.create({ uid, name: uid, role: 'free' })
  }
  for (const [guid, type] of Object.entries(GROUPS)) {
    const password = type === 'password' ? { password: 'x' } : {}
    const members = { participants: USERS }
    await app.as(WATCH).groups.create({ guid, name: guid, type, members, ...password } as never)
  }
  const connect = async (uid: string) =>
    Device.connect(server.service.gatewayPort ?? 0, app, await tokenOf(app, uid))
  const devices = new Map<string, Device>()
  for (const uid of [...USERS, WATCH]) {
    const device = await connect(uid)
    device.send('presence.subscribe', { users: 'all' }, 'presence')
    await device.waitFor('session.ok', ({ id }) => id === 'presence')
    devices.set(uid, device)
  }
  const marker = await connect('marker')
  return { app, devices, marker, sent: new Map(), arrived: [], steps: 0 }
}

const deviceOf = ({ devices }: World, uid: string): Device => devices.get(uid) as Device

type Question = Omit<ExplainPermissionBody, 'uid'>

const explain = async ({ app }: World, uid: string, question: Question): Promise<boolean> =>
  (await app.client.permissions.explain({ uid, ...question })).allowed

const kindOf = (of: Kind) => ({ category: KINDS[of].category, type: KINDS[of].type })

const ofMessage = (action: string, of: Kind, receiver?: string): Question => ({
  ...{ action, guid: 'team', message: kindOf(of) },
  ...(receiver !== undefined && { receiver }),
})

/** Of some values, those that an explanation allows. */
async function allowed<T>(world: World, uid: string, all: readonly T[], ask: (one: T) => Question) {
  const answers = await Promise.all(all.map((one) => explain(world, uid, ask(one))))
  return all.filter((_, nth) => answers[nth])
}

const shownKinds = (world: World, uid: string) =>
  allowed(world, uid, Object.keys(KINDS) as Kind[], (of) => ofMessage('getMessage', of))

/**
 * The gateway has read all rules that changed before: it reads rules in turn, and after the events before them, and the
 * marker gets another role now.
 */
async function settle({ app, marker, ...world }: World, nth: number): Promise<void> {
  const reloads = () => marker.frames.filter(({ type }) => type === 'session.reload').length
  const before = reloads()
  await app.client.users.update('marker', { role: nth % 2 ? 'odd' : 'free' })
  await until('the rules are read', () => reloads() > before)
  for (const device of world.devices.values()) await device.settled()
}

async function play(world: World, given: Step): Promise<void> {
  const { app } = world
  switch (given.do) {
    case 'send':
      return send(world, given.by, given.kind)
    case 'react':
      return react(world, given.by)
    case 'read':
      return read(world, given.by)
    case 'arrive':
      return arrive(world, given.role)
    case 'rule': {
      const [name, value] = given.rule
      await app.client.permissions.updateRole(given.role, { permissions: { [name]: value } })
      break
    }
    case 'scope rule': {
      const [name, value] = given.rule
      const permissions = { [name]: value }
      await app.client.permissions.updateScope('team', given.scope, { permissions })
      break
    }
    case 'role':
      await app.client.users.update(given.by, { role: given.role })
      break
    case 'scope':
      // It may have this scope already.
      await app.call('PUT', `/v3/groups/team/members/${given.by}`, { body: { scope: given.scope } })
      break
    case 'friend': {
      const method = world.steps % 2 ? 'POST' : 'DELETE'
      const body = method === 'POST' ? { accepted: [given.other] } : { friends: [given.other] }
      if (given.by !== given.other)
        await app.call(method, `/v3/users/${given.by}/friends`, { body })
      break
    }
    case 'restrict': {
      const features = [given.feature]
      await (given.on
        ? app.client.restrictedFeatures.restrict(given.role, { featuresToRestrict: features })
        : app.client.restrictedFeatures.allow(given.role, { featuresToAllow: features }))
    }
  }
  await settle(world, ++world.steps)
}

/** Waits until a frame has reached the device that sees everything, and then until all others have theirs. */
async function delivered(world: World, is: (frame: Frame) => boolean): Promise<void> {
  const watch = deviceOf(world, WATCH)
  await until('the event', () => watch.frames.some(is))
  for (const uid of USERS) await deviceOf(world, uid).settled()
}

async function send(world: World, by: string, of: Kind): Promise<void> {
  const may = await explain(world, by, ofMessage('sendMessage', of))
  const body = { receiver: 'team', receiverType: 'group', ...KINDS[of] }
  const { status, body: answer } = await world.app.as(by).call('POST', '/v3/messages', { body })
  assert.equal(status === 200, may, JSON.stringify(answer))
  if (!may) return
  const { id } = answer.data
  world.sent.set(id, of)
  const isIt = ({ type, body: shown }: Frame) => type === 'message.sent' && shown.message.id === id
  await delivered(world, isIt)
  for (const uid of USERS) {
    const shown = (await shownKinds(world, uid)).includes(of)
    assert.equal(deviceOf(world, uid).frames.some(isIt), shown, `${uid} and ${of} by ${by}`)
  }
}

async function react(world: World, by: string): Promise<void> {
  const [id, of] = [...world.sent].at(-1) ?? []
  if (id === undefined || of === undefined) return
  const reaction = `r${world.steps}`
  const may = await explain(world, by, ofMessage('addMessageReaction', of))
  const { status } = await world.app.as(by).call('POST', `/v3/messages/${id}/reactions/${reaction}`)
  assert.equal(status === 200, may, `${by} and ${of}`)
  if (!may) return
  const isIt = ({ type, body }: Frame) =>
    type === 'message.reaction.added' &&
    body.reaction.messageId === id &&
    body.reaction.reaction === reaction &&
    body.reaction.uid === by
  await delivered(world, isIt)
  for (const uid of USERS.filter((one) => one !== by)) {
    if (!deviceOf(world, uid).frames.some(isIt)) continue
    const shown = await explain(world, uid, ofMessage('listMessageReactions', of, by))
    assert.ok(shown, `${uid} and the reaction of ${by}`)
  }
}

/** The user reads a message of the owner, who therefore sees the receipt; other senders may not. */
async function read(world: World, by: string): Promise<void> {
  for (const sender of [...USERS, WATCH]) {
    if (sender !== by) await send(world, sender, 'text')
  }
  await world.app.as(by).call('POST', '/v3/groups/team/conversation/read')
  const upto = Math.max(...[...world.sent.keys()].map(Number))
  const isIt = ({ type, body }: Frame): boolean =>
    type === 'conversation.receipts'
      ? body.receipts.some(isIt)
      : type === 'conversation.read' && body.uid === by && Number(body.messageId) === upto
  const watch = deviceOf(world, WATCH)
  await until('the receipt', () => watch.frames.some(isIt))
  for (const uid of USERS.filter((one) => one !== by)) {
    if (!deviceOf(world, uid).frames.some(isIt)) continue
    const question = { action: 'listMembers', guid: 'team', receiver: by }
    const { decidedBy } = await world.app.client.permissions.explain({ uid, ...question })
    assert.ok(decidedBy?.layer !== 'scope', `${uid} and the receipt of ${by}`)
  }
}

/** Somebody comes online. */
async function arrive(world: World, role: string): Promise<void> {
  const uid = `new${world.arrived.length}`
  await world.app.client.users.create({ uid, name: uid, role })
  const port = server.service.gatewayPort ?? 0
  const device = await Device.connect(port, world.app, await tokenOf(world.app, uid))
  const isIt = ({ type, body }: Frame) =>
    type === 'presence.changed' && body.users.some((one: { uid: string }) => one.uid === uid)
  await delivered(world, isIt)
  for (const viewer of USERS) {
    if (!deviceOf(world, viewer).frames.some(isIt)) continue
    const shown = await explain(world, viewer, { action: 'listUsers', receiver: uid })
    assert.ok(shown, `${viewer} and ${uid}`)
  }
  world.arrived.push(uid)
  await device.close()
}

/** What a list shows; nothing if it is refused. */
async function listed({ app }: World, uid: string, path: string, field: string): Promise<string[]> {
  const { status, body } = await app.as(uid).call('GET', `/v3${path}`)
  if (status !== 200) return []
  const total = body.meta.pagination?.total
  if (total !== undefined) assert.equal(total, body.data.length, path)
  return body.data.map((one: Record<string, string>) => one[field]).sort()
}

async function checkLists(world: World, uid: string): Promise<void> {
  await checkMessages(world, uid)
  const everyone = [...USERS, WATCH, 'marker', ...world.arrived]
  const users = await allowed(world, uid, everyone, (receiver) => ({
    ...{ action: 'listUsers', receiver },
  }))
  assert.deepEqual(await listed(world, uid, '/users?perPage=1000', 'uid'), users.sort(), uid)
  const groups = await allowed(world, uid, Object.keys(GROUPS), (guid) => ({
    ...{ action: 'listGroups', guid },
  }))
  assert.deepEqual(await listed(world, uid, '/groups?perPage=1000', 'guid'), groups.sort(), uid)
  const members = await allowed(world, uid, [...USERS, WATCH], (receiver) => ({
    ...{ action: 'listMembers', guid: 'team', receiver },
  }))
  const path = '/groups/team/members?perPage=1000'
  assert.deepEqual(await listed(world, uid, path, 'uid'), members.sort(), uid)
  const [id, of] = [...world.sent].at(-1) ?? []
  if (id === undefined || of === undefined) return
  const reacted = new Set(await listed(world, WATCH, `/messages/${id}/reactions`, 'uid'))
  const reacting = await allowed(world, uid, [...reacted], (receiver) =>
    ofMessage('listMessageReactions', of, receiver),
  )
  const shown = await listed(world, uid, `/messages/${id}/reactions`, 'uid')
  assert.deepEqual([...new Set(shown)], reacting.sort(), uid)
  const readers = await listed(world, uid, `/messages/${id}/receipts`, 'recipient')
  for (const reader of readers.filter((one) => one !== uid)) {
    assert.ok(await explain(world, uid, ofMessage('listMessageReceipts', of, reader)), reader)
  }
}

async function checkMessages(world: World, uid: string): Promise<void> {
  const shown = await shownKinds(world, uid)
  const must = [...world.sent].filter(([, one]) => shown.includes(one)).map(([id]) => id)
  const viewer = world.app.as(uid)
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const path = `/v3/groups/team/messages?limit=10&affix=append${cursor}`
    const { body } = await viewer.call('GET', path)
    const found = body.data.filter(({ category }: { category: string }) => category !== 'action')
    ids.push(...found.map(({ id }: { id: string }) => id))
    if (!body.meta.next) break
    cursor = `&id=${body.meta.next.id}`
  }
  assert.deepEqual(ids, must, uid)
  const conversations = (await viewer.conversations.list({ conversationType: 'group' })).data
  for (const { lastMessage } of conversations) {
    if (lastMessage && lastMessage.category !== 'action' && world.sent.has(lastMessage.id))
      assert.ok(must.includes(lastMessage.id), uid)
  }
  for (const [id] of [...world.sent].slice(-5)) {
    const { status } = await viewer.call('GET', `/v3/messages/${id}`)
    assert.equal(status === 200, must.includes(id), `${uid} and ${id}`)
  }
}

suite('rules', () => {
  test('hold in random histories, in lists and on devices', { timeout: 3_600_000 }, async () => {
    const history = fc.array(step, { minLength: STEPS, maxLength: STEPS })
    const property = fc.asyncProperty(history, async (steps) => {
      const world = await newWorld()
      for (const [nth, given] of steps.entries()) {
        await play(world, given)
        if (nth % 4 === 3) await checkLists(world, USERS[nth % USERS.length] as string)
      }
      for (const uid of USERS) await checkLists(world, uid)
      for (const device of [...world.devices.values(), world.marker]) await device.close()
    })
    await fc.assert(property, { numRuns: HISTORIES, endOnFailure: true, ...seeded })
  })
})
