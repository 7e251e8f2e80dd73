/**
 * Crawls of websites. A crawl is one job in short slices: it visits one page after the other, and each visit is a
 * checkpoint, so it goes on after a crash. The rows of the pages say what is left to visit.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { sweepAll } from '../../../../core/sweep.ts'
import { defineJob, type JobDeps } from '../../../../deps.ts'
import type { Tx } from '../../../../platform/db/db.ts'
import { Postponed, type Run } from '../../../../platform/jobs/definition.ts'
import { enqueue } from '../../../../platform/jobs/queue.ts'
import { startEmbeddingOf } from '../../../models/embeddings.actions.ts'
import { hashedId } from '../chunks.ts'
import { findSource, lockSource, type SourceRow } from '../queries.ts'
import type { FailReason } from '../schema.ts'
import { fetchRobots } from './page-fetch.ts'
import {
  addPages,
  clearLost,
  countOtherPages,
  countSite,
  endCrawl,
  nextPage,
  type PageRow,
  skipRest,
  sumUp,
  sweepExcluded,
} from './queries.ts'
import type { PageReason } from './schema.ts'
import { storePage } from './store-page.ts'
import { visitPage } from './visit.ts'

/** After so long, others get the slot. */
const SLICE_MS = 10_000
/** How long a crawl works in all, without pauses, and how much it reads. */
const CRAWL_MS = 1_800_000
const CRAWL_BYTES = 200_000_000
/** The longest pause that a site can ask for. */
const DELAY_SECONDS = 10
/** A longer pause is made without a slot. */
const HELD_PAUSE_MS = 1_000
/** How many pages a site may know for each that it keeps: pictures, redirects and dead links are known, too. */
const KNOWN_PER_KEPT = 5
/** The most pages that all sites of an app know. */
const APP_PAGES = 100_000

const Progress = Type.Object({
  /** Of the source when the crawl began. Each crawl that somebody asks for has another one. */
  revision: Type.Integer(),
  /** Whether the site sends only pages that have changed. */
  conditional: Type.Boolean(),
  rules: Type.Array(Type.Object({ allow: Type.Boolean(), path: Type.String() })),
  pauseMs: Type.Integer(),
  spentMs: Type.Integer(),
  bytes: Type.Integer(),
})
type Progress = Static<typeof Progress>
type CrawlRun = Run<{ sourceId: string }, Progress, JobDeps>

export const crawlKnowledgeJob = defineJob({
  name: 'knowledge.crawl',
  summary: 'Reads the pages of a website for agents.',
  input: Type.Object({ sourceId: Type.String() }),
  checkpoint: Progress,
  run: crawl,
})

/** An app crawls one site at a time. */
export const enqueueCrawl = (tx: Tx, appNo: number, sourceId: string) =>
  enqueue(...([tx, appNo, crawlKnowledgeJob, { sourceId }] as const), {
    ...{ dedupeKey: sourceId, priority: -1, serialKey: 'crawl' },
  })

async function crawl(run: CrawlRun): Promise<void> {
  const { appNo, input, context } = run
  const { sourceId } = input
  const { db } = context.cell
  const until = performance.now() + SLICE_MS
  for (;;) {
    const site = await findSource.maybeOne(db, { appNo, sourceId })
    if (site?.state !== 'indexing' || site.url === null) return
    const { saved: progress } = run
    // Somebody may have asked for another crawl meanwhile. It has limits of its own.
    if (progress?.revision !== site.revision) {
      await begin(run, site, site.url)
      continue
    }
    const page = isExhausted(progress)
      ? undefined
      : await nextPage.maybeOne(db, { appNo, sourceId, most: site.most_pages ?? 0 })
    if (!page) {
      await finish(run, progress)
      continue
    }
    if (page.wait_ms > 0) throw new Postponed(page.wait_ms)
    await visit(run, site, page, progress)
    if (performance.now() > until) throw new Postponed(progress.pauseMs)
    await pause(run, progress)
  }
}

const isExhausted = ({ spentMs, bytes }: Progress) => spentMs > CRAWL_MS || bytes > CRAWL_BYTES

async function pause({ signal }: CrawlRun, { pauseMs }: Progress): Promise<void> {
  if (pauseMs > HELD_PAUSE_MS) throw new Postponed(pauseMs)
  await sleep(pauseMs, undefined, { signal })
}

const fetching = ({ context: { deps }, signal }: CrawlRun) => ({
  ...{ outbound: deps.outbound, timeoutMs: deps.config.crawls.pageSeconds * 1_000, signal },
})

/** Asks the site what it forbids. If it doesn't answer, the crawl is over. */
async function begin(run: CrawlRun, { revision }: SourceRow, url: string): Promise<void> {
  const { appNo, input, context } = run
  const { sourceId } = input
  const robots = await fetchRobots(fetching(run), url)
  const asked = Math.min(robots?.delaySeconds ?? 0, DELAY_SECONDS) * 1_000
  const pauseMs = Math.round(Math.max(asked, context.deps.config.crawls.pauseMs))
  await run.checkpoint(async (tx) => {
    const site = await lockSource.maybeOne(tx, { appNo, sourceId })
    if (!robots && site?.revision === revision) {
      await skipRest.run(tx, { appNo, sourceId, reason: 'unreachable' })
      await endCrawl.run(tx, { appNo, sourceId, state: 'failed', reason: 'unreachable' })
    }
    // Pages that haven't changed may lead to lost ones, if there is room for them. A crawl before may have begun to read them.
    const lost = site ? site.links_lost && roomOf(site) > 0 : false
    const conditional = !lost && run.saved?.conditional !== false
    if (robots && lost) await clearLost.run(tx, { appNo, sourceId })
    const rules = robots?.rules ?? []
    return { revision, conditional, rules, pauseMs, spentMs: 0, bytes: 0 }
  })
}

/** How many more pages the site may know. */
const roomOf = ({ most_pages: most, pages }: SourceRow) => (most ?? 0) * KNOWN_PER_KEPT - pages

async function visit(
  run: CrawlRun,
  { url: start }: SourceRow,
  page: PageRow,
  progress: Progress,
): Promise<void> {
  const { appNo, input } = run
  const { sourceId } = input
  const started = performance.now()
  let waitedMs = 0
  const waited = (ms: number) => {
    waitedMs += ms
  }
  const visiting = { ...fetching(run), appNo, waited }
  const seen = await visitPage(visiting, { start: start ?? '', ...progress }, page)
  await run.checkpoint(async (tx) => {
    const site = await lockSource.maybeOne(tx, { appNo, sourceId })
    // It may have been deleted meanwhile.
    if (site) {
      const stored = await storePage(tx, { appNo, site }, page.page_id, seen)
      const added = await addLinks(tx, appNo, site, stored.links)
      const pages = added.pages - (stored.removed ? 1 : 0)
      const lost = added.lost || stored.lost
      await countSite.run(tx, { appNo, sourceId, pages, chunks: stored.chunks, lost })
    }
    // Pages of others that were read before don't count.
    const spentMs = progress.spentMs + Math.round(performance.now() - started - waitedMs)
    return { ...progress, spentMs, bytes: progress.bytes + seen.bytes }
  })
}

/** Returns how many pages are new, and whether there was too little room. */
async function addLinks(
  tx: Tx,
  appNo: number,
  site: SourceRow,
  { urls, depth }: { urls: string[]; depth: number },
): Promise<{ pages: number; lost: boolean }> {
  const { source_id: sourceId, pages, indexes } = site
  if (urls.length === 0 || depth > (site.depth ?? 0)) return { pages: 0, lost: false }
  const { count: others } = await countOtherPages.one(tx, { appNo, sourceId })
  const room = Math.min(roomOf(site), APP_PAGES - others - pages)
  if (room <= 0) return { pages: 0, lost: true }
  const added = await addPages.many(tx, {
    ...{ appNo, sourceId, depth, room, state: indexes ? 'processing' : 'discovered' },
    ...{ urls, ids: urls.map((url) => pageIdOf(sourceId, url)) },
  })
  return { pages: added.length, lost: added.length === room }
}

/** The same for the same page, so that it is known. */
export const pageIdOf = (sourceId: string, url: string) => hashedId(sourceId, url)

/** Ends the crawl, unless somebody has asked for another one meanwhile. */
async function finish(run: CrawlRun, progress: Progress): Promise<void> {
  const { appNo, input } = run
  const { sourceId } = input
  await run.checkpoint(async (tx) => {
    const site = await lockSource.maybeOne(tx, { appNo, sourceId })
    if (site?.revision === progress.revision) {
      await skipRest.run(tx, { appNo, sourceId, reason: 'limit' })
      // It hasn't read all of them.
      const lost = isExhausted(progress) && !progress.conditional
      await countSite.run(tx, { appNo, sourceId, pages: 0, chunks: 0, lost })
      const { usable, reason } = await sumUp.one(tx, { appNo, sourceId })
      const ended =
        usable > 0
          ? { state: 'indexed', reason: null }
          : { state: 'failed', reason: faultOf(reason) }
      await endCrawl.run(tx, { appNo, sourceId, ...ended })
      await startEmbeddingOf(tx, appNo, sourceId)
    }
    return progress
  })
}

/** Why a website has no pages, by what became of its first one. */
function faultOf(reason: string | null): FailReason {
  switch (reason as PageReason | null) {
    case 'robots':
    case 'other_host':
    case 'app_full':
      return reason as FailReason
    case 'gone':
    case 'refused':
    case 'unreachable':
    case 'forbidden_target':
      return 'unreachable'
    default:
      return 'empty'
  }
}

/** Deletes the chunks of pages that were excluded: there may be too many for the request that excludes them. */
export const sweepPagesJob = defineJob({
  name: 'knowledge.sweepPages',
  summary: 'Deletes the chunks of pages that were excluded.',
  input: Type.Object({ sourceId: Type.String() }),
  run: (run) =>
    sweepAll(run, (limit) =>
      run.context.cell.db.tx(async (tx) => {
        const one = { appNo: run.appNo, sourceId: run.input.sourceId }
        await lockSource.maybeOne(tx, one)
        return sweepExcluded.one(tx, { ...one, limit })
      }),
    ),
})
