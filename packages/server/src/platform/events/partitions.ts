import pg from 'pg'
import { connectionConfig, sqlState } from '../db/db.ts'

const DAY_MS = 86_400_000
const DAYS_AHEAD = 7

const partitionName = (log: string, day: string) => `${log}_${day.replaceAll('-', '')}`
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

interface Partition {
  log: string
  name: string
  /** False if the process ended after creating or detaching the table. */
  attached: boolean
  detaching: boolean
}

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
 * `findNeeded` doesn't ask for. It can be repeated and interrupted at any point, and blocks neither readers nor the
 * sequencer: tables are created and then attached, and detached concurrently. (`partition of` and a plain detach would
 * lock the whole log.)
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
    await client.query(`set lock_timeout = '2s'`)
    const known = await listPartitions(client, log)
    const made: string[] = []
    for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
      const day = dayOf(now + ahead * DAY_MS)
      if (known.some(({ name, attached }) => name === partitionName(log, day) && attached)) continue
      await attach(client, log, day, dayOf(now + (ahead + 1) * DAY_MS))
      made.push(day)
    }
    const expired = partitionName(log, dayOf(now - retentionDays * DAY_MS))
    const needed = findNeeded ? partitionName(log, await findNeeded(client)) : expired
    const past = known.filter(({ name }) => name < expired && name < needed)
    const dropped: string[] = []
    for (const partition of past) {
      // Only one detach can run at a time, so the next one has to wait.
      if (!(await drop(client, partition))) break
      dropped.push(partition.name)
    }
    return { made, dropped }
  } finally {
    await client.end()
  }
}

async function listPartitions(client: pg.Client, log: string): Promise<Partition[]> {
  const { rows } = await client.query<Partition>(`
    select '${log}' as log, c.relname as name, i.inhrelid is not null as attached,
      coalesce(i.inhdetachpending, false) as detaching
    from pg_class c
    left join pg_inherits i on i.inhrelid = c.oid and i.inhparent = '${log}'::regclass
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      and c.relname ~ '^${log}_\\d{8}$'
    order by c.relname`)
  return rows
}

async function attach(client: pg.Client, log: string, day: string, next: string) {
  const name = partitionName(log, day)
  await client.query(`create table if not exists ${name} (like ${log} including all)`)
  await client.query(
    `alter table ${log} attach partition ${name} for values from ('${day}') to ('${next}')`,
  )
}

const LOCK_NOT_AVAILABLE = '55P03'

/** Returns whether the partition was dropped. If a backup or a long query still uses it, the next round tries again. */
async function drop(
  client: pg.Client,
  { log, name, attached, detaching }: Partition,
): Promise<boolean> {
  try {
    if (detaching) await client.query(`alter table ${log} detach partition ${name} finalize`)
    else if (attached) {
      await client.query(`alter table ${log} detach partition ${name} concurrently`)
    }
    await client.query(`drop table ${name}`)
    return true
  } catch (error) {
    if (sqlState(error) === LOCK_NOT_AVAILABLE) return false
    throw error
  }
}
