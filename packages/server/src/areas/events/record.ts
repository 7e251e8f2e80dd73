import type { Executor } from '../../platform/db/query.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { findOldestEvent, findStart, type LogRow, listEvents } from './queries.ts'
import type { EventList } from './schema.ts'

/** How many positions a request reads when it filters by type. */
const LOOKED_AT = 10_000

const EMPTY_LOG = { last: 0, whole: true, read_to: 0, lost_after: null }

export interface Wanted {
  limit: number
  /** Undefined means all. */
  types?: string[] | undefined
}

/** The events of an app's log after a position. */
export async function readLog(
  db: Executor,
  appNo: number,
  after: number,
  { limit, types }: Wanted,
): Promise<EventList> {
  const asked = { appNo, after, positions: LOOKED_AT, types: types ?? null, limit }
  const rows = await listEvents.many(db, asked)
  const { last, whole, read_to, lost_after } = rows[0] ?? EMPTY_LOG
  if (after > last)
    throw badRequest({ after: [`after must be at most the last position, ${last}`] })
  if (lost_after !== null) {
    const details = { last: [String(lost_after)] }
    throw fail('ERR_POSITION_LOST', { after, last: lost_after }, { details })
  }
  if (!whole) {
    const oldest = (await oldestPosition(db, appNo)) ?? last + 1
    const details = { oldest: [String(oldest)] }
    throw fail('ERR_POSITION_TOO_OLD', { after, oldest }, { details })
  }
  const data = rows.flatMap(toEvent)
  const full = data.length === limit
  const next = full ? (data.at(-1)?.position ?? after) : read_to
  return { data, meta: { next: { after: next }, last } }
}

function toEvent(row: LogRow): EventList['data'] {
  if (row.position === null) return []
  const { position, type, at, payload } = row
  const seconds = Math.floor(at.getTime() / 1000)
  return [{ position, type, at: seconds, payload: payload as Record<string, unknown> }]
}

/** Where a new reader starts. */
export const startOfLog = async (db: Executor, appNo: number): Promise<number> =>
  (await findStart.one(db, { appNo })).after

const oldestPosition = async (db: Executor, appNo: number) =>
  (await findOldestEvent.maybeOne(db, { appNo }))?.position
