import { Type } from 'typebox'
import { defineJob } from '../../deps.ts'
import { beginExpiry, endUpload, listExpired, listUploaded, removeFile } from './queries.ts'
import { prefixOf, uploadOf } from './record.ts'

/** Files per statement. */
const BATCH = 100

/**
 * Deletes files that expired: uploads that were never completed or used, rejected ones, and those that nothing refers
 * to any more. First nobody can refer to the file, then its bytes go, then its row with what it counts. If the
 * process dies between two of these, the next run goes on.
 */
export const sweepFilesJob = defineJob({
  name: 'files.sweep',
  summary: 'Deletes files that nobody needs any more.',
  input: Type.Object({}),
  schedule: { everySeconds: 60 },
  async run({ signal, context: { deps, cell } }) {
    const driver = deps.files
    if (!driver) return
    const { db } = cell
    await driver.tidy()
    for (let full = true; full; ) {
      const files = await listExpired.many(db, { limit: BATCH })
      for (const { app_no: appNo, app_id, id } of files) {
        signal.throwIfAborted()
        if (!(await beginExpiry.maybeOne(db, { appNo, id }))) continue
        await driver.removeAll(prefixOf(app_id, id))
        await removeFile.run(db, { appNo, id })
      }
      full = files.length === BATCH
    }
    for (let full = true; full; ) {
      const files = await listUploaded.many(db, { limit: BATCH })
      for (const { app_no: appNo, app_id, id } of files) {
        signal.throwIfAborted()
        await driver.removeAll(uploadOf(app_id, id))
        await endUpload.run(db, { appNo, id })
      }
      full = files.length === BATCH
    }
  },
})
