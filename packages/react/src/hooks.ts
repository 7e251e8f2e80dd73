'use client'
/** Everything the components use, for components of your own. */
export { type Chat, useChat, useClient, useStrings } from './chat.tsx'
export { useAnswers, useIsAgent } from './hooks/answers.ts'
export { useChatState, useConnection } from './hooks/chat-state.ts'
export { type Conversations, useConversation, useConversations } from './hooks/conversations.ts'
export { useDraft } from './hooks/draft.ts'
export { useFileLinks } from './hooks/files.ts'
export {
  type FrontendAction,
  type FrontendActions,
  useFrontendActions,
} from './hooks/frontend-actions.ts'
export { useGroup, useMembers } from './hooks/group.ts'
export { type HandoverState, useHandover } from './hooks/handover.ts'
export { type Messages, useMessages, useThread } from './hooks/messages.ts'
export { type MuteState, useMute } from './hooks/mute.ts'
export {
  type People,
  type Typing,
  type Unread,
  usePeople,
  usePresence,
  useTyping,
  useUnread,
  useUser,
} from './hooks/people.ts'
export { type PreferencesState, usePreferences } from './hooks/preferences.ts'
export { type PushState, usePush } from './hooks/push.ts'
export { type OwnRating, useRating } from './hooks/ratings.ts'
export { useReadMark } from './hooks/read-mark.ts'
export { useReaders } from './hooks/readers.ts'
export { type Recorder, useRecorder } from './hooks/recorder.ts'
export { type Search, useSearch } from './hooks/search.ts'
export { type Uploading, useUpload } from './hooks/upload.ts'
