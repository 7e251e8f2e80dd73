import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import pg from 'pg'
import { maintainEventLog, maintainPartitions } from '../src/platform/events/partitions.ts'
import { cloneDatabase, dropDatabase, queryAt } from './databases.ts'

const RETENTION = 14
const DAY_MS = 86_400_000
const dayAfter = (days: number, from = Date.now()) =>
  new Date(from + days * DAY_MS).toISOString().slice(0, 10)
const nameOf = (day: string) => `event_positions_${day.replaceAll('-', '')}`
const week = (from = Date.now()) => Array.from({ length: 8 }, (_, ahead) => dayAfter(ahead, from))

/** A clone of a cell without any partitions of its positions. */
async function emptyCell(t: TestContext): Promise<string> {
  const url = await cloneDatabase('cell')
  t.after(() => dropDatabase(url))
  for (const name of await partitions(await connect(t, url))) {
    await queryAt(url, `drop table ${name}`)
  }
  return url
}

async function connect(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  return client
}

async function partitions(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(`
    select relname as name from pg_class
    where relname ~ '^event_positions_\\d+$' and relkind = 'r' order by relname`)
  return rows.map(({ name }) => name)
}

const insert = (client: pg.Client, position: number, day: string, bodyDay = day) =>
  client.query(
    `insert into event_positions (app_no, position, type, body_id, body_day, day)
     values (1, $1, 'app.created', $1, $3, $2)`,
    [position, day, bodyDay],
  )

suite('partitions of the event log', () => {
  test('are created for today and a week ahead, once', async (t) => {
    const url = await emptyCell(t)
    assert.deepEqual(await maintainPartitions(url, RETENTION), { made: week(), dropped: [] })
    assert.deepEqual(await maintainPartitions(url, RETENTION), { made: [], dropped: [] })
    const client = await connect(t, url)
    assert.deepEqual(await partitions(client), week().map(nameOf))
    for (const day of week()) await insert(client, 1, day)
  })

  test('are dropped past the retention, and only then', async (t) => {
    const url = await emptyCell(t)
    await maintainPartitions(url, RETENTION)
    const later = Date.now() + (RETENTION + 2) * DAY_MS
    const { made, dropped } = await maintainPartitions(url, RETENTION, later)
    assert.deepEqual(made, week(later))
    assert.deepEqual(dropped, [nameOf(dayAfter(0)), nameOf(dayAfter(1))])
    const kept = [...week().slice(2), ...week(later)].map(nameOf)
    assert.deepEqual(await partitions(await connect(t, url)), kept)
  })

  test('keep bodies that have no position yet, or a later one', async (t) => {
    const url = await emptyCell(t)
    const client = await connect(t, url)
    await maintainEventLog(url, RETENTION)
    const bodiesAfter = async (days: number) => {
      const { dropped } = await maintainEventLog(url, RETENTION, Date.now() + days * DAY_MS)
      return dropped.filter((name) => name.startsWith('event_bodies'))
    }
    const bodies = (days: number) => `event_bodies_${dayAfter(days).replaceAll('-', '')}`
    assert.deepEqual(await bodiesAfter(RETENTION + 2), [], 'the sequencer is away')
    await client.query('update sequencer_progress set since = $1', [dayAfter(1)])
    assert.deepEqual(await bodiesAfter(RETENTION + 2), [bodies(0)], 'it is behind')
    await client.query('update sequencer_progress set since = $1', [dayAfter(20)])
    await insert(client, 1, dayAfter(4), dayAfter(2))
    assert.deepEqual(await bodiesAfter(RETENTION + 4), [bodies(1)], 'a position was late')
    assert.deepEqual(await bodiesAfter(RETENTION + 5), [2, 3, 4].map(bodies))
  })

  test('are created by one of two processes', async (t) => {
    const url = await emptyCell(t)
    const both = await Promise.all([1, 2].map(() => maintainPartitions(url, RETENTION)))
    assert.ok(both.some(({ made }) => made.length > 0))
    assert.deepEqual(await partitions(await connect(t, url)), week().map(nameOf))
  })

  test('are dropped in the next round if a long transaction needs them', async (t) => {
    const url = await emptyCell(t)
    await maintainPartitions(url, RETENTION)
    const reader = await connect(t, url)
    await reader.query('begin')
    await reader.query('select from event_positions')
    const later = Date.now() + 15 * DAY_MS
    assert.deepEqual((await maintainPartitions(url, RETENTION, later)).dropped, [])
    // Others don't wait for the reader.
    const writer = await connect(t, url)
    await insert(writer, 1, dayAfter(2))
    assert.equal((await writer.query('select from event_positions')).rowCount, 1)
    await reader.query('commit')
    assert.deepEqual((await maintainPartitions(url, RETENTION, later)).dropped, [
      nameOf(dayAfter(0)),
    ])
  })
})
