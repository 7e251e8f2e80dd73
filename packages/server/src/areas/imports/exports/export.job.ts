import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Type } from 'typebox'
import { defineJob } from '../../../deps.ts'
import type { Executor } from '../../../platform/db/query.ts'
import type { FileDriver } from '../../../platform/files/driver.ts'
import { Unrecoverable } from '../../../platform/jobs/definition.ts'
import { Load } from '../load.ts'
import {
  addPart,
  type ExportRow,
  findConversationByNo,
  findExport,
  listOldInStore,
  removeExport,
  removeOldExports,
} from './queries.ts'
import { idsOf, type Place, readAfter, type Scope, START } from './reader.ts'
import { Sums } from './sums.ts'

const compress = promisify(gzip)

/** Exports per statement. */
const BATCH = 100

/** The lines of a part, so that it can be uploaded as a part of an import. */
const PART_BYTES = 2 * 1024 * 1024
export const PART_TYPE = 'application/gzip'
/** What all exports of an app may take. */
export const EXPORT_BYTES = 16 * 1024 ** 3

export const exportJob = defineJob({
  name: 'exports.run',
  summary: 'Writes the data of an app, a user or a conversation into parts that can be downloaded.',
  input: Type.Object({}),
  checkpoint: Type.Object({}),
  async run({ appNo, id, checkpoint, progress, signal, context: { deps, cell } }) {
    const { db } = cell
    const row = await findExport.maybeOne(db, { appNo, id })
    if (!row || row.ended_at) return
    if (row.in_store && !deps.files) throw new Error('this worker has no store for files')
    const driver = row.in_store ? deps.files : undefined
    const scope = await scopeOf(db, appNo, row)
    const load = new Load(db)
    const sums = new Sums(row.sums)
    let place = row.place ?? START
    let parts = row.parts
    for (let ended = false; !ended; ) {
      const started = performance.now()
      const part = await readPart(db, scope, place, sums)
      const content = part.text === '' ? null : await compress(part.text)
      const object = driver && content ? keyOf(row, parts + 1) : null
      if (driver && content && object) await store(driver, object, content)
      await checkpoint(async (tx) => {
        const { bytes } = await addPart.one(tx, {
          ...{ appNo, id, object, content: object ? null : content, size: content?.length ?? 0 },
          ended: part.ended,
          ...{ place: JSON.stringify(part.place), sums: JSON.stringify(sums.stored) },
        })
        if (bytes > EXPORT_BYTES) throw new Unrecoverable('the export is too large')
        return {}
      })
      ;({ place, ended } = part)
      if (content) parts++
      await progress(parts)
      if (!ended) await load.rest(performance.now() - started, signal)
    }
  },
})

/** The keys of an export's objects begin with its app, as those of files do. */
export const prefixOf = (appId: string, id: number) => `${appId}/export-${id}`

/** A new key each time: a worker that lost the job may still store its part, and must not replace another one's. */
const keyOf = ({ app_id, id }: ExportRow, part: number) =>
  `${prefixOf(app_id, id)}/${part}-${randomBytes(8).toString('hex')}`

async function store(driver: FileDriver, key: string, content: Buffer): Promise<void> {
  const folder = await driver.openScratch()
  try {
    const path = join(folder, 'part')
    await writeFile(path, content)
    await driver.store(key, path, PART_TYPE)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Everything until the export was requested. What is sent later isn't part of it, so all references are. */
export async function scopeOf(db: Executor, appNo: number, row: ExportRow): Promise<Scope> {
  const { uid, conversation: no, from_second: from, to_second: to } = row
  // Dates have milliseconds.
  const until = new Date(row.created_at.getTime() + 1)
  const conversation =
    no === null ? null : ((await findConversationByNo.maybeOne(db, { appNo, no })) ?? null)
  if (no !== null && !conversation) throw new Unrecoverable('the conversation is gone')
  return { appNo, uid, conversation, until, ...idsOf(from, to, until) }
}

/** The next lines, up to the size of a part. */
async function readPart(db: Executor, scope: Scope, from: Place, sums: Sums) {
  const lines: string[] = []
  let size = 0
  let place = from
  while (size < PART_BYTES) {
    const read = await readAfter(db, scope, place)
    if (read.ended) return { text: lines.join(''), place, ended: true }
    for (const next of read.lines) {
      if (size >= PART_BYTES) break
      const text = `${JSON.stringify(next.line)}\n`
      lines.push(text)
      size += Buffer.byteLength(text)
      place = next.place
      sums.add(next.line)
    }
    // The process has other work, too.
    await setImmediate()
  }
  return { text: lines.join(''), place, ended: false }
}

export const sweepExportsJob = defineJob({
  name: 'exports.sweep',
  summary: 'Deletes exports that expired.',
  input: Type.Object({}),
  schedule: { everySeconds: 3_600 },
  async run({ signal, context: { deps, cell } }) {
    const { db } = cell
    while (!signal.aborted && (await removeOldExports.one(db, {})).removed > 0);
    for (let found = deps.files ? BATCH : 0; found === BATCH; ) {
      const exports = await listOldInStore.many(db, { limit: BATCH })
      found = exports.length
      for (const { app_no: appNo, app_id: appId, id } of exports) {
        signal.throwIfAborted()
        // The rows last: without them, nobody would find the objects again.
        await deps.files?.removeAll(prefixOf(appId, id))
        await removeExport.run(db, { appNo, id })
      }
    }
  },
})
