/** Labels and hints for an app's settings. */
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
  {
    title: 'Retention',
    about:
      "Expired messages are deleted for everyone, with their reactions and files. You can't get them back.",
    prefix: 'retention.',
  },
  {
    title: 'Flagged messages',
    about: 'What happens without a decision of a moderator.',
    prefix: 'moderation.',
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
  'retention.messageDays': {
    label: 'Days to keep messages',
    hint: '0 keeps them forever. Older messages are deleted within minutes after you save.',
  },
  'moderation.hideAfterFlags': {
    label: 'Flags that hide a message',
    hint: 'The message is hidden when this many users have flagged it. 0 never hides it.',
  },
  'limits.membersPerGroup': { label: 'Members per group' },
  'limits.groupsPerUser': { label: 'Groups per user' },
  'limits.friendsPerUser': { label: 'Friends per user' },
  'limits.blocksPerUser': { label: 'Blocked users per user' },
  'limits.reactionsPerMessage': { label: 'Different reactions per message' },
  'limits.pinnedMessages': { label: 'Pinned messages per conversation' },
  'limits.savedMessages': { label: 'Saved messages per user' },
  'limits.authTokensPerUser': {
    label: 'Auth tokens per user',
    hint: 'The newest tokens stay valid.',
  },
  'limits.fileBytes': { label: 'Bytes per file' },
  'limits.storageBytes': { label: 'Bytes of all files', hint: 'Includes thumbnails.' },
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
  'limits.moderationRules': { label: 'Moderation rules' },
  'limits.keywordLists': { label: 'Keyword lists' },
  'limits.keywordsPerList': { label: 'Entries per keyword list' },
  'limits.filtersPerRule': { label: 'Filters per moderation rule' },
  'limits.conditionsPerRule': { label: 'Conditions per moderation rule' },
  'rate.core': {
    label: 'Core operations',
    hint: 'Signing in, creating and deleting users, and creating, joining, and leaving groups.',
  },
  'rate.standard': { label: 'All other operations' },
  'rate.import': { label: 'Imports', hint: 'Each request has up to 50 items.' },
  'rate.user': { label: 'Per user', hint: "Also counts towards the app's limits." },
  'rate.failed': {
    label: 'Requests with an invalid key or token',
    hint: "Per IP address. Doesn't count towards other limits.",
  },
  'rate.disapproved': {
    label: 'Messages that moderation rejects',
    hint: "Per user. After that, the user can't send anything until the minute is over.",
  },
  'cors.origins': {
    label: 'Origins',
    hint: 'For example https://app.example.org. Separate origins with commas, or enter * to allow all.',
  },
}
