import { type ChatState, initialState, type Room } from './state.ts'

/** The state, and who is told of its changes. */
export class Held {
  state: ChatState = initialState
  readonly #listeners = new Set<() => void>()

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  set(changes: Partial<ChatState>): void {
    this.state = { ...this.state, ...changes }
    for (const listener of this.#listeners) tell(listener)
  }

  /** Changes a room, if it is open. */
  change(key: string, changes: (room: Room) => Partial<Room>): void {
    const room = this.state.rooms[key]
    if (!room) return
    this.set({ rooms: { ...this.state.rooms, [key]: { ...room, ...changes(room) } } })
  }
}

/** A listener that throws must not keep the rest of an event from being taken in. */
export function tell(listener: () => void): void {
  try {
    listener()
  } catch (error) {
    setTimeout(() => {
      throw error
    })
  }
}
