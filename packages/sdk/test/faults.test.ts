/**
 * A server that crashes, is overloaded, and loses requests and responses: no message is lost or duplicated, and every promise
 * settles.
 */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type TestApp, useServer } from '../../server/test/kit.ts'
import { LONG } from '../../server/test/long.ts'
import { type Serving, startServing } from '../../server/test/loquat.ts'
import { seeded } from '../../server/test/seed.ts'
import { until } from '../../server/test/until.ts'
import { type ClientOptions, LoquatClient, type Target } from '../src/client/index.ts'
import { Loquat, type Message } from '../src/index.ts'
import { FAULTS, type FaultyProxy, openFaultyProxy } from './faulty-proxy.ts'
import { shown } from './shown.ts'

const server = useServer({ roles: ['api', 'gateway', 'worker'] })

const BEN: Target = { type: 'user', id: 'ben' }
const TEAM: Target = { type: 'group', id: 'team' }
const ROOMS = [BEN, TEAM]
/** Longer than a response takes, and shorter than a test waits. */
const TIMEOUT_MS = 2_000
/** Enough for all attempts of a call and the delays between them on a busy machine. */
const BOUND_MS = 180_000

interface World {
  app: TestApp
  front: FaultyProxy
  device: LoquatClient
  application: Loquat
  /** The calls, and whether they succeeded. */
  sends: Map<string, Promise<boolean>>
  reactions: Map<string, Promise<boolean>>
  others: Promise<boolean>[]
}

/** Whether a call succeeds. */
const succeeds = (call: Promise<unknown>) =>
  call.then(
    () => true,
    () => false,
  )

async function newWorld(t: TestContext, port: number, options = {}): Promise<World> {
  const app = await server.newApp()
  await app.users('amira', 'ben')
  const members = { participants: ['ben'] }
  await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'amira', members })
  const front = await openFaultyProxy(port)
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
  await until('the client is loaded', () => device.state.loaded)
  return device
}

const KINDS = ['own', 'own', 'own', 'app', 'app', 'read', 'react', 'drop'] as const

const step = fc.record({
  do: fc.constantFrom(...KINDS),
  at: fc.nat(20),
  faults: fc.array(fc.constantFrom(...FAULTS), { maxLength: 3 }),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

function runStep(world: World, { do: what, at, faults }: Step, nth: number): void {
  const { front, device, application, sends, reactions, others } = world
  const target = ROOMS[at % ROOMS.length] as Target
  const text = `${what}${nth}`
  front.fail(...faults)
  if (what === 'own') sends.set(text, succeeds(device.send(target, { text })))
  else if (what === 'app') {
    const receiver = target === BEN ? 'amira' : 'team'
    const body = { receiver, receiverType: target.type, data: { text } }
    sends.set(text, succeeds(application.messages.send(body)))
  } else if (what === 'read') others.push(succeeds(device.markRead(target)))
  else if (what === 'drop') front.drop()
  else {
    const messages = device.state.rooms[device.idOf(target)]?.messages ?? []
    const stored = messages.filter(({ pending }) => !pending)
    const message = stored[at % Math.max(stored.length, 1)]
    if (message) {
      reactions.set(`${message.id} ${text}`, succeeds(device.react(message.id, text)))
    }
  }
}

/** A successful call has happened exactly once, a failed one at most once. */
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
  await until('both clients show the same', async () => {
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

suite('the SDK with a failing server', () => {
  test('survives any sequence of faults', { timeout: 1_800_000 }, async (t) => {
    let faults = 0
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 6, maxLength: 14 }),
      async (steps) => {
        const world = await newWorld(t, server.service.apiPort ?? 0)
        for (const [nth, one] of steps.entries()) {
          runStep(world, one, nth)
          await new Promise((resolve) => setImmediate(resolve))
        }
        await verify(world)
        world.front.heal()
        await equalsReload(t, world)
        faults += world.front.faultCount
        world.device.stop()
        world.front.close()
      },
    )
    await fc.assert(property, { numRuns: LONG ? 100 : 3, ...seeded, endOnFailure: !LONG })
    t.diagnostic(JSON.stringify({ faults }))
    assert.ok(faults > 0, 'no fault occurred, so nothing was tested')
  })

  test('survives a server that is killed and restarted while messages are sent', {
    timeout: 600_000,
  }, async (t) => {
    const roles = 'api,gateway,worker'
    let serving: Serving = await startServing(roles, server.env)
    // The device waits for the restart, however long it takes.
    const patience = { maxRetries: 1_000, retryForMs: 600_000 }
    const world = await newWorld(t, serving.apiPort, patience)
    const { front, device, application, sends, reactions } = world
    const { id } = await device.send(TEAM, { text: 'first' })
    const burst = (name: string) => {
      for (let nth = 0; nth < 8; nth++) {
        const text = `${name}${nth}`
        sends.set(`own${text}`, succeeds(device.send(BEN, { text: `own${text}` })))
        const body = { receiver: 'team', receiverType: 'group', data: { text: `app${text}` } }
        sends.set(`app${text}`, succeeds(application.messages.send(body as never)))
      }
      reactions.set(`${id} ${name}`, succeeds(device.react(id, name)))
      world.others.push(succeeds(device.markRead(TEAM)))
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
    assert.ok(own.every(Boolean), 'the device gave up on a message')
    await equalsReload(t, world)
    await serving.end()
  })
})
