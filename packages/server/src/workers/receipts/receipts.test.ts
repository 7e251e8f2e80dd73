import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { queryAt } from '../../../test/databases.ts'
import { type TestApp, type UserClient, useServer } from '../../../test/kit.ts'
import { addToLog, rows } from '../../../test/log-writers.ts'
import { LONG } from '../../../test/long.ts'
import { seeded } from '../../../test/seed.ts'
import { until } from '../../../test/until.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import type { Executor } from '../../platform/db/query.ts'
import { isLeaseLost, type Lease, Worker } from '../../platform/leases/leases.ts'
import { takeTurn } from '../app-turn.ts'
import { findCandidates, type Sizes } from './floors.ts'
import { listDue } from './queries.ts'
import { follow, runReceipts } from './receipts.ts'

const server = useServer()
const TRIGGERS = ['message_delivered_to_all', 'message_read_by_all']

let cell: Cell
let leases: { sequencer: Lease; receipts: Lease } | undefined

/** Keeps the worker's row valid, because on a slow machine it would expire before the next statement. */
async function takeLease(job: string): Promise<Lease> {
  const worker = new Worker(() => cell.db, server.deps.log)
  const lease = await worker.take(job)
  assert.ok(lease)
  const valid = `update workers set expires_at = 'infinity' where worker_id = $1::uuid`
  await rows(cell.db, valid, [worker.id])
  return lease
}

async function takeLeases() {
  cell = server.deps.directory.cell('us-1')
  return { sequencer: await takeLease('sequencer'), receipts: await takeLease('receipts') }
}

/** Gives all events their positions, then does all the work that is due for the app. */
async function settle(
  app: TestApp,
  { epochsAgo = 0, ...more }: { epochsAgo?: number; sizes?: Sizes } = {},
) {
  leases ??= await takeLeases()
  const { sequencer, receipts } = leases
  const lease = { ...receipts, epoch: receipts.epoch - epochsAgo }
  const step = 'select from sequence_events($1::uuid, $2, 100000, null)'
  await rows(cell.db, step, [sequencer.workerId, sequencer.epoch])
  for (const due of await listDue.many(cell.db, {})) {
    if (due.app_no !== app.no) continue
    while (await follow({ cell, lease, ...more }, due));
  }
}

/** An app with a webhook for both triggers, and a group g. Its owner is the first user. */
async function newTeam(uids: string[], triggerIds = TRIGGERS): Promise<TestApp> {
  const app = await server.newApp()
  await app.users(...uids)
  const members = { participants: uids.slice(1) }
  await app.client.groups.create({ guid: 'g', name: 'G', owner: uids[0], members })
  await subscribe(app, triggerIds)
  return app
}

async function subscribe(app: TestApp, triggerIds = TRIGGERS) {
  await app.client.webhooks.create({ id: 'a', name: 'A', webhookURL: 'https://8.8.8.8/hook' })
  if (triggerIds.length > 0) await app.client.webhooks.addTriggers('a', { triggerIds })
}

const say = async (app: TestApp, sender: string | undefined) =>
  (await app.as(sender).sendText('g', 'Hello', { receiverType: 'group' })).id

const read = (user: UserClient, messageId?: string) =>
  user.conversations.markGroupRead('g', messageId === undefined ? {} : { messageId })
const receive = (user: UserClient) => user.conversations.markGroupDelivered('g', {})

/** What was announced so far: the kind, the sender and the message. */
const announced = async (app: TestApp) =>
  (await app.events())
    .filter(({ type }) => type.endsWith('.all'))
    .map(({ type, payload }) => [type.split('.')[1], payload.messageSender, payload.messageId])

const count = async (app: TestApp, table: string) =>
  (await rows(cell.db, `select from ${table} where app_no = $1`, [app.no])).length

suite('receipts of all members', () => {
  test('follow when the last of the other members has received or read a message', async () => {
    const app = await newTeam(['a', 'b', 'c'])
    const [b, c] = [app.as('b'), app.as('c')]
    const first = await say(app, 'a')
    await receive(b)
    await settle(app)
    await receive(c)
    await read(b)
    await settle(app)
    assert.deepEqual(await announced(app), [['delivered', 'a', first]])
    await read(c)
    await settle(app)
    const both = [
      ['delivered', 'a', first],
      ['read', 'a', first],
    ]
    assert.deepEqual(await announced(app), both)
    const [, { payload, key } = { payload: {}, key: '' }] = (await app.events()).filter(
      ({ type }) => type.endsWith('.all'),
    )
    assert.match(key, /^conversation:\d+$/)
    const { user, at, ...rest } = payload
    assert.deepEqual(rest, {
      ...{ conversationId: 'group_g', receiverType: 'group', receiver: 'g' },
      ...{ messageId: first, messageSender: 'a' },
    })
    assert.equal(user.uid, 'app_system')
    assert.ok(Number.isInteger(at))

    for (const user of [b, c]) await read(user)
    await settle(app)
    assert.deepEqual(await announced(app), both, 'nothing twice')
  })

  test('name the newest message of each sender, also of members who read nothing', async () => {
    const app = await newTeam(['a', 'b', 'c'], ['message_read_by_all'])
    const [b, c] = [app.as('b'), app.as('c')]
    await say(app, 'a')
    const byB = await say(app, 'b')
    const byA = await say(app, 'a')
    const byApp = await say(app, undefined)
    await read(b)
    await settle(app)
    assert.deepEqual(await announced(app), [])
    await read(c)
    await settle(app)
    assert.deepEqual(await announced(app), [['read', 'a', byA]], 'a has read nothing')
    await read(app.as('a'), byB)
    await settle(app)
    await read(app.as('a'))
    await settle(app)
    assert.deepEqual((await announced(app)).slice(1), [
      ['read', 'b', byB],
      ['read', 'app_system', byApp],
    ])
  })

  test('wait for nobody who left, was deactivated or deleted, joined later or is a bot', async () => {
    const app = await newTeam(['a', 'b', 'kicked', 'off', 'gone'], ['message_read_by_all'])
    await app.client.bots.create({ uid: 'bot', name: 'Bot' })
    await app.client.groupMembers.add('g', { participants: ['bot'] })
    const first = await say(app, 'a')
    await app.users('late')
    await app.as('late').groups.join('g')
    await read(app.as('b'))
    await app.client.groupMembers.kick('g', 'kicked')
    await settle(app)
    await app.client.users.deactivate({ uidsToDeactivate: ['off'] })
    await settle(app)
    assert.deepEqual(await announced(app), [])
    await app.client.users.delete('gone', { permanent: true })
    await settle(app)
    assert.deepEqual(await announced(app), [['read', 'a', first]])

    const second = await say(app, 'a')
    await read(app.as('late'))
    await settle(app)
    await app.as('b').groups.leave('g')
    await settle(app)
    assert.deepEqual((await announced(app)).slice(1), [['read', 'a', second]])
    await say(app, 'a')
    await app.as('late').groups.leave('g')
    await settle(app)
    assert.equal((await announced(app)).length, 2, 'nobody read the last message')
  })

  test('cost nothing without a webhook, and leave nothing behind when it is gone', async () => {
    const app = await newTeam(['a', 'b', 'c'], [])
    const round = async (...uids: string[]) => {
      const sent = await say(app, 'a')
      for (const uid of uids) await read(app.as(uid))
      await settle(app)
      return sent
    }
    const rowsLeft = async () => [
      await count(app, 'receipt_progress'),
      await count(app, 'receipt_floors'),
    ]
    await round('b', 'c')
    assert.deepEqual([await announced(app), await rowsLeft()], [[], [0, 0]])

    const unread = await say(app, 'a')
    await read(app.as('b'))
    await app.client.webhooks.addTriggers('a', { triggerIds: ['message_read_by_all'] })
    await settle(app)
    await read(app.as('c'), unread)
    await settle(app)
    assert.deepEqual(await announced(app), [['read', 'a', unread]], 'even if b read it before')
    assert.deepEqual(await rowsLeft(), [1, 1])

    await app.client.webhooks.deleteTriggers('a', { triggerIds: ['message_read_by_all'] })
    await settle(app)
    assert.deepEqual(await rowsLeft(), [0, 0])
    await round('b', 'c')
    await app.client.webhooks.addTriggers('a', { triggerIds: ['message_read_by_all'] })
    await app.as('b').groups.leave('g')
    await settle(app)
    assert.equal((await announced(app)).length, 1, 'nothing from before the subscription')
    const last = await round('c')
    assert.deepEqual((await announced(app)).slice(1), [['read', 'a', last]])
    await app.client.groups.delete('g')
    assert.equal(await count(app, 'receipt_floors'), 0)
  })

  test('are announced once, whatever a worker does that has lost its lease', async () => {
    const app = await newTeam(['a', 'b'], ['message_read_by_all'])
    const sent = await say(app, 'a')
    await read(app.as('b'))
    await assert.rejects(settle(app, { epochsAgo: 1 }), isLeaseLost)
    assert.deepEqual([await announced(app), await count(app, 'receipt_floors')], [[], 0])
    await settle(app)
    await assert.rejects(async () => {
      await say(app, 'a')
      await settle(app, { epochsAgo: 1 })
    }, isLeaseLost)
    await settle(app)
    assert.deepEqual(await announced(app), [['read', 'a', sent]])
  })
})

suite('the job of receipts', () => {
  /** Runs it for all apps until this is true. */
  async function runUntil(what: string, done: () => Promise<boolean>) {
    leases ??= await takeLeases()
    const stop = new AbortController()
    const { deps } = server
    const ended = runReceipts({ deps, cell, lease: leases.receipts, signal: stop.signal })
    await Promise.race([ended, until(what, done)])
    assert.ok(await done(), 'it goes on until it is stopped')
    stop.abort()
    await ended
  }

  /** Gives all events their positions, without any other work. */
  async function sequence() {
    leases ??= await takeLeases()
    const { workerId, epoch } = leases.sequencer
    const step = 'select from sequence_events($1::uuid, $2, 100000, null)'
    await rows(cell.db, step, [workerId, epoch])
  }

  test('goes on for other apps if one fails', async () => {
    const [failing, other] = [await newTeam(['a', 'b']), await newTeam(['a', 'b'])]
    for (const app of [failing, other]) {
      await say(app, 'a')
      await read(app.as('b'))
    }
    await sequence()
    const constraint = `add constraint refusing check (app_no <> ${failing.no}) not valid`
    await queryAt(cell.url, `alter table receipt_progress ${constraint}`)
    const arrived = (app: TestApp) => async () => {
      await sequence()
      return (await announced(app)).length === 2
    }
    await runUntil('the other app has its receipts', arrived(other))
    assert.deepEqual(await announced(failing), [])
    await queryAt(cell.url, 'alter table receipt_progress drop constraint refusing')
    await runUntil('the app has its receipts, too', arrived(failing))
  })

  test('lets other apps have their turns before a long log is read', async () => {
    const app = await newTeam(['a', 'b'], ['message_read_by_all'])
    await settle(app)
    const [last] = await rows<{ position: number }>(
      cell.db,
      'select position from positions where app_no = $1',
      [app.no],
    )
    const events = 10_000
    await addToLog(
      cell.db,
      `select $1::int, $2::bigint + n, 'app.settings.updated', 'app', '{}'::json, now(),
         (now() at time zone 'utc')::date, '', null, null, null
       from generate_series(1, $3::int) n`,
      [app.no, last?.position, events],
    )
    await rows(cell.db, 'update positions set position = position + $2 where app_no = $1', [
      ...[app.no, events],
    ])
    const due = (await listDue.many(cell.db, {})).find(({ app_no }) => app_no === app.no)
    assert.ok(due && leases)
    const { deps } = server
    const context = { deps, cell, lease: leases.receipts, signal: new AbortController().signal }
    const [turns, from] = [[] as number[], due.position ?? 0]
    while (await takeTurn(context, app.no, () => follow(context, due))) {
      turns.push((due.position ?? 0) - from)
    }
    assert.deepEqual(turns, [5_000, 10_000])
  })

  test('looks at a hundred groups in one statement', async () => {
    const app = await newTeam(['a', 'b'])
    await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        app.client.groups.create({ guid: `g${n}`, name: 'G', owner: 'a' }),
      ),
    )
    const found = await rows<{ no: number }>(
      app.cell.db,
      `select no from conversations where app_no = $1 and kind = 'group'`,
      [app.no],
    )
    const sizes: number[] = []
    const db: Executor = {
      query(statement) {
        const groups = statement.values?.find((value) => Array.isArray(value))
        if (statement.name === 'receipts.listLowest') sizes.push((groups as unknown[]).length)
        return app.cell.db.query(statement)
      },
    }
    const numbers = found.map(({ no }) => no)
    const candidates = await findCandidates(db, { appNo: app.no, kind: 'read' }, numbers)
    assert.deepEqual([candidates.length, sizes], [101, [100, 1]])
  })
})

/** The newest message of each sender that all others have, counted from scratch. */
async function recount(app: TestApp, kind: 'delivered' | 'read') {
  const kinds = kind === 'read' ? ['read'] : ['read', 'delivered']
  const newest = await rows<{ sender: string; id: number }>(
    cell.db,
    `select m.sender, max(m.id) as id from messages m
     where m.app_no = $1 and m.category = 'message' and not exists (
       select from inbox i where i.app_no = $1 and i.conversation = m.conversation
         and i.scope is not null and i.uid <> m.sender and i.joined_at < id_time(m.id) and not exists (
           select from marks k where k.app_no = $1 and k.conversation = m.conversation
             and k.uid = i.uid and k.kind = any ($2) and k.upto_id >= m.id))
     and exists (
       select from marks k join inbox i using (app_no, conversation, uid)
       where k.app_no = $1 and k.conversation = m.conversation and i.scope is not null
         and i.uid <> m.sender and i.joined_at < id_time(m.id) and k.kind = any ($2)
         and k.upto_id >= m.id)
     group by m.sender`,
    [app.no, kinds],
  )
  return newest.map(({ sender, id }) => [kind, sender, String(id)])
}

const UIDS = ['a', 'b', 'c', 'd', 'e', 'f']
const step = fc.tuple(
  fc.constantFrom('say', 'say', 'read', 'read', 'receive', 'join', 'leave'),
  fc.constantFrom(...UIDS),
  fc.nat(20),
  fc.boolean(),
)

suite('receipts of all members in random groups', () => {
  for (const sizes of [
    { laggards: 100, scan: 10_000 },
    { laggards: 3, scan: 2 },
  ]) {
    const { laggards, scan } = sizes
    test(`are those of a plain recount, with ${laggards} laggards and ${scan} members per statement`, async () => {
      const history = fc.array(step, { minLength: 40, maxLength: 60 })
      const run = (steps: [string, string, number, boolean][]) => compare(steps, sizes)
      await fc.assert(fc.asyncProperty(history, run), {
        ...seeded,
        numRuns: LONG ? 40 : 2,
        endOnFailure: true,
      })
    })
  }
})

/** Replays a history and compares after each step that is followed by work. */
async function compare(steps: [string, string, number, boolean][], sizes: Sizes) {
  const app = await newTeam(UIDS)
  const ids: string[] = []
  const expected = new Map<string, number>()
  for (const [what, uid, n, works] of steps) {
    const user = app.as(uid)
    const act = {
      say: async () => void ids.push(await say(app, uid)),
      read: () => read(user, ids.at(-1 - (n % 3))),
      receive: () => receive(user),
      join: () => user.groups.join('g'),
      leave: () => user.groups.leave('g'),
    }[what]
    // Users who aren't members can't do most of these; members can't join.
    await act?.().catch(() => {})
    if (!works) continue
    await settle(app, { sizes })
    for (const kind of ['delivered', 'read'] as const) {
      for (const [, sender, id] of await recount(app, kind)) {
        const key = `${kind} ${sender}`
        expected.set(key, Math.max(expected.get(key) ?? 0, Number(id)))
      }
    }
    const found = new Map<string, number>()
    for (const [kind, sender, id] of await announced(app)) {
      const key = `${kind} ${sender}`
      assert.ok((found.get(key) ?? 0) < Number(id), 'each sender moves forward')
      found.set(key, Number(id))
    }
    assert.deepEqual([...found].sort(), [...expected].sort())
  }
}
