'use client'
import type { ChatState } from '@loquat/sdk/client'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { useClient } from '../chat.tsx'

/** A part of the chat's state. The component renders again when that part changes; `select` must not create objects. */
export function useChatState<T>(select: (state: ChatState) => T): T {
  const client = useClient()
  const snapshot = () => select(client.state)
  return useSyncExternalStore(client.subscribe, snapshot, snapshot)
}

/** Short interruptions are not worth a message. */
const PATIENCE_MS = 3_000

export interface Connection {
  connection: ChatState['connection']
  /** Whether it has been lost for so long that users should know. The client reconnects on its own. */
  isLost: boolean
  /** Whether the server doesn't accept this client any more, so that it has stopped trying. */
  isEnded: boolean
}

/** The state of the connection. */
export function useConnection(): Connection {
  const connection = useChatState((state) => state.connection)
  const isEnded = connection === 'signedOut' || connection === 'refused'
  const isOnline = connection === 'online' || connection === 'stopped' || isEnded
  const [isLost, setLost] = useState(false)
  useEffect(() => {
    if (isOnline) return setLost(false)
    const timer = setTimeout(() => setLost(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [isOnline])
  return { connection, isLost: isLost && !isOnline, isEnded }
}
