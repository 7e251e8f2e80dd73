import type { EventType } from '@loquat/protocol'
import type { Actor, ServedApp } from '../../core/actor.ts'
import { DEFAULT_REASONS } from '../../core/moderation/defaults.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { announce } from '../../platform/events/announce.ts'
import { isEmpty } from '../../platform/http/changes.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import {
  findReason,
  insertReason,
  listReasonRows,
  type ReasonRow,
  removeReason,
  updateReason,
} from './reasons.queries.ts'
import type { FlagReasonChanges, FlagReasonRecord, NewFlagReason } from './reasons.schema.ts'
import { lockModeration } from './rules.queries.ts'

const REASONS_PER_APP = 50

/** The record in answers. */
const toFlagReason = (row: ReasonRow): FlagReasonRecord => ({
  ...{ id: row.reason_id, name: row.name },
  ...(row.description !== null && { description: row.description }),
  ...{ createdAt: seconds(row.created_at), updatedAt: seconds(row.updated_at) },
})

const defaultReason = (id: string): FlagReasonRecord | undefined => {
  const reason = DEFAULT_REASONS[id]
  return reason && { id, ...reason, default: true, createdAt: 0, updatedAt: 0 }
}

/** The app's own reasons, then those that come with the service. */
export async function listFlagReasons({ no: appNo, cell }: ServedApp): Promise<FlagReasonRecord[]> {
  const rows = await listReasonRows.many(cell.db, { appNo })
  const ours = Object.keys(DEFAULT_REASONS).flatMap((id) => defaultReason(id) ?? [])
  return [...rows.map(toFlagReason), ...ours]
}

/** A reason of the app, or one that comes with the service. */
export async function getFlagReason(
  db: Executor,
  appNo: number,
  id: string,
): Promise<FlagReasonRecord> {
  const ours = defaultReason(id)
  if (ours) return ours
  const row = await findReason.maybeOne(db, { appNo, id })
  if (!row) throw fail('ERR_REASON_NOT_FOUND', { id })
  return toFlagReason(row)
}

export function createFlagReason(
  deps: Deps,
  actor: Actor,
  given: NewFlagReason,
): Promise<FlagReasonRecord> {
  const { id, name, description = null } = given
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockModeration.run(tx, { appNo })
    const rows = await listReasonRows.many(tx, { appNo })
    if (rows.length >= REASONS_PER_APP) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: REASONS_PER_APP, what: 'flag reasons' })
    }
    const row = defaultReason(id)
      ? undefined
      : await insertReason.maybeOne(tx, { appNo, id, name, description })
    if (!row) throw badRequest({ id: [`there is already a reason "${id}"`] })
    return announceReason(tx, appNo, 'moderation.reason.created', row)
  })
}

export function updateFlagReason(
  deps: Deps,
  actor: Actor,
  id: string,
  changes: FlagReasonChanges,
): Promise<FlagReasonRecord> {
  const appNo = actor.app.no
  refuseDefault(id)
  return write(deps, actor, async (tx) => {
    if (isEmpty(changes)) return getFlagReason(tx, appNo, id)
    const { name = null, description = null } = changes
    const row = await updateReason.maybeOne(tx, { appNo, id, name, description })
    if (!row) throw fail('ERR_REASON_NOT_FOUND', { id })
    return announceReason(tx, appNo, 'moderation.reason.updated', row)
  })
}

export function deleteFlagReason(deps: Deps, actor: Actor, id: string) {
  const appNo = actor.app.no
  refuseDefault(id)
  return write(deps, actor, async (tx) => {
    const row = await removeReason.maybeOne(tx, { appNo, id })
    if (!row) throw fail('ERR_REASON_NOT_FOUND', { id })
    await announceReason(tx, appNo, 'moderation.reason.deleted', row)
    return { success: true as const, message: `Reason ${id} deleted.` }
  })
}

function refuseDefault(id: string): void {
  if (defaultReason(id))
    throw badRequest({ id: ["a reason that comes with the service can't change"] })
}

type ReasonEvent = Extract<EventType, `moderation.reason.${string}`>

async function announceReason(tx: Tx, appNo: number, type: ReasonEvent, row: ReasonRow) {
  const record = toFlagReason(row)
  const reason = { id: record.id, name: record.name }
  await announce(tx, { appNo, type, key: `moderation:${record.id}`, payload: { reason } })
  return record
}
