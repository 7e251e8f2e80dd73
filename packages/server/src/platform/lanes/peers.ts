import { randomUUID } from 'node:crypto'
import type { Bus } from '../bus/bus.ts'

const SAY_MS = 2_000
/** A process that said nothing for this long is gone. */
const GONE_MS = 7_000

/**
 * How many processes do the same work, so that each takes its part of a limit. They tell each other through NATS.
 * While this process doesn't even hear itself, it keeps the last count.
 */
export class Peers {
  readonly #bus: Bus
  readonly #subject: string
  readonly #id = randomUUID()
  readonly #heardAt = new Map<string, number>()
  readonly #unsubscribe: () => void
  readonly #timer: NodeJS.Timeout
  #count = 1

  constructor(bus: Bus, subject: string) {
    this.#bus = bus
    this.#subject = subject
    this.#unsubscribe = bus.subscribe(subject, (data) => this.#hear(JSON.parse(data)))
    this.#timer = setInterval(() => this.#say(), SAY_MS).unref()
    this.#say()
  }

  /** Includes this process. */
  get count(): number {
    return this.#count
  }

  close(): void {
    clearInterval(this.#timer)
    this.#unsubscribe()
    this.#bus.publish(this.#subject, JSON.stringify({ id: this.#id, leaves: true }))
  }

  #say(): void {
    this.#bus.publish(this.#subject, JSON.stringify({ id: this.#id }))
  }

  #hear({ id, leaves = false }: { id: string; leaves?: boolean }): void {
    const now = performance.now()
    // A process that is new here learns of the others at once.
    if (!leaves && !this.#heardAt.has(id) && id !== this.#id) this.#say()
    if (leaves) this.#heardAt.delete(id)
    else this.#heardAt.set(id, now)
    if (id === this.#id) {
      for (const [other, at] of this.#heardAt) if (now - at > GONE_MS) this.#heardAt.delete(other)
    }
    this.#count = Math.max(1, this.#heardAt.size)
  }
}
