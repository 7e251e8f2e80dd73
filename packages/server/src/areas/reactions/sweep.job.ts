import { Type } from 'typebox'
import { sweepAll } from '../../core/sweep.ts'
import { defineJob } from '../../deps.ts'
import { listGoneMessages, sweepGoneMessage } from './queries.ts'

/** Enqueued by SQL, where messages are deleted. */
export const sweepReactionsJob = defineJob({
  name: 'reactions.sweep',
  summary: 'Deletes the reactions to deleted messages, and their saves.',
  input: Type.Object({}),
  async run(run) {
    const { appNo, context } = run
    const { db } = context.cell
    await sweepAll(run, async (limit) => {
      const gone = await listGoneMessages.many(db, { appNo, limit })
      for (const { id } of gone) {
        run.signal.throwIfAborted()
        await sweepAll(run, (rows) =>
          db.call((tx) => sweepGoneMessage.one(tx, { appNo, id, limit: rows })),
        )
      }
      return { gone: gone.length < limit }
    })
  },
})
