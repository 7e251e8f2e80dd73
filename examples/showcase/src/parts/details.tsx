import { Details } from '@loquat/react'
import type { Target } from '@loquat/sdk/client'

/** A profile, or a group with its members and their roles. */
export const About = ({ target, onOpen, onLeft, onClose }: AboutProps) => (
  <Details target={target} onMessage={onOpen} onLeft={onLeft} onClose={onClose} />
)

interface AboutProps {
  target: Target
  onOpen: (target: Target) => void
  onLeft: () => void
  onClose: () => void
}
