import type { ServedApp } from '../areas/access/actor.ts'
import type { Presence } from '../areas/presence/presence.ts'
import type { HubListener, HubUser } from './hub.ts'

/** Reports which users have sockets in this process. */
export class PresenceReport implements HubListener {
  readonly #presence: Presence
  readonly #leaving = new Map<HubUser, () => void>()

  constructor(presence: Presence) {
    this.#presence = presence
  }

  opened(app: ServedApp, user: HubUser): void {
    const [session] = user.sessions
    const userAgent = session?.userAgent !== undefined && { userAgent: session.userAgent }
    const connection = { connectedAt: Date.now(), ...userAgent }
    this.#leaving.set(user, this.#presence.connect(app, user.uid, connection))
  }

  closed(_app: ServedApp, user: HubUser): void {
    this.#leaving.get(user)?.()
    this.#leaving.delete(user)
  }
}
