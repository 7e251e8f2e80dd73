import type { Presence } from '../areas/presence/presence.ts'
import type { ServedApp } from '../core/actor.ts'
import type { HubListener } from './hub.ts'
import type { Session } from './session.ts'

/** Reports the devices that come to this process and leave it. */
export class PresenceReport implements HubListener {
  readonly #presence: Presence
  readonly #leaving = new WeakMap<Session, () => void>()

  constructor(presence: Presence) {
    this.#presence = presence
  }

  opened(app: ServedApp, uid: string, session: Session): void {
    const { userAgent } = session
    const connection = { connectedAt: Date.now(), ...(userAgent !== undefined && { userAgent }) }
    this.#leaving.set(session, this.#presence.connect(app, uid, connection))
  }

  closed(session: Session): void {
    this.#leaving.get(session)?.()
  }
}
