import { randomBytes } from 'node:crypto'
import type { FileRecord } from '@loquat/protocol'
import { authorize } from '../../core/access/authorize.ts'
import { shownTo } from '../../core/access/visible.ts'
import { type Actor, isModerator, type ServedApp } from '../../core/actor.ts'
import { refuseIf } from '../../core/policy.ts'
import { limitOf } from '../../core/settings.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import type { FileDriver } from '../../platform/files/driver.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { checkFileJob } from './check.job.ts'
import { refuseForeign } from './policy.ts'
import {
  beginCheck,
  beginRemoval,
  countFile,
  type FileRow,
  findFile,
  holdUploader,
  insertFile,
  listReadable,
} from './queries.ts'
import { detailsOf, linksOf, missingParts, toFile, UPLOAD_SECONDS, uploadOf } from './record.ts'
import { FILE_ID, type FileDetails, type NewFile } from './schema.ts'
import { sweepFilesJob } from './sweep.job.ts'

/** The driver, or the error of an installation without one. */
export function driverOf({ files }: Pick<Deps, 'files'>): FileDriver {
  if (!files) throw fail('ERR_FILES_NOT_CONFIGURED')
  return files
}

/** Reserves the space of a file and says where to upload it. */
export async function createFile(deps: Deps, actor: Actor, file: NewFile): Promise<FileDetails> {
  const driver = driverOf(deps)
  const id = randomBytes(16).toString('hex')
  const row = await reserveFile(deps, actor, file, {
    id,
    partSize: driver.partSizeFor(file.size),
  })
  return detailsOf(driver, actor.app, row)
}

/** Reserves the space of a file. One that has this id already is returned as it is. Recordings can have any size. */
export async function reserveFile(
  deps: Deps,
  actor: Actor,
  file: NewFile,
  { id: wanted, partSize, anySize = false }: { id: string; partSize: number; anySize?: boolean },
): Promise<FileRow> {
  const { app, settings, uid = null } = actor
  const type = file.mimeType.toLowerCase()
  const { size, voice = false, picture = false } = file
  if (picture && !type.startsWith('image/')) throw badRequest({ mimeType: ['must be an image'] })
  // What the role may send says nothing about pictures of users and groups.
  authorize(actor, { permission: 'sendMessage' }, picture ? {} : { mimeTypes: [type] })
  const limit = limitOf(settings, 'limits.fileBytes')
  if (size > limit && !anySize) throw fail('ERR_FILE_TOO_LARGE', { limit })
  const quota = limitOf(settings, 'limits.storageBytes')
  const appNo = app.no
  // A retry gets the first answer's file, with URLs of its own.
  const { id } = await write(deps, actor, async (tx) => {
    if (uid !== null) await holdUploader.run(tx, { appNo, uid })
    const row = await insertFile.maybeOne(tx, {
      ...{ appNo, id: wanted, uid, name: baseName(file.name), type, size },
      ...{ voice, picture, partSize, seconds: UPLOAD_SECONDS },
    })
    if (!row) return { id: wanted }
    const { fits } = await countFile.one(tx, { appNo, uid, files: 1, bytes: size, quota })
    if (!fits) throw fail('ERR_STORAGE_FULL', { limit: quota })
    return { id: row.id }
  })
  return getOwn(actor, id)
}

/** The same within a transaction, for a file of the app itself that is uploaded in one part. */
export async function reserveWhole(
  tx: Tx,
  { app, settings }: Actor,
  { name, size, mimeType }: NewFile,
): Promise<string> {
  const limit = limitOf(settings, 'limits.fileBytes')
  if (size > limit) throw fail('ERR_FILE_TOO_LARGE', { limit })
  const quota = limitOf(settings, 'limits.storageBytes')
  const [appNo, id] = [app.no, randomBytes(16).toString('hex')]
  await insertFile.one(tx, {
    ...{ appNo, id, uid: null, name: baseName(name), type: mimeType.toLowerCase(), size },
    ...{ voice: false, picture: false, partSize: size, seconds: UPLOAD_SECONDS },
  })
  const { fits } = await countFile.one(tx, { appNo, uid: null, files: 1, bytes: size, quota })
  if (!fits) throw fail('ERR_STORAGE_FULL', { limit: quota })
  return id
}

/** Where to upload a file of `reserveWhole`. */
export const wholeUrl = (
  driver: FileDriver,
  appId: string,
  { id, size, type }: { id: string; size: number; type: string },
): Promise<string> =>
  driver.uploadUrl(`${uploadOf(appId, id)}/1`, { size, type, seconds: UPLOAD_SECONDS })

/** Whether all bytes of a file have arrived, or were checked already. Undefined if it is gone. */
export async function isUploaded(
  deps: Deps,
  app: ServedApp,
  id: string,
): Promise<boolean | undefined> {
  const row = await findFile.maybeOne(app.cell.db, { appNo: app.no, id })
  if (row?.state !== 'pending') return row && true
  return (await missingParts(driverOf(deps), app.id, row)).length === 0
}

/** Deletes a file that nothing refers to. Its bytes are gone a moment later. */
export async function discardFile(tx: Tx, appNo: number, id: string): Promise<boolean> {
  if (!(await beginRemoval.maybeOne(tx, { appNo, id }))) return false
  await enqueue(tx, 0, sweepFilesJob, {}, { dedupeKey: 'now' })
  return true
}

/** The last part of a path, without characters that can't be shown. */
function baseName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? ''
  const shown = last.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '').trim()
  return shown === '' || shown === '.' || shown === '..' ? 'file' : shown
}

/** Starts the check of a file whose parts are all there. Repeating it changes nothing. */
export async function completeFile(deps: Deps, actor: Actor, id: string) {
  const driver = driverOf(deps)
  const { app } = actor
  const file = await getOwn(actor, id)
  if (file.state !== 'pending') return toFile(file)
  const missing = await missingParts(driver, app.id, file)
  if (missing.length > 0) {
    const parts = missing.map(({ number }) => String(number))
    throw fail('ERR_FILE_NOT_UPLOADED', {}, { details: { parts } })
  }
  return beginFileCheck(deps, actor, id)
}

/** Lets a worker check a file whose parts are all there. */
export function beginFileCheck(deps: Deps, actor: Actor, id: string): Promise<FileRecord> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const row = await beginCheck.maybeOne(tx, { appNo, id })
    if (!row) return toFile(await getOwn(actor, id, tx))
    await enqueue(tx, appNo, checkFileJob, { id })
    return toFile(row)
  })
}

/** Deletes a file that nothing refers to. Its bytes are gone a moment later. */
export async function deleteFile(deps: Deps, actor: Actor, id: string) {
  driverOf(deps)
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await getOwn(actor, id, tx)
    if (!(await discardFile(tx, appNo, id))) throw fail('ERR_FILE_IN_USE')
    return { success: true as const, message: 'File deleted.' }
  })
}

/** A file that the actor may change. */
export async function getOwn(
  actor: Actor,
  id: string,
  db: Executor = actor.app.cell.db,
): Promise<FileRow> {
  const row = FILE_ID.test(id) && (await findFile.maybeOne(db, { appNo: actor.app.no, id }))
  if (!row) throw fail('ERR_FILE_NOT_FOUND', { id })
  refuseIf(refuseForeign(actor, row))
  return row
}

/** Those of these files that the actor may read, in the given order. */
export async function readableFiles(
  actor: Actor,
  ids: string[],
  db: Executor = actor.app.cell.db,
): Promise<FileRow[]> {
  const { app, uid = null } = actor
  const wanted = [...new Set(ids)].filter((id) => FILE_ID.test(id))
  if (wanted.length === 0) return []
  const params = {
    appNo: app.no,
    ids: wanted,
    viewer: uid,
    moderates: isModerator(actor),
    ...shownTo(actor),
  }
  const found = await listReadable.many(db, params)
  const byId = new Map(found.map((row) => [row.id, row]))
  return wanted.flatMap((id) => byId.get(id) ?? [])
}

/** Those of these files that the actor may read, with URLs. It changes nothing; a list of ids needs a body. */
export async function signFiles(deps: Deps, actor: Actor, ids: string[]) {
  const driver = driverOf(deps)
  const files = await readableFiles(actor, ids)
  const ready = files.filter(({ state }) => state === 'ready')
  return Promise.all(
    ready.map(async (row) => ({ id: row.id, links: await linksOf(driver, actor.app.id, row) })),
  )
}
