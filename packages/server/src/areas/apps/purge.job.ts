import { Type } from 'typebox'
import { sweepAll } from '../../core/sweep.ts'
import { defineJob } from '../../deps.ts'
import { recordAudit } from '../../gate/audit.ts'
import { beginPurge, findAppWithNo, purgeApp, removePlacement } from './archive.queries.ts'

/** A job of the cell, because it deletes the app's own jobs too. */
export const purgeAppJob = defineJob({
  name: 'apps.purge',
  summary: 'Deletes all data of an app, and its row in the directory last.',
  input: Type.Object({ no: Type.Integer(), id: Type.String() }),
  async run(run) {
    const { deps, cell } = run.context
    const { db } = deps.directory
    const appNo = run.input.no
    if (!(await beginPurge.maybeOne(db, { appNo }))) return
    // While the rows that name them still exist.
    await deps.files?.removeAll(run.input.id)
    const there = await findAppWithNo.maybeOne(cell.db, { appNo })
    if (there && there.app_id !== run.input.id) {
      // An older copy of the directory may have assigned the number once more.
      const problem = { cell: cell.id, app: run.input.id, other: there.app_id }
      deps.log.error(problem, 'another app has the number of a purged one, so its rows stay')
    } else await sweepAll(run, (limit) => purgeApp.one(cell.db, { appNo, limit }))
    await db.tx(async (tx) => {
      if (!(await removePlacement.maybeOne(tx, { appNo }))) return
      await recordAudit(tx, 'service', { action: 'purgeApp', app: run.input })
    })
    deps.log.info({ cell: cell.id, app: run.input.id }, 'app purged')
  },
})
