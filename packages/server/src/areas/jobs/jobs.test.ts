import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { refused, type TestApp, useServer } from '../../../test/kit.ts'
import { join, newOperator } from '../../../test/operators.ts'

const server = useServer()

async function owned() {
  const [app, rui] = [await server.newApp(), await newOperator(server)]
  await join(server, app, rui, 'owner')
  return { app, rui, jobs: rui.client.jobs }
}

const run = async (app: TestApp, text: string, values: unknown[] = []) =>
  (await app.cell.db.query({ name: '', text, values: [app.no, ...values] })).rows

async function add(app: TestApp, name = 'test.none'): Promise<string> {
  const [row] = await run(app, `select enqueue_job($1, $2, '{"n":1}') as id`, [name])
  return String(row?.id)
}

const setState = (app: TestApp, id: string, set: string) =>
  run(app, `update jobs set ${set} where app_no = $1 and id = $2`, [id])

suite('listJobs', () => {
  test("shows the app's jobs, newest first, by state and name, in pages", async () => {
    const { app, jobs } = await owned()
    const other = await server.newApp()
    await add(other)
    const ids = [await add(app), await add(app, 'test.other'), await add(app)]
    await setState(app, ids[0] ?? '', `state = 'dead', ended_at = now(), error = 'no', done = 5`)
    const idsOf = async (query: Parameters<typeof jobs.list>[1]) =>
      (await jobs.list(app.id, query)).data.map(({ id }) => id)
    assert.deepEqual(await idsOf({}), ids.toReversed())
    assert.deepEqual(await idsOf({ state: 'dead' }), [ids[0]])
    assert.deepEqual(await idsOf({ name: 'test.other' }), [ids[1]])
    const first = await jobs.list(app.id, { limit: 2 })
    const before = first.meta.next ?? 0
    assert.deepEqual(await idsOf({ limit: 2, before }), [ids[0]])
  })
})

suite('getJob', () => {
  test('shows the progress and the last failure', async () => {
    const { app, jobs } = await owned()
    const id = await add(app)
    await setState(app, id, `done = 5, total = 9, error = 'refused', tries = 2`)
    const { progress, error, tries, state, input } = await jobs.get(app.id, id)
    assert.deepEqual(
      { progress, error, tries, state, input },
      {
        ...{ progress: { done: 5, total: 9 }, error: 'refused', tries: 2, state: 'ready' },
        input: { n: 1 },
      },
    )
  })

  test("returns 404 for other apps' jobs, jobs of the cell and ids that are no number", async () => {
    const [{ app, jobs }, other] = [await owned(), await owned()]
    const foreign = await add(other.app)
    for (const id of [foreign, 'x', '1', '9999999999999999']) {
      await refused(jobs.get(app.id, id), 'ERR_JOB_NOT_FOUND')
    }
  })
})

suite('cancelJob', () => {
  test('ends a job that does not run, asks a running one, and refuses one that is over', async () => {
    const { app, rui, jobs } = await owned()
    const [ready, running, dead] = [await add(app), await add(app), await add(app)]
    await setState(app, running, `state = 'running'`)
    await setState(app, dead, `state = 'dead', ended_at = now()`)
    assert.equal((await jobs.cancel(app.id, ready)).state, 'cancelled')
    assert.equal((await jobs.cancel(app.id, ready)).state, 'cancelled')
    const asked = await jobs.cancel(app.id, running)
    assert.deepEqual([asked.state, asked.cancelling], ['running', true])
    await refused(jobs.cancel(app.id, dead), 'ERR_JOB_OVER')
    const { data } = await rui.client.auditEntries.listApp(app.id, { action: 'cancelJob' })
    assert.deepEqual(
      data.map(({ target, status }) => [target.jobId, status]),
      [
        [dead, 409],
        [running, 200],
        [ready, 200],
        [ready, 200],
      ],
    )
  })
})

suite('retryJob', () => {
  test('starts dead and cancelled jobs again, once per dedupe key', async () => {
    const { app, jobs } = await owned()
    const dead = await add(app)
    await setState(app, dead, `state = 'dead', ended_at = now(), tries = 9`)
    const retried = await jobs.retry(app.id, dead)
    assert.deepEqual([retried.state, retried.tries, retried.endedAt], ['ready', 0, undefined])
    assert.equal((await jobs.get(app.id, dead)).state, 'ready')
    await setState(app, dead, `state = 'running'`)
    await refused(jobs.retry(app.id, dead), 'ERR_JOB_NOT_FAILED')

    const add2 = `select enqueue_job($1, 'test.none', '{}', p_dedupe_key => 'k') as id`
    const [first] = await run(app, add2)
    await jobs.cancel(app.id, String(first?.id))
    await run(app, add2)
    await refused(jobs.retry(app.id, String(first?.id)), 'ERR_JOB_NOT_FAILED')
  })
})
