import type { ChatMessage, Conversation } from '@loquat/sdk/client'
import type { ComponentType } from 'react'
import type { FileOfMessage } from './content.ts'

export interface AvatarProps {
  id: string
  name: string
  picture?: string | undefined
  kind?: 'user' | 'group' | undefined
  /** Shows whether the user is online. */
  withPresence?: boolean | undefined
}

export interface ConversationItemProps {
  conversation: Conversation
  isSelected: boolean
  onSelect: () => void
}

export interface MessageProps {
  message: ChatMessage
  /** It continues the messages above it, so it doesn't repeat the avatar and name. */
  isContinued?: boolean | undefined
  /** Somebody jumped to it. */
  isHighlighted?: boolean | undefined
  /** The user's last message in a group: the UIDs of those who have read it. */
  readers?: readonly string[] | undefined
}

export interface MessageTextProps {
  message: ChatMessage
}

export interface AttachmentProps {
  file: FileOfMessage
  /** Opens a picture, by its `url` in the message, in full size. */
  onOpen?: ((url: string) => void) | undefined
}

/** Components that you can replace with your own. */
export interface Parts {
  Avatar: ComponentType<AvatarProps>
  ConversationItem: ComponentType<ConversationItemProps>
  Message: ComponentType<MessageProps>
  MessageText: ComponentType<MessageTextProps>
  Attachment: ComponentType<AttachmentProps>
}
