/** Runs rules on many messages, in a thread of its own that leaves the CPU to everything else. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Hit, RuleSource, Texts } from './rules.ts'
import type { Answer, Request, ThreadOptions } from './thread.ts'

/** The time for one batch. */
const DEADLINE_MS = 5_000
const VERSION = 'batch'

export class BatchThread {
  readonly #source: RuleSource
  #worker: Worker | undefined

  constructor(source: RuleSource) {
    this.#source = source
  }

  /** The hits of each message. Undefined if all of them together take too long. */
  async check(messages: Texts[], signal: AbortSignal): Promise<Hit[][] | undefined> {
    this.#worker ??= await this.#open(signal)
    try {
      const deadline = AbortSignal.timeout(DEADLINE_MS)
      const asked: Request = { version: VERSION, messages }
      const answer = await this.#ask(this.#worker, asked, AbortSignal.any([signal, deadline]))
      return (answer as { hits: Hit[][] }).hits
    } catch (error) {
      await this.close()
      signal.throwIfAborted()
      if (error instanceof Error && error.name === 'AbortError') return undefined
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
    this.#worker = undefined
  }

  /** Starting and compiling are bounded by the limits of rules. */
  async #open(signal: AbortSignal): Promise<Worker> {
    const workerData: ThreadOptions = { low: true }
    const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData })
    try {
      await once(worker, 'message', { signal })
      await this.#ask(worker, { version: VERSION, source: this.#source }, signal)
      return worker
    } catch (error) {
      await worker.terminate()
      throw error
    }
  }

  async #ask(worker: Worker, request: Request, signal: AbortSignal): Promise<Answer> {
    const answered = once(worker, 'message', { signal })
    worker.postMessage(request)
    const [answer] = await answered
    return answer as Answer
  }
}
