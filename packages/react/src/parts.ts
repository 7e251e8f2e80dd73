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

/** A part of a message. */
export interface MessagePartProps {
  message: ChatMessage
}

/** Components that you can replace with your own. */
export interface Parts {
  Avatar: ComponentType<AvatarProps>
  ConversationItem: ComponentType<ConversationItemProps>
  Message: ComponentType<MessageProps>
  MessageText: ComponentType<MessageTextProps>
  Attachment: ComponentType<AttachmentProps>
  Reactions: ComponentType<MessagePartProps>
  /** How far a message of the user got. */
  Status: ComponentType<MessagePartProps>
  /** What says that a machine writes. */
  AgentBadge: ComponentType
  /** The tools that an agent has used for its answer. */
  ToolSteps: ComponentType<MessagePartProps>
  /** The call of a tool that waits for the user or a device. */
  WaitingTool: ComponentType<MessagePartProps>
  /** Stops an answer that is being written, or tries again one that failed. */
  AnswerState: ComponentType<MessagePartProps>
  /** What an answer cites. */
  Sources: ComponentType<MessagePartProps>
  /** The thumbs below an answer. */
  Rating: ComponentType<MessagePartProps>
}
