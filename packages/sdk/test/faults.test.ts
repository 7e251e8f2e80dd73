/** A service that dies, is busy, loses requests and answers: no send is lost or doubled, every promise settles. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type TestApp, useServer } from '../../server/test/kit.ts'
import { type Serving, startServing } from '../../server/test/loquat.ts'
import { seeded } from '../../server/test/seed.ts'
import { until } from '../../server/test/until.ts'
import { type ClientOptions, LoquatClient, type Target } from '../src/client/index.ts'
import { Loquat, type Message } from '../src/index.ts'
import { FAULTS, type Front, openFront } from './front.ts'
import { shown } from './shown.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })
const LONG = process.env.LOQUAT_TEST_LONG !== undefined

const BEN: Target = { type: 'user', id: 'ben' }
const TEAM: Target = { type: 'group', id: 'team' }
const ROOMS = [BEN, TEAM]
/** Less than a test waits for, and more than an answer takes. */
const TIMEOUT_MS = 2_000
/** All tries of a call, with the pauses between them, on a machine that pauses too. */
const BOUND_MS = 180_000

interface World {
  app: TestApp
  front: Front
  device: LoquatClient
  application: Loquat
  /** What was called, and what became of it. */
  sends: Map<string, Promise<boolean>>
  reactions: Map<string, Promise<boolean>>
  others: Promise<boolean>[]
}

/** Whether it was done. */
const done = (call: Promise<unknown>) =>
  call.then(
    () => true,
    () => false,
  )

async function newWorld(t: TestContext, port: number, options = {}): Promise<World> {
  const app = await server.newApp()
  for (const uid of ['amira', 'ben']) await app.client.users.create({ uid, name: uid })
  const members = { participants: ['ben'] }
  await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'amira', members })
  const front = await openFront(port)
  t.after(() => front.close())
  const baseUrl = `http://127.0.0.1:${front.port}`
  const own = { appId: app.id, apiKey: app.apiKey, baseUrl, timeoutMs: TIMEOUT_MS }
  const device = await deviceOf(t, app, { baseUrl, timeoutMs: TIMEOUT_MS, ...options })
  const application = new Loquat({ ...own, onBehalfOf: 'ben' })
  const nothing = { sends: new Map(), reactions: new Map(), others: [] }
  return { app, front, device, application, ...nothing }
}

async function deviceOf(
  t: TestContext,
  app: TestApp,
  options: Pick<ClientOptions, 'timeoutMs'> & { baseUrl: string },
) {
  const { authToken } = await app.client.authTokens.create('amira', { force: true })
  const device = new LoquatClient({ appId: app.id, uid: 'amira', authToken, ...options })
  t.after(() => device.stop())
  device.start()
  for (const target of ROOMS) device.open(target)
  await until('it is loaded', () => device.state.loaded)
  return device
}

const KINDS = ['own', 'own', 'own', 'app', 'app', 'read', 'react', 'drop'] as const

const step = fc.record({
  do: fc.constantFrom(...KINDS),
  at: fc.nat(20),
  faults: fc.array(fc.constantFrom(...FAULTS), { maxLength: 3 }),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

function take(world: World, { do: what, at, faults }: Step, nth: number): void {
  const { front, device, application, sends, reactions, others } = world
  const target = ROOMS[at % ROOMS.length] as Target
  const text = `${what}${nth}`
  front.fail(...faults)
  if (what === 'own') sends.set(text, done(device.send(target, { text })))
  else if (what === 'app') {
    const receiver = target === BEN ? 'amira' : 'team'
    const body = { receiver, receiverType: target.type, data: { text } }
    sends.set(text, done(application.messages.send(body)))
  } else if (what === 'read') others.push(done(device.markRead(target)))
  else if (what === 'drop') front.drop()
  else {
    const messages = device.state.rooms[device.idOf(target)]?.messages ?? []
    const stored = messages.filter(({ pending }) => !pending)
    const message = stored[at % Math.max(stored.length, 1)]
    if (message) {
      reactions.set(`${message.id} ${text}`, done(device.react(message.id, text)))
    }
  }
}

/** What was said to be done is there once; what was not, at most once. */
async function verify({ app, sends, reactions, others }: World): Promise<void> {
  const calls = [...sends.values(), ...reactions.values(), ...others]
  let settled = 0
  for (const call of calls) void call.then(() => settled++)
  await until('every promise has settled', () => settled === calls.length, BOUND_MS)
  const as = app.client.onBehalfOf('amira')
  const stored: Message[] = [
    ...(await Array.fromAsync(as.messages.allUser('ben', { limit: 100 }))),
    ...(await Array.fromAsync(as.messages.allGroup('team', { limit: 100 }))),
  ]
  const timesOf = (text: string) => stored.filter(({ data }) => data.text === text).length
  for (const [text, sent] of sends) {
    if (await sent) assert.equal(timesOf(text), 1, `${text} was sent`)
    else assert.ok(timesOf(text) <= 1, `${text} was sent twice`)
  }
  for (const [what, reacted] of reactions) {
    const [id, reaction] = what.split(' ')
    const found = await Array.fromAsync(as.messages.allReactions(id ?? ''))
    const times = found.filter((one) => one.reaction === reaction).length
    if (await reacted) assert.equal(times, 1, `${what} was added`)
    else assert.ok(times <= 1, `${what} was added twice`)
  }
}

async function equalsReload(t: TestContext, { app, device }: World): Promise<void> {
  const fresh = await deviceOf(t, app, { baseUrl: `http://127.0.0.1:${server.service.apiPort}` })
  const both = () => [shown(device.state), shown(fresh.state)] as const
  await until('both show the same', async () => {
    await Promise.all([device.settled(), fresh.settled()])
    const [own, other] = both()
    return device.state.connection === 'online' && JSON.stringify(own) === JSON.stringify(other)
  }).catch((error) => {
    const [own, other] = both()
    assert.deepEqual(own, other)
    throw error
  })
  fresh.stop()
}

suite('the SDK before a service that fails', () => {
  test('any history of faults', { timeout: 1_800_000 }, async (t) => {
    let met = 0
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 6, maxLength: 14 }),
      async (steps) => {
        const world = await newWorld(t, server.service.apiPort ?? 0)
        for (const [nth, one] of steps.entries()) {
          take(world, one, nth)
          await new Promise((resolve) => setImmediate(resolve))
        }
        await verify(world)
        world.front.heal()
        await equalsReload(t, world)
        met += world.front.met
        world.device.stop()
        world.front.close()
      },
    )
    await fc.assert(property, { numRuns: LONG ? 100 : 3, ...seeded, endOnFailure: !LONG })
    t.diagnostic(JSON.stringify({ faults: met }))
    assert.ok(met > 0, 'nothing failed: the test tested nothing')
  })

  test('killed and started again amid sends', { timeout: 600_000 }, async (t) => {
    const roles = 'api,gateway,worker'
    let serving: Serving = await startServing(roles, server.env)
    // However long a start takes here, the device waits for it.
    const patience = { maxRetries: 1_000, retryForMs: 600_000 }
    const world = await newWorld(t, serving.apiPort, patience)
    const { front, device, application, sends, reactions } = world
    const { id } = await device.send(TEAM, { text: 'first' })
    const burst = (name: string) => {
      for (let nth = 0; nth < 8; nth++) {
        const text = `${name}${nth}`
        sends.set(`own${text}`, done(device.send(BEN, { text: `own${text}` })))
        const body = { receiver: 'team', receiverType: 'group', data: { text: `app${text}` } }
        sends.set(`app${text}`, done(application.messages.send(body as never)))
      }
      reactions.set(`${id} ${name}`, done(device.react(id, name)))
      world.others.push(done(device.markRead(TEAM)))
    }
    for (const name of ['a', 'b']) {
      burst(name)
      await sends.get(`own${name}2`)
      await serving.end('SIGKILL')
      burst(`${name}-dead`)
      serving = await startServing(roles, server.env)
      front.target = serving.apiPort
    }
    await verify(world)
    const own = await Promise.all(
      [...sends].filter(([text]) => text.startsWith('own')).map(([, s]) => s),
    )
    assert.ok(own.every(Boolean), 'a message of the device was given up')
    await equalsReload(t, world)
    await serving.end()
  })
})
