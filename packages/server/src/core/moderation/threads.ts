/** Runs rules on texts that could take long, in a thread with a deadline. Apps take turns. */
import { Worker } from 'node:worker_threads'
import { fail } from '../../platform/http/fail.ts'
import type { CompiledRules, Hit, Texts } from './rules.ts'
import type { Answer, Request } from './thread.ts'

/** The time for one text. */
const DEADLINE_MS = 2_000
/** More texts of one app don't wait. */
const QUEUED = 100

interface Work {
  version: string
  rules: CompiledRules
  texts: Texts
  resolve: (hits: Hit[]) => void
  reject: (error: Error) => void
}

const TOO_SLOW = 'The rules took too long for this message. It was not sent.'
const OVERLOADED = 'Too many long messages wait for the rules. This one was not sent.'

const refused = (devMessage: string) =>
  fail('ERR_MISSION_FAILED', {}, { devMessage, retryAfter: 1 })

class Thread {
  #worker: Worker | undefined
  #current: Work | undefined
  #deadline: NodeJS.Timeout | undefined
  /** By the version of the rules, which belongs to one app. */
  readonly #queues = new Map<string, Work[]>()

  run(version: string, rules: CompiledRules, texts: Texts): Promise<Hit[]> {
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(version) ?? []
      if (queue.length >= QUEUED) return reject(refused(OVERLOADED))
      queue.push({ version, rules, texts, resolve, reject })
      this.#queues.set(version, queue)
      this.#next()
    })
  }

  #next(): void {
    if (this.#current) return
    const [first] = this.#queues
    if (!first) {
      this.#worker?.unref()
      return
    }
    const [version, queue] = first
    this.#current = queue.shift()
    // The other apps come before the next text of this one.
    this.#queues.delete(version)
    if (queue.length > 0) this.#queues.set(version, queue)
    if (this.#worker) this.#check()
    else this.#open()
    this.#worker?.ref()
  }

  /** Starts a thread. Once it is ready, it checks the current text. */
  #open(): void {
    const worker = new Worker(new URL('./thread.ts', import.meta.url))
    worker.on('message', (answer: Answer) => this.#worker === worker && this.#receive(answer))
    worker.on('error', (error) => this.#worker === worker && this.#end(error as Error))
    this.#worker = worker
  }

  /** Only the run has a deadline: starting and compiling are bounded by the limits of rules. */
  #check(): void {
    if (!this.#current) return
    const { version, texts } = this.#current
    this.#deadline = setTimeout(() => this.#end(refused(TOO_SLOW)), DEADLINE_MS)
    this.#worker?.postMessage({ version, messages: [texts] } satisfies Request)
  }

  #receive(answer: Answer): void {
    clearTimeout(this.#deadline)
    if (answer === 'ready') this.#check()
    else if (answer === 'unknown') {
      if (!this.#current) return
      const { version, rules } = this.#current
      this.#worker?.postMessage({ version, source: rules.source } satisfies Request)
    } else {
      this.#current?.resolve(answer.hits[0] ?? [])
      this.#done()
    }
  }

  /** A thread that doesn't answer is replaced. */
  #end(error: Error): void {
    void this.#worker?.terminate()
    this.#worker = undefined
    this.#current?.reject(error)
    this.#done()
  }

  #done(): void {
    clearTimeout(this.#deadline)
    this.#current = undefined
    this.#next()
  }
}

const thread = new Thread()

export const checkInThread = (version: string, rules: CompiledRules, texts: Texts) =>
  thread.run(version, rules, texts)
