'use client'
export { AgentBadge, AnswerState } from './answer-state.tsx'
export { Attachment, Attachments } from './attachments.tsx'
export { Avatar } from './avatar.tsx'
export {
  Channel,
  ChannelHeader,
  type ChannelProps,
  ConnectionBar,
  TypingLine,
} from './channel.tsx'
export { ChatProvider, type ChatProviderProps } from './chat.tsx'
export { Composer } from './composer.tsx'
export {
  ConversationItem,
  ConversationList,
  type ConversationListProps,
} from './conversation-list.tsx'
export { Details, type DetailsProps, Profile, type ProfileProps } from './details.tsx'
export { AskPerson, HandoverLine } from './handover.tsx'
export * from './hooks.ts'
export { Icon, type IconName } from './icons.tsx'
export { MemberList, type MemberListProps } from './members.tsx'
export { Message } from './message.tsx'
export { MessageList } from './message-list.tsx'
export { NewConversation, type NewConversationProps } from './new-conversation.tsx'
export type {
  AttachmentProps,
  AvatarProps,
  ConversationItemProps,
  MessagePartProps,
  MessageProps,
  MessageTextProps,
  Parts,
} from './parts.ts'
export { Preferences, type PreferencesProps } from './preferences.tsx'
export { Rating } from './rating.tsx'
export { Reactions } from './reactions.tsx'
export { type RoomState, useRoom } from './room.tsx'
export { type Found, Search, type SearchProps } from './search.tsx'
export { Sources } from './sources.tsx'
export { Status } from './status.tsx'
export { en, type Strings } from './strings/en.ts'
export { MessageText } from './text.tsx'
export { Thread, type ThreadProps } from './thread.tsx'
export { ToolSteps, WaitingTool } from './tool-calls.tsx'
