import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { Semaphore } from '../../../platform/semaphore.ts'
import type { Parsed, Reason } from './parsed.ts'

export interface Task {
  path: string
  declaredType: string
  size: number
  folder: string
  square: boolean
  voice: boolean
}

/** An image takes up to 256 MB while it is decoded (`MAX_PIXELS`), whatever the number of jobs. */
const turns = new Semaphore(2)

/** What isn't read by then is refused: it is built to take long. Images have a shorter limit of their own. */
const PARSE_MS = 120_000
/** Of JavaScript objects. Buffers and pixels are bounded by the readers. */
const HEAP_MB = 128

/**
 * Reads a file in a thread of its own: a hostile file can use up time and memory, but not those of other requests.
 * The thread is new each time and gets no environment variables.
 */
export function parse(task: Task, signal?: AbortSignal): Promise<Parsed | Reason> {
  return turns.run(async () => {
    signal?.throwIfAborted()
    const worker = new Worker(new URL('./parse.worker.ts', import.meta.url), {
      workerData: task,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    })
    const expired = AbortSignal.timeout(PARSE_MS)
    try {
      const ended = signal ? AbortSignal.any([signal, expired]) : expired
      const [parsed] = await once(worker, 'message', { signal: ended })
      return parsed
    } catch (error) {
      signal?.throwIfAborted()
      if (expired.aborted || isOutOfMemory(error)) return 'unreadable'
      throw error
    } finally {
      await worker.terminate()
    }
  })
}

const isOutOfMemory = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY'
