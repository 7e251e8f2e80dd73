/**
 * Breaks in a cell's event log. A restored database, or a standby that was behind, would assign positions again that
 * readers have seen. So a process that finds that a log may have lost events breaks it: all positions jump to the next multiple
 * of 10^12. docs/decisions/0031-breaks-in-the-log.md
 */
import { directoryQuery, type Executor, query } from '../db/query.ts'

/** How far a cell's database has come, and on which server. */
interface LogState {
  /** Every cluster has its own. */
  system_id: string
  /** A promoted standby and a restored backup begin a new one. */
  timeline: number
  /** Bytes of WAL that are on disk. */
  wal_position: number
  /** The last event with a position. */
  taken: number
}

interface CurrentState extends LogState {
  break_no: number
  /** The highest position of any app. */
  highest: number
  /** When the server started, as text: JavaScript has no microseconds. */
  started: string
  /** What the database remembers; null if it was never checked. */
  known_system_id: string | null
  known_timeline: number | null
  known_wal_position: number | null
}

/** The timeline that is being written: the control file only learns of a promotion at the next checkpoint. */
const readState = query<Record<string, never>, CurrentState>(
  'breaks.readState',
  `select s.system_identifier::text as system_id,
     ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int as timeline,
     pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint as wal_position,
     p.taken, o.break_no, coalesce((select max(position) from positions), 0) as highest,
     pg_postmaster_start_time()::text as started, o.system_id as known_system_id,
     o.timeline as known_timeline, o.wal_position as known_wal_position
   from pg_control_system() s, log_origin o, sequencer_progress p`,
)

const storeOrigin = query<{ systemId: string; timeline: number; walPosition: number }>(
  'breaks.storeOrigin',
  `update log_origin
   set system_id = :systemId, timeline = :timeline, wal_position = :walPosition`,
)

const breakAt = query<{ breakNo: number }>('breaks.breakLog', 'select break_log(:breakNo)')

/** Above the number of every break before, and such that its positions are above `highest`. */
const raiseCounter = directoryQuery<{ highest: number }, { break_no: number }>(
  'breaks.raiseCounter',
  `update break_counter set break_no = greatest(break_no, :highest::bigint / 1000000000000) + 1
   returning break_no`,
)

/** What the directory knows about a cell. Nothing but `synchronous` if its log was never checked. */
export type Witness = { synchronous: boolean } & (LogState | Record<keyof LogState, null>)

const selectWitness = directoryQuery<{ cellId: string }, Witness>(
  'breaks.findWitness',
  `select synchronous, system_id, timeline, wal_position, taken
   from cells left join log_witnesses using (cell_id) where cell_id = :cellId`,
)

/** A process that was suspended can't replace what was seen after a later break. */
const storeWitness = directoryQuery<{
  cellId: string
  systemId: string
  timeline: number
  walPosition: number
  taken: number
  breakNo: number
}>(
  'breaks.storeWitness',
  `insert into log_witnesses as w (cell_id, system_id, timeline, wal_position, taken, break_no)
   values (:cellId, :systemId, :timeline, :walPosition, :taken, :breakNo)
   on conflict (cell_id) do update set system_id = excluded.system_id, timeline = excluded.timeline,
     wal_position = excluded.wal_position, taken = excluded.taken, break_no = excluded.break_no,
     seen_at = now()
   where w.break_no <= excluded.break_no`,
)

/** The database of a cell, and the directory. */
export interface LogAccess {
  cellId: string
  database: Executor
  directory: Executor
}

export interface CheckedLog {
  /** When the server started whose log was checked. */
  started: string
  /** Why the log was broken; undefined if it continues. */
  cause: string | undefined
}

export const findWitness = ({ cellId, directory }: LogAccess): Promise<Witness> =>
  selectWitness.one(directory, { cellId })

/** Breaks the log if it may have lost events since it was last seen. */
export async function checkLog(access: LogAccess, witness: Witness): Promise<CheckedLog> {
  const { synchronous } = witness
  const now = await readState.one(access.database, {})
  const known = knownState(now)
  const cause =
    (known && causeOfBreak(known, now, synchronous)) ??
    (witness.system_id === null ? undefined : causeOfBreak(witness, now, synchronous))
  if (cause) await breakLog(access)
  await rememberLog(access, cause !== undefined || known?.timeline !== now.timeline)
  return { started: now.started, cause }
}

/** The row in the database has gone back together with the log, so it can't say which events are missing. */
const knownState = (now: CurrentState): LogState | undefined =>
  now.known_system_id === null
    ? undefined
    : {
        system_id: now.known_system_id,
        timeline: now.known_timeline ?? 0,
        wal_position: now.known_wal_position ?? 0,
        taken: 0,
      }

function causeOfBreak(known: LogState, now: LogState, synchronous: boolean): string | undefined {
  if (known.system_id !== now.system_id) return 'the database is on another cluster'
  if (known.taken > now.taken) return 'the database has lost events'
  if (known.timeline !== now.timeline) {
    return synchronous ? undefined : 'the server has another timeline'
  }
  return known.wal_position > now.wal_position ? 'the server has lost WAL' : undefined
}

/**
 * Makes the positions of all apps jump. The counter in the directory comes first: if this process dies, a number is
 * skipped, and none is used twice. Call `rememberLog` afterwards; until then, the next check breaks the log once more.
 */
export async function breakLog({ database, directory }: LogAccess): Promise<void> {
  const { highest } = await readState.one(database, {})
  const { break_no: breakNo } = await raiseCounter.one(directory, { highest })
  await breakAt.run(database, { breakNo })
}

/** Stores how far the log has come: in the directory, and in the database if that is a new server. */
export async function rememberLog(
  { cellId, database, directory }: LogAccess,
  newServer = false,
): Promise<void> {
  const state = await readState.one(database, {})
  const { system_id: systemId, timeline, wal_position: walPosition } = state
  if (newServer) await storeOrigin.run(database, { systemId, timeline, walPosition })
  const { taken, break_no: breakNo } = state
  await storeWitness.run(directory, { cellId, systemId, timeline, walPosition, taken, breakNo })
}
