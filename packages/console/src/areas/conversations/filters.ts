import type { Filters } from '../../shared/search.ts'

/** The filters of `GET /conversations`, and the user on whose behalf to call it. */
export const CONVERSATION_FILTERS = {
  onBehalfOf: {
    label: 'User',
    kind: 'text',
    hint: "Enter a UID to see this user's conversations, newest first.",
  },
  conversationType: {
    label: 'Type',
    kind: 'choice',
    options: { user: '1:1', group: 'Group' },
  },
  unread: { label: 'Unread only', kind: 'flag' },
  eachView: {
    label: 'One row per user',
    kind: 'flag',
    hint: 'By default, each conversation is listed once.',
  },
  userTags: { label: 'User tags', kind: 'list' },
  groupTags: { label: 'Group tags', kind: 'list' },
  tags: { label: 'Groups with tags', kind: 'list' },
  conversationTags: { label: 'Conversation tags', kind: 'list' },
  includeBlockedUsers: { label: 'Include blocked users', kind: 'flag' },
  withBlockedInfo: { label: 'Show who blocked whom', kind: 'flag' },
  onlyAgentic: { label: 'Agent conversations only', kind: 'flag' },
  hideAgentic: { label: 'Hide agent conversations', kind: 'flag' },
} satisfies Filters
