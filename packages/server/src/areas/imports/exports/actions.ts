import { buffer } from 'node:stream/consumers'
import type { Actor } from '../../../core/actor.ts'
import { guidOf, printedId, splitsOf } from '../../../core/ids.ts'
import { seconds } from '../../../core/time.ts'
import type { Deps } from '../../../deps.ts'
import { write } from '../../../gate/write.ts'
import type { Tx } from '../../../platform/db/db.ts'
import type { Executor } from '../../../platform/db/query.ts'
import { badRequest, fail } from '../../../platform/http/fail.ts'
import { enqueue } from '../../../platform/jobs/queue.ts'
import { driverOf } from '../../files/actions.ts'
import { cancelJob } from '../../jobs/queries.ts'
import { holdAnyUsers } from '../../users/queries.ts'
import { KINDS } from '../kinds.ts'
import { toText } from '../parity.ts'
import { EXPORT_BYTES, exportJob, PART_TYPE, sweepExportsJob } from './export.job.ts'
import {
  type ExportRow,
  expireExport,
  findConversation,
  findConversationByNo,
  findExport,
  findPart,
  insertExport,
  KEPT_SECONDS,
  listExportRows,
  listObjects,
  lockExports,
  removeExport,
  sumOfExports,
} from './queries.ts'
import type { Export, ExportLink, ExportLinksQuery, ExportPart, NewExport } from './schema.ts'

/** After all other jobs of the app, and one at a time, so that they don't occupy all slots. */
const OPTIONS = { priority: -10, serialKey: 'exports' }
/** The most exports of an app. */
export const EXPORTS = 20
/** How long the URLs of parts work. */
const LINK_SECONDS = 3_600

export function createExport(deps: Deps, actor: Actor, given: NewExport): Promise<Export> {
  const { no: appNo } = actor.app
  const { uid = null, conversationId, from, to = seconds(new Date()), store = false } = given
  if (from !== undefined && from > to) throw badRequest({ from: ['from is after to'] })
  if (uid !== null && conversationId !== undefined) {
    throw badRequest({ uid: ['uid and conversationId exclude each other'] })
  }
  if (store) driverOf(deps)
  return write(deps, actor, async (tx) => {
    await lockExports.run(tx, { appNo })
    const { exports, bytes } = await sumOfExports.one(tx, { appNo })
    if (exports >= EXPORTS) throw tooMany(EXPORTS, 'exports')
    if (bytes >= EXPORT_BYTES) throw tooMany(EXPORT_BYTES, 'bytes of all exports')
    if (uid !== null && !(await holdAnyUsers.maybeOne(tx, { appNo, uids: [uid] }))) {
      throw fail('ERR_UID_NOT_FOUND', { uid })
    }
    const conversation =
      conversationId === undefined ? null : await conversationOf(tx, appNo, conversationId)
    const id = await enqueue(tx, appNo, exportJob, {}, OPTIONS)
    await insertExport.run(tx, {
      appNo,
      id,
      uid,
      conversation,
      from: from ?? null,
      to,
      inStore: store,
    })
    return readExport(tx, actor, String(id))
  })
}

const tooMany = (limit: number, what: string) => fail('ERR_PLAN_QUOTA_RESTRICTION', { limit, what })

/** The number of a conversation, by its id. */
export async function conversationOf(tx: Executor, appNo: number, id: string): Promise<number> {
  const guid = guidOf(id)
  const group = guid && { kind: 'group', one: guid, other: '' }
  const pairs = splitsOf(id).map(([one, other]) => ({ kind: 'user', one, other }))
  for (const key of [...(group ? [group] : []), ...pairs]) {
    const found = await findConversation.maybeOne(tx, { appNo, ...key })
    if (found) return found.no
  }
  throw fail('ERR_CONVERSATION_NOT_FOUND', { id })
}

export async function getExportRow(
  db: Executor,
  { app }: Actor,
  exportId: string,
): Promise<ExportRow> {
  const row = await findExport.maybeOne(db, { appNo: app.no, id: Number(exportId) })
  if (!row) throw fail('ERR_EXPORT_NOT_FOUND', { exportId })
  return row
}

export async function readExport(db: Executor, actor: Actor, exportId: string): Promise<Export> {
  return toExport(db, actor, await getExportRow(db, actor, exportId))
}

export async function listExports(actor: Actor): Promise<Export[]> {
  const { db } = actor.app.cell
  const rows = await listExportRows.many(db, { appNo: actor.app.no, limit: EXPORTS })
  return Promise.all(rows.map((row) => toExport(db, actor, row)))
}

function stateOf({ ended_at, job }: ExportRow): Export['state'] {
  if (ended_at) return 'done'
  if (job === 'running') return 'running'
  if (job === 'dead') return 'failed'
  return job === null || job === 'cancelled' ? 'cancelled' : 'waiting'
}

async function toExport(db: Executor, { app }: Actor, row: ExportRow): Promise<Export> {
  const conversation =
    row.conversation !== null &&
    (await findConversationByNo.maybeOne(db, { appNo: app.no, no: row.conversation }))
  return {
    ...{ id: String(row.id), state: stateOf(row) },
    ...(row.uid !== null && { uid: row.uid }),
    ...(conversation && { conversationId: printedId(conversation) }),
    ...(row.from_second !== null && { from: row.from_second }),
    ...{ to: row.to_second, store: row.in_store, parts: row.parts, bytes: row.bytes },
    report: KINDS.flatMap((kind) => {
      const sum = row.sums[kind]
      return sum ? [{ kind, count: sum.count, checksum: toText(BigInt(sum.checksum)) }] : []
    }),
    createdAt: seconds(row.created_at),
    ...(row.ended_at && { endedAt: seconds(row.ended_at) }),
    expiresAt: seconds(row.created_at) + KEPT_SECONDS,
  }
}

/** A part of an export, from wherever it is. */
export async function getExportPart(
  deps: Deps,
  actor: Actor,
  exportId: string,
  part: string,
): Promise<ExportPart> {
  const { no: appNo, cell } = actor.app
  const { id } = await getExportRow(cell.db, actor, exportId)
  const row = await findPart.maybeOne(cell.db, { appNo, id, part: Number(part) })
  const content = row?.object ? await readObject(deps, row.object) : row?.content
  if (!content) throw fail('ERR_EXPORT_PART_NOT_FOUND', { part })
  return { part: Number(part), gzip: content.toString('base64') }
}

async function readObject(deps: Deps, key: string): Promise<Buffer | undefined> {
  const found = await driverOf(deps).open(key)
  return found && (await buffer(found.body))
}

/** URLs of an export's parts in the file store. */
export async function listExportLinks(
  deps: Deps,
  actor: Actor,
  exportId: string,
  { after, limit }: ExportLinksQuery,
): Promise<ExportLink[]> {
  const { no: appNo, cell } = actor.app
  const { id, in_store } = await getExportRow(cell.db, actor, exportId)
  if (!in_store) return []
  const driver = driverOf(deps)
  const rows = await listObjects.many(cell.db, { appNo, id, after, limit })
  const expiresAt = seconds(new Date()) + LINK_SECONDS
  return Promise.all(
    rows.map(async ({ part, object }) => {
      const name = `export-${exportId}-${part}.ndjson.gz`
      const download = { type: PART_TYPE, name, seconds: LINK_SECONDS }
      return { part, url: await driver.downloadUrl(object, download), expiresAt }
    }),
  )
}

/** Stops an export. Its parts can still be downloaded. One that is over stays as it is. */
export function cancelExport(deps: Deps, actor: Actor, exportId: string): Promise<Export> {
  return write(deps, actor, async (tx) => {
    await stop(tx, actor, await getExportRow(tx, actor, exportId))
    return readExport(tx, actor, exportId)
  })
}

export function deleteExport(deps: Deps, actor: Actor, exportId: string) {
  return write(deps, actor, async (tx) => {
    const row = await getExportRow(tx, actor, exportId)
    // First: the job takes the locks in this order too.
    await (row.in_store ? expireExport : removeExport).run(tx, { appNo: actor.app.no, id: row.id })
    await stop(tx, actor, row)
    if (row.in_store) await enqueue(tx, 0, sweepExportsJob, {}, { dedupeKey: 'deleted' })
    return { success: true as const, message: `Export ${exportId} deleted.` }
  })
}

async function stop(tx: Tx, { app }: Actor, { id }: ExportRow): Promise<void> {
  await cancelJob.one(tx, { appNo: app.no, id })
  // Wakes the worker that runs it.
  tx.enqueued = true
}
