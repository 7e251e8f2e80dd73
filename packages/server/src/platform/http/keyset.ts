import type { PageKey, PageStarts } from '../cache/page-starts.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { badRequest } from './fail.ts'
import { type PageRequest, pagination } from './schemas.ts'

/** A number of rows; capped where counting all of them would take too long. */
export interface Count {
  total: number
  capped: boolean
}

/** A list that is read in the order of a key. */
export interface KeysetList<R> {
  /** Which list this is, and in which order: a cursor of another one is not taken. */
  name: readonly (string | number)[]
  /** All else that decides what it holds: the caller, filters. */
  filters: unknown
  rows(after: PageKey | undefined, limit: number): Promise<R[]>
  keyOf(row: R): PageKey
  /** The place of the last of the first `count` rows past `from`: for pages that nobody crawled to. */
  placeOf(count: number, from?: PageKey): Promise<PageKey | undefined>
  count(): Promise<Count>
  /** Where it gave up before the page was full, if it did: there may be more. */
  stoppedAt?(): PageKey | undefined
}

export interface KeysetRequest extends PageRequest {
  cursor?: string | undefined
  /** Where the first page begins, if not at the top. */
  from?: PageKey | undefined
  /** Count from the top each time: nothing is remembered, and there is no cursor. */
  counted?: boolean
}

export interface KeysetTools {
  secrets: Secrets
  starts: PageStarts
}

/**
 * Page after page continues where the one before ended; a jump counts from the top; a cursor goes
 * straight.
 */
export async function keysetPage<R>(
  tools: KeysetTools,
  list: KeysetList<R>,
  request: KeysetRequest,
) {
  const { page, perPage } = request
  const remembered = [list.name, list.filters, perPage, request.from]
  let counted: Count | undefined
  const count = async () => (counted ??= await list.count())
  const { after, skipped, beyond } = await startOf(tools, { ...list, count }, request, remembered)
  const rows = beyond ? [] : await list.rows(after, perPage + 1)
  const shown = rows.slice(0, perPage)
  const full = rows.length > perPage
  const last = shown.at(-1)
  const end = full && last !== undefined ? list.keyOf(last) : list.stoppedAt?.()
  // Who goes by cursor is on no page that a number leads to.
  if (end && !request.cursor && !request.counted)
    await tools.starts.remember(remembered, page + 1, end)

  const { total, capped } = await count()
  const least = shown.length > 0 ? skipped + shown.length + (full ? 1 : 0) : 0
  const meta = pagination({ page, perPage }, Math.max(total, least), shown.length)
  return {
    rows: shown,
    pagination: { ...meta.pagination, ...(capped && { total_capped: true as const }) },
    next: end && !request.counted ? sealCursor(tools.secrets, list.name, end) : undefined,
  }
}

interface Start {
  after: PageKey | undefined
  /** How many rows come before, where that is known. */
  skipped: number
  /** The page is past the end. */
  beyond: boolean
}

async function startOf<R>(
  { secrets, starts }: KeysetTools,
  list: KeysetList<R>,
  { page, perPage, cursor, from, counted = false }: KeysetRequest,
  remembered: unknown,
): Promise<Start> {
  const skipped = (page - 1) * perPage
  if (cursor) return { after: openCursor(secrets, list.name, cursor), skipped, beyond: false }
  if (page === 1) return { after: from, skipped, beyond: false }
  const known = counted ? undefined : await starts.find(remembered, page)
  if (!known && !from) {
    const { total, capped } = await list.count()
    if (!capped && skipped >= total) return { after: undefined, skipped, beyond: true }
  }
  const after = known ?? (await list.placeOf(skipped, from))
  return { after, skipped, beyond: after === undefined }
}

const sealCursor = (secrets: Secrets, name: KeysetList<never>['name'], key: PageKey) =>
  secrets.seal(JSON.stringify([name, key])).toString('base64url')

/** Cursors are sealed: one of another app or list is as good as none. */
function openCursor(secrets: Secrets, name: KeysetList<never>['name'], cursor: string): PageKey {
  try {
    const [list, key] = JSON.parse(secrets.open(Buffer.from(cursor, 'base64url')))
    if (JSON.stringify(list) === JSON.stringify(name)) return key
  } catch {
    // told below
  }
  throw badRequest({ cursor: ['cursor does not belong to this list'] })
}
