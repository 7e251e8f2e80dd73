import type { Actor } from '../../../core/actor.ts'
import { secondOf } from '../../../core/ids.ts'
import type { Deps } from '../../../deps.ts'
import { write } from '../../../gate/write.ts'
import { fail } from '../../../platform/http/fail.ts'
import { cutPage, idRange } from '../../../platform/http/id-page.ts'
import {
  findSuppressed,
  listSuppressed,
  removeSuppressed,
  type SuppressedRow,
  suppressAddress,
} from './suppressed.queries.ts'
import type { NewSuppressed, SuppressedQuery, Suppression } from './suppressed.schema.ts'

const toRecord = ({ id, channel, address, reason, details }: SuppressedRow): Suppression => ({
  ...{ id: String(id), channel, address, reason },
  ...(details !== null && { details }),
  createdAt: secondOf(id),
})

export async function listSuppressions({ app }: Actor, query: SuppressedQuery) {
  const address = query.address?.trim().toLowerCase() ?? null
  const page = { appNo: app.no, address, ...idRange(query) }
  const { shown, meta } = cutPage(await listSuppressed.many(app.cell.db, page), query)
  return { data: shown.map(toRecord), meta }
}

/** It gets emails or SMS again. */
export function deleteSuppression(deps: Deps, actor: Actor, id: string) {
  return write(deps, actor, async (tx) => {
    const row = await removeSuppressed.maybeOne(tx, { appNo: actor.app.no, id: Number(id) })
    if (!row) throw fail('ERR_SUPPRESSION_NOT_FOUND', { id })
    return { success: true as const, message: `${row.address} is no longer suppressed.` }
  })
}

/** For lists from elsewhere. An address that is suppressed already stays as it is. */
export function createSuppression(deps: Deps, actor: Actor, given: NewSuppressed) {
  const appNo = actor.app.no
  const address = given.address.trim().toLowerCase()
  const { channel, reason = 'unsubscribed' } = given
  return write(deps, actor, async (tx) => {
    await suppressAddress.run(tx, { appNo, channel, address, reason, details: null })
    return toRecord(await findSuppressed.one(tx, { appNo, channel, address }))
  })
}
