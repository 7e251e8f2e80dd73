import { Type } from 'typebox'
import { defineJob, type JobDeps } from '../../deps.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { skipTakenNumbers } from './actions.ts'
import { followArchive } from './archive.actions.ts'
import { listActiveOf, listArchived, listRestingApps, listUnarchived } from './archive.queries.ts'
import { purgeAppJob } from './purge.job.ts'

/** Every step can be repeated. If the directory is down, the next round is soon enough. */
export const reconcileAppsJob = defineJob({
  name: 'apps.reconcile',
  summary: "Makes the cell's apps match the directory: archives, restores and deletes them.",
  input: Type.Object({}),
  schedule: { everySeconds: 60 },
  tries: 1,
  run: ({ context }) => reconcileApps(context),
})

/** Sets archive flags that a crash left behind, then enqueues the removal of apps whose grace period is over. */
export async function reconcileApps(context: JobDeps): Promise<void> {
  const { deps, cell } = context
  const { db } = deps.directory
  await skipTakenNumbers(deps, [cell])
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
  await cell.db.tx(async (tx) => {
    for (const app of due) await enqueue(tx, 0, purgeAppJob, app, { dedupeKey: app.id })
  })
}

/** Reads the cell first and then the directory, so that an app that is archived meanwhile is left alone. */
async function restoreFlags({ deps, cell }: JobDeps): Promise<void> {
  const flagged = await listArchived.many(cell.db, {})
  const appNos = flagged.map(({ app_no }) => app_no)
  const active = await listActiveOf.many(deps.directory.db, { appNos })
  const served = new Set(active.map(({ app_no }) => app_no))
  for (const { app_no: no, app_id: id } of flagged) {
    if (served.has(no)) await followArchive(deps, cell, { no, id }, false)
  }
}
