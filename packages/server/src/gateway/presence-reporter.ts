import type { Presence } from '../areas/presence/presence.ts'
import type { ServedApp } from '../core/actor.ts'
import type { HubListener } from './hub.ts'
import type { Session } from './session.ts'

/** Reports to the presence area which devices connect to this process and disconnect from it. */
export class PresenceReporter implements HubListener {
  readonly #presence: Presence
  readonly #disconnects = new WeakMap<Session, () => void>()

  constructor(presence: Presence) {
    this.#presence = presence
  }

  opened(app: ServedApp, uid: string, session: Session): void {
    const connection = { ...session.device, connectedAt: Date.now() }
    this.#disconnects.set(session, this.#presence.connect(app, uid, connection))
  }

  closed(session: Session): void {
    this.#disconnects.get(session)?.()
  }
}
