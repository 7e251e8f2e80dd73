/** How pages of a site are fetched: through the guard that refuses private addresses, within limits, without redirects. */
import type { IncomingHttpHeaders } from 'node:http'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { lookupTable } from '../../../../platform/lookup-table.ts'
import type { Outbound, StreamedAnswer } from '../../../../platform/net/outbound.ts'
import { ForbiddenTarget } from '../../../../platform/net/targets.ts'
import type { FileType } from '../schema.ts'
import { parseRobots, type Robots } from './robots.ts'
import type { PageReason } from './schema.ts'

export interface Fetching {
  outbound: Outbound
  /** For all of a page. */
  timeoutMs: number
  signal: AbortSignal
}

/** What the site said about the version of a page. */
export interface Version {
  etag: string | null
  lastModified: string | null
}

export interface PageBytes extends Version {
  bytes: Buffer
  type: FileType
  charset: string | undefined
  /** The site doesn't want it to be found. */
  noindex: boolean
}

/** `passing`: it may work later. */
export type Fetched =
  | { page: PageBytes }
  | { unchanged: true }
  | { movedTo: string }
  | { reason: PageReason; passing: boolean }

/** The most bytes of a page, packed and unpacked. */
const PAGE_BYTES = 2_000_000
const ROBOTS_BYTES = 100_000
const ROBOTS_REDIRECTS = 5
const VERSION_LENGTH = 300

const TYPES = lookupTable<FileType>({
  'text/html': 'text/html',
  'application/xhtml+xml': 'text/html',
  'text/plain': 'text/plain',
  'text/markdown': 'text/markdown',
})

class TooLarge extends Error {}

/** Throws only the reason of `signal`. */
export async function fetchPage(
  fetching: Fetching,
  url: string,
  known: Version | undefined,
): Promise<Fetched> {
  const conditions = {
    ...(known?.etag && { 'if-none-match': known.etag }),
    ...(known?.lastModified && { 'if-modified-since': known.lastModified }),
  }
  const accept = 'text/html, application/xhtml+xml, text/plain, text/markdown'
  try {
    return await get(fetching, url, { accept, ...conditions }, (answer) =>
      readAnswer(answer, url, known !== undefined),
    )
  } catch (error) {
    fetching.signal.throwIfAborted()
    return failureOf(error as Error)
  }
}

function failureOf(error: Error): Fetched {
  const { code } = error as NodeJS.ErrnoException
  if (error instanceof ForbiddenTarget) return { reason: 'forbidden_target', passing: false }
  if (error instanceof TooLarge) return { reason: 'too_large', passing: false }
  if (code?.startsWith('Z_')) return { reason: 'unreadable', passing: false }
  return { reason: 'unreachable', passing: true }
}

/** Calls, and closes the connection once `read` is done, whatever it has left unread. */
async function get<T>(
  { outbound, timeoutMs, signal }: Fetching,
  url: string,
  headers: Record<string, string>,
  read: (answer: StreamedAnswer) => Promise<T>,
): Promise<T> {
  const done = new AbortController()
  const answer = await outbound.stream(url, {
    ...{ method: 'GET', idleMs: timeoutMs },
    headers: { 'user-agent': 'Loquat', 'accept-encoding': 'gzip', ...headers },
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs), done.signal]),
  })
  try {
    return await read(answer)
  } finally {
    done.abort()
  }
}

async function readAnswer(
  { status, headers, chunks }: StreamedAnswer,
  url: string,
  conditional: boolean,
): Promise<Fetched> {
  if (status === 304 && conditional) return { unchanged: true }
  if (isRedirect(status)) return movedTo(headers, url)
  if (status === 404 || status === 410) return { reason: 'gone', passing: false }
  const passing = status === 408 || status === 429 || status >= 500
  if (status !== 200) return { reason: passing ? 'unreachable' : 'refused', passing }
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';')
  const known = TYPES[type.trim()]
  if (!known) return { reason: 'not_text', passing: false }
  const parts: Buffer[] = []
  const body = unpacked(chunks, headers['content-encoding'], PAGE_BYTES)
  if (!body) return { reason: 'unreadable', passing: false }
  for await (const part of body) parts.push(part)
  return {
    page: {
      ...{ bytes: Buffer.concat(parts), type: known },
      charset: /charset="?([\w-]+)/.exec(parameters.join(';'))?.[1],
      noindex: /\b(noindex|none)\b/i.test(String(headers['x-robots-tag'] ?? '')),
      etag: version(headers.etag),
      lastModified: version(headers['last-modified']),
    },
  }
}

const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status)

function movedTo({ location = '' }: IncomingHttpHeaders, url: string): Fetched {
  const to = URL.parse(location, url)
  return to ? { movedTo: to.href } : { reason: 'unreadable', passing: false }
}

const version = (header: string | undefined) =>
  header !== undefined && header.length <= VERSION_LENGTH ? header : null

/** The bytes of a body, which fail with `TooLarge` beyond the limit. Undefined if it is packed in another way. */
function unpacked(
  chunks: AsyncIterable<Buffer>,
  encoding: string | undefined,
  most: number,
): AsyncIterable<Buffer> | undefined {
  const packed = limited(chunks, most)
  if (encoding === undefined || encoding === 'identity') return packed
  if (encoding !== 'gzip' && encoding !== 'x-gzip') return undefined
  // Errors reach the reader of the stream.
  return limited(
    pipeline(packed, createGunzip(), () => {}),
    most,
  )
}

async function* limited(chunks: AsyncIterable<Buffer>, most: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > most) throw new TooLarge()
    yield chunk
  }
}

/** Undefined if the site doesn't answer: then nobody knows what it forbids. A site without the file forbids nothing. */
export async function fetchRobots(fetching: Fetching, site: string): Promise<Robots | undefined> {
  let url = new URL('/robots.txt', site).href
  const { origin } = new URL(url)
  for (let redirects = 0; redirects <= ROBOTS_REDIRECTS; redirects++) {
    const found = await get(fetching, url, {}, (answer) => readRobots(answer, url)).catch(() => {
      fetching.signal.throwIfAborted()
      return undefined
    })
    if (!found || 'rules' in found) return found
    if (URL.parse(found.movedTo)?.origin !== origin) break
    url = found.movedTo
  }
  return parseRobots('')
}

async function readRobots(
  { status, headers, chunks }: StreamedAnswer,
  url: string,
): Promise<Robots | { movedTo: string } | undefined> {
  if (status === 429 || status >= 500) return undefined
  if (isRedirect(status)) {
    const moved = movedTo(headers, url)
    return 'movedTo' in moved ? moved : parseRobots('')
  }
  if (status !== 200) return parseRobots('')
  const parts: Buffer[] = []
  try {
    const body = unpacked(chunks, headers['content-encoding'], ROBOTS_BYTES)
    // Nobody can say what it allows.
    if (!body) return undefined
    for await (const part of body) parts.push(part)
  } catch (error) {
    // Its beginning counts.
    if (!(error instanceof TooLarge)) throw error
  }
  return parseRobots(Buffer.concat(parts).toString('utf8'))
}
