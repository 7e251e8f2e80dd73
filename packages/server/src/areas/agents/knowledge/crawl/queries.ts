import type { CellRows } from '../../../../../db/rows.gen.ts'
import { query } from '../../../../platform/db/query.ts'
import { inRange, type Range } from '../../cursor.ts'
import { NEXT_TIME, SOURCE_COLUMNS, type SourceRow } from '../queries.ts'

export type PageRow = Omit<CellRows['knowledge_pages'], 'app_no' | 'source_id'>

type OneSite = { appNo: number; sourceId: string }
type OnePage = OneSite & { pageId: string }

const COLUMNS = `page_id, no, url, depth, title, description, state, reason, due_at, tries, etag, last_modified, digest,
  chunks, crawled_at, created_at, updated_at`
const OF_SITE = 'app_no = :appNo and source_id = :sourceId::uuid'
const ONE = `${OF_SITE} and page_id = :pageId::uuid`

/** The caller holds the lock of the app's agents, so times of creation differ. */
export const insertWebsite = query<
  {
    appNo: number
    title: string
    url: string
    depth: number
    mostPages: number
    indexes: boolean
  },
  SourceRow
>(
  'knowledge.insertWebsite',
  `insert into knowledge_sources
     (app_no, kind, title, state, url, depth, most_pages, indexes, created_at, updated_at)
   select :appNo, 'websites', :title, 'indexing', :url, :depth, :mostPages, :indexes, at, at from (${NEXT_TIME}) next
   returning ${SOURCE_COLUMNS}`,
)

/**
 * With how many chunks of each have a vector of the app's model, if it has one. A site knows at most 5,000 pages, so statements
 * may look at all of them.
 */
export const listPageRows = query<
  Range &
    OneSite & {
      states: readonly string[]
      startTime: Date | null
      endTime: Date | null
      model: string | null
    },
  PageRow & { embedded: number }
>(
  'knowledge.listPages',
  `select ${COLUMNS}, (
     select count(*) from knowledge_chunks c join knowledge_vectors v using (app_no, chunk_id)
     where c.app_no = :appNo and c.source_id = :sourceId::uuid and c.page_id = knowledge_pages.page_id
       and knowledge_pages.chunks > 0 and v.model = :model) as embedded
   from knowledge_pages
   where ${OF_SITE} and state = any (:states::text[])
     and (:startTime::timestamptz is null or created_at >= :startTime)
     and (:endTime::timestamptz is null or created_at <= :endTime) and ${inRange}`,
)

export const listPageStates = query<
  OneSite & { ids: string[] },
  { page_id: string; state: string }
>(
  'knowledge.listPageStates',
  `select page_id, state from knowledge_pages where ${OF_SITE} and page_id = any (:ids::uuid[])`,
)

export const findPage = query<OnePage, PageRow>(
  'knowledge.findPage',
  `select ${COLUMNS} from knowledge_pages where ${ONE}`,
)

/** Pages that can be found, or that somebody can choose. */
const KEPT = `(chunks > 0 or state = 'discovered' and crawled_at is not null)`

/**
 * Those that were never visited first, then those whose visit is the longest ago. Once the site keeps its most pages, only
 * these are visited.
 */
export const nextPage = query<OneSite & { most: number }, PageRow & { wait_ms: number }>(
  'knowledge.nextPage',
  `select ${COLUMNS}, ceil(greatest(0, extract(epoch from due_at - now()) * 1000))::int as wait_ms
   from knowledge_pages where ${OF_SITE} and due_at is not null
     and (${KEPT} or (select count(*) from knowledge_pages where ${OF_SITE} and ${KEPT}) < :most)
   order by greatest(due_at, now()), crawled_at nulls first, depth, no limit 1`,
)

/** Adds pages that aren't known yet, as many as there is room for. The caller holds the lock of the source. */
export const addPages = query<
  OneSite & { ids: string[]; urls: string[]; depth: number; state: string; room: number },
  { page_id: string }
>(
  'knowledge.addPages',
  `insert into knowledge_pages
     (app_no, source_id, page_id, no, url, depth, state, due_at, created_at, updated_at)
   select :appNo, :sourceId::uuid, fresh.id, last.no + fresh.nth, fresh.url, :depth, :state, now(),
     last.at + fresh.nth * interval '1 millisecond', now()
   from (
     select l.id, l.url, row_number() over (order by l.nth)::int as nth
     from unnest(:ids::uuid[], :urls::text[]) with ordinality l (id, url, nth)
     where not exists (select from knowledge_pages where ${OF_SITE} and page_id = l.id)
   ) fresh cross join (
     select coalesce(max(no), -1) as no, greatest(date_trunc('milliseconds', now()), max(created_at)) as at
     from knowledge_pages where ${OF_SITE}
   ) last
   where fresh.nth <= :room::int
   returning page_id`,
)

/** What became of a visit. */
export const storeVisit = query<
  OnePage & {
    state: string
    reason: string | null
    title: string | null
    description: string | null
    etag: string | null
    lastModified: string | null
    digest: Buffer | null
    chunks: number
  }
>(
  'knowledge.storeVisit',
  `update knowledge_pages set state = :state, reason = :reason, title = coalesce(:title, title),
     description = coalesce(:description, description), etag = :etag, last_modified = :lastModified,
     digest = :digest, chunks = :chunks, due_at = null, tries = 0, crawled_at = now(), updated_at = now()
   where ${ONE}`,
)

/** It may work a little later, or in the next crawl. */
export const storeFailure = query<
  OnePage & { state: string; reason: string; delayMs: number | null }
>(
  'knowledge.storeFailure',
  `update knowledge_pages set state = :state, reason = :reason, tries = tries + 1,
     due_at = now() + :delayMs::int * interval '1 millisecond', crawled_at = now(), updated_at = now()
   where ${ONE}`,
)

export const removePage = query<OnePage>(
  'knowledge.removePage',
  `delete from knowledge_pages where ${ONE}`,
)

/** Deletes the chunks of a page but for some. */
export const removePageChunks = query<OnePage & { kept: string[] }>(
  'knowledge.removePageChunks',
  `delete from knowledge_chunks where ${ONE} and chunk_id <> all (:kept::uuid[])`,
)

/** Whether another page of the site says the same. */
export const findTwin = query<OnePage & { digest: Buffer }, { page_id: string }>(
  'knowledge.findTwin',
  `select page_id from knowledge_pages
   where ${OF_SITE} and digest = :digest and chunks > 0 and page_id <> :pageId::uuid limit 1`,
)

/** Its pages and chunks have become more or fewer. `lost`: and it doesn't know all pages that it leads to. */
export const countSite = query<OneSite & { pages: number; chunks: number; lost: boolean }>(
  'knowledge.countSite',
  `update knowledge_sources set pages = pages + :pages::int, chunks = chunks + :chunks::int,
     links_lost = links_lost or :lost, updated_at = now()
   where ${OF_SITE}`,
)

/** A crawl reads all pages, so it finds all links again. */
export const clearLost = query<OneSite>(
  'knowledge.clearLost',
  `update knowledge_sources set links_lost = false where ${OF_SITE}`,
)

/** Pages in all sites but this one. An app has at most 10,000 sources. */
export const countOtherPages = query<OneSite, { count: number }>(
  'knowledge.countOtherPages',
  `select coalesce(sum(pages), 0)::int as count from knowledge_sources
   where app_no = :appNo and source_id <> :sourceId::uuid`,
)

/** What a crawl has come to: how many pages can be found, and what became of the first one. */
export const sumUp = query<OneSite, { usable: number; reason: string | null }>(
  'knowledge.sumUp',
  `select count(*) filter (where state in ('processed', 'discovered')) as usable,
     (select reason from knowledge_pages where ${OF_SITE} order by depth, no limit 1) as reason
   from knowledge_pages where ${OF_SITE}`,
)

export const endCrawl = query<OneSite & { state: string; reason: string | null }>(
  'knowledge.endCrawl',
  `update knowledge_sources set state = :state, reason = :reason, updated_at = now() where ${OF_SITE}`,
)

/** Pages that were never visited, or not since somebody has chosen them, say why. */
export const skipRest = query<OneSite & { reason: string }>(
  'knowledge.skipRest',
  `update knowledge_pages set due_at = null, updated_at = now(),
     state = case when crawled_at is null or state = 'processing' then 'skipped' else state end,
     reason = case when crawled_at is null or state = 'processing' then :reason else reason end
   where ${OF_SITE} and due_at is not null`,
)

/** Begins a crawl, or the rest of it. The caller holds the lock of the source. */
export const beginCrawl = query<OneSite & { indexes: boolean | null }, SourceRow>(
  'knowledge.beginCrawl',
  `update knowledge_sources set state = 'indexing', reason = null, revision = revision + 1,
     indexes = coalesce(:indexes, indexes), updated_at = now()
   where ${OF_SITE} returning ${SOURCE_COLUMNS}`,
)

/** All pages but those that were excluded are visited again. */
export const visitAll = query<OneSite>(
  'knowledge.visitAll',
  `update knowledge_pages set due_at = now(), tries = 0
   where ${OF_SITE} and reason is distinct from 'excluded'`,
)

/** By their ids or URLs. Agents don't find their chunks from now on. Returns how many these are. */
export const excludePages = query<OneSite & { exclude: string[] }, { chunks: number }>(
  'knowledge.excludePages',
  `with chosen as materialized (
     select page_id, chunks from knowledge_pages
     where ${OF_SITE} and (page_id::text = any (:exclude::text[]) or url = any (:exclude::text[]))
   ), left_out as (
     update knowledge_pages set state = 'skipped', reason = 'excluded', due_at = null, chunks = 0, digest = null,
       etag = null, last_modified = null, updated_at = now()
     where ${OF_SITE} and page_id in (select page_id from chosen)
   )
   select coalesce(sum(chunks), 0)::int as chunks from chosen`,
)

/** Deletes some chunks of pages that were excluded. The caller holds the lock of the source: nobody indexes them again. */
export const sweepExcluded = query<OneSite & { limit: number }, { gone: boolean }>(
  'knowledge.sweepExcluded',
  `with swept as (
     delete from knowledge_chunks where ctid = any (array(
       select c.ctid from knowledge_pages p
       join knowledge_chunks c on c.app_no = p.app_no and c.source_id = p.source_id and c.page_id = p.page_id
       where p.app_no = :appNo and p.source_id = :sourceId::uuid and p.chunks = 0
       limit :limit))
     returning 1
   )
   select count(*) < :limit as gone from swept`,
)

/** Pages that wait for a choice, that failed, or that were excluded before. */
export const choosePages = query<OneSite & { exclude: string[] }, { chosen: number }>(
  'knowledge.choosePages',
  `with chosen as (
     update knowledge_pages set state = 'processing', reason = null, tries = 0, due_at = now(), updated_at = now()
     where ${OF_SITE} and (state in ('discovered', 'failed') or reason = 'excluded')
       and not (page_id::text = any (:exclude::text[]) or url = any (:exclude::text[]))
     returning 1
   )
   select count(*) as chosen from chosen`,
)
