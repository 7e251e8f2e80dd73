import { badRequest } from '../http/fail.ts'
import { type PageRequest, pagination } from '../http/schemas.ts'
import type { Place, Secrets } from '../secrets/secrets.ts'
import type { Count } from './count.ts'
import type { PageKey } from './keyset.ts'
import type { PageStarts } from './page-starts.ts'

/** Rows of a list, and what reading them revealed about it. */
export interface Listed<R> {
  rows: R[]
  /** Where reading stopped before there were enough rows, if it did: there may be more. */
  stoppedAt?: PageKey | undefined
  /** Counts the list at a lower cost than starting again. */
  count?: (() => Promise<Count>) | undefined
}

/** How to page through a list sorted by a key. */
export interface Paging<R> {
  read(after: PageKey | undefined, limit: number): Promise<Listed<R>>
  keyOf(row: R): PageKey
  /** The sort key of row number `count` after `from`, for page numbers that nobody paged to. */
  startOf(count: number, from?: PageKey): Promise<PageKey | undefined>
  count(): Promise<Count>
  /** Whether counting reads row by row: a capped count is then remembered with the page starts. */
  slowCount?: boolean
}

/** A list without rows. */
export const emptyList = <R>(): Paging<R> => ({
  keyOf: () => [],
  read: async () => ({ rows: [] }),
  startOf: async () => undefined,
  count: async () => ({ total: 0, capped: false }),
})

export interface KeysetList<R> extends Paging<R> {
  /** Which list this is, the number of its app or operator, and its order: cursors of other lists are rejected. */
  name: readonly (string | number)[]
  /** Everything else that determines its content: the caller, filters. */
  filters: unknown
}

export interface KeysetRequest extends PageRequest {
  cursor?: string | undefined
  /** Where the first page starts, if not at the top. */
  from?: PageKey | undefined
  /** Count from the top each time: nothing is remembered, and there is no cursor. */
  counted?: boolean
}

export interface KeysetTools {
  secrets: Secrets
  starts: PageStarts
}

/**
 * Consecutive pages continue where the previous one ended, a jump counts from the top, and a cursor
 * leads straight to its page.
 */
export async function keysetPage<R>(
  tools: KeysetTools,
  list: KeysetList<R>,
  request: KeysetRequest,
) {
  const { perPage } = request
  const remembered = [list.name, list.filters, perPage, request.from]
  let counted: Count | undefined
  const count = async (counting = () => countOf(tools, list, request, remembered)) =>
    (counted ??= await counting())
  const { after, skipped, beyond, known } = await startOf(
    tools,
    { ...list, count },
    request,
    remembered,
  )
  const page = Math.floor(skipped / perPage) + 1
  const listed = beyond ? { rows: [] } : await list.read(after, perPage + 1)
  const { rows } = listed
  const shown = rows.slice(0, perPage)
  const full = rows.length > perPage
  const last = shown.at(-1)
  const end = full && last !== undefined ? list.keyOf(last) : listed.stoppedAt
  if (end && !request.cursor && !request.counted)
    await tools.starts.remember(remembered, page + 1, end)

  const { total, capped, most } = known ?? (await count(listed.count))
  const least = shown.length > 0 ? skipped + shown.length + (full ? 1 : 0) : 0
  const counts = { total: Math.max(total, least), capped, ...(most !== undefined && { most }) }
  const ended = !end && !beyond
  if (capped && ended && !request.cursor && !request.counted)
    await tools.starts.rememberEnd(remembered, skipped + shown.length)
  const next =
    end && !request.counted
      ? sealCursor(tools.secrets, list.name, { after: end, skipped: skipped + shown.length })
      : undefined
  return {
    rows: shown,
    next,
    meta: {
      ...cappedPagination({ page, perPage }, counts, shown.length, ended),
      ...(next !== undefined && { cursor: { next } }),
    },
  }
}

/**
 * `meta.pagination` of a list that may be capped. Before its end is known, the number of pages allows for the most rows
 * that it can have: a caller who reads that many pages misses none.
 */
export function cappedPagination(
  request: PageRequest,
  { total, capped, most = 0 }: Count,
  shown: number,
  ended: boolean,
) {
  const { pagination: counts } = pagination(request, total, shown)
  const pages = ended ? 0 : Math.ceil(most / request.perPage)
  return {
    pagination: {
      ...counts,
      total_pages: Math.max(counts.total_pages, pages),
      ...(capped && { total_capped: true as const }),
    },
  }
}

async function countOf<R>(
  { starts }: KeysetTools,
  list: KeysetList<R>,
  { counted }: KeysetRequest,
  remembered: unknown,
): Promise<Count> {
  if (!list.slowCount || counted) return list.count()
  const known = await starts.findCount(remembered)
  if (known) return known
  const count = await list.count()
  if (count.capped) await starts.rememberCount(remembered, count)
  return count
}

/** Where a page starts, and how many rows come before it. A cursor contains both. */
interface Cursor {
  after: PageKey
  skipped: number
}

interface Start {
  after: PageKey | undefined
  skipped: number
  /** The page is beyond the end. */
  beyond: boolean
  /** The number of rows, if it is remembered. */
  known?: Count
}

async function startOf<R>(
  { secrets, starts }: KeysetTools,
  list: KeysetList<R>,
  { page, perPage, cursor, from, counted = false }: KeysetRequest,
  remembered: unknown,
): Promise<Start> {
  if (cursor) return { ...openCursor(secrets, list.name, cursor), beyond: false }
  const skipped = (page - 1) * perPage
  if (page === 1) return { after: from, skipped, beyond: false }
  if (!counted) {
    const after = await starts.find(remembered, page)
    if (after) return { after, skipped, beyond: false }
    const total = (await starts.findEnd(remembered)) ?? Number.POSITIVE_INFINITY
    if (skipped >= total)
      return { after: undefined, skipped, beyond: true, known: { total, capped: true } }
  }
  return starts.jump(list.name[1] ?? '', () => jumpTo(list, skipped, from))
}

/** Counts to a page that nobody paged to. */
async function jumpTo<R>(
  list: KeysetList<R>,
  skipped: number,
  from: PageKey | undefined,
): Promise<Start> {
  if (!from) {
    const { total, capped, most = Number.POSITIVE_INFINITY } = await list.count()
    // A remembered count may be out of date.
    const limit = capped && list.slowCount ? Number.POSITIVE_INFINITY : capped ? most : total
    if (skipped >= limit) return { after: undefined, skipped, beyond: true }
  }
  const after = await list.startOf(skipped, from)
  return { after, skipped, beyond: after === undefined }
}

const sealCursor = (secrets: Secrets, name: KeysetList<never>['name'], cursor: Cursor) =>
  secrets.seal(['cursor', JSON.stringify(name)], JSON.stringify(cursor)).toString('base64url')

/** Cursors are sealed: a cursor of another app or list is invalid. */
function openCursor(secrets: Secrets, name: KeysetList<never>['name'], cursor: string): Cursor {
  try {
    const place: Place = ['cursor', JSON.stringify(name)]
    return JSON.parse(secrets.open(place, Buffer.from(cursor, 'base64url')))
  } catch {
    throw badRequest({ cursor: ['cursor does not belong to this list'] })
  }
}
