/**
 * A thousand webhooks on one worker, two of them failing, and a worker that dies. Only in the long form,
 * because it needs an idle machine.
 */
import assert from 'node:assert/strict'
import { suite } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { killRunning, startServing } from './loquat.ts'
import { type Received, useReceiver } from './receiver.ts'
import { assertWithin, timedTest } from './timed-test.ts'
import { until } from './until.ts'

const WEBHOOKS = 1_000
const EVENTS_PER_SECOND = 200
const SECONDS = 30
const HANGING = 1
const REFUSING = 2
const SLOWEST_MS = 2_000
const TAKEOVER_MS = 5_000
const PATIENCE_MS = 300_000

const server = useServer()
const arrivals = new Map<string, number>()
const receiver = useReceiver((call: Received) => {
  receiver.received.length = 0
  if (call.path === `/${HANGING}`) return null
  if (call.path === `/${REFUSING}`) return 500
  const { text } = call.json.data.message
  if (!arrivals.has(text)) arrivals.set(text, performance.now())
  return 200
})

const cell = () => {
  const [first] = server.deps.directory.cells()
  assert.ok(first)
  return first
}

/** Creates an app for each webhook, which is called for messages. */
async function makeWebhooks() {
  const { db } = cell()
  await rows(db, `delete from webhook_parked; delete from webhook_backlog`)
  await rows(
    db,
    `insert into apps (app_no, app_id) select n, 'load' || n from generate_series(1, ${WEBHOOKS}) n
     on conflict do nothing`,
  )
  await rows(
    db,
    `insert into webhooks (app_no, id, name, url, use_basic_auth, enabled, retry_on_failure,
       triggers, types, since, secret_sealed)
     select n, 'a', 'a', $1 || '/' || n, false, true, true, '{message_sent}', '{message.sent}', '{0}',
       ($2::bytea[])[n]
     from generate_series(1, ${WEBHOOKS}) n
     on conflict do nothing`,
    [
      receiver.url,
      Array.from({ length: WEBHOOKS }, (_, n) =>
        server.deps.secrets.seal(['webhooks.secret', n + 1, 'a'], 'whsec_c2VjcmV0'),
      ),
    ],
  )
  await rows(
    db,
    `insert into webhook_progress (app_no, webhook_no, position)
     select w.app_no, w.no, coalesce(p.position, 0)
     from webhooks w left join positions p on p.app_no = w.app_no
     on conflict do nothing`,
  )
}

let nth = 0
const sent = new Map<string, { at: number; appNo: number }>()

/** Writes events of these apps, each in a conversation of its own. */
async function announce(appNos: number[]): Promise<string[]> {
  const texts = appNos.map((appNo) => {
    const text = `m${nth++}`
    sent.set(text, { at: performance.now(), appNo })
    return text
  })
  await rows(
    cell().db,
    `insert into event_bodies (app_no, type, key, payload)
     select app_no, 'message.sent', 'conversation:' || text,
       json_build_object('message', json_build_object('text', text))
     from unnest($1::int[], $2::text[]) as e (app_no, text)`,
    [appNos, texts],
  )
  return texts
}

const BAD = [HANGING, REFUSING]
const all = Array.from({ length: WEBHOOKS }, (_, n) => n + 1)
const good = all.filter((appNo) => !BAD.includes(appNo))
const came = (texts: string[]) => texts.every((text) => arrivals.has(text))

suite(`${WEBHOOKS} webhooks`, { skip: !LONG }, () => {
  const worker = () =>
    startServing('worker', {
      ...server.env,
      LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true',
      NODE_EXTRA_CA_CERTS: receiver.caFile,
    })

  timedTest('are called in time although one hangs and one refuses', async (t) => {
    await killRunning()
    await makeWebhooks()
    await worker()
    const warm = await announce(good.slice(0, 100))
    await until('it delivers', () => came(warm), PATIENCE_MS)
    sent.clear()
    arrivals.clear()

    const started = performance.now()
    for (let beat = 0; beat < SECONDS * 10; beat++) {
      const apps = Array.from({ length: EVENTS_PER_SECOND / 10 }, (_, n) =>
        // Every twentieth event is for one of the failing webhooks.
        n === 0 ? (BAD[beat % 2] ?? HANGING) : (good[(beat * 19 + n) % good.length] ?? 3),
      )
      await announce(apps)
      await sleep(Math.max(0, started + (beat + 1) * 100 - performance.now()))
    }
    const rate = sent.size / ((performance.now() - started) / 1000)
    const served = [...sent].filter(([, { appNo }]) => !BAD.includes(appNo))
    await until('all came', () => came(served.map(([text]) => text)), PATIENCE_MS)
    const delays = served
      .map(([text, { at }]) => (arrivals.get(text) ?? 0) - at)
      .toSorted((a, b) => a - b)
    const p = (share: number) => Math.round(delays[Math.floor(delays.length * share)] ?? 0)
    t.diagnostic(
      JSON.stringify({ rate: Math.round(rate), p50: p(0.5), p99: p(0.99), slowest: p(0.9999) }),
    )
    assert.ok(rate > EVENTS_PER_SECOND * 0.9, `only ${rate} events a second`)
    assertWithin(SLOWEST_MS, p(0.99), 'the slowest of a hundred')
  })

  timedTest(
    'are shared with another worker, which takes over when the first one dies',
    async (t) => {
      await killRunning()
      await makeWebhooks()
      const first = await worker()
      await worker()
      const shares = async () => {
        const held = await rows<{ n: number }>(
          cell().db,
          `select count(*)::int as n from leases join workers using (worker_id)
         where job like 'webhooks/%' and expires_at > now() group by worker_id`,
        )
        return held.map(({ n }) => n)
      }
      await until('both have half', async () => {
        const halves = await shares()
        return halves.length === 2 && halves.every((n) => n === 32)
      })
      await first.end('SIGKILL')
      const died = performance.now()
      const texts = await announce(good.slice(0, 300))
      await until('all have received it', () => came(texts), PATIENCE_MS)
      const took = performance.now() - died
      t.diagnostic(JSON.stringify({ takeoverMs: Math.round(took) }))
      assertWithin(TAKEOVER_MS, took, 'the takeover')
    },
  )
})
