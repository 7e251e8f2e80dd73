import { setImmediate } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Type } from 'typebox'
import { defineJob } from '../../../deps.ts'
import type { Executor } from '../../../platform/db/query.ts'
import { Unrecoverable } from '../../../platform/jobs/definition.ts'
import { Load } from '../load.ts'
import {
  addPart,
  type ExportRow,
  findConversationByNo,
  findExport,
  removeOldExports,
} from './queries.ts'
import { idsOf, type Place, readAfter, type Scope, START } from './reader.ts'
import { Sums } from './sums.ts'

const compress = promisify(gzip)

/** The lines of a part, so that it can be uploaded as a part of an import. */
const PART_BYTES = 2 * 1024 * 1024
/** What all exports of an app may take. */
export const EXPORT_BYTES = 16 * 1024 ** 3

export const exportJob = defineJob({
  name: 'exports.run',
  summary: 'Writes the data of an app, a user or a conversation into parts that can be downloaded.',
  input: Type.Object({}),
  checkpoint: Type.Object({}),
  async run({ appNo, id, checkpoint, progress, signal, context: { cell } }) {
    const { db } = cell
    const row = await findExport.maybeOne(db, { appNo, id })
    if (!row || row.ended_at) return
    const scope = await scopeOf(db, appNo, row)
    const load = new Load(db)
    const sums = new Sums(row.sums)
    let place = row.place ?? START
    let parts = row.parts
    for (let ended = false; !ended; ) {
      const started = performance.now()
      const part = await readPart(db, scope, place, sums)
      const content = part.text === '' ? null : await compress(part.text)
      await checkpoint(async (tx) => {
        const { bytes } = await addPart.one(tx, {
          ...{ appNo, id, content, ended: part.ended },
          ...{ place: JSON.stringify(part.place), sums: JSON.stringify(sums.stored) },
        })
        if (bytes > EXPORT_BYTES) throw new Unrecoverable('the export is too large')
        return {}
      })
      ;({ place, ended } = part)
      await progress(++parts)
      if (!ended) await load.rest(performance.now() - started, signal)
    }
  },
})

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
  async run({ signal, context: { cell } }) {
    while (!signal.aborted && (await removeOldExports.one(cell.db, {})).removed > 0);
  },
})
