import type { Actor } from '../../core/actor.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { cancelJob } from '../jobs/queries.ts'
import { importJob } from './import.job.ts'
import {
  findImport,
  type ImportRow,
  insertImport,
  KEPT_SECONDS,
  listImportRows,
  listKindSums,
  lockImport,
  lockUploads,
  putPart,
  removeImport,
  removeParts,
  removeResults,
  type SumRow,
  setImportState,
  startImportRow,
  sumOfParts,
} from './jobs.queries.ts'
import type { Import, ImportPart, ImportStart, NewImport } from './jobs.schema.ts'
import { KINDS } from './kinds.ts'
import { toText } from './parity.ts'

/** After all other jobs of the app. */
const PRIORITY = -10
/** The most imports of an app, and what their parts may take together. */
export const IMPORTS = 100
export const STAGED_BYTES = 4 * 1024 ** 3

export function createImport(deps: Deps, actor: Actor, given: NewImport): Promise<Import> {
  const { no: appNo } = actor.app
  return write(deps, actor, async (tx) => {
    await lockUploads.run(tx, { appNo })
    const { imports } = await sumOfParts.one(tx, { appNo })
    if (imports >= IMPORTS) throw tooMany(IMPORTS, 'imports')
    const byConversation = given.perConversation ?? false
    const { id } = await insertImport.one(tx, { appNo, byConversation })
    return readImport(tx, actor, String(id))
  })
}

const tooMany = (limit: number, what: string) => fail('ERR_PLAN_QUOTA_RESTRICTION', { limit, what })

/** Stores a part. It can be sent again, also with another content, until the import is started. */
export function uploadImportPart(
  deps: Deps,
  actor: Actor,
  { importId, part: number }: { importId: string; part: string },
  given: ImportPart,
): Promise<Import> {
  const part = Number(number)
  const content = contentOf(given)
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockUploads.run(tx, { appNo })
    const row = await holdOpen(tx, actor, importId, 'changed')
    if (part > row.parts + 1) {
      throw badRequest({ part: [`the next part is ${row.parts + 1}`] })
    }
    const { bytes } = await sumOfParts.one(tx, { appNo })
    if (bytes + content.length > STAGED_BYTES) throw tooMany(STAGED_BYTES, 'bytes of all imports')
    await putPart.run(tx, { appNo, id: row.id, part, content })
    return readImport(tx, actor, importId)
  })
}

function contentOf({ lines, gzip }: ImportPart): Buffer {
  if ((lines === undefined) === (gzip === undefined)) {
    throw badRequest({ lines: ['send either lines or gzip'] })
  }
  if (lines !== undefined) return Buffer.from(lines)
  const content = Buffer.from(gzip ?? '', 'base64')
  if (content[0] !== 0x1f || content[1] !== 0x8b) {
    throw badRequest({ gzip: ['gzip is not compressed with gzip'] })
  }
  return content
}

export function startImport(
  deps: Deps,
  actor: Actor,
  importId: string,
  { dryRun = false, delaySeconds = 0 }: ImportStart,
): Promise<Import> {
  return write(deps, actor, async (tx) => {
    const row = await holdOpen(tx, actor, importId, 'started')
    await removeResults.run(tx, { appNo: actor.app.no, id: row.id })
    await begin(tx, actor, row, { dryRun, delaySeconds, resumes: false })
    return readImport(tx, actor, importId)
  })
}

interface Start {
  dryRun: boolean
  delaySeconds: number
  resumes: boolean
}

async function begin(
  tx: Tx,
  { app }: Actor,
  { id }: ImportRow,
  { dryRun, delaySeconds, resumes }: Start,
): Promise<void> {
  const appNo = app.no
  // One at a time, so that they don't occupy all slots. A delayed one must not make the others wait for its time.
  const options = {
    ...{ priority: PRIORITY, delaySeconds },
    ...(delaySeconds === 0 && { serialKey: 'imports' }),
  }
  const jobId = await enqueue(tx, appNo, importJob, { importId: id }, options)
  await startImportRow.run(tx, { appNo, id, dryRun, jobId, resumes })
}

/** Stops an import that is under way. After this, it writes nothing until it is resumed. */
export function pauseImport(deps: Deps, actor: Actor, importId: string): Promise<Import> {
  return write(deps, actor, async (tx) => {
    const row = await hold(tx, actor, importId)
    if (['waiting', 'running'].includes(stateOf(row))) await stop(tx, actor, row, 'paused')
    return readImport(tx, actor, importId)
  })
}

/** Lets a paused or failed import go on from where it was. */
export function resumeImport(deps: Deps, actor: Actor, importId: string): Promise<Import> {
  return write(deps, actor, async (tx) => {
    const row = await hold(tx, actor, importId)
    if (['paused', 'failed'].includes(stateOf(row))) {
      await begin(tx, actor, row, { dryRun: row.dry_run, delaySeconds: 0, resumes: true })
    }
    return readImport(tx, actor, importId)
  })
}

/** Stops an import for good, and removes its parts. What was imported stays. */
export function cancelImport(deps: Deps, actor: Actor, importId: string): Promise<Import> {
  return write(deps, actor, async (tx) => {
    const row = await hold(tx, actor, importId)
    if (row.state !== 'done') {
      await stop(tx, actor, row, 'cancelled')
      await removeParts.run(tx, { appNo: actor.app.no, id: row.id })
    }
    return readImport(tx, actor, importId)
  })
}

export function deleteImport(deps: Deps, actor: Actor, importId: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const row = await getImportRow(tx, actor, importId)
    const { id } = row
    await stop(tx, actor, row, 'cancelled')
    await removeParts.run(tx, { appNo, id })
    await removeResults.run(tx, { appNo, id })
    await removeImport.run(tx, { appNo, id })
    return { success: true as const, message: `Import ${importId} deleted.` }
  })
}

async function stop(tx: Tx, { app }: Actor, row: ImportRow, state: 'paused' | 'cancelled') {
  // First: the job takes the locks in this order too.
  await setImportState.run(tx, { appNo: app.no, id: row.id, state, ended: state === 'cancelled' })
  if (row.job_id === null) return
  await cancelJob.one(tx, { appNo: app.no, id: row.job_id })
  // Wakes the worker that runs it.
  tx.enqueued = true
}

async function hold(tx: Tx, { app }: Actor, importId: string): Promise<ImportRow> {
  const row = await lockImport.maybeOne(tx, { appNo: app.no, id: Number(importId) })
  if (!row) throw fail('ERR_IMPORT_NOT_FOUND', { importId })
  return row
}

/** Locks an import that isn't started, or was only checked. */
async function holdOpen(
  tx: Tx,
  actor: Actor,
  importId: string,
  change: string,
): Promise<ImportRow> {
  const row = await hold(tx, actor, importId)
  const state = stateOf(row)
  if (state === 'open' || state === 'checked') return row
  throw fail('ERR_IMPORT_STATE', { importId, state, change })
}

export async function getImportRow(
  db: Executor,
  { app }: Actor,
  importId: string,
): Promise<ImportRow> {
  const row = await findImport.maybeOne(db, { appNo: app.no, id: Number(importId) })
  if (!row) throw fail('ERR_IMPORT_NOT_FOUND', { importId })
  return row
}

export async function readImport(db: Executor, actor: Actor, importId: string): Promise<Import> {
  const row = await getImportRow(db, actor, importId)
  return toImport(row, await listKindSums.many(db, { appNo: actor.app.no, id: row.id }))
}

/** Without checksums. */
export async function listImports({ app }: Actor): Promise<Import[]> {
  const rows = await listImportRows.many(app.cell.db, { appNo: app.no, limit: IMPORTS })
  return rows.map((row) => toImport(row, []))
}

function stateOf({ state, job }: ImportRow): Import['state'] {
  if (state !== 'started') return state as Import['state']
  if (job === 'running') return 'running'
  // A job that is gone was dead for long, or somebody cancelled it.
  return job === null || ['dead', 'cancelled', 'done'].includes(job) ? 'failed' : 'waiting'
}

function toImport(row: ImportRow, sums: SumRow[]): Import {
  const state = stateOf(row)
  const sumsOf = (kind: string) => {
    const found = sums.find((sum) => sum.kind === kind)
    return {
      checksum: toText(BigInt(found?.checksum ?? 0)),
      thereChecksum: toText(BigInt(found?.there_checksum ?? 0)),
    }
  }
  return {
    ...{ id: String(row.id), state, dryRun: row.dry_run, perConversation: row.by_conversation },
    ...{ parts: row.parts, bytes: row.bytes },
    progress: state === 'done' || state === 'checked' ? 1 : progressOf(row),
    report: KINDS.flatMap((kind) => {
      const counts = row.counts[kind]
      return counts?.read ? [{ kind, ...counts, ...sumsOf(kind) }] : []
    }),
    problems: row.problems,
    createdAt: seconds(row.created_at),
    ...(row.started_at && { startedAt: seconds(row.started_at) }),
    ...(row.ended_at && { endedAt: seconds(row.ended_at) }),
    expiresAt: seconds(row.created_at) + KEPT_SECONDS,
  }
}

/** By whole parts. */
const progressOf = ({ place, parts }: ImportRow) =>
  place && parts > 0 ? Math.min(place.part - 1, parts) / parts : 0
