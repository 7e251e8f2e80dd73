import { type ChatState, initialState, type Room } from './state.ts'

/** Holds the state and notifies listeners when it changes. */
export class StateHolder {
  state: ChatState = initialState
  readonly #listeners = new Set<() => void>()

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  set(changes: Partial<ChatState>): void {
    this.state = { ...this.state, ...changes }
    for (const listener of this.#listeners) callListener(listener)
  }

  /** Changes a room, if it is open. */
  change(key: string, changes: (room: Room) => Partial<Room>): void {
    const room = this.state.rooms[key]
    if (!room) return
    const changed = { ...room, ...changes(room) }
    const names = Object.keys(changed) as (keyof Room)[]
    if (names.every((name) => changed[name] === room[name])) return
    this.set({ rooms: { ...this.state.rooms, [key]: changed } })
  }
}

/** Calls a listener. Reports its error later, so that it doesn't interrupt the handling of an event. */
export function callListener(listener: () => void): void {
  try {
    listener()
  } catch (error) {
    setTimeout(() => {
      throw error
    })
  }
}
