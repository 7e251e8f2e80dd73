/** Events from the outbox to a NATS subscriber and to webhooks, compared with plain inserts of the same rows. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Deps } from '../src/deps.ts'
import { closeDeps } from '../src/deps.ts'
import type { EnginesEnv } from '../src/engines/engines.ts'
import { appSubject } from '../src/platform/events/live.ts'
import { startWorkers } from '../src/workers/jobs.ts'
import { atLeast, type Figure } from './figure.ts'
import { type BenchApp, newBenchApp, openInstallation } from './installation.ts'

const EVENTS = 50_000
const WEBHOOKS = 10
/** Number of events; each is delivered to every webhook. */
const TOLD = 500

export async function events(env: EnginesEnv, report: (line: string) => void): Promise<Figure[]> {
  const deps = await openInstallation({
    ...env,
    LOQUAT_WEBHOOK_PRIVATE_TARGETS: 'true',
  } as EnginesEnv)
  const receiver = fork(fileURLToPath(new URL('hook-receiver.ts', import.meta.url)))
  const workers = startWorkers(deps)
  try {
    const [{ port }] = await once(receiver, 'message')
    const [loud, told] = [await newBenchApp(deps), await newBenchApp(deps)]
    const bare = await insertBare(loud)
    report(`bare: ${Math.round(bare)} rows/s`)
    const live = await toSubscriber(deps, loud)
    report(`to a subscriber: ${Math.round(live)} events/s`)
    const delivered = await toWebhooks(deps, told, receiver, port)
    report(`to webhooks: ${Math.round(delivered)} calls/s`)
    return [
      atLeast('events/s, outbox to a NATS subscriber', live, bare),
      atLeast('webhook deliveries/s, one worker', delivered, bare),
    ]
  } finally {
    await workers.close()
    receiver.kill()
    await closeDeps(deps)
  }
}

const run = (app: BenchApp, text: string, values: unknown[] = []) =>
  app.cell.db.query({ name: '', text, values })

const ROWS = (count: number) => `
  select $1::int as app_no, 'message.sent' as type, 'conversation:' || n % 100 as key,
    json_build_object('message', json_build_object('id', n, 'text', repeat(md5(n::text), 8))) as payload
  from generate_series(1, ${count}) n`

async function insertBare(app: BenchApp): Promise<number> {
  await run(app, 'create table bare (like event_bodies including all)')
  const started = performance.now()
  for (let done = 0; done < EVENTS; done += 1_000) {
    await run(app, `insert into bare (app_no, type, key, payload) ${ROWS(1_000)}`, [app.no])
  }
  return EVENTS / ((performance.now() - started) / 1000)
}

async function toSubscriber({ bus }: Deps, app: BenchApp): Promise<number> {
  let heard = 0
  const done = Promise.withResolvers<void>()
  const end = bus.subscribe(appSubject(app.no), () => {
    if (++heard >= EVENTS) done.resolve()
  })
  const started = performance.now()
  for (let left = EVENTS; left > 0; left -= 1_000) {
    await run(app, `insert into event_bodies (app_no, type, key, payload) ${ROWS(1_000)}`, [app.no])
  }
  await done.promise
  end()
  return EVENTS / ((performance.now() - started) / 1000)
}

async function toWebhooks(
  { secrets }: Deps,
  app: BenchApp,
  receiver: ChildProcess,
  port: number,
): Promise<number> {
  const sealed = Array.from({ length: WEBHOOKS }, (_, n) =>
    secrets.seal(['webhooks.secret', app.no, `h${n + 1}`], 'whsec_c2VjcmV0'),
  )
  await run(
    app,
    `with made as (
       insert into webhooks (app_no, id, name, url, use_basic_auth, enabled, retry_on_failure,
         triggers, types, since, secret_sealed)
       select $1, 'h' || n, 'h', $2, false, true, true, '{message_sent}', '{message.sent}', '{0}',
         ($3::bytea[])[n]
       from generate_series(1, ${WEBHOOKS}) n
       returning app_no, no
     )
     insert into webhook_progress (app_no, webhook_no, position) select app_no, no, 0 from made`,
    [app.no, `http://127.0.0.1:${port}/`, sealed],
  )
  const started = performance.now()
  await run(app, `insert into event_bodies (app_no, type, key, payload) ${ROWS(TOLD)}`, [app.no])
  for (let calls = 0; calls < TOLD * WEBHOOKS; await sleep(20)) {
    receiver.send('count')
    ;[{ calls }] = await once(receiver, 'message')
  }
  return (TOLD * WEBHOOKS) / ((performance.now() - started) / 1000)
}
