import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'
import { defineJob } from '../../deps.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import { announce } from '../../platform/events/announce.ts'
import type { FileDriver } from '../../platform/files/driver.ts'
import { clamdOf } from './inspect/clamd.ts'
import { type Inspected, inspect } from './inspect/inspect.ts'
import { countFile, countKind, endCheck, type FileRow, findChecking, findGone } from './queries.ts'
import { partsOf, prefixOf, toFile, uploadOf } from './record.ts'

/**
 * Checks what was uploaded and stores it where readers find it. The checked bytes are stored under another key than the
 * upload: somebody who still has its URLs can't replace them. Every step can be repeated.
 */
export const checkFileJob = defineJob({
  name: 'files.check',
  summary: 'Checks an uploaded file: type, size, malware, thumbnails.',
  input: Type.Object({ id: Type.String() }),
  async run({ appNo, input: { id }, signal, context: { deps, cell } }) {
    const driver = deps.files
    if (!driver) throw new Error('this worker has no store for files')
    const row = await findChecking.maybeOne(cell.db, { appNo, id })
    if (!row) return removeLeft(driver, cell, appNo, id)
    const folder = await driver.openScratch()
    try {
      const path = join(folder, 'upload')
      const keys = partsOf(row.app_id, row).map(({ key }) => key)
      await driver.fetch(keys, path, signal)
      const clamd = clamdOf(deps.config.files.clamd)
      const found = await inspect(path, {
        ...{ declaredType: row.type, declaredSize: Number(row.size), clamd, folder, signal },
        ...{ voice: row.voice, square: row.picture },
      })
      signal.throwIfAborted()
      // Storing may move the files.
      const checked = await checkedOf(row, found)
      if (found.outcome === 'ready') await store(driver, row, path, found)
      if (!(await end(cell, row, checked))) await removeLeft(driver, cell, appNo, id)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
    // If this fails, or if somebody uploads again, the sweep does it once the URLs have ended.
    await driver.removeAll(uploadOf(row.app_id, id))
  },
})

type Ready = Extract<Inspected, { outcome: 'ready' }>

async function store(
  driver: FileDriver,
  { app_id, id }: FileRow & { app_id: string },
  path: string,
  { body = path, type, thumbnails }: Ready,
): Promise<void> {
  const prefix = prefixOf(app_id, id)
  for (const thumbnail of thumbnails) {
    await driver.store(`${prefix}/${thumbnail.name}`, thumbnail.path, thumbnail.type)
  }
  await driver.store(`${prefix}/body`, body, type)
}

/** What the row says after the check. Nothing of a rejected file is stored, so it counts nothing. */
async function checkedOf({ type, size }: FileRow, found: Inspected) {
  if (found.outcome === 'rejected') {
    const { outcome: state, reason } = found
    return { state, reason, type, size: Number(size), stored: 0, sha256: null, details: null }
  }
  const { outcome: state, type: real, size: bytes, sha256, thumbnails } = found
  const { width, height, durationMs, waveform, preview } = found
  const sizes = await Promise.all(thumbnails.map(async ({ path }) => (await stat(path)).size))
  // Text leaves out what is undefined.
  const details = JSON.stringify({
    ...{ width, height, durationMs, waveform, preview },
    ...(thumbnails.length > 0 && {
      thumbnails: thumbnails.map(({ name, type: mimeType, width, height }) => ({
        ...{ name, mimeType, width, height },
      })),
    }),
  })
  const stored = sizes.reduce((sum, each) => sum + each, bytes)
  return { state, reason: null, type: real, size: bytes, stored, sha256, details }
}

/** Removes what a check stored after its file was deleted. Nothing else knows of these bytes. */
async function removeLeft(
  driver: FileDriver,
  { db }: Cell,
  appNo: number,
  id: string,
): Promise<void> {
  const gone = await findGone.maybeOne(db, { appNo, id })
  if (gone) await driver.removeAll(prefixOf(gone.app_id, id))
}

/** Returns whether the file was still being checked. */
async function end(
  { db }: Cell,
  { app_no: appNo, id }: FileRow,
  checked: Awaited<ReturnType<typeof checkedOf>>,
): Promise<boolean> {
  return db.tx(async (tx) => {
    const row = await endCheck.maybeOne(tx, { appNo, id, ...checked })
    if (!row) return false
    const { uid } = row
    const bytes = checked.stored - Number(row.stored_before)
    await countFile.one(tx, { appNo, uid, files: 0, bytes, quota: null })
    const { state, type, stored } = checked
    if (state === 'ready') await countKind.run(tx, { appNo, type, files: 1, bytes: stored })
    const payload = { ...(uid !== null && { uid }), file: toFile(row) }
    const key = uid === null ? 'files' : `user:${uid}`
    await announce(tx, { appNo, type: `file.${checked.state}`, key, payload })
    return true
  })
}
