import type { Filters } from '../../shared/search.ts'

/** What `GET /conversations` can be asked for, and in whose name. */
export const CONVERSATION_FILTERS = {
  onBehalfOf: {
    label: 'As user',
    kind: 'text',
    hint: 'A uid: the conversations of this user, newest first.',
  },
  conversationType: {
    label: 'Type',
    kind: 'choice',
    options: { user: 'Between two', group: 'Groups' },
  },
  unread: { label: 'Unread only', kind: 'flag' },
  eachView: {
    label: 'Once for each user',
    kind: 'flag',
    hint: 'Else each conversation is listed once.',
  },
  userTags: { label: 'Tags of the user', kind: 'list' },
  groupTags: { label: 'Tags of the group', kind: 'list' },
  tags: { label: 'Only groups with tags', kind: 'list' },
  conversationTags: { label: 'Own tags of the conversation', kind: 'list' },
  includeBlockedUsers: { label: 'With blocked users too', kind: 'flag' },
  withBlockedInfo: { label: 'Show who blocks whom', kind: 'flag' },
  onlyAgentic: { label: 'With agents only', kind: 'flag' },
  hideAgentic: { label: 'Without agents', kind: 'flag' },
} satisfies Filters
