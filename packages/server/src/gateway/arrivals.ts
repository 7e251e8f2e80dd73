import type { Bus } from '../platform/bus/bus.ts'
import type { Session } from './session.ts'
import type { HubUser } from './user.ts'

/** The subject on which the gateways of an app tell each other which devices connected. */
const arrivalSubject = (appNo: number) => `arrival.${appNo}`

interface Arrival {
  uid: string
  resource: string
  /** Unix milliseconds. */
  at: number
}

/**
 * One connection a device, also where it connects to another process: the older one ends. By the clocks of both,
 * so that of two that come at once one stays; where they differ, or without NATS, both can stay until one is silent.
 */
export class Arrivals {
  readonly #bus: Bus
  readonly #subject: string
  readonly #unsubscribe: () => void

  constructor(bus: Bus, appNo: number, users: ReadonlyMap<string, HubUser>) {
    this.#bus = bus
    this.#subject = arrivalSubject(appNo)
    this.#unsubscribe = bus.subscribe(this.#subject, (text) => {
      const { uid, resource, at }: Arrival = JSON.parse(text)
      for (const session of users.get(uid)?.sessions ?? []) {
        const isOlder = session.arrivedAt !== undefined && session.arrivedAt < at
        if (session.resource === resource && isOlder) session.close('replaced')
      }
    })
  }

  /** A session has taken the place of its device in this process. */
  tell(session: Session): void {
    const { uid, resource } = session
    session.arrivedAt = Date.now()
    if (uid === undefined || resource === undefined) return
    const arrival: Arrival = { uid, resource, at: session.arrivedAt }
    this.#bus.publish(this.#subject, JSON.stringify(arrival))
  }

  close(): void {
    this.#unsubscribe()
  }
}
