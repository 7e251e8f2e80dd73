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

/** Threads that wait for the next page of their app, and when they end. */
const resting = new Map<Worker, { appNo: number; ends: NodeJS.Timeout }>()

/** Who wants a text to be read. */
export interface Reader {
  appNo: number
  signal: AbortSignal
  /** Hears for how long others had the threads. */
  waited?(ms: number): void
}

/**
 * Reads and cuts a text in a thread: a hostile one can use up time and memory, but not those of others. A file has a thread of its
 * own, because its reader may be a large one. Pages and texts of an app follow each other in a thread until one takes too long or
 * too much. Those of another app don't: whatever a parser remembers stays in the app. Threads get no environment variables.
 */
export const extract = (task: Extracting, reader: Reader) => inThread<Extracted>(task, reader)

export const extractPage = (task: PageTask, reader: Reader) =>
  inThread<ExtractedPage | { reason: FailReason }>(task, reader)

function inThread<T>(
  task: Extracting | PageTask,
  { appNo, signal, waited }: Reader,
): Promise<T | { reason: FailReason }> {
  const asked = performance.now()
  return turns.run(async () => {
    waited?.(performance.now() - asked)
    signal.throwIfAborted()
    const isFile = 'path' in task
    const worker = (await takeRested(isFile ? undefined : appNo)) ?? openThread()
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
      if (reusable) rest(worker, appNo)
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
    clearTimeout(resting.get(worker)?.ends)
    resting.delete(worker)
  })
  return worker
}

/** It doesn't keep the process alive meanwhile. */
function rest(worker: Worker, appNo: number): void {
  worker.unref()
  resting.set(worker, { appNo, ends: setTimeout(() => void worker.terminate(), REST_MS).unref() })
}

/** A thread of the app. If there is none, one of another app ends: there are never more threads than turns. */
async function takeRested(appNo: number | undefined): Promise<Worker | undefined> {
  const all = [...resting]
  const found = all.find(([, of]) => of.appNo === appNo) ?? all[0]
  if (!found) return undefined
  const [worker, of] = found
  clearTimeout(of.ends)
  resting.delete(worker)
  worker.ref()
  if (of.appNo === appNo) return worker
  await worker.terminate()
  return undefined
}

/** The thread answers even while it is busy. One that has ended doesn't. */
async function watchBuffers(worker: Worker, full: AbortController): Promise<void> {
  const used = await worker.getHeapStatistics().catch(() => undefined)
  if (used && used.external_memory > BUFFER_BYTES) full.abort()
}
