/** The settings of an app as people read them. One that is not named here is shown by its name. */
export interface SettingText {
  label: string
  hint?: string
}

export const GROUPS: { title: string; about: string; prefix: string }[] = [
  {
    title: 'Conversations',
    about: 'What becomes the last message of a conversation, beside messages themselves.',
    prefix: 'core.',
  },
  { title: 'Pages that may call', about: 'Whose pages may call with a token.', prefix: 'cors.' },
  { title: 'Limits', about: 'How much of each there can be.', prefix: 'limits.' },
  { title: 'Requests a minute', about: 'Beyond them calls are told to wait.', prefix: 'rate.' },
]

export const TEXTS: Record<string, SettingText> = {
  'core.conversations.updateOnGroupActions': {
    label: 'Members that join, leave, are kicked or banned',
    hint: 'They count as unread.',
  },
  'core.conversations.updateOnReplies': {
    label: 'Replies in threads',
    hint: 'They never count as unread.',
  },
  'core.conversations.updateOnCustomMessage': {
    label: 'Custom messages',
    hint: 'They count as unread.',
  },
  'core.conversations.updateOnMessageActions': {
    label: 'Edited and deleted messages',
    hint: 'They count as unread.',
  },
  'core.conversations.updateOnCallActivity': { label: 'Calls', hint: 'They count as unread.' },
  'core.threads.updateOnMessageActions': {
    label: 'Edited and deleted messages inside threads',
    hint: 'They count as unread.',
  },
  'limits.membersPerGroup': { label: 'Members of a group' },
  'limits.groupsPerUser': { label: 'Groups of a user' },
  'limits.friendsPerUser': { label: 'Friends of a user' },
  'limits.reactionsPerMessage': { label: 'Different reactions to a message' },
  'limits.pinnedMessages': { label: 'Pinned messages of a conversation' },
  'limits.savedMessages': { label: 'Saved messages of a user' },
  'limits.authTokensPerUser': { label: 'Auth tokens of a user', hint: 'The newest stay valid.' },
  'limits.connectionsPerUser': {
    label: 'Connections of a user',
    hint: 'To one gateway process at the same time.',
  },
  'limits.connectionsPerApp': {
    label: 'Connections of the app',
    hint: 'To one gateway process at the same time.',
  },
  'rate.core': {
    label: 'Core operations',
    hint: 'Logins, users created and deleted, groups created, joined and left.',
  },
  'rate.standard': { label: 'All other operations' },
  'rate.user': { label: 'Of one user', hint: 'They count for the app too.' },
  'rate.failed': {
    label: 'Unknown keys and tokens from one address',
    hint: 'They count for nothing else.',
  },
  'cors.origins': {
    label: 'Origins',
    hint: 'Like https://app.example.org, several with commas; * for all.',
  },
}
