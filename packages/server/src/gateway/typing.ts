import { realtimeLimits } from '@loquat/protocol'

/** Whom it is told to that a user types. */
export interface Typing {
  tell(): void
  /** With what the device said of its end, if it did. */
  end(metadata?: object): void
}

/** It is told again at most this often, in rounds of the gateway's clock. */
const AGAIN = 2

/** Where one device is typing: it ends by itself unless it is told again. */
export class Typings {
  readonly #current = new Map<string, Typing & { left: number; told: boolean }>()
  /** Rounds until it may be told again, also of what has ended meanwhile. */
  readonly #rests = new Map<string, number>()

  start(key: string, typing: Typing): void {
    const told = this.#current.get(key)?.told ?? false
    const current = { ...typing, left: realtimeLimits.typingSeconds, told }
    this.#current.set(key, current)
    this.#tell(key, current)
  }

  end(key: string, metadata?: object): void {
    const current = this.#current.get(key)
    this.#current.delete(key)
    if (current?.told) current.end(metadata)
  }

  /** Once a second. */
  round(): void {
    for (const [key, rest] of this.#rests) {
      if (rest > 1) this.#rests.set(key, rest - 1)
      else this.#rests.delete(key)
    }
    for (const [key, current] of this.#current) {
      if (--current.left < 0) this.end(key)
      else if (!current.told) this.#tell(key, current)
    }
  }

  endAll(): void {
    for (const key of this.#current.keys()) this.end(key)
  }

  #tell(key: string, current: Typing & { told: boolean }): void {
    if (this.#rests.has(key)) return
    this.#rests.set(key, AGAIN)
    current.told = true
    current.tell()
  }
}
