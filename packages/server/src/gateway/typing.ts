import { realtimeLimits } from '@loquat/protocol'

/** Whom it is told to that a user types. */
export interface Typing {
  tell(): void
  end(): void
}

/** It is told again at most this often, in rounds of the gateway's clock. */
const AGAIN = 2

/** Where one device is typing: it ends by itself unless it is told again. */
export class Typings {
  readonly #current = new Map<string, Typing & { left: number; rest: number }>()

  start(key: string, typing: Typing): void {
    const known = this.#current.get(key)
    const rest = known?.rest ?? 0
    this.#current.set(key, {
      ...typing,
      left: realtimeLimits.typingSeconds,
      rest: rest > 0 ? rest : AGAIN,
    })
    if (rest <= 0) typing.tell()
  }

  end(key: string): void {
    this.#current.get(key)?.end()
    this.#current.delete(key)
  }

  /** Once a second. */
  round(): void {
    for (const [key, typing] of this.#current) {
      typing.rest--
      if (--typing.left < 0) this.end(key)
    }
  }

  endAll(): void {
    for (const key of this.#current.keys()) this.end(key)
  }
}
