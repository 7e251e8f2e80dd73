/**
 * Five thousand devices whose gateway is killed, in an app with a million recent events, all resume within
 * half a minute. Only in the long form, because it takes minutes to set up.
 */
import assert from 'node:assert/strict'
import { suite, type TestContext } from 'node:test'
import { cpuOfTree, parentOf } from '../bench/cpu.ts'
import { addBulkUsers, ReconnectingDevice } from './bulk-users.ts'
import { queryAt } from './databases.ts'
import { type TestApp, useServer } from './kit.ts'
import { addToLog, rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { type Serving, startServing } from './loquat.ts'
import { assertWithin, timedTest } from './timed-test.ts'
import { until } from './until.ts'

const DEVICES = 5_000
const EVENTS = 1_000_000
/** More than a new process reads ahead; it finds the rest in the log. */
const MISSED = 10_000
const AT_ONCE = 20_000
const WITHIN_MS = 30_000
const PATIENCE_MS = 1_200_000

const GROUPS_EACH = 5
const GROUP_OF = 50
const GROUPS = (DEVICES * GROUPS_EACH) / GROUP_OF
/** One in this many messages is sent to a group. */
const TO_GROUP = 5

const server = useServer({ roles: ['api', 'worker'] })

/** Adds groups of fifty users. The same fifty users share five groups. */
async function addGroups({ no, cell }: TestApp): Promise<void> {
  const run = (text: string) => rows(cell.db, text, [no])
  await run(`insert into groups (app_no, guid, name, type, owner, members_count)
    select $1::int, 'g' || n, 'g', 'public', 'app_system', ${GROUP_OF}
    from generate_series(0, ${GROUPS - 1}) n`)
  await run(`insert into conversations (app_no, kind, one, other)
    select $1::int, 'group', guid, '' from groups where app_no = $1`)
  await run(`insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
    select $1::int, 'u' || u, 'group', c.one, c.no, 'participant', now()
    from generate_series(0, ${DEVICES - 1}) u cross join generate_series(0, ${GROUPS_EACH - 1}) k
    join conversations c on c.app_no = $1 and c.kind = 'group' and c.other = ''
      and c.one = 'g' || ((u / ${GROUP_OF}) * ${GROUPS_EACH} + k)`)
}

/** The sender and receiver of the message with this number. */
function concerned(n: number): number[] {
  if (n % TO_GROUP > 0) return [...new Set([n % DEVICES, (n * 7 + 1) % DEVICES])]
  const first = Math.floor(((n / TO_GROUP) % GROUPS) / GROUPS_EACH) * GROUP_OF
  return Array.from({ length: GROUP_OF }, (_, member) => first + member)
}

/** Inserts the messages of a range of numbers as if they had been sent and sequenced. */
async function log({ no, cell }: TestApp, from: number, upto: number): Promise<void> {
  for (let start = from; start < upto; start += AT_ONCE) {
    await rows(
      cell.db,
      `insert into positions as p (app_no, position) values ($1::int, $2::int)
       on conflict (app_no) do update set position = p.position + excluded.position`,
      [no, Math.min(start + AT_ONCE, upto) - start],
    )
    await addToLog(
      cell.db,
      `with sent as (
         select n, case when n % ${TO_GROUP} = 0 then 'group' else 'user' end as kind,
           case when n % ${TO_GROUP} = 0
             then 'u' || ((n / ${TO_GROUP}) % ${GROUPS} / ${GROUPS_EACH}) * ${GROUP_OF}
             else 'u' || n % ${DEVICES} end as sender,
           case when n % ${TO_GROUP} = 0 then 'g' || (n / ${TO_GROUP}) % ${GROUPS}
             else 'u' || (n::bigint * 7 + 1) % ${DEVICES} end as receiver
         from generate_series($2::int, $3::int - 1) n
       )
       select $1::int, p.position - $3 + n + 1, 'message.sent', 'conversation:' || receiver,
         json_build_object('message', json_build_object('id', n::text, 'conversationId', receiver,
           'sender', sender, 'receiver', receiver, 'receiverType', kind, 'category', 'message',
           'type', 'text', 'sentAt', 1800000000, 'updatedAt', 1800000000,
           'data', json_build_object('text', repeat('word ', 20), 'entities', repeat('x', 400)))),
         now(), (now() at time zone 'utc')::date,
         case kind when 'group' then 'group:' || receiver else 'user:' || sender end,
         case when kind = 'user' and receiver <> sender then 'user:' || receiver end,
         sender, 'messages.' || kind || '.message'
       from sent, positions p where p.app_no = $1`,
      [no, start, Math.min(start + AT_ONCE, upto)],
    )
  }
}

const inSeconds = (ms: number) => Math.round(ms / 100) / 10

suite(`${DEVICES} devices`, { skip: !LONG }, () => {
  timedTest('resume soon after their gateway is killed', async (t: TestContext) => {
    const app = await server.newApp()
    const people = await addBulkUsers(server.deps, app, DEVICES)
    await addGroups(app)
    await log(app, 0, EVENTS)
    // They are recent but not new, so they have already been counted.
    await rows(
      app.cell.db,
      `insert into usage_progress (app_no, position) values ($1, ${EVENTS})
       on conflict (app_no) do update set position = excluded.position`,
      [app.no],
    )
    await queryAt(app.cell.url, 'vacuum analyze')
    const [backend] = await rows<{ pid: number }>(app.cell.db, 'select pg_backend_pid() as pid')
    const postgres = parentOf(backend?.pid ?? 0)

    let gateway: Serving | undefined = await startServing('gateway', server.env)
    t.after(() => gateway?.end('SIGKILL'))
    const devices = people.map(
      (person) => new ReconnectingDevice(app.id, person, () => gateway?.gatewayPort ?? 0),
    )
    t.after(() => {
      for (const device of devices) device.end()
    })
    const came = performance.now()
    await until('all are connected', () => devices.every(({ open }) => open), PATIENCE_MS)
    const toComeMs = performance.now() - came

    const killed = performance.now()
    const before = cpuOfTree(postgres)
    await gateway.end('SIGKILL')
    gateway = undefined
    await log(app, EVENTS, EVENTS + MISSED)
    gateway = await startServing('gateway', server.env)

    const expected = devices.map((): string[] => [])
    for (let n = EVENTS; n < EVENTS + MISSED; n++) {
      for (const device of concerned(n)) expected[device]?.push(String(n))
    }
    const all = () =>
      devices.every(({ open, received }, n) => open && received >= (expected[n]?.length ?? 0))
    await until('all are back', all, PATIENCE_MS)
    const tookMs = performance.now() - killed
    const postgresSeconds = cpuOfTree(postgres) - before
    const gatewaySeconds = cpuOfTree(gateway.pid)

    for (const [n, { messages, reloads }] of devices.entries()) {
      const ids = [...messages.values()].flat().sort((one, other) => Number(one) - Number(other))
      assert.deepEqual(ids, expected[n], `u${n}`)
      assert.equal(reloads, 0)
    }
    const frames = devices.reduce((sum, { received }) => sum + received, 0)
    const figures = {
      ...{ devices: DEVICES, events: EVENTS + MISSED, frames },
      ...{ secondsToCome: inSeconds(toComeMs), secondsToResume: inSeconds(tookMs) },
      ...{ postgresSeconds: inSeconds(postgresSeconds * 1000) },
      ...{ gatewaySeconds: inSeconds(gatewaySeconds * 1000) },
    }
    t.diagnostic(JSON.stringify(figures))
    assertWithin(WITHIN_MS, tookMs)
  })
})
