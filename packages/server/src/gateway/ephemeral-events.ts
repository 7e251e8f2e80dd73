import { randomUUID } from 'node:crypto'
import { type EphemeralEvent, ephemeralSubject } from '../core/ephemeral.ts'
import type { Bus } from '../platform/bus/bus.ts'

/** Delivers ephemeral events to this process's devices directly, and to other gateways over NATS, if it is up. */
export class EphemeralEvents {
  readonly #bus: Bus
  readonly #subject: string
  readonly #origin = randomUUID()
  readonly #deliver: (event: EphemeralEvent) => boolean
  readonly #unsubscribe: () => void

  constructor(bus: Bus, appNo: number, deliver: (event: EphemeralEvent) => boolean) {
    this.#bus = bus
    this.#subject = ephemeralSubject(appNo)
    this.#deliver = deliver
    this.#unsubscribe = bus.subscribe(this.#subject, (text) => {
      const { origin, ...event } = JSON.parse(text)
      if (origin !== this.#origin) deliver(event)
    })
  }

  /** Returns false, and sends nothing, if the sender has to slow down. */
  publish(event: EphemeralEvent): boolean {
    if (!this.#deliver(event)) return false
    this.#bus.publish(this.#subject, JSON.stringify({ origin: this.#origin, ...event }))
    return true
  }

  close(): void {
    this.#unsubscribe()
  }
}
