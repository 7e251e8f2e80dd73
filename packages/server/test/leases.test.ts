import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { afterEach, suite, test } from 'node:test'
import type { Db } from '../src/platform/db/db.ts'
import type { Executor } from '../src/platform/db/query.ts'
import { isLeaseLost, type Lease, Worker } from '../src/platform/leases/leases.ts'
import { useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { killRunning, startServing } from './loquat.ts'
import { until } from './until.ts'

const lock = (db: Executor, { job, workerId, epoch }: Lease) =>
  rows(db, 'select lock_lease($1, $2::uuid, $3::bigint)', [job, workerId, epoch])

const expire = (db: Db, { id }: Worker) =>
  rows(db, 'update workers set expires_at = clock_timestamp() where worker_id = $1::uuid', [id])

/** Keeps a worker's row valid, because on a slow machine it would expire before the next statement. */
const keep = (db: Db, { id }: Worker) =>
  rows(db, `update workers set expires_at = 'infinity' where worker_id = $1::uuid`, [id])

suite('a lease', () => {
  const server = useServer()
  afterEach(killRunning)
  const cellDb = () => server.deps.directory.cell('us-1').db
  const newWorker = () => new Worker(cellDb, server.deps.log)

  test('belongs to one of two workers, and each change of holder raises the epoch', async () => {
    const [first, second, job] = [newWorker(), newWorker(), randomUUID()]
    const leases = await Promise.all([first.take(job), second.take(job)])
    assert.deepEqual(leases.map((lease) => lease?.epoch).toSorted(), [1, undefined])
    const [holder, other] = leases[0] ? [first, second] : [second, first]

    await expire(cellDb(), holder)
    assert.equal((await other.take(job))?.epoch, 2)
    await keep(cellDb(), other)
    assert.equal(await holder.take(job), undefined)
    await other.close()
    assert.equal((await holder.take(job))?.epoch, 3)
    assert.equal((await holder.take(job))?.epoch, 4)
  })

  test('lasts three seconds, or as long as its worker was told', async () => {
    const left = async (worker: Worker) => {
      await worker.renew()
      const text = `select extract(epoch from expires_at - now())::float8 as seconds from workers where worker_id = $1`
      const [row] = await rows<{ seconds: number }>(cellDb(), text, [worker.id])
      return row?.seconds ?? 0
    }
    assert.ok((await left(newWorker())) <= 3)
    const patient = await left(new Worker(cellDb, server.deps.log, 60))
    assert.ok(patient > 3 && patient <= 60, `${patient} s`)
  })

  test('protects writes from an old epoch, another worker and an expired holder', async () => {
    const [first, second, job] = [newWorker(), newWorker(), randomUUID()]
    const lost = await first.take(job)
    assert.ok(lost)
    await keep(cellDb(), first)
    await lock(cellDb(), lost)
    const held = await first.take(job)
    assert.ok(held)
    await keep(cellDb(), first)
    await assert.rejects(lock(cellDb(), lost), isLeaseLost)
    await second.take(randomUUID())
    await assert.rejects(lock(cellDb(), { ...held, workerId: second.id }), isLeaseLost)
    await lock(cellDb(), held)
    await expire(cellDb(), first)
    await assert.rejects(lock(cellDb(), held), isLeaseLost)
  })

  test("is taken over only after the holder's transaction ends", async () => {
    const [first, second, job] = [newWorker(), newWorker(), randomUUID()]
    const held = await first.take(job)
    assert.ok(held)
    await keep(cellDb(), first)
    const order: string[] = []
    const { promise: taken, resolve } = Promise.withResolvers<void>()
    await cellDb().tx(async (tx) => {
      await lock(tx, held)
      await expire(cellDb(), first)
      void second.take(job).then((lease) => {
        order.push(`taken ${lease?.epoch}`)
        resolve()
      })
      const text = `select from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'into leases'`
      await until('the other waits', async () => (await rows(cellDb(), text)).length > 0)
      order.push('done')
    })
    await taken
    assert.deepEqual(order, ['done', 'taken 2'])
  })

  test('is released at once by a process that is asked to end', async () => {
    const process = await startServing('worker', server.env)
    await process.holds('sequencer')
    await process.holds('upkeep')
    assert.equal(await newWorker().take('sequencer'), undefined)
    assert.equal((await process.end()).code, 0)
    // Not only when the worker has ended, which webhook calls can delay.
    const nobody = '00000000-0000-0000-0000-000000000000'
    const held = await rows(cellDb(), 'select job from leases where worker_id <> $1', [nobody])
    assert.deepEqual(
      held.filter(({ job }) => job === 'sequencer' || job === 'upkeep'),
      [],
    )
    assert.ok(await newWorker().take('sequencer'))
    assert.ok(await newWorker().take('upkeep'))
  })
})
