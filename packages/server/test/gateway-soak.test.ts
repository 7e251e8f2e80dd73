/**
 * Devices on two gateway processes under load, while these are killed, NATS loses its data and
 * connections are cut: each device ends with the messages of its conversations, in order, without a
 * gap or a repetition.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { after, before, suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { addBulkUsers, ReconnectingDevice } from './bulk-users.ts'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { type Serving, startServing } from './loquat.ts'
import { type PrivateEngine, startPrivate } from './private-engines.ts'
import { until } from './until.ts'

/** The short form causes each fault once; the long form is a soak test. */
const SECONDS = LONG ? 60 : 15
const DEVICES = LONG ? 1_000 : 200
const PER_SECOND = LONG ? 500 : 100
const MEMBERS = LONG ? 50 : 20
const GROUPS = LONG ? 20 : 10
/** One in this many messages is sent to a group. */
const TO_GROUP = 5
/** How many counterparts a user has; few, so that each conversation has many messages in order. */
const PARTNERS = 5
const SENDERS = 24

const engines: Record<string, string> = {}
let nats: PrivateEngine
before(async () => {
  nats = await startPrivate('nats')
  engines.LOQUAT_NATS_URL = nats.url
})
after(() => nats?.remove())

/** This process runs only the devices; the tested code runs in other processes. */
const server = useServer({ roles: ['api'], env: engines })

/** A proxy between devices and a gateway that cuts connections. */
class Cutter {
  readonly listening: Promise<unknown>
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  constructor(portOf: () => number) {
    this.#server = createServer((near) => {
      const far = connect(portOf(), '127.0.0.1')
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        one.on('error', () => {})
        one.on('close', () => other.destroy())
        one.pipe(other)
      }
      this.#sockets.add(near)
      near.on('close', () => this.#sockets.delete(near))
    })
    this.listening = once(this.#server.listen(0, '127.0.0.1'), 'listening')
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  cut(share: number): void {
    for (const socket of this.#sockets) if (Math.random() < share) socket.destroy()
  }

  close(): void {
    this.#server.close()
    this.cut(1)
  }
}

/** Sends at a steady rate over persistent connections, and retries failed messages with the same muid. */
class Senders {
  acknowledged = 0
  readonly #agent = new Agent({ keepAlive: true, maxSockets: SENDERS })
  readonly #app: TestApp
  readonly #port: number

  constructor(app: TestApp, port: number) {
    this.#app = app
    this.#port = port
  }

  async run(seconds: number): Promise<void> {
    const started = performance.now()
    const deadline = started + seconds * 1000
    let next = 0
    const one = async () => {
      while (performance.now() < deadline) {
        const nth = next++
        const due = started + (nth / PER_SECOND) * 1000
        if (due > performance.now()) await sleep(due - performance.now())
        while (!(await this.#send(nth))) await sleep(50)
        this.acknowledged++
      }
    }
    await Promise.all(Array.from({ length: SENDERS }, one))
    this.#agent.destroy()
  }

  #send(nth: number): Promise<boolean> {
    const group = nth % TO_GROUP === 0 ? any(GROUPS) : undefined
    const from = group === undefined ? any(DEVICES) : group * MEMBERS + any(MEMBERS)
    const partner = (from + 1 + any(PARTNERS)) % DEVICES
    const to = group === undefined ? `u${partner}` : `g${group}`
    const body = JSON.stringify({
      ...{ receiver: to, receiverType: group === undefined ? 'user' : 'group', muid: `m${nth}` },
      ...{ category: 'message', type: 'text', data: { text: String(nth) } },
    })
    const headers = {
      ...{ appid: this.#app.id, apikey: this.#app.apiKey, onbehalfof: `u${from}` },
      ...{ 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    }
    const options = { port: this.#port, path: '/v3/messages', method: 'POST' }
    return new Promise((resolve) => {
      const sent = request({ ...options, headers, agent: this.#agent }, (response) => {
        response.resume()
        response.once('end', () => resolve(response.statusCode === 200))
        response.once('error', () => resolve(false))
      })
      sent.once('error', () => resolve(false))
      sent.end(body)
    })
  }
}

const any = (count: number) => Math.floor(Math.random() * count)

async function newLargeApp() {
  const app = await server.newApp()
  await app.cell.db.query({
    name: '',
    text: `update apps set settings = '{"rate.core": 1000000000, "rate.standard": 1000000000}' where app_no = $1`,
    values: [app.no],
  })
  const people = await addBulkUsers(server.deps, app, DEVICES)
  for (let g = 0; g < GROUPS; g++) {
    const uids = people.slice(g * MEMBERS, (g + 1) * MEMBERS).map(({ uid }) => uid)
    const [owner = '', ...others] = uids
    const group = { guid: `g${g}`, name: `G${g}`, type: 'public' as const, owner }
    await app.client.groups.create({ ...group, members: { participants: others.slice(0, 25) } })
    const body = { participants: others.slice(25) }
    if (body.participants.length > 0) await app.call('POST', `/v3/groups/g${g}/members`, { body })
  }
  return { app, people }
}

/** The message ids in the database, by conversation, in order. */
async function messagesOf(app: TestApp): Promise<Map<string, string[]>> {
  const found = await rows<{ conversation: string; ids: string[] }>(
    app.cell.db,
    `select conversation_id(c.kind, c.one, c.other) as conversation,
       array_agg(m.id::text order by m.id) as ids
     from messages m join conversations c on c.app_no = m.app_no and c.no = m.conversation
     where m.app_no = $1 and m.category = 'message' group by c.no, c.kind, c.one, c.other`,
    [app.no],
  )
  return new Map(found.map(({ conversation, ids }) => [conversation, ids]))
}

/** The users of a conversation: both users, or the members. */
function concerned(conversation: string): number[] {
  const [, group] = /^group_g(\d+)$/.exec(conversation) ?? []
  if (group !== undefined) {
    return Array.from({ length: MEMBERS }, (_, n) => Number(group) * MEMBERS + n)
  }
  return [...new Set(conversation.split('_user_').map((uid) => Number(uid.slice(1))))]
}

suite('devices under faults', () => {
  test('receive every message of their conversations once and in order', async (t: TestContext) => {
    const { app, people } = await newLargeApp()
    const [api, worker, ...gateways] = await Promise.all(
      ['api', 'worker', 'gateway', 'gateway'].map((role) => startServing(role, server.env)),
    )
    t.after(() => Promise.all([api, worker, ...gateways].map((process) => process?.end('SIGKILL'))))
    const portOf = () => gateways[any(2)]?.gatewayPort ?? 0
    const cutter = new Cutter(portOf)
    await cutter.listening
    t.after(() => cutter.close())
    const devices = people.map(
      (person, n) =>
        new ReconnectingDevice(app.id, person, n % 5 === 0 ? () => cutter.port : portOf),
    )
    t.after(() => {
      for (const device of devices) device.end()
    })
    await until('all are connected', () => devices.every(({ open }) => open))

    const senders = new Senders(app, api?.apiPort ?? 0)
    const sending = senders.run(SECONDS)
    const struck = await wreck(gateways, cutter)
    await sending

    const messages = await messagesOf(app)
    const expected = devices.map(() => 0)
    for (const [conversation, ids] of messages) {
      for (const n of concerned(conversation)) expected[n] = (expected[n] ?? 0) + ids.length
    }
    const sentAt = performance.now()
    await until(
      'all came',
      () => devices.every(({ received }, n) => received >= (expected[n] ?? 0)),
      180_000,
    ).catch(() => {})
    const secondsToTheLast = Math.round((performance.now() - sentAt) / 100) / 10
    // Repeated messages would arrive now.
    await sleep(500)
    for (const [conversation, ids] of messages) {
      for (const n of concerned(conversation)) {
        assert.deepEqual(devices[n]?.messages.get(conversation), ids, `u${n} in ${conversation}`)
      }
    }
    for (const [n, { received, reloads }] of devices.entries()) {
      assert.equal(received, expected[n], `u${n} received a message of another conversation`)
      assert.equal(reloads, 0)
    }
    const frames = devices.reduce((sum, { received }) => sum + received, 0)
    const connects = devices.reduce((sum, device) => sum + device.connects, 0)
    const { acknowledged } = senders
    const figures = { seconds: SECONDS, acknowledged, frames, connects, secondsToTheLast, struck }
    t.diagnostic(JSON.stringify(figures))
    assert.ok(connects > DEVICES, 'no connection was lost: the test tested nothing')
  })
})

/** Causes faults in turn until the time is over, and returns how often each occurred. */
async function wreck(gateways: Serving[], cutter: Cutter): Promise<Record<string, number>> {
  const struck: Record<string, number> = {}
  const kill = async (n: number) => {
    await gateways[n]?.end('SIGKILL')
    gateways[n] = await startServing('gateway', server.env)
  }
  const faults: [string, () => Promise<void> | void][] = [
    ['cut connections', () => cutter.cut(0.5)],
    ['kill a gateway', () => kill(0)],
    ['wipe NATS', () => nats.kill().then(() => nats.start())],
    ['kill a gateway', () => kill(1)],
  ]
  const deadline = performance.now() + SECONDS * 1000
  for (let nth = 0; nth < faults.length || performance.now() < deadline; nth++) {
    const [name, strike] = faults[nth % faults.length] as (typeof faults)[number]
    await strike()
    struck[name] = (struck[name] ?? 0) + 1
    await sleep(3_000 + Math.random() * 2_000)
  }
  return struck
}
