/**
 * Sends messages under load to webhooks whose receiver fails at random, while the API, workers and NATS
 * are killed, stopped and resumed, and NATS and Redis lose their data: no acknowledged message is lost.
 */
import assert from 'node:assert/strict'
import { after, before, suite, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { type Serving, startServing } from './loquat.ts'
import { type PrivateEngine, startPrivate } from './private-engines.ts'
import { useReceiver } from './receiver.ts'
import { until } from './until.ts'

/** The short form causes each fault about twice. */
const CHAOS_MS = LONG ? 28 * 60_000 : 15_000
const CONVERSATIONS = 12
/** The pause between two messages of a sender, because this tests faults, not speed. */
const PACE_MS = 200

const env: Record<string, string> = { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' }
let nats: PrivateEngine
let redis: PrivateEngine
before(async () => {
  nats = await startPrivate('nats')
  redis = await startPrivate('redis')
  Object.assign(env, { LOQUAT_NATS_URL: nats.url, LOQUAT_REDIS_URL: redis.url })
})
after(async () => {
  await nats?.remove()
  await redis?.remove()
})

const server = useServer({ env })

/** The texts that the receiver accepted, by path and sender, each id once, in order. */
const told = new Map<string, string[]>()
const ids = new Set<string>()
const counts = { calls: 0, failed: 0, repeated: 0 }

/** One in five calls fails in some way. */
let healthy = false
const receiver = useReceiver(({ id, path, json }) => {
  // Otherwise half an hour of them would pile up.
  receiver.received.length = 0
  counts.calls++
  const chance = healthy ? 1 : Math.random()
  if (chance <= 0.2) {
    counts.failed++
    if (chance > 0.05) return 500
    return chance > 0.01 ? 0 : null
  }
  if (ids.has(id)) counts.repeated++
  else {
    const { sender, data } = json.data.message
    const talk = `${path} ${sender}`
    const texts = told.get(talk) ?? []
    texts.push(data.text)
    told.set(talk, texts)
  }
  ids.add(id)
  return 200
})

/** A process that is killed and restarted again and again. */
class Mortal {
  readonly #roles: string
  #serving: Promise<Serving>

  private constructor(roles: string) {
    this.#roles = roles
    this.#serving = this.#start()
  }

  static async start(roles: string): Promise<Mortal> {
    const mortal = new Mortal(roles)
    await mortal.serving
    return mortal
  }

  get serving(): Promise<Serving> {
    return this.#serving
  }

  async kill(): Promise<void> {
    const dying = await this.#serving
    this.#serving = dying.end('SIGKILL').then(() => this.#start())
    await this.#serving
  }

  /** Longer than a lease, or shorter. */
  async pause(ms: number): Promise<void> {
    const stopped = await this.#serving
    stopped.signal('SIGSTOP')
    await sleep(ms)
    stopped.signal('SIGCONT')
  }

  async end(): Promise<void> {
    await (await this.#serving).end('SIGKILL')
  }

  /** Starts it again if it fails to start on a busy machine, as a supervisor does. */
  async #start(): Promise<Serving> {
    const own = { NODE_EXTRA_CA_CERTS: receiver.caFile }
    for (let tries = 1; ; tries++) {
      try {
        return await startServing(this.#roles, { ...server.env, ...own })
      } catch (error) {
        if (tries === 5) throw error
      }
    }
  }
}

/** Sends numbered messages in one conversation; a message without an answer is sent again. */
class Talker {
  acknowledged = 0
  retries = 0
  readonly #app: TestApp
  readonly #uid: string

  constructor(app: TestApp, uid: string) {
    this.#app = app
    this.#uid = uid
  }

  async run(portOf: () => Promise<number>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const text = `${this.#uid}:${this.acknowledged}`
      while (!(await this.#send(portOf, text))) {
        this.retries++
        if (signal.reason === 'failed') return
      }
      this.acknowledged++
      await sleep(PACE_MS)
    }
  }

  async #send(portOf: () => Promise<number>, text: string): Promise<boolean> {
    const body = { receiver: 'hub', receiverType: 'user', data: { text }, muid: text }
    const headers = { onbehalfof: this.#uid }
    try {
      const port = await portOf()
      const call = this.#app.call('POST', '/v3/messages', { port, headers, body })
      // A stopped process answers late or never.
      const late = sleep(5_000, undefined, { ref: false })
      return (await Promise.race([call, late]))?.status === 200
    } catch {
      return false
    }
  }
}

/** Causes random faults until the time is over, and returns how often each occurred. */
async function wreck(mortals: Mortal[], apis: Mortal[]): Promise<Record<string, number>> {
  const any = <T>(list: T[]) => list[Math.floor(Math.random() * list.length)] as T
  const struck: Record<string, number> = {}
  const faults: Record<string, () => Promise<void>> = {
    'kill a worker': () => any(mortals).kill(),
    'kill an api': () => any(apis).kill(),
    'stop a worker': () => any(mortals).pause(500 + Math.random() * 5_000),
    'stop an api': () => any(apis).pause(500 + Math.random() * 3_000),
    'kill and wipe NATS': () => nats.kill().then(() => nats.start()),
    'stop NATS': async () => {
      nats.freeze()
      await sleep(Math.random() * 3_000)
      nats.thaw()
    },
    'wipe Redis': () => redis.kill().then(() => redis.start()),
  }
  const names = Object.keys(faults)
  const deadline = performance.now() + CHAOS_MS
  // Each at least once, then at random.
  for (let nth = 0; nth < names.length || performance.now() < deadline; nth++) {
    const name = names[nth] ?? any(names)
    await faults[name]?.()
    struck[name] = (struck[name] ?? 0) + 1
    await sleep(Math.random() * 1_000)
  }
  return struck
}

/** Makes all waiting retries due now instead of in up to three days. */
async function passTime(app: TestApp) {
  for (const text of [
    `update webhook_progress set waits_until = now() where waits_until is not null`,
    `update webhook_parked set retry_at = now(), tries = 1 where retry_at > now()`,
  ]) {
    await rows(app.cell.db, text).catch(() => {})
  }
}

async function newTalk() {
  const app = await server.newApp()
  const talkers: Talker[] = []
  await app.client.users.create({ uid: 'hub', name: 'Hub' })
  for (let n = 0; n < CONVERSATIONS; n++) {
    await app.client.users.create({ uid: `t${n}`, name: `T${n}` })
    talkers.push(new Talker(app, `t${n}`))
  }
  for (const id of ['a', 'b']) {
    const webhookURL = `${receiver.url}/${id}`
    await app.client.webhooks.create({ id, name: id, webhookURL })
    await app.client.webhooks.addTriggers(id, { triggerIds: ['message_sent'] })
  }
  return { app, talkers }
}

/** A webhook must have received 0, 1, 2 … in each conversation. */
function assertWhole(talkers: Talker[], path: string) {
  for (const [n, { acknowledged }] of talkers.entries()) {
    const texts = told.get(`${path} t${n}`) ?? []
    const sent = texts.map((_, nth) => `t${n}:${nth}`)
    assert.deepEqual(texts, sent, `in order, none missing: ${path}`)
    assert.ok(texts.length >= acknowledged, `${texts.length} of ${acknowledged} came: ${path}`)
  }
}

async function assertNoHole(app: TestApp, port: number, acknowledged: number) {
  let after = 0
  let messages = 0
  for (;;) {
    const path = `/v3/events?after=${after}&limit=1000`
    const { body } = await app.call('GET', path, { port })
    for (const { position, type } of body.data) {
      assert.equal(position, ++after)
      if (type === 'message.sent') messages++
    }
    if (after === body.meta.last) break
  }
  assert.ok(messages >= acknowledged, `${messages} of ${acknowledged} are logged`)
}

suite('webhooks under faults', () => {
  test('receive every acknowledged message in order, without missing an event', async (t: TestContext) => {
    const { app, talkers } = await newTalk()
    const apis = [await Mortal.start('api'), await Mortal.start('api')]
    const workers = [await Mortal.start('worker'), await Mortal.start('worker')]
    t.after(() => Promise.all([...apis, ...workers].map((mortal) => mortal.end())))

    const stop = new AbortController()
    const portOf = async () => {
      const serving = await apis[Math.floor(Math.random() * apis.length)]?.serving
      return serving?.apiPort ?? 0
    }
    // Otherwise senders would continue after the test has failed.
    t.after(() => stop.abort('failed'))
    const talking = talkers.map((talker) => talker.run(portOf, stop.signal))
    const moving = setInterval(() => void passTime(app), 2_000)
    t.after(() => clearInterval(moving))
    const struck = await wreck(workers, apis)
    stop.abort()
    await Promise.all(talking)

    healthy = true
    const acknowledged = talkers.reduce((sum, talker) => sum + talker.acknowledged, 0)
    const retries = talkers.reduce((sum, talker) => sum + talker.retries, 0)
    const ended = performance.now()
    await until('all came', () => ids.size >= 2 * acknowledged, 10 * 60_000)
    const secondsToTheLast = Math.round((performance.now() - ended) / 1000)
    for (const path of ['/a', '/b']) assertWhole(talkers, path)
    await assertNoHole(app, await portOf(), acknowledged)
    const seconds = CHAOS_MS / 1000
    const figures = { seconds, acknowledged, retries, ...counts, secondsToTheLast, struck }
    t.diagnostic(JSON.stringify(figures))
    assert.ok(counts.failed > 0, 'no call failed: the test tested nothing')
  })
})
