'use client'
import type { ChatMessage, Target } from '@loquat/sdk/client'
import { createContext, useContext } from 'react'

/** What the parts of a room share: which room it is, and what the user is doing in it. */
export interface RoomState {
  target: Target
  parentId: string | undefined
  /** The name of the user or group. */
  name: string
  editing: ChatMessage | undefined
  quoting: ChatMessage | undefined
  edit: (message: ChatMessage | undefined) => void
  quote: (message: ChatMessage | undefined) => void
  /** Opens the thread of a message. Undefined if there are no threads here. */
  openThread: ((messageId: string) => void) | undefined
  /** Shows a picture of a message in full size. */
  showPicture: (message: ChatMessage, url: string) => void
  /** Shows a message of this room. */
  jumpTo: (messageId: string) => void
  /** The message list calls this with its own way to jump. */
  setJump: (jump: (messageId: string) => void) => void
}

export const RoomContext = createContext<RoomState | undefined>(undefined)

/** The room that this component is in. */
export function useRoom(): RoomState {
  const room = useContext(RoomContext)
  if (!room) throw new Error('Put this component into a <Channel> or <Thread>.')
  return room
}
