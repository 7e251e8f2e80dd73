'use client'
import type { ChatMessage, LoquatClient, Target } from '@loquat/sdk/client'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { useClient } from '../chat.tsx'
import { useChatState } from './chat-state.ts'

/** How many components show each room. */
const shown = new WeakMap<LoquatClient, Map<string, number>>()

/** Opens a room until the last component that shows it is gone. */
function hold(client: LoquatClient, target: Target, parentId: string | undefined): () => void {
  const counts = shown.get(client) ?? new Map<string, number>()
  shown.set(client, counts)
  const key = client.open(target, parentId)
  counts.set(key, (counts.get(key) ?? 0) + 1)
  return () => {
    counts.set(key, (counts.get(key) ?? 1) - 1)
    // Another component that shows the room may be mounted in the same render.
    setTimeout(() => closeUnused(client, counts, key))
  }
}

/**
 * Closes a room that no component shows. Messages that aren't sent yet exist only in their room, so it stays open until
 * they are sent or discarded.
 */
function closeUnused(client: LoquatClient, counts: Map<string, number>, key: string): void {
  if (counts.get(key) !== 0) return
  const hasUnsent = () => client.state.rooms[key]?.messages.some(({ pending }) => pending)
  if (hasUnsent()) {
    const stop = client.subscribe(() => {
      if (hasUnsent()) return
      stop()
      closeUnused(client, counts, key)
    })
    return
  }
  counts.delete(key)
  client.close(key)
}

export interface Messages {
  /** The key of the room in `client.state.rooms`. */
  room: string
  messages: readonly ChatMessage[]
  /** Whether there are older messages to load. */
  more: boolean
  /** Whether there are newer messages to load, because the room shows an earlier part. */
  newer: boolean
  loading: boolean
  /** Whether the first messages have been fetched. */
  loaded: boolean
  /** Why loading older or newer messages failed. Nothing is loaded until you call `retry`. */
  error: Error | undefined
  retry: () => void
  loadOlder: () => void
  loadNewer: () => void
  /** Moves to a message, or to the end. Resolves to whether the message is there. */
  jumpTo: (id?: string) => Promise<boolean>
}

const EMPTY: readonly ChatMessage[] = []

/** The messages of a conversation, or of a thread in it. Opens it while the component is mounted. */
export function useMessages(target: Target, parentId?: string): Messages {
  const client = useClient()
  const { type, id } = target
  const key = client.idOf(target, parentId)
  useEffect(() => hold(client, { type, id }, parentId), [client, type, id, parentId])
  const room = useChatState(({ rooms }) => rooms[key])
  const [error, setError] = useState<Error>()
  const actions = useMemo(() => {
    const fail = (cause: Error) => setError(cause)
    return {
      retry: () => setError(undefined),
      loadOlder: () => void client.loadOlder(key).catch(fail),
      loadNewer: () => void client.loadNewer(key).catch(fail),
      jumpTo: (messageId?: string) => client.jumpTo(key, messageId),
    }
  }, [client, key])
  const [loaded, setLoaded] = useState(false)
  const isLoaded = room?.loaded ?? false
  useEffect(() => setLoaded(isLoaded), [isLoaded])
  const { messages = EMPTY, more = false, newer = false, loading = true } = room ?? {}
  return { room: key, messages, more, newer, loading, loaded, error, ...actions }
}

/** The replies to a message, and the message itself. */
export function useThread(
  target: Target,
  parentId: string,
): Messages & { parent: ChatMessage | null | undefined } {
  const client = useClient()
  const replies = useMessages(target, parentId)
  const key = client.idOf(target)
  const inRoom = useChatState(({ rooms }) => rooms[key]?.messages)
  const known = useMemo(() => inRoom?.find(({ id }) => id === parentId), [inRoom, parentId])
  const [fetched, setFetched] = useState<{ id: string; message: ChatMessage | null }>()
  const fetchParent = useCallback(() => {
    const keep = (message: ChatMessage | null) => setFetched({ id: parentId, message })
    client.api.messages.get(parentId).then(keep, () => keep(null))
  }, [client, parentId])
  const isKnown = known !== undefined
  useEffect(() => {
    if (!isKnown) fetchParent()
  }, [isKnown, fetchParent])
  const parent = known ?? (fetched?.id === parentId ? fetched.message : undefined)
  return { ...replies, parent }
}
