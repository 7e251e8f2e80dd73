import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import pg from 'pg'
import { findBinaries } from '../src/engines/binaries.ts'
import { ensureDatabase } from '../src/platform/db/migrate.ts'
import { verify } from '../src/verify/verify.ts'
import { command } from './command.ts'
import { asOwner, cloneDatabase, dropDatabase, queryAt } from './databases.ts'
import { Device, tokenOf } from './device.ts'
import { refused, type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { copyPostgres, makeDatabase, startPrivate } from './private-engines.ts'
import { startProxy } from './proxy.ts'
import { taken, useReceiver } from './receiver.ts'
import { until } from './until.ts'

const { postgres } = findBinaries(process.env.PATH ?? '')
const tool = (name: string) => join(dirname(postgres), name)
const JUMP = 1e12

const receiver = useReceiver()
const server = useServer({
  roles: ['api', 'gateway', 'worker'],
  env: { LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true' },
})

/** A way to lose the last events of a cell. */
interface Way {
  /** The address of the cell. */
  url: string
  backUp(): Promise<void>
  /** The cell continues with what was backed up. */
  restore(cellId: string): Promise<void>
}

/** A dump, restored into another cluster: transaction ids start again there. */
async function byDump(t: TestContext): Promise<Way> {
  const url = asOwner(await cloneDatabase('cell'))
  t.after(() => dropDatabase(url))
  const cluster = await startPrivate('postgres')
  t.after(() => cluster.remove())
  const restored = `${cluster.url}/restored`
  const options = { maxBuffer: 1e8 }
  let dump: Buffer
  return {
    url,
    async backUp() {
      dump = execFileSync(tool('pg_dump'), [url], options)
    },
    async restore(cellId) {
      await ensureDatabase(restored)
      execFileSync(tool('psql'), [restored, '-qv', 'ON_ERROR_STOP=1'], { ...options, input: dump })
      await addCell(cellId, restored)
      await until('the new address is known', async () => {
        await server.deps.directory.refresh()
        return server.deps.directory.cell(cellId).url === restored
      })
    },
  }
}

/** A base backup, started at the same address. It keeps the timeline: only the directory knows of the lost events. */
async function byBaseBackup(t: TestContext): Promise<Way> {
  const primary = await startPrivate('postgres')
  t.after(() => primary.remove())
  const database = await makeDatabase(primary, 'cell')
  const proxy = await startProxy(primary.url)
  t.after(() => proxy.close())
  let backup: typeof primary
  return {
    url: proxy.url(database),
    async backUp() {
      backup = await copyPostgres(primary)
      t.after(() => backup.remove())
    },
    async restore(cellId) {
      await until('the directory has seen the last event', async () => {
        const progress = await queryAt(database, 'select taken from sequencer_progress')
        const known = 'select from log_witnesses where cell_id = $1 and taken = $2'
        return (await onDirectory(known, [cellId, progress.rows[0].taken])).rowCount === 1
      })
      await primary.stop()
      await backup.start()
      proxy.point(backup.url)
    },
  }
}

/** An asynchronous standby that lost its primary before the end, and is promoted at the same address. */
async function byPromotion(t: TestContext): Promise<Way> {
  const primary = await startPrivate('postgres')
  t.after(() => primary.remove())
  const database = await makeDatabase(primary, 'cell')
  const proxy = await startProxy(primary.url)
  t.after(() => proxy.close())
  let standby: typeof primary
  const onStandby = (sql: string) => queryAt(`${standby.url}/postgres`, sql)
  return {
    url: proxy.url(database),
    async backUp() {
      standby = await copyPostgres(primary, { standby: true })
      t.after(() => standby.remove())
      await standby.start()
      const lsn = await queryAt(`${primary.url}/postgres`, 'select pg_current_wal_lsn() as lsn')
      await until('the standby has caught up', async () => {
        const sql = `select pg_last_wal_replay_lsn() >= '${lsn.rows[0].lsn}' as caught_up`
        return (await onStandby(sql)).rows[0].caught_up
      })
      await onStandby(`alter system set primary_conninfo = ''`)
      await onStandby('select pg_reload_conf()')
      await until('the standby is cut off', async () => {
        return (await onStandby('select from pg_stat_wal_receiver')).rowCount === 0
      })
    },
    async restore() {
      await primary.kill()
      await onStandby('select pg_promote()')
      proxy.point(standby.url)
    },
  }
}

const onDirectory = (sql: string, values: unknown[]) =>
  queryAt(server.env.LOQUAT_DIRECTORY_URL ?? '', sql, values)

async function addCell(cellId: string, url: string) {
  const args = ['cells', 'add', '--id', cellId, '--region', 'us', '--url', url]
  // These cells are on servers of their own, with other passwords.
  const directory = asOwner(server.env.LOQUAT_DIRECTORY_URL ?? '')
  const { code, stderr } = await command(args, { ...server.env, LOQUAT_DIRECTORY_URL: directory })
  assert.equal(code, 0, stderr)
}

/** Lets no event get a position until the returned function is called. */
async function holdSequencer(url: string): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`begin; select from leases where job = 'sequencer' for update`)
  return () => client.end()
}

let cells = 1

/** An app in a cell of its own. */
async function newAppAt(url: string): Promise<TestApp> {
  const cellId = `us-${++cells}`
  await addCell(cellId, url)
  await onDirectory('update cells set accepts_apps = cell_id = $1', [cellId])
  await server.deps.directory.refresh()
  return server.newApp()
}

interface SeenMessage {
  id: string
  data: { text: string }
}

/** Whatever was seen at a position must be the same message, and whatever was seen with an id must have the same text. */
class Seen {
  readonly #ids = new Map<number, string>()
  readonly #texts = new Map<string, string>()

  add(position: number | undefined, { id, data: { text } }: SeenMessage) {
    assert.equal(this.#texts.get(id) ?? text, text, `message ${id}`)
    this.#texts.set(id, text)
    if (position === undefined) return
    assert.equal(this.#ids.get(position) ?? id, id, `position ${position}`)
    this.#ids.set(position, id)
  }
}

/** How far each sequence of a cell has come, by name. */
async function sequencesOf(url: string): Promise<Map<string, number>> {
  const found = await queryAt(
    url,
    `select sequencename as name, coalesce(last_value, 0) as last from pg_sequences
     where schemaname = 'public'`,
  )
  return new Map(found.rows.map(({ name, last }) => [name, Number(last)]))
}

async function loseEvents(t: TestContext, open: (t: TestContext) => Promise<Way>) {
  const way = await open(t)
  const app = await newAppAt(way.url)
  const [ana] = await app.users('ana', 'bo')
  const token = await tokenOf(app, 'bo')
  const path = `/${app.id}`
  await app.client.webhooks.create({ id: 'w', name: 'W', webhookURL: receiver.url + path })
  await app.client.webhooks.addTriggers('w', { triggerIds: ['message_sent'] })
  const connect = (position?: number) =>
    Device.connect(
      server.service.gatewayPort ?? 0,
      app,
      token,
      position === undefined ? {} : { position },
    )
  const hooked = () => taken(receiver, path).map(({ json }) => json.data.message.data.text)
  const send = async (...texts: string[]) => {
    for (const text of texts) {
      const { id } = await ana.sendText('bo', text)
      seen.add(undefined, { id, data: { text } })
    }
  }
  /** The texts in the log after a position, and the last position. */
  const read = async (from: number) => {
    const texts: string[] = []
    for (let after = from; ; ) {
      const { data, meta } = await app.client.events.list({ after })
      for (const { type, position, payload } of data) {
        if (type !== 'message.sent') continue
        const message = messageOf(payload)
        seen.add(position, message)
        texts.push(message.data.text)
      }
      after = meta.next.after
      if (after === meta.last) return { texts, last: after }
    }
  }
  const seen = new Seen()

  const device = await connect()
  await send('kept 1', 'kept 2')
  await until('the kept messages arrive', () => device.texts().length + hooked().length === 4)
  const away = device.position
  const kept = (await read(0)).last
  // The backup has the message, but not its position.
  const resume = await holdSequencer(way.url)
  await send('pending')
  await way.backUp()
  await resume()
  await send('lost 1', 'lost 2', 'lost 3')
  await until('the lost messages arrive', () => device.texts().length + hooked().length === 12)
  const lost = (await read(0)).last
  assert.ok(lost > kept)
  const waiting = app.client.events.list({ after: lost, wait: 20 }).then(
    ({ data }) => data.length,
    ({ code }) => code,
  )

  const before = await sequencesOf(way.url)
  await way.restore(app.cell.id)
  // The database may have ended the wait, or time.
  assert.ok(['ERR_POSITION_LOST', 'ERR_MISSION_FAILED', 0].includes(await waiting))
  await until('the device is told', () => device.closeCode === 4512)
  await until('a message can be sent', () =>
    send('new 1').then(
      () => true,
      () => false,
    ),
  )
  await send('new 2', 'new 3')
  const fresh = ['pending', 'new 1', 'new 2', 'new 3']

  // A reader that has read lost events is told so, and where to continue.
  const told = await until('the reader is told', async () => {
    const refusal = refused(app.call('GET', `/v3/events?after=${lost}`), 'ERR_POSITION_LOST')
    return refusal.catch(() => undefined)
  })
  const last = Number(told.details?.last)
  assert.ok(last >= kept && last < lost)
  await until('the new messages are logged', async () => (await read(last)).texts.length === 4)
  assert.deepEqual((await read(last)).texts, fresh)
  assert.ok((await read(last)).last > JUMP)
  // Readers that have read no lost event notice nothing.
  assert.deepEqual((await read(0)).texts, ['kept 1', 'kept 2', ...fresh])

  const returned = await connect(device.position)
  assert.equal(returned.frames[0]?.type, 'session.reload')
  const behind = await connect(away)
  assert.equal(behind.frames[0]?.type, 'session.ready')
  await until('it gets what it missed', () => behind.texts().length === 4)
  await send('live')
  for (const one of [returned, behind]) {
    await one.waitFor('message.sent', ({ body }) => body.message.data.text === 'live')
  }
  assert.deepEqual(behind.texts(), [...fresh, 'live'])
  await until('webhooks get the new messages', () => hooked().includes('live'))
  assert.deepEqual(hooked().slice(-5), [...fresh, 'live'])

  for (const { frames } of [device, returned, behind]) {
    for (const { type, position, body } of frames) {
      if (type === 'message.sent') seen.add(position, body.message)
    }
  }
  for (const { id, json } of taken(receiver, path)) {
    seen.add(Number(id.split('_').at(-1)), json.data.message)
  }
  const { url } = server.deps.directory.cell(app.cell.id)
  const sequences = await sequencesOf(url)
  for (const [name, last] of before) {
    const now = sequences.get(name) ?? 0
    assert.ok(now > last && now > 1e9, `${name} continues at ${now} after ${last}`)
  }
  await until('nothing waits for a position', async () => {
    return (await rows(app.cell.db, 'select from outbox')).length === 0
  })
  assert.deepEqual(await verify(app.cell, app.no), [])
  for (const one of [returned, behind]) await one.close()
}

const messageOf = (payload: unknown) => (payload as { message: SeenMessage }).message

suite('no device, reader or webhook misses a message silently, and nothing is reused', () => {
  test('after a dump was restored', (t) => loseEvents(t, byDump))
  test('after a base backup was restored', (t) => loseEvents(t, byBaseBackup))
  test('after an asynchronous standby was promoted', { skip: !LONG }, (t) =>
    loseEvents(t, byPromotion),
  )
})
