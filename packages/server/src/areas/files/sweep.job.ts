import { Type } from 'typebox'
import { defineJob } from '../../deps.ts'
import {
  beginExpiry,
  endUpload,
  forgetUpload,
  listExpired,
  listRemovedUploads,
  listUploaded,
  removeFile,
} from './queries.ts'
import { prefixOf, uploadOf } from './record.ts'

/** Files per statement. */
const BATCH = 100

/**
 * Deletes files that expired: uploads that were never completed or used, rejected ones, and those that nothing refers
 * to any more. First nobody can refer to the file, then its bytes go, then its row with what it counts. If the
 * process dies between two of these, the next run goes on. Parts that arrive later are deleted when no more can.
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
    const each = async (list: typeof listExpired, act: (file: Swept) => Promise<unknown>) => {
      for (let full = true; full; ) {
        const files = await list.many(db, { limit: BATCH })
        for (const { app_no: appNo, app_id: appId, id } of files) {
          signal.throwIfAborted()
          await act({ appNo, appId, id })
        }
        full = files.length === BATCH
      }
    }
    await each(listExpired, async ({ appId, ...key }) => {
      if (!(await beginExpiry.maybeOne(db, key))) return
      await driver.removeAll(prefixOf(appId, key.id))
      await removeFile.run(db, key)
    })
    await each(listUploaded, async ({ appId, ...key }) => {
      await driver.removeAll(uploadOf(appId, key.id))
      await endUpload.run(db, key)
    })
    await each(listRemovedUploads, async ({ appId, ...key }) => {
      await driver.removeAll(prefixOf(appId, key.id))
      await forgetUpload.run(db, key)
    })
  },
})

interface Swept {
  appNo: number
  appId: string
  id: string
}
