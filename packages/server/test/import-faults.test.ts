/**
 * api, worker and PostgreSQL die at random moments of an import, beside live messages: its report is that of an import
 * without a fault, and what was sent is stored once.
 */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checksumOf, sum, toText } from '../src/areas/imports/parity.ts'
import { readConfig } from '../src/config.ts'
import { type Service, serve } from '../src/serve.ts'
import { verify } from '../src/verify/verify.ts'
import { cloneDatabase, dropDatabase, insertCell, testEnv } from './databases.ts'
import { newApp, type TestApp } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { type Serving, startServing } from './loquat.ts'
import { makeDatabase, type PrivateEngine, startPrivate } from './private-engines.ts'
import { seeded } from './seed.ts'
import { until } from './until.ts'

/** How often each of them dies. */
const KILLS = LONG ? 10 : 1
/** `LOQUAT_TEST_IMPORT=1000000` imports as many messages. */
const COUNT = Number(process.env.LOQUAT_TEST_IMPORT ?? (LONG ? 20_000 : 4_000))
const PER_PART = Math.max(500, COUNT / 100)
const PARTS = COUNT / PER_PART
const HOUR_MS = 3_600_000
const AT = 1_650_000_000
const PEOPLE = 20

const message = (n: number) => ({
  ...{ kind: 'message', muid: `m-${n}`, sender: `u${n % PEOPLE}`, sentAt: AT + n },
  ...(n % 3 === 0
    ? { receiver: 'ward', receiverType: 'group' }
    : { receiver: `u${(n * 7 + 1) % PEOPLE}`, receiverType: 'user' }),
  data: { text: `message ${n}` },
  ...(n % 10 === 0 && { readAt: AT + n + 60 }),
})

const ITEMS: Record<string, object[]> = {
  user: Array.from({ length: PEOPLE }, (_, n) => ({ kind: 'user', uid: `u${n}`, name: `U ${n}` })),
  group: [{ kind: 'group', guid: 'ward', name: 'Ward', type: 'public', createdAt: AT }],
  message: Array.from({ length: COUNT }, (_, n) => message(n)),
}

/** What an import that nothing happens to reports. */
const REPORT = Object.entries(ITEMS).map(([kind, items]) => ({
  ...{ kind, read: items.length, imported: items.length, there: 0, refused: 0 },
  checksum: toText(items.map(checksumOf).reduce(sum, 0n)),
  thereChecksum: toText(0n),
}))

const linesOf = (part: number) => {
  const { user = [], group = [], message: all = [] } = ITEMS
  const some = all.slice((part - 1) * PER_PART, part * PER_PART)
  return [...(part === 1 ? [...user, ...group] : []), ...some]
    .map((item) => `${JSON.stringify(item)}\n`)
    .join('')
}

/** Numbers from 0 to 1, the same ones for a seed. */
function* randoms(seed: number): Generator<number, never> {
  for (let state = seed >>> 0; ; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    yield state / 2 ** 32
  }
}

suite('kill -9 during an import', () => {
  const random = randoms(seeded.seed)
  let cluster: PrivateEngine
  let directoryUrl: string
  let service: Service
  let env: Record<string, string>
  let app: TestApp

  before(async () => {
    cluster = await startPrivate('postgres', { durable: true })
    directoryUrl = await cloneDatabase('directory')
    await insertCell(directoryUrl, 'us-1', await makeDatabase(cluster, 'cell'))
    env = testEnv(directoryUrl, ['us-1'], { LOQUAT_API_PORT: '0' })
    service = await serve(readConfig(env), ['api'])
    app = await newApp(service)
  })
  after(async () => {
    await service?.drain()
    await cluster?.remove()
    if (directoryUrl) await dropDatabase(directoryUrl)
  })

  const call = async (method: string, path: string, body: object | undefined, port: number) => {
    const answer = await app.call(method, `/v3/imports${path}`, { body, port })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body.data
  }

  /** Sends the parts to processes that die. A part without an answer is sent again. */
  async function upload(id: string): Promise<void> {
    let api: Serving = await startServing('api', env)
    const dying = new Set(pick(KILLS, PARTS))
    for (let part = 1; part <= PARTS; part++) {
      const send = () => call('PUT', `/${id}/parts/${part}`, { lines: linesOf(part) }, api.apiPort)
      if (dying.has(part)) {
        const sent = send().catch(() => undefined)
        await sleep(random.next().value * 60)
        await api.end('SIGKILL')
        await sent
        api = await startServing('api', env)
      }
      await send()
    }
    await api.end('SIGKILL')
  }

  /** Different numbers from 1 to `most`, in order. */
  function pick(count: number, most: number): number[] {
    const found = new Set<number>()
    while (found.size < count) found.add(1 + Math.floor(random.next().value * most))
    return [...found].sort((one, two) => one - two)
  }

  const stateOf = async (id: string) => (await app.client.imports.get(id)).state
  /** How many messages the import has brought so far. 0 while the cell is dead. */
  async function imported(id: string): Promise<number> {
    const { report } = await app.client.imports.get(id).catch(() => ({ report: [] }))
    return report.find(({ kind }) => kind === 'message')?.imported ?? 0
  }
  /** How many messages are stored whose muids begin with a letter. */
  const stored = async (letter: 'm' | 'l') => {
    const text = `select count(*)::int as n from messages where app_no = $1 and muid like $2 || '-%'`
    return (await rows<{ n: number }>(app.cell.db, text, [app.no, letter]))[0]?.n ?? 0
  }
  /** The numbers of sent messages that aren't stored. */
  const lost = (sent: number) =>
    rows(
      app.cell.db,
      `select n from generate_series(0, $2::int - 1) n
       where 'l-' || n not in (select muid from messages where app_no = $1 and muid like 'l-%')`,
      [app.no, sent],
    )

  /** Sends messages between two users of the import, each until it is stored, and returns how many. */
  async function sendUntil(over: AbortSignal, api: () => Serving): Promise<number> {
    let sent = 0
    while (!over.aborted) {
      const body = {
        receiver: 'u1',
        receiverType: 'user',
        muid: `l-${sent}`,
        data: { text: 'Live' },
      }
      // Before the users are imported, and while something is dead, it is refused.
      const { status } = await app
        .as('u0')
        .call('POST', '/v3/messages', { body, port: api().apiPort })
        .catch(() => ({ status: 0 }))
      if (status === 200) sent++
      else await sleep(50)
    }
    return sent
  }

  test(`changes nothing, with ${KILLS} of api, worker and PostgreSQL`, async () => {
    const { id } = await app.client.imports.create({})
    await upload(id)
    await app.client.imports.start(id, {})
    let worker = await startServing('worker', env)
    let api = await startServing('api', env)
    const over = new AbortController()
    const sending = sendUntil(over.signal, () => api)
    // When so many messages are imported, one of them dies.
    for (const [nth, due] of pick(3 * KILLS, COUNT - 1_000).entries()) {
      await until('more messages', async () => (await imported(id)) >= due, HOUR_MS)
      await sleep(random.next().value * 100)
      if (nth % 3 === 0) {
        await worker.end('SIGKILL')
        worker = await startServing('worker', env)
      } else if (nth % 3 === 1) {
        await api.end('SIGKILL')
        api = await startServing('api', env)
      } else {
        await cluster.kill()
        await cluster.start()
        const text = 'select 1'
        await until('the cell works', () => rows(app.cell.db, text, []).catch(() => undefined))
      }
    }
    await until('its end', async () => (await stateOf(id).catch(() => '')) === 'done', HOUR_MS)
    await until('a live message', async () => (await stored('l')) > 0)
    over.abort()
    const sent = await sending
    const { report } = await app.client.imports.get(id)
    assert.deepEqual(report, REPORT)
    assert.equal(await stored('m'), COUNT)
    assert.deepEqual(await lost(sent), [])
    // The last answer may have been lost with the process.
    const live = await stored('l')
    assert.ok(live === sent || live === sent + 1, `${live} of ${sent}`)
    assert.deepEqual(await verify(app.cell, app.no), [])
    await worker.end('SIGKILL')
    await api.end('SIGKILL')
  })
})
