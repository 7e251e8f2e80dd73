import { type Found, Search } from '@loquat/react'
import type { Target } from '@loquat/sdk/client'

/** Finds messages in this conversation or in all. The page then shows where the message is. */
export const Finder = ({ target, onFound, onClose }: FinderProps) => (
  <Search target={target} onSelect={onFound} onClose={onClose} />
)

interface FinderProps {
  target: Target | undefined
  onFound: (found: Found) => void
  onClose: () => void
}
