'use client'
import type { Conversation, Target } from '@loquat/sdk/client'
import { useCallback, useMemo } from 'react'
import { useClient } from '../chat.tsx'
import { useChatState } from './chat-state.ts'

export interface Conversations {
  /** Pinned ones first, then the newest. */
  conversations: readonly Conversation[]
  /** Whether they have been fetched at least once. */
  loaded: boolean
  /** Whether there are older ones to load. */
  more: boolean
  loadMore: () => Promise<void>
}

/** The user's conversations. */
export function useConversations(): Conversations {
  const client = useClient()
  const all = useChatState((state) => state.conversations)
  const loaded = useChatState((state) => state.loaded)
  const more = useChatState((state) => state.more)
  const conversations = useMemo(() => {
    const pinned = all.filter(({ pinnedAt }) => pinnedAt !== undefined)
    return pinned.length === 0 ? all : [...pinned, ...all.filter((one) => !pinned.includes(one))]
  }, [all])
  const loadMore = useCallback(() => client.loadMoreConversations(), [client])
  return { conversations, loaded, more, loadMore }
}

/** The conversation with a user or group, if it is among those that are loaded. */
export function useConversation(target: Target): Conversation | undefined {
  const id = useClient().idOf(target)
  return useChatState(({ conversations }) =>
    conversations.find(({ conversationId }) => conversationId === id),
  )
}
