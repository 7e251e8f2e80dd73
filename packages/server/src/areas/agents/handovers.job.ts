import { Type } from 'typebox'
import { defineJob } from '../../deps.ts'
import { handBack } from './handovers.actions.ts'
import { listOverdue } from './handovers.queries.ts'

const BATCH = 500

/** A transaction for each: it locks the conversation, which others want to write to. */
export const handBackJob = defineJob({
  name: 'agents.handBack',
  summary: 'Hands conversations back to their agents if no person has answered in time.',
  input: Type.Object({}),
  schedule: { everySeconds: 60 },
  async run({ signal, context: { cell } }) {
    const failures: unknown[] = []
    for (let found = BATCH; found === BATCH && failures.length === 0; ) {
      const overdue = await listOverdue.many(cell.db, { limit: BATCH })
      for (const { app_no: appNo, handover_id: id } of overdue) {
        signal.throwIfAborted()
        // One that fails must not keep those of other apps waiting.
        await handBack(cell.db, appNo, id).catch((error) => failures.push(error))
      }
      found = overdue.length
    }
    if (failures.length > 0) throw failures[0]
  },
})
