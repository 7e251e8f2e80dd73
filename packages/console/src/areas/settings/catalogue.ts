/** Labels and hints for an app's settings. The page shows a setting that is missing here by its name. */
export interface SettingText {
  label: string
  hint?: string
}

export const GROUPS: { title: string; about: string; prefix: string }[] = [
  {
    title: 'Conversations',
    about: 'Besides regular messages, these also become the last message of a conversation.',
    prefix: 'core.',
  },
  {
    title: 'Allowed origins',
    about: 'Websites whose pages may call this app with an auth token.',
    prefix: 'cors.',
  },
  { title: 'Limits', about: 'The maximum number of each.', prefix: 'limits.' },
  {
    title: 'Rate limits',
    about: 'Requests per minute. Requests over the limit fail with status 429.',
    prefix: 'rate.',
  },
]

export const TEXTS: Record<string, SettingText> = {
  'core.conversations.updateOnGroupActions': {
    label: 'Members joining, leaving, or being kicked or banned',
    hint: 'Counts as unread.',
  },
  'core.conversations.updateOnReplies': {
    label: 'Replies in threads',
    hint: 'Never counts as unread.',
  },
  'core.conversations.updateOnCustomMessage': {
    label: 'Custom messages',
    hint: 'Counts as unread.',
  },
  'core.conversations.updateOnMessageActions': {
    label: 'Edited and deleted messages',
    hint: 'Counts as unread.',
  },
  'core.conversations.updateOnCallActivity': { label: 'Calls', hint: 'Counts as unread.' },
  'core.threads.updateOnMessageActions': {
    label: 'Edited and deleted messages in threads',
    hint: 'Counts as unread.',
  },
  'limits.membersPerGroup': { label: 'Members per group' },
  'limits.groupsPerUser': { label: 'Groups per user' },
  'limits.friendsPerUser': { label: 'Friends per user' },
  'limits.reactionsPerMessage': { label: 'Different reactions per message' },
  'limits.pinnedMessages': { label: 'Pinned messages per conversation' },
  'limits.savedMessages': { label: 'Saved messages per user' },
  'limits.authTokensPerUser': {
    label: 'Auth tokens per user',
    hint: 'The newest tokens stay valid.',
  },
  'limits.connectionsPerUser': {
    label: 'Connections per user',
    hint: 'Concurrent connections to one gateway process.',
  },
  'limits.connectionsPerApp': {
    label: 'Connections per app',
    hint: 'Concurrent connections to one gateway process.',
  },
  'limits.readsAtOnce': {
    label: 'Concurrent reads',
    hint: 'Requests that run at the same time. Slow ones count up to four times.',
  },
  'limits.writesAtOnce': {
    label: 'Concurrent writes',
    hint: 'Requests that run at the same time. Plain messages have their own queue.',
  },
  'rate.core': {
    label: 'Core operations',
    hint: 'Signing in, creating and deleting users, and creating, joining, and leaving groups.',
  },
  'rate.standard': { label: 'All other operations' },
  'rate.user': { label: 'Per user', hint: "Also counts towards the app's limits." },
  'rate.failed': {
    label: 'Requests with an invalid key or token',
    hint: "Per IP address. Doesn't count towards other limits.",
  },
  'cors.origins': {
    label: 'Origins',
    hint: 'For example https://app.example.org. Separate origins with commas, or enter * to allow all.',
  },
}
