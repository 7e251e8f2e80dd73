import type { Frame } from './connection.ts'

const ENDS_MS = 5_000

/** Tracks who is typing in which conversation, until they stop or fall silent. */
export class Typing {
  readonly #timers = new Map<string, ReturnType<typeof setTimeout>>()
  readonly #typing = new Map<string, Set<string>>()
  readonly #changed: (typing: Record<string, string[]>) => void

  constructor(changed: (typing: Record<string, string[]>) => void) {
    this.#changed = changed
  }

  apply({ type, body }: Frame, conversationId: string): void {
    const { uid } = body.sender
    if (type === 'typing.end') this.end(conversationId, uid)
    else this.#start(conversationId, uid)
  }

  #start(conversationId: string, uid: string): void {
    const key = `${conversationId} ${uid}`
    clearTimeout(this.#timers.get(key))
    this.#timers.set(
      key,
      setTimeout(() => this.end(conversationId, uid), ENDS_MS),
    )
    const all = this.#typing.get(conversationId) ?? new Set()
    this.#typing.set(conversationId, all.add(uid))
    this.#callListener()
  }

  end(conversationId: string, uid: string): void {
    const key = `${conversationId} ${uid}`
    clearTimeout(this.#timers.get(key))
    this.#timers.delete(key)
    if (this.#typing.get(conversationId)?.delete(uid)) this.#callListener()
  }

  /** Forgets everyone, because nothing is known without a connection. */
  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
    this.#timers.clear()
    if (this.#typing.size === 0) return
    this.#typing.clear()
    this.#callListener()
  }

  #callListener(): void {
    const typing: Record<string, string[]> = {}
    for (const [id, uids] of this.#typing) if (uids.size > 0) typing[id] = [...uids]
    this.#changed(typing)
  }
}
