/**
 * Notifying a group of 10,000 members with 5,000 devices, beside bare HTTP/2 requests with the same bodies; the same with
 * a badge; and what a provider that hangs costs another app.
 */
import { fork } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, connect } from 'node:http2'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { kinds } from '../src/areas/notifications/providers.actions.ts'
import { closeDeps, type Deps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { Worker } from '../src/platform/leases/leases.ts'
import { PUSH_LIMITS } from '../src/platform/push/limits.ts'
import type { Notification } from '../src/platform/push/notification.ts'
import { Push } from '../src/platform/push/push.ts'
import { runNotifier } from '../src/workers/notifier/notifier.ts'
import { runSequencer } from '../src/workers/sequencer.ts'
import { newAuthority } from '../test/certificates.ts'
import { atLeast, atMost, type Figure, median, type Report, reported, within } from './figure.ts'
import { type BenchApp, newBenchApp, openInstallation } from './installation.ts'
import { bare, urlOf } from './push.ts'

const MEMBERS = 10_000
const DEVICES = 5_000
const CONVERSATIONS = 50
const ROUNDS = 3
const AT_ONCE = 500
const PROBES = 100
const BAR = 0.4
const TEXT = 'I will be there in ten minutes. '.repeat(10)
/** A topic that the provider never answers to. */
const HANGS = 'org.example.hangs'

export async function notifications(env: EnginesEnv, report: Report): Promise<Figure[]> {
  const authority = newAuthority()
  const { key, cert } = authority.sign('IP:127.0.0.1')
  setDefaultCACertificates([...getCACertificates('default'), readFileSync(authority.file, 'utf8')])
  const provider = fork(fileURLToPath(new URL('push-server.ts', import.meta.url)), [key, cert])
  const url = await urlOf(provider)
  const deps = await openInstallation(env)
  const addresses = { apnsUrl: url, apnsSandboxUrl: url, fcmUrl: url, googleTokenUrl: url }
  // A machine that is busy with something else stops for seconds.
  const limits = { ...PUSH_LIMITS, timeoutMs: 600_000 }
  deps.push.close()
  deps.push = new Push({ addresses, targets: deps.targets, metrics: deps.metrics, limits })
  const session = connect(url)
  const bench = await Bench.open(deps, report)
  try {
    return [...(await bench.compare(session)), ...(await bench.hang())]
  } finally {
    await bench.close()
    await closeDeps(deps)
    session.destroy()
    provider.kill()
    authority.remove()
  }
}

interface Round {
  /** For each second of this process's CPU. */
  rate: number
  seconds: number
}

class Bench {
  readonly #deps: Deps
  readonly #report: Report
  readonly #app: BenchApp
  /** One for all: others would leave half of the shards to it. */
  readonly #worker: Worker
  /** The payloads of the last round, for the bare requests. */
  readonly #sent: { payload: object; collapseId: string; at: number }[] = []

  static async open(deps: Deps, report: Report): Promise<Bench> {
    const app = await newBenchApp(deps)
    const bench = new Bench(deps, report, app)
    await bench.#fill()
    const push = deps.push.push.bind(deps.push)
    deps.push.push = async (credentials, device, notification: Notification) => {
      const outcome = await push(credentials, device, notification)
      const { payload, collapseId = '' } = notification
      bench.#sent.push({ payload, collapseId, at: performance.now() })
      return outcome
    }
    return bench
  }

  private constructor(deps: Deps, report: Report, app: BenchApp) {
    this.#deps = deps
    this.#report = report
    this.#app = app
    this.#worker = new Worker(() => app.cell.db, deps.log)
    this.#worker.start()
  }

  close(): Promise<void> {
    return this.#worker.close()
  }

  async compare(session: ClientHttp2Session): Promise<Figure[]> {
    const ours: Round[] = []
    const bare: Round[] = []
    const decided: Round[] = []
    const badged: Round[] = []
    for (let round = 0; round <= ROUNDS; round++) {
      const [one, badge] = [await this.#notify('{}'), await this.#notify(BADGE)]
      const asked = await this.#notify(SILENT)
      const alone = await this.#bare(session)
      this.#report(
        `round ${round} of ${ROUNDS}: ${Math.round(one.rate)} deliveries per CPU second in ${one.seconds.toFixed(1)} s, with badge ${badge.seconds.toFixed(1)} s, ${Math.round(asked.rate)} decisions, bare ${Math.round(alone.rate)}`,
      )
      if (round === 0) continue
      ours.push(one)
      badged.push(badge)
      decided.push(asked)
      bare.push(alone)
    }
    const rate = (rounds: Round[]) => median(rounds.map((one) => one.rate))
    const seconds = (rounds: Round[]) => median(rounds.map((one) => one.seconds))
    const alone = rate(bare)
    return [
      atLeast('deliveries per second of CPU', rate(ours), alone, BAR),
      reported('deliveries with a badge per second of CPU', rate(badged), alone),
      atLeast('decisions per second of CPU', rate(decided), alone, BAR),
      within('seconds for 10,000 members with 5,000 devices', seconds(ours), seconds(bare), 10),
      within('the same with a badge', seconds(badged), seconds(bare), 10),
    ]
  }

  /** The delays of an app's notifications, alone and while the provider of another one hangs. */
  async hang(): Promise<Figure[]> {
    const alone = await this.#delays()
    await this.#changeTopic(HANGS)
    await this.#queue('{}')
    const stop = this.#run()
    await this.#until(`select count(*) > 0 as done from notification_deliveries where app_no = $1`)
    const beside = await this.#delays(false)
    // The calls that hang would keep it from ending.
    this.#deps.push.close()
    await stop()
    const p99 = (delays: number[]) =>
      delays.toSorted((a, b) => a - b)[Math.floor(delays.length * 0.99)] ?? 0
    return [atMost('p99 beside a provider that hangs, in ms', p99(beside), p99(alone), 1.5)]
  }

  /** Users, a group of them, 50 conversations each, and devices of every second user. */
  async #fill(): Promise<void> {
    const { no } = this.#app
    this.#report('creating users, conversations and devices')
    await this.#sql(`insert into users (app_no, uid, name, role)
      select $1, 'u' || lpad(n::text, 5, '0'), 'User ' || n, 'default' from generate_series(1, ${MEMBERS}) n`)
    for (let nth = 0; nth < CONVERSATIONS; nth++) {
      const guid = nth === 0 ? 'all' : `g${nth}`
      const members = nth === 0 ? MEMBERS : DEVICES
      await this.#sql(`insert into groups (app_no, guid, name, type, owner, members_count)
        values ($1, '${guid}', 'Group ${nth}', 'public', 'u00001', ${members})`)
      await this.#sql(
        `insert into conversations (app_no, kind, one, other) values ($1, 'group', '${guid}', '')`,
      )
      await this.#sql(`insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
        select $1, u.uid, 'group', '${guid}', h.no, 'participant', now() - interval '1 day'
        from conversations h, generate_series(1, ${members}) n,
          lateral (select 'u' || lpad(n::text, 5, '0') as uid) u
        where h.app_no = $1 and h.one = '${guid}'`)
      await this.#send(guid)
    }
    await this.#addDevices(no, DEVICES)
    await this.#sql(`insert into notifier_progress (app_no, position) values ($1, 0)`)
    await this.#addProvider(this.#app, 'org.example')
    await this.#sql('analyze', [])
  }

  async #addDevices(no: number, count: number): Promise<void> {
    const { secrets } = this.#deps
    const uids: string[] = []
    const tokens: Buffer[] = []
    for (let nth = 1; nth <= count; nth++) {
      const uid = `u${String(nth * 2).padStart(5, '0')}`
      uids.push(uid)
      const token = randomBytes(32).toString('hex')
      tokens.push(secrets.seal(['push_tokens.push', no, uid], JSON.stringify({ token })))
    }
    const { db } = this.#app.cell
    const text = `with sessions as (
        insert into auth_tokens (app_no, token_hash, token_sealed, uid)
        select $1, sha256(convert_to(uid, 'UTF8')), '', uid from unnest($2::text[]) uid)
      insert into push_tokens (app_no, push_hash, push_sealed, token_hash, uid, platform)
      select $1, sha256(convert_to('p' || uid, 'UTF8')), sealed, sha256(convert_to(uid, 'UTF8')), uid, 'apns_ios_device'
      from unnest($2::text[], $3::bytea[]) as d (uid, sealed)`
    await db.query({ name: '', text, values: [no, uids, tokens] })
  }

  async #addProvider(app: BenchApp, bundleId: string): Promise<void> {
    const pem = { type: 'pkcs8', format: 'pem' } as const
    const p8Key = String(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pem))
    const place = [
      'notification_providers.secret',
      app.no,
      kinds.apns.channel,
      'apns',
      'main',
    ] as const
    const details = JSON.stringify({ teamId: 'TEAM', keyId: 'KEY', bundleId, productionMode: true })
    await this.#sql(
      `insert into notification_providers
         (app_no, channel, kind, provider_id, is_default, enabled, details, secret_sealed)
       values ($1, 'push', 'apns', 'main', true, true, $2, $3)`,
      [app.no, details, this.#deps.secrets.seal([...place], p8Key)],
    )
  }

  #changeTopic(bundleId: string): Promise<unknown> {
    return this.#sql(
      `update notification_providers set details = details || jsonb_build_object('bundleId', $2::text) where app_no = $1`,
      [this.#app.no, bundleId],
    )
  }

  #send(guid: string, app = this.#app): Promise<unknown> {
    return this.#sql(
      `select message_id from send_message($1, 'group', 'u00001', $2, 'message', 'text', $3::jsonb, '{}', null, '', null, null, null)`,
      [app.no, guid, JSON.stringify({ text: TEXT })],
    )
  }

  /** A message to all, as the log has it when the notifier finds it. */
  async #queue(settings: string): Promise<void> {
    const { no } = this.#app
    await this.#sql('delete from notification_settings where app_no = $1')
    if (settings !== '{}')
      await this.#sql('insert into notification_settings values ($1, $2::jsonb)', [no, settings])
    const stop = await this.#sequence()
    await this.#until('select not exists (select from outbox where app_no = $1) as done')
    await this.#sql(`update notifier_progress g set position = p.position from positions p
      where p.app_no = $1 and g.app_no = $1`)
    await this.#send('all')
    await this.#until('select not exists (select from outbox where app_no = $1) as done')
    await stop()
  }

  /** Starts a sequencer and returns a function that ends it. */
  async #sequence(): Promise<() => Promise<void>> {
    const { cell } = this.#app
    const stop = new AbortController()
    const lease = await this.#worker.take('sequencer')
    if (!lease) throw new Error('something else sequences')
    const running = runSequencer({ deps: this.#deps, cell, lease, signal: stop.signal })
    return async () => {
      stop.abort()
      await running
    }
  }

  /** Starts a notifier and returns a function that ends it. */
  #run(): () => Promise<void> {
    const { cell } = this.#app
    const stop = new AbortController()
    const worker = this.#worker
    const running = runNotifier({ deps: this.#deps, cell, worker, signal: stop.signal })
    return async () => {
      stop.abort()
      await running
    }
  }

  /** Notifies all of one message. */
  async #notify(settings: string): Promise<Round> {
    await this.#queue(settings)
    this.#sent.length = 0
    const cpu = process.cpuUsage()
    const started = performance.now()
    const stop = this.#run()
    await this.#until(`select g.position = p.position
        and not exists (select from notification_fanouts where app_no = $1)
        and not exists (select from notification_deliveries where app_no = $1) as done
      from notifier_progress g join positions p using (app_no) where app_no = $1`)
    const seconds = (performance.now() - started) / 1000
    const { user, system } = process.cpuUsage(cpu)
    await stop()
    // A machine that stops for seconds loses its lease, and some are sent twice.
    if (settings !== SILENT && this.#sent.length < DEVICES)
      throw new Error(`${this.#sent.length} were sent`)
    return { rate: DEVICES / ((user + system) / 1e6), seconds }
  }

  /** The same bodies with nothing around them. */
  async #bare(session: ClientHttp2Session): Promise<Round> {
    let left = DEVICES
    const cpu = process.cpuUsage()
    const started = performance.now()
    const sender = async () => {
      while (left-- > 0) await bare(session, BODY)
    }
    await Promise.all(Array.from({ length: AT_ONCE }, sender))
    const seconds = (performance.now() - started) / 1000
    const { user, system } = process.cpuUsage(cpu)
    return { rate: DEVICES / ((user + system) / 1e6), seconds }
  }

  /** Milliseconds from a message to its notification, one after the other, in an app of its own. */
  async #delays(runs = true): Promise<number[]> {
    const app = await newBenchApp(this.#deps)
    const { db } = app.cell
    const run = (text: string) => db.query({ name: '', text, values: [app.no] })
    await run(
      `insert into users (app_no, uid, name, role) values ($1, 'u00001', 'One', 'default'), ($1, 'u00002', 'Two', 'default')`,
    )
    await run(
      `insert into groups (app_no, guid, name, type, owner, members_count) values ($1, 'all', 'All', 'public', 'u00001', 2)`,
    )
    await run(
      `insert into conversations (app_no, kind, one, other) values ($1, 'group', 'all', '')`,
    )
    await run(`insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
      select $1, uid, 'group', 'all', h.no, 'participant', now() - interval '1 day'
      from conversations h, unnest(array['u00001', 'u00002']) uid where h.app_no = $1`)
    await this.#addDevices(app.no, 1)
    await run(`insert into notifier_progress (app_no, position) values ($1, 0)`)
    await this.#addProvider(app, 'org.example')
    const stop = await this.#sequence()
    const end = runs ? this.#run() : async () => {}
    const delays: number[] = []
    for (let probe = 0; probe < PROBES; probe++) {
      this.#sent.length = 0
      const started = performance.now()
      await this.#send('all', app)
      this.#deps.bus.publish(`wake.${app.cell.id}`)
      while (this.#sent.length === 0) await new Promise((resolve) => setTimeout(resolve, 1))
      const [{ at = 0 } = {}] = this.#sent
      // The first one waits for the next list of apps.
      if (probe > 0) delays.push(at - started)
    }
    await end()
    await stop()
    return delays
  }

  async #sql(text: string, values: unknown[] = [this.#app.no]) {
    return (await this.#app.cell.db.query<{ done: boolean }>({ name: '', text, values })).rows
  }

  async #until(text: string): Promise<void> {
    while (!(await this.#sql(text))[0]?.done)
      await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const BADGE = JSON.stringify({ preferences: { push: { unreadMessageCountSetting: true } } })
const SILENT = JSON.stringify({ preferences: { mute: { dndPreferenceSetting: 2 } } })

const BODY = {
  aps: {
    alert: { title: 'User 1 @ Group 0', body: TEXT },
    sound: 'default',
    'thread-id': 'group_all',
  },
  ...{ sender: 'u00001', senderName: 'User 1', receiver: 'all', receiverName: 'Group 0' },
  ...{ receiverType: 'group', conversationId: 'group_all', tag: '3179610526062096', type: 'chat' },
  sentAt: '1794902514824',
}
