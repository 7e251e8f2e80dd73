import type { Session } from './session.ts'

/** Connections that haven't sent `auth` yet. */
export class Unauthenticated {
  /** By app, oldest first. */
  readonly #sessions = new Map<number, Set<Session>>()
  readonly #most: number
  #size = 0

  constructor(most: number) {
    this.#most = most
  }

  /** Returns the connection to close if there are too many: the oldest of the app that has the most. */
  add(session: Session): Session | undefined {
    const own = this.#sessions.get(session.app.no) ?? new Set()
    this.#sessions.set(session.app.no, own.add(session))
    if (++this.#size <= this.#most) return undefined
    let largest = own
    for (const other of this.#sessions.values()) if (other.size > largest.size) largest = other
    const [oldest] = largest
    return oldest
  }

  /** Returns whether it was here. */
  delete(session: Session): boolean {
    const own = this.#sessions.get(session.app.no)
    if (!own?.delete(session)) return false
    this.#size--
    if (own.size === 0) this.#sessions.delete(session.app.no)
    return true
  }

  *[Symbol.iterator](): Iterator<Session> {
    for (const sessions of this.#sessions.values()) yield* sessions
  }
}
