import type { Actor } from '../../core/actor.ts'
import { ERASED_UID } from '../../core/ids.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import type { Tx } from '../../platform/db/db.ts'
import { fail } from '../../platform/http/fail.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { holdAnyUsers } from '../users/queries.ts'
import { eraseUserJob } from './erase.job.ts'
import {
  type ErasureRow,
  findErasure,
  findErasureOf,
  insertErasure,
  isErased,
  listErasures,
  restartErasure,
} from './queries.ts'
import type { Erasure, NewErasure } from './schema.ts'

declare module '../../platform/secrets/secrets.ts' {
  interface Places {
    'erasures.uid': [appNo: number]
  }
}

/** Uids of different apps have different hashes. */
const hashOf = ({ secrets }: Pick<Deps, 'secrets'>, appNo: number, uid: string) =>
  secrets.hash(`erasure ${appNo} ${uid}`)

const toErasure = (row: ErasureRow, uid: string): Erasure => ({
  id: String(row.id),
  uid,
  mode: row.mode as Erasure['mode'],
  state: row.state as Erasure['state'],
  createdAt: seconds(row.created_at),
  ...(row.completed_at && { completedAt: seconds(row.completed_at) }),
  runs: row.runs,
  ...(row.receipt && { receipt: row.receipt }),
})

/**
 * Adds the erasure to the ledger, then its job to the cell. If the process dies between the two, the next request or
 * `erasures.resume` adds the job. The ledger has at most one running erasure of a user.
 */
export function createErasure(
  deps: Deps,
  actor: Actor,
  uid: string,
  { mode = 'remove' }: NewErasure,
): Promise<Erasure> {
  const { no: appNo } = actor.app
  const { db } = deps.directory
  const uidHash = hashOf(deps, appNo, uid)
  return write(deps, actor, async (tx) => {
    const last = await findErasureOf.maybeOne(db, { appNo, uidHash })
    const running = last?.state === 'running' ? last : undefined
    if (!running && !(await holdAnyUsers.maybeOne(tx, { appNo, uids: [uid] }))) {
      throw fail('ERR_UID_NOT_FOUND', { uid })
    }
    const uidSealed = deps.secrets.seal(['erasures.uid', appNo], uid)
    const row =
      running ??
      (await insertErasure.maybeOne(db, { appNo, uidHash, uidSealed, mode })) ??
      (await findErasureOf.one(db, { appNo, uidHash }))
    await enqueueErasure(tx, appNo, row.id)
    return toErasure(row, uid)
  })
}

const enqueueErasure = (tx: Tx, appNo: number, id: number) =>
  enqueue(tx, appNo, eraseUserJob, { id }, { dedupeKey: String(id) })

const startErasure = (cell: Cell, appNo: number, id: number) =>
  cell.db.tx((tx) => enqueueErasure(tx, appNo, id))

export async function findErasureOfUser(deps: Deps, { app }: Actor, uid: string): Promise<Erasure> {
  const { no: appNo } = app
  const row = await findErasureOf.maybeOne(deps.directory.db, {
    ...{ appNo, uidHash: hashOf(deps, appNo, uid) },
  })
  if (!row) throw fail('ERR_ERASURE_NOT_FOUND', { uid })
  return toErasure(row, uid)
}

/** The user of an erasure, and the uid that takes the user's place. */
export async function erasedUser({ directory, secrets }: Deps, appNo: number, id: number) {
  const row = await findErasure.maybeOne(directory.db, { appNo, id })
  if (!row) return undefined
  const uid = secrets.open(['erasures.uid', appNo], row.uid_sealed)
  return { uid, as: row.mode === 'remove' ? ERASED_UID : uid }
}

const BATCH = 1_000

/** Starts the erasures of a cell that have no job. */
export async function resumeErasures(deps: Deps, cell: Cell): Promise<void> {
  for await (const { app_no: appNo, id } of erasuresOf(deps, cell, true)) {
    await startErasure(cell, appNo, id)
  }
}

/**
 * Starts all erasures that the cell's database doesn't know: they were done after the backup from which it was restored.
 * Returns how many.
 */
export async function repeatErasures(deps: Deps, cell: Cell): Promise<number> {
  let repeated = 0
  for await (const { app_no: appNo, id } of erasuresOf(deps, cell, false)) {
    const [known] = await isErased.many(cell.db, { appNos: [appNo], ids: [id] })
    if (known) continue
    await restartErasure.run(deps.directory.db, { appNo, id })
    await startErasure(cell, appNo, id)
    repeated++
  }
  return repeated
}

async function* erasuresOf(deps: Deps, { id: cellId }: Cell, running: boolean) {
  for (let afterApp = 0, afterId = 0; ; ) {
    const rows = await listErasures.many(deps.directory.db, {
      ...{ cellId, afterApp, afterId, running, limit: BATCH },
    })
    yield* rows
    const last = rows.at(-1)
    if (!last || rows.length < BATCH) return
    afterApp = last.app_no
    afterId = last.id
  }
}
