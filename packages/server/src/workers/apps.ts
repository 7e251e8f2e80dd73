import { setTimeout as sleep } from 'node:timers/promises'
import { followArchive } from '../areas/apps/archive.actions.ts'
import {
  beginPurge,
  listActiveOf,
  listArchived,
  listRestingApps,
  listUnarchived,
  purgeApp,
  removePlacement,
} from '../areas/apps/archive.queries.ts'
import { recordAudit } from '../gate/audit.ts'
import type { JobContext } from './job.ts'

const EVERY_MS = 60_000
/** Rows of each table per statement. A statement holds their locks for about ten milliseconds. */
const BATCH = 1_000

type Context = Omit<JobContext, 'lease'>

/** Makes the apps of a cell match the directory: archives, restores and deletes them. Every step can be repeated. */
export async function runApps(context: JobContext): Promise<void> {
  const { deps, cell, signal } = context
  while (!signal.aborted) {
    // If the directory is down, the next round is soon enough.
    await reconcileApps(context).catch((error) =>
      deps.log.warn(
        { err: error, cell: cell.id },
        "couldn't reconcile apps; retrying in the next round",
      ),
    )
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** One round: sets archive flags that a crash left behind, then deletes apps whose grace period is over. */
export async function reconcileApps(context: Context): Promise<void> {
  const { deps, cell, signal } = context
  const { db } = deps.directory
  const due: { no: number; id: string }[] = []
  for (let after = 0; ; ) {
    const resting = await listRestingApps.many(db, { cellId: cell.id, after })
    for (const app of resting) if (app.due) due.push({ no: app.app_no, id: app.app_id })
    const archived = resting.filter((app) => app.archived).map(({ app_no }) => app_no)
    for (const app of await listUnarchived.many(cell.db, { appNos: archived })) {
      await followArchive(deps, cell, { no: app.app_no, id: app.app_id }, true)
    }
    const last = resting.at(-1)
    if (resting.length < 1000 || !last) break
    after = last.app_no
  }
  await restoreFlags(context)
  for (const app of due) if (!signal.aborted) await purge(context, app)
}

/** Reads the cell first and then the directory, so that an app that is archived meanwhile is left alone. */
async function restoreFlags({ deps, cell }: Context): Promise<void> {
  const flagged = await listArchived.many(cell.db, {})
  const appNos = flagged.map(({ app_no }) => app_no)
  const active = await listActiveOf.many(deps.directory.db, { appNos })
  const served = new Set(active.map(({ app_no }) => app_no))
  for (const { app_no: no, app_id: id } of flagged) {
    if (served.has(no)) await followArchive(deps, cell, { no, id }, false)
  }
}

/** Deletes all data of an app, and its row in the directory last. */
async function purge({ deps, cell, signal }: Context, app: { no: number; id: string }) {
  const { db } = deps.directory
  const appNo = app.no
  if (!(await beginPurge.maybeOne(db, { appNo }))) return
  for (let gone = false; !gone; ) {
    if (signal.aborted) return
    gone = (await purgeApp.one(cell.db, { appNo, limit: BATCH })).gone
  }
  await db.tx(async (tx) => {
    if (!(await removePlacement.maybeOne(tx, { appNo }))) return
    await recordAudit(tx, 'service', { action: 'purgeApp', app })
  })
  deps.log.info({ cell: cell.id, app: app.id }, 'app purged')
}
