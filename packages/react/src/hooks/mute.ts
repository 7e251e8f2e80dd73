'use client'
import type { LoquatClient, Target } from '@loquat/sdk/client'
import { useCallback, useEffect, useSyncExternalStore } from 'react'
import { useClient } from '../chat.tsx'

const keyOf = ({ type, id }: Target) => `${type} ${id}`
const namedOf = ({ type, id }: Target) =>
  ({ id, type: type === 'user' ? 'oneOnOne' : 'group' }) as const

/** Until somebody ends it: the latest time that a date has. */
const FOREVER = 8_640_000_000_000_000

/** The conversations that the user has muted, and until when. They are read once: there are no events about them. */
class Mutes {
  readonly #client: LoquatClient
  readonly #listeners = new Set<() => void>()
  readonly #until = new Map<string, number>()
  #isAsked = false

  constructor(client: LoquatClient) {
    this.#client = client
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  has(target: Target): boolean {
    return (this.#until.get(keyOf(target)) ?? 0) > Date.now()
  }

  load(): void {
    if (this.#isAsked) return
    this.#isAsked = true
    const { api, uid } = this.#client
    api.mutedConversations.list({ uid }).then(
      ({ mutedConversations }) => {
        for (const { id, type, until } of mutedConversations) {
          const key = keyOf({ type: type === 'oneOnOne' ? 'user' : 'group', id })
          // The user may have been faster.
          if (!this.#until.has(key)) this.#until.set(key, until)
        }
        this.#tell()
      },
      () => {
        this.#isAsked = false
      },
    )
  }

  async mute(target: Target, until: number): Promise<void> {
    const { api, uid } = this.#client
    const conversation = namedOf(target)
    await (until > 0
      ? api.mutedConversations.mute({ conversations: [{ ...conversation, until }] }, { uid })
      : api.mutedConversations.unmute({ conversations: [conversation] }, { uid }))
    this.#until.set(keyOf(target), until)
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) listener()
  }
}

const stores = new WeakMap<LoquatClient, Mutes>()

function mutesOf(client: LoquatClient): Mutes {
  const known = stores.get(client) ?? new Mutes(client)
  stores.set(client, known)
  return known
}

export interface MuteState {
  isMuted: boolean
  /** Until when, in Unix milliseconds; forever by default. Rejects if the server refuses it. */
  mute: (until?: number) => Promise<void>
  unmute: () => Promise<void>
}

/** Whether the user isn't notified of a conversation, and how to change that. */
export function useMute({ type, id }: Target): MuteState {
  const store = mutesOf(useClient())
  useEffect(() => store.load(), [store])
  const isMuted = useSyncExternalStore(
    store.subscribe,
    () => store.has({ type, id }),
    () => false,
  )
  const mute = useCallback((until = FOREVER) => store.mute({ type, id }, until), [store, type, id])
  const unmute = useCallback(() => store.mute({ type, id }, 0), [store, type, id])
  return { isMuted, mute, unmute }
}
