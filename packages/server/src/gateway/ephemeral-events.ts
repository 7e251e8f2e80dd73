import { randomUUID } from 'node:crypto'
import type { Audience } from '@loquat/protocol'
import type { Bus } from '../platform/bus/bus.ts'

/** The NATS subject on which an app's gateways exchange events that are never stored. */
const ephemeralSubject = (appNo: number) => `ephemeral.${appNo}`

/** A typing indicator or a transient message: only users who are connected now receive it. */
export interface EphemeralEvent {
  audience: Audience & { by: string }
  frame: string
}

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
