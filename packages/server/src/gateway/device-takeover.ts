import type { Bus } from '../platform/bus/bus.ts'
import type { Session } from './session.ts'
import type { HubUser } from './user.ts'

/** The NATS subject on which an app's gateways announce which device connected. */
const takeoverSubject = (appNo: number) => `takeover.${appNo}`

interface Takeover {
  uid: string
  resource: string
  /** Unix milliseconds. */
  at: number
}

/**
 * Keeps one connection per device across processes: the older connection is closed. Both processes compare clocks,
 * so exactly one of two simultaneous connections survives. If the clocks differ or NATS is down, both connections
 * can stay until one of them is silent.
 */
export class DeviceTakeover {
  readonly #bus: Bus
  readonly #subject: string
  readonly #unsubscribe: () => void

  constructor(bus: Bus, appNo: number, users: ReadonlyMap<string, HubUser>) {
    this.#bus = bus
    this.#subject = takeoverSubject(appNo)
    this.#unsubscribe = bus.subscribe(this.#subject, (text) => {
      const { uid, resource, at }: Takeover = JSON.parse(text)
      for (const session of users.get(uid)?.sessions ?? []) {
        const isOlder = session.authenticatedAt !== undefined && session.authenticatedAt < at
        if (session.resource === resource && isOlder) session.close('replaced')
      }
    })
  }

  /** Asks the other gateways to close older connections of this session's device. */
  announce(session: Session): void {
    const { uid, resource } = session
    session.authenticatedAt = Date.now()
    if (uid === undefined || resource === undefined) return
    const takeover: Takeover = { uid, resource, at: session.authenticatedAt }
    this.#bus.publish(this.#subject, JSON.stringify(takeover))
  }

  close(): void {
    this.#unsubscribe()
  }
}
