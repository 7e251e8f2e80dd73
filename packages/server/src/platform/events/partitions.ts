import pg from 'pg'
import { connectionConfig, isLockTimeout } from '../db/db.ts'

const DAY_MS = 86_400_000
const DAYS_AHEAD = 7

const partitionName = (log: string, day: string) => `${log}_${day.replaceAll('-', '')}`
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

/**
 * Creates and drops the partitions of the event log. Bodies stay as long as their positions, and until they have one:
 * the sequencer may have been away for longer than the retention.
 */
export async function maintainEventLog(url: string, retentionDays: number, now = Date.now()) {
  const positions = await maintainPartitions(url, retentionDays, now)
  const bodies = await maintainPartitions(url, retentionDays, now, 'event_bodies', neededBodies)
  return {
    made: [...positions.made, ...bodies.made],
    dropped: [...positions.dropped, ...bodies.dropped],
  }
}

/** The first day whose bodies are needed. Positions of the same day or of a later one refer to a body. */
async function neededBodies(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ day: string }>(`
    select to_char(greatest('0001-01-01', least(since,
      (select min(body_day) from event_positions where body_day < day),
      (select min(to_date(right(relname, 8), 'YYYYMMDD')) from pg_class
       where relname ~ '^event_positions_\\d{8}$' and relkind = 'r'))), 'YYYY-MM-DD') as day
    from sequencer_progress`)
  return rows[0]?.day ?? ''
}

/**
 * Creates a log's partitions of today and the week ahead, and drops those that are older than the retention and that
 * `findNeeded` doesn't ask for. It can be repeated and interrupted at any point. Creating blocks nobody; dropping locks
 * the log for a moment (db/cell/functions/partitions.sql).
 */
export async function maintainPartitions(
  url: string,
  retentionDays: number,
  now = Date.now(),
  log = 'event_positions',
  findNeeded?: (client: pg.Client) => Promise<string>,
) {
  const client = new pg.Client(connectionConfig(url))
  // Without a listener, a broken connection would end the process. The query reports the error.
  client.on('error', () => {})
  await client.connect()
  try {
    const known = await listPartitions(client, log)
    const made: string[] = []
    for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
      const day = dayOf(now + ahead * DAY_MS)
      if (known.includes(day)) continue
      await client.query('select attach_partition($1, $2)', [log, day])
      made.push(day)
    }
    const expired = dayOf(now - retentionDays * DAY_MS)
    const needed = findNeeded ? await findNeeded(client) : expired
    const dropped: string[] = []
    for (const day of known.filter((each) => each < expired && each < needed)) {
      // The next round tries again.
      if (!(await drop(client, log, day))) break
      dropped.push(partitionName(log, day))
    }
    return { made, dropped }
  } finally {
    await client.end()
  }
}

/** The days that a log has partitions for. */
async function listPartitions(client: pg.Client, log: string): Promise<string[]> {
  const { rows } = await client.query<{ day: string }>(
    `select to_char(to_date(right(c.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass order by 1`,
    [log],
  )
  return rows.map(({ day }) => day)
}

/** Returns whether the partition was dropped. A backup or a long query may still use the log. */
async function drop(client: pg.Client, log: string, day: string): Promise<boolean> {
  try {
    await client.query('select drop_partition($1, $2)', [log, day])
    return true
  } catch (error) {
    if (isLockTimeout(error)) return false
    throw error
  }
}
