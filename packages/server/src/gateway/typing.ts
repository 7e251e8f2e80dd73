import { realtimeLimits } from '@loquat/protocol'

/** One typing indicator of a device: how to notify the receivers of its start and its end. */
export interface Typing {
  notifyStart(): void
  /** `metadata` is what the device sent with `typing.end`, if it sent that frame. */
  notifyEnd(metadata?: object): void
}

/** The receivers are notified of the same indicator at most once in this many ticks. */
const COOLDOWN_TICKS = 2

/** The typing indicators of one device. An indicator ends on its own unless the device repeats it. */
export class TypingIndicators {
  readonly #current = new Map<string, Typing & { ticksLeft: number; notified: boolean }>()
  /** Ticks until the receivers may be notified again. Kept after an indicator ends, so that toggling can't flood them. */
  readonly #cooldowns = new Map<string, number>()

  start(receiver: string, typing: Typing): void {
    const notified = this.#current.get(receiver)?.notified ?? false
    const current = { ...typing, ticksLeft: realtimeLimits.typingSeconds, notified }
    this.#current.set(receiver, current)
    this.#notify(receiver, current)
  }

  end(receiver: string, metadata?: object): void {
    const current = this.#current.get(receiver)
    this.#current.delete(receiver)
    if (current?.notified) current.notifyEnd(metadata)
  }

  /** Call once a second. */
  tick(): void {
    for (const [receiver, ticks] of this.#cooldowns) {
      if (ticks > 1) this.#cooldowns.set(receiver, ticks - 1)
      else this.#cooldowns.delete(receiver)
    }
    for (const [receiver, current] of this.#current) {
      if (--current.ticksLeft < 0) this.end(receiver)
      else if (!current.notified) this.#notify(receiver, current)
    }
  }

  endAll(): void {
    for (const receiver of this.#current.keys()) this.end(receiver)
  }

  #notify(receiver: string, current: Typing & { notified: boolean }): void {
    if (this.#cooldowns.has(receiver)) return
    this.#cooldowns.set(receiver, COOLDOWN_TICKS)
    current.notified = true
    current.notifyStart()
  }
}
