import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Semaphore } from '../../../platform/semaphore.ts'
import type { Chunk } from './chunks.ts'
import type { FailReason, FileType } from './schema.ts'

/** A file, or a text that needs no reader. */
export type Extracting = { path: string; type: FileType } | { text: string }

/** A page of a site. */
export interface PageTask {
  page: Uint8Array
  type: FileType
  charset: string | undefined
  url: string
}

/** What a page says, and where it leads within its site. */
export interface ExtractedPage {
  title: string
  description: string
  links: string[]
  /** It doesn't want to be found. */
  noindex: boolean
  /** Its text, or why it has none. */
  text: Extracted
}

/** Plain text or Markdown, or why there is none. */
export type Read = { text: string } | { reason: FailReason }

/** The chunks of a text, or why there are none. */
export type Extracted = { chunks: Chunk[] } | { reason: FailReason }

/** The most characters of a text: as many as the chunks of a source have. */
export const TEXT_LENGTH = 5_000_000
/** The most chunks of a source: about as many as a transaction writes in two seconds. */
export const SOURCE_CHUNKS = 5_000
/** The most chunks of a page. */
export const PAGE_CHUNKS = 1_000

const turns = new Semaphore(2)
/** What isn't read by then is built to take long. */
const EXTRACT_MS = 60_000
const HEAP_MB = 256
/** Buffers aren't part of that heap: a small PDF can unpack to gigabytes. */
const BUFFER_BYTES = 256_000_000
const WATCH_MS = 100

/**
 * Reads and cuts a text in a thread of its own: a hostile file can use up time and memory, but not those of others. The thread
 * is new each time and gets no environment variables.
 */
export const extract = (task: Extracting, signal: AbortSignal) => inThread<Extracted>(task, signal)

export const extractPage = (task: PageTask, signal: AbortSignal) =>
  inThread<ExtractedPage | { reason: FailReason }>(task, signal)

function inThread<T>(
  task: Extracting | PageTask,
  signal: AbortSignal,
): Promise<T | { reason: FailReason }> {
  return turns.run(async () => {
    signal.throwIfAborted()
    const worker = new Worker(new URL('./extract.worker.ts', import.meta.url), {
      ...{ workerData: task, env: {}, execArgv: [] },
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    })
    const expired = AbortSignal.timeout(EXTRACT_MS)
    const full = new AbortController()
    const watch = setInterval(() => void watchBuffers(worker, full), WATCH_MS)
    try {
      const [extracted] = await once(worker, 'message', {
        signal: AbortSignal.any([signal, expired, full.signal]),
      })
      return extracted
    } catch (error) {
      signal.throwIfAborted()
      const tooMuch = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY'
      if (expired.aborted || full.signal.aborted || tooMuch) return { reason: 'unreadable' }
      throw error
    } finally {
      clearInterval(watch)
      await worker.terminate()
    }
  })
}

/** The thread answers even while it is busy. One that has ended doesn't. */
async function watchBuffers(worker: Worker, full: AbortController): Promise<void> {
  const used = await worker.getHeapStatistics().catch(() => undefined)
  if (used && used.external_memory > BUFFER_BYTES) full.abort()
}
