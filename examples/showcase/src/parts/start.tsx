import { NewConversation } from '@loquat/react'
import type { Target } from '@loquat/sdk/client'

/** One person makes a conversation, several make a group. */
export const Start = ({ onOpen, onClose }: StartProps) => (
  <NewConversation onOpen={onOpen} onClose={onClose} />
)

interface StartProps {
  onOpen: (target: Target) => void
  onClose: () => void
}
