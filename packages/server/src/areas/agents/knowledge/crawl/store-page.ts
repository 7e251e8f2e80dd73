/** Stores what a visit of a page has found, in one transaction with its chunks: what is gone is not found any more. */
import { createHash } from 'node:crypto'
import type { Tx } from '../../../../platform/db/db.ts'
import type { Chunk } from '../chunks.ts'
import { APP_CHUNKS, idsOf, storeChunks } from '../index.job.ts'
import { countOtherChunks, type SourceRow } from '../queries.ts'
import {
  findPage,
  findTwin,
  type PageRow,
  removePage,
  removePageChunks,
  storeFailure,
  storeVisit,
} from './queries.ts'
import type { PageReason } from './schema.ts'
import type { ReadPage, Seen } from './visit.ts'

/** How often a page is visited in a crawl that doesn't answer, and how long after the failure. */
const TRIES = 2
const RETRY_MS = 3_000
/** The chunks of a page follow each other in the source, with room for its most chunks. */
const CHUNK_NOS = 1_000

interface Place {
  appNo: number
  /** Locked. */
  site: SourceRow
}

/** What changed: how many more chunks there are, which pages it leads to, and whether the page itself is forgotten. */
interface Stored {
  chunks: number
  links: { urls: string[]; depth: number }
  removed: boolean
  /** It was forgotten although it had been read: it may come back. */
  lost: boolean
}

export async function storePage(
  tx: Tx,
  { appNo, site }: Place,
  pageId: string,
  seen: Seen,
): Promise<Stored> {
  const one = { appNo, sourceId: site.source_id, pageId }
  const page = await findPage.maybeOne(tx, one)
  const nothing = { chunks: 0, links: { urls: [], depth: 0 }, removed: false, lost: false }
  // Somebody has excluded it meanwhile.
  if (!page || page.reason === 'excluded') return nothing
  const links = { urls: seen.links, depth: page.depth + seen.away }
  if (seen.outcome === 'read') {
    const chunks = await storeRead(tx, { appNo, site }, page, seen.page)
    // A copy leads nowhere, so that pages whose addresses differ without end do end.
    return chunks === undefined
      ? { ...nothing, chunks: -page.chunks }
      : { ...nothing, chunks, links }
  }
  if (seen.outcome === 'unchanged') {
    // It was excluded and chosen again during the visit, so it is still to be read.
    if (page.chunks === 0) return nothing
    const { title, description, etag, last_modified: lastModified, digest, chunks } = page
    const same = { title, description, etag, lastModified, digest, chunks }
    await storeVisit.run(tx, { ...one, ...same, state: 'processed', reason: null })
    return nothing
  }
  const { outcome: state, reason, passing } = seen
  if (passing) {
    const again = page.tries + 1 < TRIES
    const kept = again ? page.state : state
    await storeFailure.run(tx, { ...one, state: kept, reason, delayMs: again ? RETRY_MS : null })
    return nothing
  }
  // A link to nowhere is shown once.
  const removed = reason === 'gone' && page.reason === 'gone'
  if (removed) await removePage.run(tx, one)
  else await forget(tx, one, state, reason)
  return { chunks: -page.chunks, links, removed, lost: removed && page.title !== '' }
}

async function forget(
  tx: Tx,
  one: { appNo: number; sourceId: string; pageId: string },
  state: string,
  reason: PageReason,
): Promise<void> {
  await removePageChunks.run(tx, { ...one, kept: [] })
  const none = { title: null, description: null, etag: null, lastModified: null, digest: null }
  await storeVisit.run(tx, { ...one, ...none, state, reason, chunks: 0 })
}

/** Returns how many more chunks there are, or undefined if another page says the same. */
async function storeRead(
  tx: Tx,
  { appNo, site }: Place,
  page: PageRow,
  { title, description, chunks, etag, lastModified }: ReadPage,
): Promise<number | undefined> {
  const { source_id: sourceId, indexes } = site
  const { page_id: pageId } = page
  const one = { appNo, sourceId, pageId }
  const digest = digestOf(title, chunks)
  const read = { title, description, etag, lastModified, digest }
  if (!indexes) {
    const found = { state: 'discovered', reason: null, chunks: 0, etag: null, lastModified: null }
    await storeVisit.run(tx, { ...one, ...read, ...found })
    return 0
  }
  if (await findTwin.maybeOne(tx, { ...one, digest })) {
    await forget(tx, one, 'skipped', 'duplicate')
    return undefined
  }
  const isSame = page.chunks > 0 && page.digest?.equals(digest)
  if (!isSame) {
    const { count } = await countOtherChunks.one(tx, { appNo, sourceId })
    const left = site.chunks - page.chunks
    if (count + left + chunks.length > APP_CHUNKS) {
      await forget(tx, one, 'failed', 'app_full')
      return -page.chunks
    }
    await removePageChunks.run(tx, { ...one, kept: idsOf(pageId, chunks) })
    await storeChunks(tx, { ...one, title, first: page.no * CHUNK_NOS }, chunks)
  }
  await storeVisit.run(tx, {
    ...{ ...one, ...read, state: 'processed', reason: null, chunks: chunks.length },
  })
  return chunks.length - page.chunks
}

/** What pages are compared by: two with the same title and text are the same. */
const digestOf = (title: string, chunks: Chunk[]): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([title, chunks]))
    .digest()
