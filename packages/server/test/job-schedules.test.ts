import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import type { Cell } from '../src/platform/cells/directory.ts'
import { queryAt } from './databases.ts'
import { useServer } from './kit.ts'
import { rows } from './log-writers.ts'

suite('schedules of jobs', () => {
  const server = useServer({})
  let cell: Cell
  before(async () => {
    cell = server.deps.directory.cell('us-1')
    // The queue's clock, as a value that a test can set.
    await queryAt(
      cell.url,
      `create table clock as select now() as at;
       grant all on clock to loquat_service;
       create or replace function job_clock() returns timestamptz
       language sql volatile as 'select at from clock'`,
    )
  })

  const setClock = (at: string) => rows(cell.db, 'update clock set at = $1', [at])
  const tend = () => rows(cell.db, `select tend_jobs(gen_random_uuid(), '[]')`)

  /** Lets the clock show each time, tends to the queue, and returns the times that enqueued a job. */
  async function firedAt(appNo: number, times: string[]): Promise<string[]> {
    const fired: string[] = []
    for (const time of times) {
      await setClock(time)
      await tend()
      const gone = await rows(cell.db, 'delete from jobs where app_no = $1 returning id', [appNo])
      if (gone.length > 0) fired.push(time)
    }
    return fired
  }

  const schedule = (appNo: number, [every, at, zone, days]: unknown[]) =>
    rows(cell.db, `select schedule_job($1, 'k', 'test.scheduled', '{}', $2, $3, $4, $5)`, [
      ...[appNo, every, at, zone, days],
    ])

  const hours = (from: string, to: string, minutes = 60) => {
    const times: string[] = []
    for (let at = Date.parse(from); at <= Date.parse(to); at += minutes * 60_000) {
      times.push(new Date(at).toISOString().slice(0, 16))
    }
    return times.map((time) => `${time}Z`)
  }

  suite('a schedule', () => {
    test('keeps its time of day across both changes of daylight saving', async () => {
      const { no } = await server.newApp()
      await setClock('2026-03-27T12:00Z')
      await schedule(no, [null, '03:15', 'Europe/Berlin', null])
      const spring = hours('2026-03-28T01:15Z', '2026-03-30T03:15Z')
      assert.deepEqual(await firedAt(no, spring), [
        '2026-03-28T02:15Z',
        '2026-03-29T01:15Z',
        '2026-03-30T01:15Z',
      ])
      await setClock('2026-10-23T12:00Z')
      await schedule(no, [null, '03:16', 'Europe/Berlin', null])
      const autumn = hours('2026-10-24T00:16Z', '2026-10-26T03:16Z')
      assert.deepEqual(await firedAt(no, autumn), [
        '2026-10-24T01:16Z',
        '2026-10-25T02:16Z',
        '2026-10-26T02:16Z',
      ])
    })

    test('runs once on days whose clock skips or repeats its time', async () => {
      const { no } = await server.newApp()
      await setClock('2026-03-28T12:00Z')
      await schedule(no, [null, '02:30', 'Europe/Berlin', null])
      assert.deepEqual(await firedAt(no, hours('2026-03-29T00:30Z', '2026-03-30T04:30Z')), [
        '2026-03-29T01:30Z',
        '2026-03-30T00:30Z',
      ])
      await setClock('2026-10-24T12:00Z')
      await schedule(no, [null, '02:29', 'Europe/Berlin', null])
      const autumn = await firedAt(no, hours('2026-10-25T00:30Z', '2026-10-26T04:30Z'))
      assert.equal(autumn.length, 2)
      assert.equal(autumn[1], '2026-10-26T01:30Z')
    })

    test('runs on its days of the week only', async () => {
      const { no } = await server.newApp()
      await setClock('2026-05-01T12:00Z') // a Friday
      await schedule(no, [null, '08:00', 'America/New_York', [1, 4]])
      assert.deepEqual(await firedAt(no, hours('2026-05-01T12:00Z', '2026-05-11T12:00Z', 240)), [
        '2026-05-04T12:00Z',
        '2026-05-07T12:00Z',
        '2026-05-11T12:00Z',
      ])
    })

    test('runs no time twice when the clock is set back, and once for all that it missed', async () => {
      const { no } = await server.newApp()
      await setClock('2026-05-01T11:30Z')
      await schedule(no, [3600, null, null, null])
      const times = [
        '11:59',
        '12:01',
        '11:50',
        '12:01',
        '12:59',
        '13:00',
        '18:30',
        '18:59',
        '19:00',
      ]
      const shown = times.map((time) => `2026-05-01T${time}Z`)
      assert.deepEqual(
        (await firedAt(no, shown)).map((time) => time.slice(11, 16)),
        ['12:01', '13:00', '18:30', '19:00'],
      )
    })

    test('that is declared again unchanged keeps its next time', async () => {
      const { no } = await server.newApp()
      await setClock('2026-05-01T11:30Z')
      await schedule(no, [3600, null, null, null])
      await setClock('2026-05-01T12:30Z')
      await schedule(no, [3600, null, null, null])
      assert.deepEqual(await firedAt(no, ['2026-05-01T12:31Z']), ['2026-05-01T12:31Z'])
    })
  })

  suite('a delayed job', () => {
    test('waits longer when the clock is set back, and still runs', async () => {
      const { no } = await server.newApp()
      const state = async () =>
        (await rows(cell.db, 'select state from jobs where app_no = $1', [no]))[0]?.state
      await setClock('2026-05-01T12:00Z')
      await rows(cell.db, `select enqueue_job($1, 'test.delayed', '{}', '10 minutes')`, [no])
      const expectations = { '12:09': 'waiting', '11:00': 'waiting', '12:10': 'ready' }
      for (const [time, expected] of Object.entries(expectations)) {
        await setClock(`2026-05-01T${time}Z`)
        await tend()
        assert.equal(await state(), expected, time)
      }
    })
  })
})
