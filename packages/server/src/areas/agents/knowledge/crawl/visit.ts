/** What a visit of a page finds. */
import { strip } from '../../answer-text.ts'
import type { Chunk } from '../chunks.ts'
import { extractPage, type Reader } from '../extract.ts'
import { isOfSite } from './links.ts'
import { type Fetching, fetchPage, type PageBytes } from './page-fetch.ts'
import type { PageRow } from './queries.ts'
import { isAllowed, type RobotsRule } from './robots.ts'
import type { PageReason } from './schema.ts'

/** What it leads to, and how many links away that is. */
interface Leads {
  links: string[]
  away: 0 | 1
}

/** What is stored about a page. */
export interface ReadPage extends Pick<PageBytes, 'etag' | 'lastModified'> {
  title: string
  description: string
  chunks: Chunk[]
}

/** How a visit ended. `passing`: it may work later, so what was read before stays. */
export type Seen = { bytes: number } & Leads &
  (
    | { outcome: 'unchanged' }
    | { outcome: 'read'; page: ReadPage }
    | { outcome: 'skipped' | 'failed'; reason: PageReason; passing: boolean }
  )

/** Failures say that somebody should do something; the site or the app wanted the others. */
const SKIPPED: PageReason[] = [
  ...(['robots', 'other_host', 'moved', 'not_text', 'noindex', 'empty'] as const),
]

const NOWHERE: Leads = { links: [], away: 1 }

interface Left extends Partial<Leads> {
  passing?: boolean
  bytes?: number
}

function left(reason: PageReason, { passing = false, bytes = 0, ...leads }: Left = {}): Seen {
  const outcome = SKIPPED.includes(reason) ? 'skipped' : 'failed'
  return { outcome, reason, passing, bytes, ...NOWHERE, ...leads }
}

/** The crawl: where it began, what the site forbids, and whether it sends only what has changed. */
interface Crawl {
  start: string
  rules: readonly RobotsRule[]
  conditional: boolean
}

/** Throws only the reason of the signal. */
export async function visitPage(
  fetching: Fetching & Reader,
  { start, rules, conditional }: Crawl,
  { url, state, etag, last_modified: lastModified }: PageRow,
): Promise<Seen> {
  if (!isAllowed(rules, new URL(url))) return left('robots')
  const known = conditional && state === 'processed' && (etag ?? lastModified) !== null
  const fetched = await fetchPage(fetching, url, known ? { etag, lastModified } : undefined)
  if ('unchanged' in fetched) return { outcome: 'unchanged', bytes: 0, ...NOWHERE }
  if ('reason' in fetched) return left(fetched.reason, { passing: fetched.passing })
  if ('movedTo' in fetched) {
    const to = new URL(fetched.movedTo)
    if (!isOfSite(start, to)) return left('other_host')
    to.hash = ''
    return left('moved', { links: [to.href], away: 0 })
  }
  return readPage(fetched.page, url, fetching)
}

async function readPage(
  { bytes: body, type, charset, ...page }: PageBytes,
  url: string,
  reader: Reader,
): Promise<Seen> {
  const bytes = body.length
  const read = await extractPage({ page: body, type, charset, url }, reader)
  if ('reason' in read) return left('unreadable', { bytes })
  const { title, description, links, text } = read
  if (page.noindex || read.noindex) return left('noindex', { bytes, links })
  if ('reason' in text) return left(text.reason as PageReason, { bytes, links })
  const { etag, lastModified } = page
  return {
    outcome: 'read',
    ...{ bytes, links },
    away: 1,
    page: {
      ...{ title: shown(title) || pathOf(url), description: shown(description) },
      ...{ chunks: text.chunks, etag, lastModified },
    },
  }
}

/** People and models read it, so it has no characters that nobody sees. */
const shown = (text: string) => strip(text).trim()

const pathOf = (url: string) => {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`.slice(0, 500)
}
