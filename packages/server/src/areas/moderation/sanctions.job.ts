import { Type } from 'typebox'
import { defineJob } from '../../deps.ts'
import { appActor } from '../../gate/app-actor.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { endSanction } from './sanctions.end.ts'
import { findEnding } from './sanctions.queries.ts'

/** The clocks of a process and of the database may be this far apart. */
const SKEW_SECONDS = 60

/** Announces the end of a sanction, which is over by then, and removes its rows. */
export const endSanctionJob = defineJob({
  name: 'sanctions.end',
  summary: 'Announces the end of a sanction.',
  input: Type.Object({ id: Type.String() }),
  async run({ appNo, input: { id }, context }) {
    const { deps, cell } = context
    const actor = await appActor(context, appNo)
    await cell.db.tx(async (tx) => {
      const row = await findEnding.maybeOne(tx, { appNo, id })
      // Somebody lifted it, or it has another end now, which has a job of its own.
      if (!row || row.left === null || row.left > SKEW_SECONDS) return
      if (row.left > 0) {
        await enqueue(tx, appNo, endSanctionJob, { id }, { delaySeconds: row.left })
        return
      }
      await endSanction(tx, deps, actor, row)
    })
  },
})
