import type { Actor } from '../../../../core/actor.ts'
import type { Deps } from '../../../../deps.ts'
import { write } from '../../../../gate/write.ts'
import type { Tx } from '../../../../platform/db/db.ts'
import type { Executor } from '../../../../platform/db/query.ts'
import { badRequest, fail } from '../../../../platform/http/fail.ts'
import { enqueue } from '../../../../platform/jobs/queue.ts'
import { lockSources, toSource } from '../actions.ts'
import { findSource, lockSource, type SourceRow } from '../queries.ts'
import type { KnowledgeSource } from '../schema.ts'
import { enqueueCrawl, pageIdOf, sweepPagesJob } from './crawl.job.ts'
import { URL_LENGTH } from './links.ts'
import {
  addPages,
  beginCrawl,
  choosePages,
  countSite,
  excludePages,
  insertWebsite,
  listPageStates,
  type PageRow,
  visitAll,
} from './queries.ts'
import type {
  KnowledgePage,
  NewKnowledgeWebsite,
  PageReason,
  PageState,
  Processing,
} from './schema.ts'

const DEPTH = 3
const PAGES = 100

export const toPage = (row: PageRow & { embedded: number }): KnowledgePage => ({
  ...{ urlId: row.page_id, url: row.url, status: row.state as PageState },
  ...(row.title !== '' && { title: row.title }),
  ...(row.description !== '' && { description: row.description }),
  ...(row.reason !== null && { reason: row.reason as PageReason }),
  ...(row.crawled_at && { lastCrawledAt: row.crawled_at.getTime() }),
  ...{ retryCount: row.tries, chunksCreated: row.chunks, embeddingsGenerated: row.embedded },
  vectorizationStatus:
    row.embedded === 0 ? 'none' : row.embedded < row.chunks ? 'partial' : 'complete',
  createdAt: row.created_at.getTime(),
  updatedAt: row.updated_at.getTime(),
})

const unknown = (id: string) => fail('ERR_KB_NOT_FOUND', { id })

export async function getWebsite(
  db: Executor,
  appNo: number,
  sourceId: string,
): Promise<SourceRow> {
  const row = await findSource.maybeOne(db, { appNo, sourceId })
  if (row?.kind !== 'websites') throw unknown(sourceId)
  return row
}

/** The pages of a website, and whether it is crawled, change under the lock of its source. */
async function lockWebsite(tx: Tx, appNo: number, sourceId: string): Promise<SourceRow> {
  const row = await lockSource.maybeOne(tx, { appNo, sourceId })
  if (row?.kind !== 'websites') throw unknown(sourceId)
  return row
}

export async function createKnowledgeWebsite(
  deps: Deps,
  actor: Actor,
  website: NewKnowledgeWebsite,
): Promise<KnowledgeSource> {
  const appNo = actor.app.no
  const { depth = DEPTH, maxPages: mostPages = PAGES, index: indexes = true } = website
  const fault = await deps.targets.faultOf(website.url)
  if (fault) throw badRequest({ url: [`url ${fault}`] })
  const first = new URL(website.url)
  first.hash = ''
  const { host, pathname, href: url } = first
  if (url.length > URL_LENGTH) throw badRequest({ url: ['url must be shorter'] })
  const title = website.title ?? `${host}${pathname === '/' ? '' : pathname}`.slice(0, 500)
  return write(deps, actor, async (tx) => {
    await lockSources(tx, appNo, 1)
    const site = await insertWebsite.one(tx, { appNo, title, url, depth, mostPages, indexes })
    const pages = await addFirstPage(tx, appNo, site)
    await enqueueCrawl(tx, appNo, site.source_id)
    return toSource({ ...site, pages })
  })
}

/** Where the crawl begins, unless it is known. */
async function addFirstPage(tx: Tx, appNo: number, site: SourceRow): Promise<number> {
  const { source_id: sourceId, url, indexes } = site
  if (url === null) return 0
  const state = indexes ? 'processing' : 'discovered'
  const first = { ids: [pageIdOf(sourceId, url)], urls: [url], depth: 0, state, room: 1 }
  const { length: pages } = await addPages.many(tx, { appNo, sourceId, ...first })
  await countSite.run(tx, { appNo, sourceId, pages, chunks: 0, lost: false })
  return pages
}

/** Visits all pages again. If a crawl is under way, it visits them, too. */
export function crawlKnowledgeWebsite(
  deps: Deps,
  actor: Actor,
  sourceId: string,
): Promise<KnowledgeSource> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockWebsite(tx, appNo, sourceId)
    await visitAll.run(tx, { appNo, sourceId })
    const site = await beginCrawl.one(tx, { appNo, sourceId, indexes: null })
    const pages = await addFirstPage(tx, appNo, site)
    await enqueueCrawl(tx, appNo, sourceId)
    return toSource({ ...site, pages: site.pages + pages })
  })
}

/** From now on the website is indexed, but for the pages that are excluded. */
export function processKnowledgePages(
  deps: Deps,
  actor: Actor,
  sourceId: string,
  exclude: string[],
): Promise<Processing> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockWebsite(tx, appNo, sourceId)
    const { chunks } = await excludePages.one(tx, { appNo, sourceId, exclude })
    const { chosen } = await choosePages.one(tx, { appNo, sourceId, exclude })
    await countSite.run(tx, { appNo, sourceId, pages: 0, chunks: -chunks, lost: false })
    const site = await beginCrawl.one(tx, { appNo, sourceId, indexes: true })
    await enqueueCrawl(tx, appNo, sourceId)
    if (chunks > 0) await enqueue(tx, appNo, sweepPagesJob, { sourceId }, { dedupeKey: sourceId })
    return {
      ...{ batchId: String(site.revision), urlsProcessed: chosen, totalUrls: site.pages },
      status: 'processing' as const,
    }
  })
}

/** The states of some pages, by their ids. */
export async function pollKnowledgePages(
  { app: { no: appNo, cell } }: Actor,
  sourceId: string,
  ids: string[],
): Promise<Record<string, PageState>> {
  await getWebsite(cell.db, appNo, sourceId)
  const rows = await listPageStates.many(cell.db, { appNo, sourceId, ids })
  return Object.fromEntries(rows.map(({ page_id, state }) => [page_id, state as PageState]))
}
