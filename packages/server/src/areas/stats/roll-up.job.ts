import { Type } from 'typebox'
import { defineJob } from '../../deps.ts'
import { listLagging, rollUp, samplePeaks } from './queries.ts'

/** Events counted per transaction. */
const BATCH = 1_000

export const rollUpUsageJob = defineJob({
  name: 'usage.rollUp',
  summary: 'Adds up the usage of all apps. No event is counted twice: see roll_up_usage.',
  input: Type.Object({}),
  schedule: { everySeconds: 5 },
  async run({ signal, context: { cell } }) {
    const failed: unknown[] = []
    for (const { app_no: appNo } of await listLagging.many(cell.db, {})) {
      try {
        for (let full = true; full; ) {
          signal.throwIfAborted()
          full = (await rollUp.one(cell.db, { appNo, limit: BATCH })).events === BATCH
        }
      } catch (error) {
        // An app that can't be added up must not keep the others from it.
        signal.throwIfAborted()
        failed.push(error)
      }
    }
    if (failed.length > 0) throw failed[0]
  },
})

export const samplePeaksJob = defineJob({
  name: 'usage.samplePeaks',
  summary: 'Records how many users of each app are online.',
  input: Type.Object({}),
  schedule: { everySeconds: 60 },
  run: ({ context: { cell } }) => samplePeaks.run(cell.db, {}),
})
