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

/** How many texts are read at a time, and how many threads there are for that. */
const turns = new Semaphore(2)
/** What isn't read by then is built to take long. */
const FILE_MS = 60_000
const PAGE_MS = 20_000
const HEAP_MB = 256
/** Buffers aren't part of that heap: a small PDF can unpack to gigabytes. */
const BUFFER_BYTES = 256_000_000
const WATCH_MS = 100
/** A thread that takes more after a page isn't used again. */
const RESTING_BYTES = 100_000_000
/** How long a thread waits for the next page. */
const REST_MS = 10_000

/** What a thread answers, and how much memory it uses then. */
export interface Answer {
  extracted: unknown
  bytes: number
}

/** Threads that wait for their next page, and when they end. */
const resting = new Map<Worker, NodeJS.Timeout>()

/**
 * Reads and cuts a text in a thread: a hostile one can use up time and memory, but not those of others. A file has a thread of its
 * own, because its reader may be a large one. Pages and texts follow each other in a thread until one takes too long or too much.
 * Threads get no environment variables.
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
    const isFile = 'path' in task
    const rested = takeRested()
    if (isFile) await rested?.terminate()
    const worker = isFile || !rested ? openThread() : rested
    const expired = AbortSignal.timeout(isFile ? FILE_MS : PAGE_MS)
    const full = new AbortController()
    const watch = setInterval(() => void watchBuffers(worker, full), WATCH_MS)
    let reusable = false
    try {
      const answered = once(worker, 'message', {
        signal: AbortSignal.any([signal, expired, full.signal]),
      })
      worker.postMessage(task)
      const [{ extracted, bytes }] = (await answered) as [Answer]
      reusable = !isFile && bytes < RESTING_BYTES
      return extracted as T
    } catch (error) {
      signal.throwIfAborted()
      const tooMuch = (error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY'
      if (expired.aborted || full.signal.aborted || tooMuch) return { reason: 'unreadable' }
      throw error
    } finally {
      clearInterval(watch)
      if (reusable) rest(worker)
      else await worker.terminate()
    }
  })
}

function openThread(): Worker {
  const worker = new Worker(new URL('./extract.worker.ts', import.meta.url), {
    ...{ env: {}, execArgv: [] },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
  })
  // Those who wait for an answer get the error, too.
  worker.on('error', () => {})
  worker.once('exit', () => {
    clearTimeout(resting.get(worker))
    resting.delete(worker)
  })
  return worker
}

/** It doesn't keep the process alive meanwhile. */
function rest(worker: Worker): void {
  worker.unref()
  resting.set(worker, setTimeout(() => void worker.terminate(), REST_MS).unref())
}

function takeRested(): Worker | undefined {
  const [found] = resting
  if (!found) return undefined
  const [worker, ends] = found
  clearTimeout(ends)
  resting.delete(worker)
  worker.ref()
  return worker
}

/** The thread answers even while it is busy. One that has ended doesn't. */
async function watchBuffers(worker: Worker, full: AbortController): Promise<void> {
  const used = await worker.getHeapStatistics().catch(() => undefined)
  if (used && used.external_memory > BUFFER_BYTES) full.abort()
}
