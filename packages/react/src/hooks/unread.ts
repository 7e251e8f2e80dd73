'use client'
import type { Target } from '@loquat/sdk/client'
import { useMemo, useState } from 'react'
import { useClient } from '../chat.tsx'
import { useConversation } from './conversations.ts'
import type { Messages } from './messages.ts'

interface AtOpening {
  lastRead: string | undefined
  count: number
}

/**
 * The first message that was unread when the room was opened, so that a line can be drawn above it. `isAbove`: it lies
 * before the messages that are loaded.
 */
export function useFirstUnread(
  target: Target,
  parentId: string | undefined,
  { loaded, messages, more }: Pick<Messages, 'loaded' | 'messages' | 'more'>,
) {
  const { uid } = useClient()
  const conversation = useConversation(target)
  const [atOpening, setAtOpening] = useState<AtOpening>()
  if (!atOpening && conversation && parentId === undefined) {
    const { lastReadMessageId: lastRead, unreadMessageCount: count } = conversation
    setAtOpening({ lastRead, count })
  }
  const { lastRead, count = 0 } = atOpening ?? {}
  const [firstId, setFirstId] = useState<string>()
  const oldest = messages[0]
  // Before that, `messages` has only those that were sent since.
  const isKnown = loaded && count > 0 && messages.length > 0
  const isReached = !more || (oldest !== undefined && Number(oldest.id) <= Number(lastRead ?? 0))
  const isWanted = isKnown && firstId === undefined && isReached
  if (isWanted) {
    const found = messages.find(
      (one) => Number(one.id) > Number(lastRead ?? 0) && one.sender !== uid && !one.pending,
    )
    setFirstId(found?.id ?? '')
  }
  const index = useMemo(
    () => (firstId ? messages.findIndex(({ id }) => id === firstId) : -1),
    [firstId, messages],
  )
  const isAbove = isKnown && firstId === undefined && !isReached
  return { index, isAbove, count, lastRead }
}
