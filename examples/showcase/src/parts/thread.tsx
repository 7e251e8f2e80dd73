import { Thread } from '@loquat/react'
import type { Target } from '@loquat/sdk/client'

/** A message and its replies. It loads what it shows, even if the conversation isn't open. */
export const Replies = ({ target, parentId, jumpTo, onClose }: RepliesProps) => (
  <Thread target={target} parentId={parentId} jumpTo={jumpTo} onClose={onClose} />
)

interface RepliesProps {
  target: Target
  parentId: string
  /** A reply that was found. */
  jumpTo: { id: string } | undefined
  onClose: () => void
}
