/**
 * Random rules, roles and messages: an answer agrees with its explanation, and no list and no device shows what an
 * explanation denies at that moment.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { Device, tokenOf } from './device.ts'
import { type TestApp, useServer } from './kit.ts'
import { LONG } from './long.ts'
import { seeded } from './seed.ts'
import { until } from './until.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })

const HISTORIES = LONG ? 200 : 3
const STEPS = 25
const USERS = ['ana', 'ben', 'cleo']
/** Rules never bind this user, whose device shows when an event has reached all others. */
const WATCH = 'watch'
const ROLES = ['default', 'one']

const KINDS = {
  text: { category: 'message', type: 'text', data: { text: 'Hello' } },
  image: {
    ...{ category: 'message', type: 'image' },
    data: { attachments: [{ name: 'a', url: 'https://a.example/a', mimeType: 'image/png' }] },
  },
  poll: { category: 'custom', type: 'poll', data: { customData: { a: 1 } } },
} as const
type Kind = keyof typeof KINDS

const RULES: [name: string, value: unknown][] = [
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
]

const kind = fc.constantFrom(...(Object.keys(KINDS) as Kind[]))
const user = fc.constantFrom(...USERS)
const role = fc.constantFrom(...ROLES)
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('send' as const), by: user, kind }) },
  // Nothing stops this user, so others have something to see.
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('send' as const), by: fc.constant(WATCH), kind }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ do: fc.constant('rule' as const), role, rule: fc.constantFrom(...RULES) },
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('role' as const), by: user, role }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('restrict' as const), role, on: fc.boolean() }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

interface World {
  app: TestApp
  devices: Map<string, Device>
  /** The kinds of all messages by id. */
  sent: Map<string, Kind>
}

async function newWorld(): Promise<World> {
  const app = await server.newApp()
  for (const role of ['one', 'free']) await app.client.roles.create({ role, name: role })
  await app.users(...USERS)
  await app.client.users.create({ uid: WATCH, name: WATCH, role: 'free' })
  const members = { participants: [...USERS, WATCH] }
  await app.client.groups.create({ guid: 'team', name: 'Team', members })
  const devices = new Map<string, Device>()
  for (const uid of [...USERS, WATCH]) {
    const port = server.service.gatewayPort ?? 0
    devices.set(uid, await Device.connect(port, app, await tokenOf(app, uid)))
  }
  return { app, devices, sent: new Map() }
}

const explain = async ({ app }: World, uid: string, action: string, of: Kind): Promise<boolean> => {
  const { category, type } = KINDS[of]
  const question = { uid, action, guid: 'team', message: { category, type } }
  return (await app.client.permissions.explain(question)).allowed
}

const shownKinds = async (world: World, uid: string): Promise<Kind[]> => {
  const kinds = Object.keys(KINDS) as Kind[]
  const allowed = await Promise.all(kinds.map((one) => explain(world, uid, 'getMessage', one)))
  return kinds.filter((_, nth) => allowed[nth])
}

const reloads = (device: Device) =>
  device.frames.filter(({ type }) => type === 'session.reload').length

/** Changes a rule, and waits until the devices of all users who now see other messages were told. */
async function change(world: World, work: () => Promise<unknown>): Promise<void> {
  const limits = () => Promise.all(USERS.map((uid) => shownLimits(world, uid)))
  const before = await limits()
  const counts = USERS.map((uid) => reloads(world.devices.get(uid) as Device))
  await work()
  const after = await limits()
  for (const [nth, uid] of USERS.entries()) {
    if (before[nth] === after[nth]) continue
    const device = world.devices.get(uid) as Device
    await until(`a reload of ${uid}`, () => reloads(device) > (counts[nth] ?? 0))
  }
}

/** The values that decide about the messages that a user sees. */
async function shownLimits({ app }: World, uid: string): Promise<string> {
  const { chain } = await app.client.permissions.explain({ uid, action: 'getMessage' })
  const values = chain.filter(({ rule }) => rule.startsWith('listMessages.'))
  return JSON.stringify(values.map(({ value }) => value))
}

async function play(world: World, given: Step): Promise<void> {
  const { app, devices, sent } = world
  if (given.do === 'rule') {
    const [name, value] = given.rule
    return change(world, () =>
      app.client.permissions.updateRole(given.role, { permissions: { [name]: value } }),
    )
  }
  if (given.do === 'role')
    return change(world, () => app.client.users.update(given.by, { role: given.role }))
  if (given.do === 'restrict') {
    const features = ['createMessage']
    await (given.on
      ? app.client.restrictedFeatures.restrict(given.role, { featuresToRestrict: features })
      : app.client.restrictedFeatures.allow(given.role, { featuresToAllow: features }))
    return
  }
  const may = await explain(world, given.by, 'sendMessage', given.kind)
  const body = { receiver: 'team', receiverType: 'group', ...KINDS[given.kind] }
  const { status, body: answer } = await app.as(given.by).call('POST', '/v3/messages', { body })
  assert.equal(status === 200, may, JSON.stringify(answer))
  if (!may) return
  const { id } = answer.data
  sent.set(id, given.kind)
  const isIt = ({ type, body: shown }: Device['frames'][number]) =>
    type === 'message.sent' && shown.message.id === id
  await devices.get(WATCH)?.waitFor('message.sent', isIt)
  for (const uid of USERS) {
    const device = devices.get(uid) as Device
    await device.settled()
    const shown = (await shownKinds(world, uid)).includes(given.kind)
    assert.equal(device.frames.some(isIt), shown, `${uid} and ${JSON.stringify(given)}`)
  }
}

async function checkLists(world: World): Promise<void> {
  for (const uid of USERS) {
    const shown = await shownKinds(world, uid)
    const must = [...world.sent].filter(([, one]) => shown.includes(one)).map(([id]) => id)
    const ana = world.app.as(uid)
    const ids: string[] = []
    for (let cursor = ''; ; ) {
      const { body } = await ana.call(
        'GET',
        `/v3/groups/team/messages?limit=3&affix=append${cursor}`,
      )
      const found = body.data.filter(({ category }: { category: string }) => category !== 'action')
      ids.push(...found.map(({ id }: { id: string }) => id))
      if (!body.meta.next) break
      cursor = `&id=${body.meta.next.id}`
    }
    assert.deepEqual(ids, must, uid)
    const [conversation] = (await ana.conversations.list({ conversationType: 'group' })).data
    const last = conversation?.lastMessage
    if (last && last.category !== 'action') assert.ok(must.includes(last.id), uid)
    for (const [id] of world.sent) {
      const { status } = await ana.call('GET', `/v3/messages/${id}`)
      assert.equal(status === 200, must.includes(id), `${uid} and ${id}`)
    }
  }
}

suite('rules', () => {
  test('hold in random histories, in lists and on devices', { timeout: 3_600_000 }, async () => {
    const history = fc.array(step, { minLength: STEPS, maxLength: STEPS })
    const property = fc.asyncProperty(history, async (steps) => {
      const world = await newWorld()
      for (const [nth, given] of steps.entries()) {
        await play(world, given)
        if (nth % 5 === 4) await checkLists(world)
      }
      for (const device of world.devices.values()) await device.close()
    })
    await fc.assert(property, { numRuns: HISTORIES, endOnFailure: true, ...seeded })
  })
})
