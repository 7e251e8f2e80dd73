import type { SanctionRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { sanctionChange } from '../../platform/cells/revocations.ts'
import type { Tx } from '../../platform/db/db.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { cutPage, idRange } from '../../platform/http/id-page.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { sanctionMember } from '../groups/bans.actions.ts'
import { holdUsers } from '../users/queries.ts'
import { announceSanction, endSanction, type RevokingDeps, toSanction } from './sanctions.end.ts'
import { endSanctionJob } from './sanctions.job.ts'
import { findSanction, listSanctionRows, upsertSanction } from './sanctions.queries.ts'
import type { NewSanction, SanctionQuery } from './sanctions.schema.ts'

export const createSanction = (
  deps: Deps,
  actor: Actor,
  sanction: NewSanction,
): Promise<SanctionRecord> =>
  write(deps, actor, (tx) => addSanction(tx, deps, actor, sanction, Date.now()))

/** `now`: Unix milliseconds. */
export async function addSanction(
  tx: Tx,
  deps: RevokingDeps,
  actor: Actor,
  { uid, kind, guid, until, reason }: NewSanction,
  now: number,
): Promise<SanctionRecord> {
  const appNo = actor.app.no
  if (until !== undefined && until * 1_000 <= now) {
    throw badRequest({ until: ['until must be in the future'] })
  }
  if (!(await holdUsers.maybeOne(tx, { appNo, uids: [uid] })))
    throw fail('ERR_UID_NOT_FOUND', { uid })
  const end = until ?? null
  const inGroup = guid !== undefined && { uid, kind, until: end }
  const announceBan = inGroup && (await sanctionMember(tx, actor, guid, inGroup))
  const row = await upsertSanction.one(tx, {
    ...{ appNo, uid, kind, guid: guid ?? '', until: end, reason },
  })
  await deps.revocations.revoke(tx, { appNo, kind: 'app' }, sanctionChange(uid))
  if (until !== undefined) {
    const delaySeconds = until - now / 1_000
    await enqueue(tx, appNo, endSanctionJob, { id: String(row.id) }, { delaySeconds })
  }
  if (announceBan) await announceBan()
  return announceSanction(tx, appNo, 'moderation.sanction.created', row)
}

export async function listSanctions(actor: Actor, query: SanctionQuery) {
  const { no: appNo, cell } = actor.app
  const rows = await listSanctionRows(cell.db, appNo, query, idRange(query))
  const { shown, meta } = cutPage(rows, query)
  return { data: shown.map(toSanction), meta }
}

export async function getSanction({ app }: Actor, id: string): Promise<SanctionRecord> {
  const row = await findSanction.maybeOne(app.cell.db, { appNo: app.no, id })
  if (!row) throw fail('ERR_SANCTION_NOT_FOUND', { id })
  return toSanction(row)
}

export function deleteSanction(deps: Deps, actor: Actor, id: string) {
  return write(deps, actor, async (tx) => {
    const row = await findSanction.maybeOne(tx, { appNo: actor.app.no, id })
    if (!row || !(await endSanction(tx, deps, actor, row)))
      throw fail('ERR_SANCTION_NOT_FOUND', { id })
    return { success: true as const, message: `Sanction ${id} lifted.` }
  })
}
