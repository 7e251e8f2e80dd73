/** Background work skips apps that aren't in use: it finds its apps with the function `working_apps`. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { suite, test } from 'node:test'
import '../src/cli/program.ts' // reaches everything but what is loaded late
import '../src/areas/notifications/upkeep.queries.ts'
import { listEnds, listPositions, listStale } from '../src/areas/history/indexing.queries.ts'
import { listLagging, samplePeaks } from '../src/areas/stats/queries.ts'
import { cellTables } from '../src/core/tables/cell.ts'
import { columnsOf } from '../src/core/tables/table.ts'
import { functionFiles } from '../src/platform/db/functions.ts'
import { SERVER } from '../src/platform/db/migrate.ts'
import { statements } from '../src/platform/db/query.ts'
import { listDue } from '../src/workers/receipts/queries.ts'
import { listActiveWebhooks } from '../src/workers/webhooks/queries.ts'
import { type TestApp, useServer } from './kit.ts'

/** Statements about many apps that don't skip any, and why. */
const FOR_ALL_APPS: Record<string, string> = {
  'apps.findHighestNo': 'a number is taken as long as the cell has its rows',
  'apps.listArchived': 'looks for the others',
  'apps.listRestrained': 'looks for the others',
  'breaks.readState': 'a break is about the whole log',
  'calls.countOnServers': 'counts, also for operators who take a media server out of service',
  'gauges.deadJobs': 'counts',
  'gauges.oldestJob': 'counts',
  'gauges.waitingWebhooks': 'counts',
  'gate.removeOldIdempotency': 'removes rows by age',
  'groups.removeOldFormerMembers': 'removes rows by age',
  'agents.removeOldHandovers': 'removes rows by age',
  'agents.removeOldReplays': 'removes rows by age',
  'agents.removeOldSpending': 'removes rows by age',
  'exports.removeOld': 'removes rows by age',
  'imports.removeOld': 'removes rows by age',
  'jobs.removeOld': 'removes rows by age',
  'batches.sweep': 'removes rows by age',
  'notifications.removeExpired': 'removes rows by age',
  'notifications.removeOldShown': 'removes rows by age',
  'previews.removeOld': 'removes rows by age',
  'revocations.removeOld': 'removes rows by age',
  'stats.removeOldSteps': 'removes rows by age',
  'webhooks.removeOldDeadLetters': 'removes rows by age',
  'jobs.removeSchedules': 'about the cell itself',
  'revocations.list': 'is how processes learn that an app was archived',
  'stats.addCounts': 'stores what happened',
  'stats.addSeen': 'stores what happened',
}

/** The same for SQL functions. Triggers work on the rows of a statement that is looked at here itself. */
const FUNCTIONS_FOR_ALL_APPS: Record<string, string> = {
  break_log: 'a break is about the whole log',
  sequence_events: "an archived app's last events get positions too",
  remove_old_agent_runs: 'removes rows by age',
  thin_marks: 'removes rows by age',
  end_jobs: 'names each job with its app',
  tend_jobs: 'what it makes ready waits until claim_jobs finds the app among the working ones',
  lock_users: 'names each user with the app',
  connect_users: 'names each user with the app',
  disconnect_users: 'names each user with the app',
  release_gateway: "an archived app's users go offline too",
  send_messages: 'names each message with its app',
}

const appTables = Object.entries(cellTables)
  .filter(([, table]) => columnsOf(table).includes('app_no'))
  .map(([name]) => name)
const readsApps = new RegExp(`\\b(from|join|update|into)\\s+(${appTables.join('|')})\\b`)

test('every statement names its app, asks for the working apps, or says why not', () => {
  const wide = [...statements]
    .filter(([, { schema, text }]) => schema === 'cell' && readsApps.test(text))
    .filter(([, { params }]) => !params.some((param) => /^app(No)?s?$/.test(param)))
    .filter(([, { text }]) => !text.includes('working_apps()'))
  assert.deepEqual(wide.map(([name]) => name).toSorted(), Object.keys(FOR_ALL_APPS).toSorted())
})

/** A function of a file, up to the next one or the comment before it. */
const FUNCTION =
  /^create or replace function (\w+)\s*\((.*?)\)\s*(?:returns|language)\b.*?(?=^create |^\/\*|(?!.))/gms

test('so does every SQL function that gets neither an app nor a row of one', () => {
  const found = functionFiles(SERVER, 'cell').flatMap(({ sql }) => [...sql.matchAll(FUNCTION)])
  const ofRows = new RegExp(`\\b(${appTables.join('|')})\\b`)
  const wide = found
    .filter(([text, , params = '']) => readsApps.test(text) && !/\bp_app_no\b/.test(params))
    .filter(([text, , params = '']) => !ofRows.test(params) && !/\breturns trigger\b/.test(text))
    .filter(([text]) => !text.includes('working_apps()'))
  assert.ok(found.length > 200, 'the functions are found')
  const names = wide.map(([, name = '']) => name)
  assert.deepEqual(names.toSorted(), Object.keys(FUNCTIONS_FOR_ALL_APPS).toSorted())
})

const server = useServer()

const run = (app: TestApp, text: string) =>
  app.cell.db.query<{ found: boolean }>({ name: '', text, values: [app.no] })

/** An app that every background job has work for. */
async function busyApp(): Promise<TestApp> {
  const app = await server.newApp()
  const [amira] = await app.users('amira', 'ben')
  await amira.sendText('ben')
  const { webhooks } = app.client
  await webhooks.create({ id: 'all', name: 'All', webhookURL: 'https://8.8.8.8/hook' })
  await webhooks.addTriggers('all', { triggerIds: ['message_read_by_all'] })
  await run(app, `insert into positions values ($1, 1)`)
  await run(
    app,
    `insert into search_segments (app_no, upto_id, after_id, messages) values ($1, 9, 0, 1)`,
  )
  await run(app, `insert into search_changes values ($1, 5)`)
  await run(
    app,
    `insert into presence (app_no, uid, name_key, gateways) values ($1, 'amira', 'amira', '{${randomUUID()}}')`,
  )
  await run(app, `select enqueue_job($1, 'test.busy')`)
  return app
}

suite('an app that is archived or suspended', () => {
  test('has no background work', async () => {
    const [busy, archived, suspended] = [await busyApp(), await busyApp(), await busyApp()]
    const { db } = busy.cell
    await run(archived, 'update apps set archived_at = now() where app_no = $1')
    await run(suspended, 'update apps set suspended_at = now() where app_no = $1')

    const shards = Array.from({ length: 64 }, (_, shard) => shard)
    const lists = {
      positions: await listPositions.many(db, {}),
      ends: await listEnds.many(db, {}),
      lagging: await listLagging.many(db, {}),
      stale: await listStale.many(db, { least: 1, limit: 10 }),
      due: await listDue.many(db, {}),
      webhooks: await listActiveWebhooks.many(db, { shards }),
    }
    for (const [name, rows] of Object.entries(lists)) {
      assert.deepEqual([...new Set(rows.map((row) => row.app_no))], [busy.no], name)
    }
    await samplePeaks.run(db, {})
    await run(busy, `select claim_jobs('${randomUUID()}', 10, 10, 0) where $1 > 0`)
    const sampled = `select exists (select from usage_peaks where app_no = $1) as found`
    const claimed = `select exists (select from jobs where app_no = $1 and state = 'running') as found`
    for (const sql of [sampled, claimed]) {
      const found = [await run(busy, sql), await run(archived, sql), await run(suspended, sql)]
      assert.deepEqual(
        found.map(({ rows }) => rows[0]?.found),
        [true, false, false],
        sql,
      )
    }
  })
})
