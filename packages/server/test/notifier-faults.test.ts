import assert from 'node:assert/strict'
import { afterEach, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { killRunning, type Running, startServing } from './loquat.ts'
import { apnsError } from './push/apns-server.ts'
import { fcmError } from './push/fcm-server.ts'
import {
  addApns,
  addFcm,
  android,
  iPhone,
  shownOn,
  startPushServers,
  type TestDevice,
} from './push/notified.ts'
import { trustedCertificate } from './receiver.ts'
import { until } from './until.ts'

const FAULTS = LONG ? 40 : 5
const MEMBERS = 6
const MESSAGES = 10

const servers = await startPushServers()
const { apns, fcm } = servers
const server = useServer({ env: { ...servers.env, LOQUAT_POOL_SIZE: '10' } })

const startWorker = () =>
  startServing('worker', { ...server.env, NODE_EXTRA_CA_CERTS: trustedCertificate().caFile })

/** The texts that providers accepted for a device, in order, each once, by conversation. */
const accepted = new Map<string, string[]>()
let taken = 0
let repeated = 0
let isDown = false

function take(device: string, conversation: string, text: string): boolean {
  if (isDown) return false
  taken++
  const key = `${device} ${conversation}`
  const texts = accepted.get(key) ?? []
  if (texts.includes(text)) repeated++
  else accepted.set(key, [...texts, text])
  return true
}

/** So that calls are under way when a worker ends. */
const think = () => sleep(Math.random() * 50)

apns.respond = async ({ device, payload }) => {
  const isTaken = !payload.aps.alert || take(device, payload.conversationId, payload.aps.alert.body)
  await think()
  return isTaken ? { status: 200 } : apnsError(503, 'ServiceUnavailable')
}
fcm.respond = async ({ token, data }) => {
  const isTaken = !data.body || take(token, data.conversationId, data.body)
  await think()
  return isTaken
    ? { status: 200, body: '{"name":"projects/example-chat/messages/1"}' }
    : fcmError(503, 'UNAVAILABLE', { errorCode: 'UNAVAILABLE' })
}

const numberOf = (text: string) => Number(text.split(' ')[1])
const byNumber = (one: string, other: string) => numberOf(one) - numberOf(other)

/** What users did, in order, and what must have arrived. */
class Story {
  readonly #app: TestApp
  readonly devices: TestDevice[]
  /** Devices that may get nothing that is sent from now on: by a user, or at all. */
  readonly #without = new Map<string, Set<string>>()
  readonly expected = new Map<string, string[]>()
  readonly forbidden = new Map<string, string[]>()
  sent = 0

  constructor(app: TestApp, devices: TestDevice[]) {
    this.#app = app
    this.devices = devices
  }

  /** One user sends messages to two groups and to another user. */
  async talk(sender: string): Promise<void> {
    for (let n = 0; n < MESSAGES; n++) {
      const text = `message ${++this.sent}`
      const guid = n % 2 === 0 ? 'one' : 'two'
      await this.#app.as(sender).sendText(guid, text, { receiverType: 'group' })
      for (const device of this.devices) {
        if (device.uid === sender) continue
        const without = this.#without.get(device.token)
        const list = without?.has(sender) || without?.has('*') ? this.forbidden : this.expected
        const key = `${device.token} group_${guid}`
        list.set(key, [...(list.get(key) ?? []), text])
      }
    }
  }

  async signOut(device: TestDevice): Promise<void> {
    await this.#app.call('DELETE', `/v3/users/${device.uid}/auth_tokens/${device.authToken}`)
    this.#without.set(device.token, new Set(['*']))
    // What it didn't get before, it doesn't get any more.
    for (const key of this.expected.keys()) {
      if (key.startsWith(device.token)) this.expected.delete(key)
    }
  }

  async block(device: TestDevice, sender: string): Promise<void> {
    await this.#app.client.blockedUsers.block(device.uid, { blockedUids: [sender] })
    for (const { uid, token } of this.devices) {
      if (uid !== device.uid) continue
      this.#without.set(token, new Set([...(this.#without.get(token) ?? []), sender]))
      for (const key of this.expected.keys()) if (key.startsWith(token)) this.expected.delete(key)
    }
  }
}

const open = async (app: TestApp) =>
  rows<{ tries: number }>(
    app.cell.db,
    `select tries from notification_deliveries where app_no = $1
     union all select 0 from notification_fanouts where app_no = $1
     union all select 0 from notifier_progress g join positions p using (app_no)
       where app_no = $1 and p.position > g.position
     union all select 0 from outbox where app_no = $1`,
    [app.no],
  )

/** Lets an hour pass for everything that waits. */
const pass = (app: TestApp) =>
  update(
    app,
    `update notification_deliveries set due_at = due_at - interval '1 hour',
       expires_at = expires_at - interval '1 hour' where app_no = $1`,
  )

/** In a transaction, which is repeated after a deadlock with the workers' own updates. */
const update = (app: TestApp, sql: string) => app.cell.db.tx((tx) => rows(tx, sql, [app.no]))

suite('notifications whose workers are killed and suspended', () => {
  afterEach(killRunning)

  test('all arrive, in order, and none after a session ended or a block', async (t) => {
    const app = await server.newApp()
    const uids = Array.from({ length: MEMBERS }, (_, n) => `u${n}`)
    await app.users(...uids)
    for (const guid of ['one', 'two']) {
      const members = { participants: uids.slice(1) }
      await app.client.groups.create({ guid, name: guid, owner: 'u0', members })
    }
    await addApns(app, servers)
    await addFcm(app, servers)
    const devices = await Promise.all(uids.flatMap((uid) => [iPhone(app, uid), android(app, uid)]))
    const story = new Story(app, devices)
    let workers: Running[] = [await startWorker(), await startWorker()]
    const counts = { killed: 0, suspended: 0, goAway: 0, hours: 0 }
    const resumed: Promise<void>[] = []
    for (let fault = 0; fault < FAULTS; fault++) {
      const before = taken
      const talking = story.talk(`u${fault % 2}`)
      await until('one arrives', () => taken > before)
      const [victim, ...others] = workers.toSorted(() => Math.random() - 0.5)
      assert.ok(victim)
      if (fault % 5 === 0) {
        counts.goAway++
        apns.http.goAway()
        fcm.http.goAway()
      } else if (fault % 5 === 1) {
        counts.killed++
        await victim.end('SIGKILL')
        workers = [...others, await startWorker()]
      } else if (fault % 5 === 2) {
        counts.suspended++
        victim.signal('SIGSTOP')
        // Others take over after three seconds; it resumes before or after that.
        resumed.push(sleep(Math.random() * 5_000).then(() => victim.signal('SIGCONT')))
      } else if (fault % 5 === 3) {
        counts.hours++
        isDown = true
        await until('some wait', async () => (await open(app)).some(({ tries }) => tries > 0))
        await talking
        isDown = false
        // These come while earlier ones wait, and must not overtake them.
        await story.talk('u0')
        await pass(app)
      } else {
        await talking
        // Neither of the two who talk.
        const others = devices.slice(4)
        await story.signOut(others[fault % others.length] as TestDevice)
        await story.block(others[(fault + 3) % others.length] as TestDevice, 'u0')
      }
      await talking
    }
    await Promise.all(resumed)
    await until('everything was sent', async () => {
      await update(
        app,
        'update notification_deliveries set due_at = least(due_at, now()) where app_no = $1',
      )
      return (await open(app)).length === 0
    })
    for (const [key, texts] of story.expected) {
      const missing = texts.filter((text) => !accepted.get(key)?.includes(text))
      assert.deepEqual(missing, [], key)
    }
    for (const [key, texts] of accepted) {
      assert.deepEqual(texts, texts.toSorted(byNumber), `in order: ${key}`)
      const late = story.forbidden.get(key)?.filter((text) => texts.includes(text)) ?? []
      assert.deepEqual(late, [], key)
    }
    const delivered = [...accepted.values()].reduce((sum, texts) => sum + texts.length, 0)
    t.diagnostic(JSON.stringify({ ...counts, delivered, repeated }))
    const ended = await Promise.all(workers.map((worker) => worker.end()))
    assert.deepEqual(
      ended.map(({ code }) => code),
      workers.map(() => 0),
    )
  })

  test('go on when a worker loses its lease while providers think', async () => {
    const app = await server.newApp()
    await app.users('amira', 'ben', 'cleo')
    const members = { participants: ['ben', 'cleo'] }
    await app.client.groups.create({ guid: 'g', name: 'G', owner: 'amira', members })
    await addApns(app, servers)
    await addFcm(app, servers)
    await Promise.all([iPhone(app, 'ben'), iPhone(app, 'cleo')])
    const tablet = await android(app, 'amira')
    const held: PromiseWithResolvers<void>[] = []
    const respond = apns.respond
    apns.respond = async () => {
      const answer = Promise.withResolvers<void>()
      held.push(answer)
      await answer.promise
      return { status: 200 }
    }
    const worker = await startWorker()
    await app.as('amira').sendText('g', 'Hello', { receiverType: 'group' })
    await until('both devices are called', () => held.length === 2)
    // As if another worker had taken it. This one takes it back, and calls again.
    await update(app, "update leases set epoch = epoch + 1 where job like 'notifier/%' and $1 > 0")
    await until('both devices are called again', () => held.length === 4)
    held[0]?.resolve()
    await app.as('ben').sendText('amira', 'Still there?')
    await until('others are notified', () => shownOn(servers, tablet).includes('Still there?'))
    for (const { resolve } of held) resolve()
    await until('everything was sent', async () => (await open(app)).length === 0)
    apns.respond = respond
    assert.equal((await worker.end()).code, 0)
  })
})
