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

/** The state of the connection, and whether it has been lost for so long that users should know. */
export function useConnection(): { connection: ChatState['connection']; isLost: boolean } {
  const connection = useChatState((state) => state.connection)
  const isOnline = connection === 'online' || connection === 'stopped'
  const [isLost, setLost] = useState(false)
  useEffect(() => {
    if (isOnline) return setLost(false)
    const timer = setTimeout(() => setLost(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [isOnline])
  return { connection, isLost: isLost && !isOnline }
}
