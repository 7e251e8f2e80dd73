import { ConversationList } from '@loquat/react'
import type { Target } from '@loquat/sdk/client'

/** The list keeps itself in order: new messages, unread counts, presence, who is typing. */
export const Conversations = ({ selected, onOpen }: ConversationsProps) => (
  <ConversationList selected={selected} onSelect={onOpen} />
)

interface ConversationsProps {
  selected: Target | undefined
  onOpen: (target: Target) => void
}
