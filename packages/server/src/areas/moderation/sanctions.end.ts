import type { SanctionRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { sanctionChange } from '../../platform/cells/revocations.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { liftBan } from '../groups/bans.actions.ts'
import { removeSanction, type SanctionRow } from './sanctions.queries.ts'

/** What is needed to tell every process. */
export type RevokingDeps = Pick<Deps, 'revocations'>

export const toSanction = (row: SanctionRow): SanctionRecord => ({
  ...{ id: String(row.id), uid: row.uid, kind: row.kind as SanctionRecord['kind'] },
  ...(row.guid !== '' && { guid: row.guid }),
  ...(row.until && { until: seconds(row.until) }),
  ...{ reason: row.reason, createdAt: seconds(row.created_at), updatedAt: seconds(row.updated_at) },
})

/**
 * Removes a sanction, and the ban from a group that belongs to it. Does nothing if it is gone or has another end now.
 * Returns whether it removed it.
 */
export async function endSanction(
  tx: Tx,
  deps: RevokingDeps,
  actor: Actor,
  { id, uid, kind, guid, until }: SanctionRow,
): Promise<boolean> {
  const appNo = actor.app.no
  // A change of a ban from a group locks the group too, so both rows have the same end.
  const ban = kind === 'ban' && guid !== ''
  const announceLift = ban ? await liftBan(tx, actor, { guid, uid, until }) : undefined
  const row = await removeSanction.maybeOne(tx, { appNo, id: String(id), until })
  if (!row) return false
  await deps.revocations.revoke(tx, { appNo, kind: 'app' }, sanctionChange(uid))
  if (announceLift) await announceLift()
  await announceSanction(tx, appNo, 'moderation.sanction.ended', row)
  return true
}

export async function announceSanction(
  tx: Tx,
  appNo: number,
  type: 'moderation.sanction.created' | 'moderation.sanction.ended',
  row: SanctionRow,
): Promise<SanctionRecord> {
  const sanction = toSanction(row)
  await announce(tx, { appNo, type, key: `user:${row.uid}`, payload: { sanction } })
  return sanction
}
