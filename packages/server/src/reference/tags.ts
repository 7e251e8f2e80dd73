import type { ApiDocument } from './document.ts'

/** The areas of both APIs: how routes name them, their titles in the documents, and what they are for. */
const AREAS: Record<string, [title: string, description: string]> = {
  users: [
    'Users',
    'The people of your app. Create a user when somebody signs up with you; the uid is your own id for them.',
  ],
  erasures: [
    'Erasures',
    'Remove the personal data of a user everywhere, with a receipt that says what was changed.',
  ],
  auth_tokens: [
    'Auth tokens',
    "What a user's device sends instead of an API key. Your server creates a token and passes it to the device.",
  ],
  messages: [
    'Messages',
    'Send messages to users and groups, read the history, search it, react, pin and save.',
  ],
  calls: ['Calls', 'Call users and groups: who rings, who answers, and what became of each call.'],
  blocked_messages: [
    'Blocked messages',
    'Messages that moderation disapproved, and what moderators decide about them.',
  ],
  moderation_rules: [
    'Moderation rules',
    'What messages may not contain. Rules are checked before a message is stored.',
  ],
  exports: [
    'Exports',
    'Take the data of the app, a user or a conversation along, as files that can be imported.',
  ],
  imports: [
    'Imports',
    'Bring a large history of another service into the app, from files, in the background.',
  ],
  rule_previews: [
    'Rule previews',
    'Which messages of the past a rule would have blocked, before you enable it.',
  ],
  moderation_checks: [
    'Moderation checks',
    'Services outside that decide about messages, and what happens if they fail.',
  ],
  model_providers: [
    'Model providers',
    'Services with models that your app uses, with the keys to them.',
  ],
  agents: ['Agents', 'AI agents that answer your users, run by this service.'],
  external_agents: ['External agents', 'AI agents that answer your users and run elsewhere.'],
  agent_revisions: ['Agent revisions', 'What agents were like after each change.'],
  api_tools: ['API tools', 'HTTP calls that agents can make.'],
  frontend_actions: ['Frontend actions', 'What agents can do on the devices of users.'],
  mcp_servers: ['MCP servers', 'Servers with tools for agents, by the Model Context Protocol.'],
  agent_tools: ['Agent tools', 'Tools and actions of agents that run elsewhere.'],
  knowledge: ['Knowledge', 'What agents know: sources that they search and cite.'],
  agent_budgets: ['Agent budgets', 'What agents may spend on models.'],
  agent_runs: ['Agent runs', 'Answers of agents, under way and of the last 30 days.'],
  agent_replays: ['Agent replays', 'Runs of agents that are played again, to compare them.'],
  agent_ratings: ['Agent ratings', 'What users think of the answers of agents.'],
  agent_handovers: ['Agent handovers', 'Conversations with agents in which a person answers.'],
  agent_figures: ['Agent figures', 'How well agents do, by day and revision.'],
  agent_variables: ['Agent variables', 'Values that texts of agents refer to.'],
  keyword_lists: ['Keyword lists', 'Words and patterns that rules refer to.'],
  flag_reasons: ['Flag reasons', 'Why users report messages.'],
  flagged_messages: [
    'Flagged messages',
    'Messages that users flagged, and what moderators decide about them.',
  ],
  checked_messages: [
    'Checked messages',
    'Messages that live elsewhere. The rules check them, but nobody receives them here.',
  ],
  review_items: [
    'Review items',
    'Everything that waits for a moderator, oldest first: claim an item, look at its context, decide.',
  ],
  sanctions: ['Sanctions', 'Mutes and bans of users, in the app or in a group, until a time.'],
  threads: ['Threads', 'Replies to one message, and who follows them.'],
  interactions: [
    'Interactions',
    'What people do with the buttons and forms of interactive messages.',
  ],
  files: ['Files', 'Upload images, recordings and documents, and attach them to messages.'],
  conversations: [
    'Conversations',
    "A user's list of conversations with the last message and the unread count; receipts, tags and pins.",
  ],
  groups: ['Groups', 'Public, private and password-protected groups.'],
  group_members: ['Group members', 'Who is in a group, and with which scope.'],
  banned_users: ['Banned users', "Users who can't join a group or read it."],
  friends: [
    'Friends',
    'Mutual relations between users. Roles can limit lists and messages to friends.',
  ],
  blocked_users: ['Blocked users', "Users who can't reach each other in 1:1 conversations."],
  roles: ['Roles', 'What kinds of users there are, and what they may do.'],
  permissions: [
    'Permissions',
    'What the users of a role may do in the app, and the members with a scope in one group.',
  ],
  restricted_features: [
    'Restricted features',
    'Features that the users of a role cannot use. Permissions replace them.',
  ],
  bots: ['Bots', 'Users that your server speaks for. They never sign in.'],
  events: [
    'Events',
    'The log of everything that happened in your app. Read it from any position that is still kept.',
  ],
  webhooks: [
    'Webhooks',
    'HTTPS calls to your server for the events that you choose, signed and retried.',
  ],
  notification_settings: [
    'Notification settings',
    'Of what, when and with which texts the users of your app are notified, and what they can choose themselves.',
  ],
  notification_preferences: [
    'Notification preferences',
    'What one user chose: of what to be notified, at which hours, and in which time zone.',
  ],
  muted_conversations: [
    'Muted conversations',
    'Conversations of which a user is not notified for a while.',
  ],
  contact_details: ['Contact details', 'Where to send email and SMS about unread messages.'],
  push_tokens: [
    'Push tokens',
    'The devices of your users that receive push. A push token ends with the auth token that it was registered with.',
  ],
  push_providers: [
    'Push providers',
    'Your accounts at the push services of Google and Apple, or a server of your own.',
  ],
  web_push_keys: ['Web Push keys', 'What browsers subscribe to push with.'],
  sms_providers: ['SMS providers', 'Who sends your SMS.'],
  email_providers: ['Email providers', 'Who sends your email.'],
  notifications: ['Notifications', 'Why a user is notified of a message, or not.'],
  suppressions: [
    'Suppressions',
    'Addresses that get no more emails or SMS: they don’t exist, or their owners complained or unsubscribed.',
  ],
  notification_logs: ['Notification logs', 'Who was notified of what, and why somebody was not.'],
  stats: ['Stats', 'How much your app is used.'],
  api_keys: ['API keys', 'The credentials of your servers.'],

  operators: ['Operators', 'The accounts of the people who manage apps.'],
  invitations: ['Invitations', 'How operators join the team of an app.'],
  sessions: ['Sessions', 'Signing in and out, and the places where you are signed in.'],
  totp: ['TOTP', 'One-time codes as a second factor for signing in.'],
  keys: ['Keys', 'A key and a secret let a script act as you, without a session.'],
  apps: ['Apps', 'Create, rename, delete and restore apps.'],
  tenants: ['Tenants', 'All your apps with their usage and size.'],
  usage_reports: ['Usage reports', 'How much one app was used in a month.'],
  collaborators: ['Collaborators', 'The team of an app and their roles.'],
  settings: ['Settings', "An app's limits and behaviour. Changes take effect immediately."],
  storage: ['Storage', 'What the files of an app take, and the state of the store.'],
  jobs: ['Jobs', 'Background work of an app, such as the removal of a large group.'],
  audit_entries: ['Audit entries', 'Who changed what, and when. Entries are never changed.'],
}

/** Gives the tags of a document their titles and descriptions, in the order of the table. */
export function titleTags(document: ApiDocument): void {
  const used = new Set<string>()
  for (const methods of Object.values(document.paths)) {
    for (const operation of Object.values(methods)) {
      operation.tags = operation.tags.map((tag) => {
        used.add(tag)
        return AREAS[tag]?.[0] ?? tag
      })
    }
  }
  const unknown = [...used].filter((tag) => !AREAS[tag])
  if (unknown.length > 0) {
    throw new Error(
      `Give these tags a title and a description in reference/tags.ts: ${unknown.join(', ')}`,
    )
  }
  document.tags = Object.entries(AREAS)
    .filter(([tag]) => used.has(tag))
    .map(([, [name, description]]) => ({ name, description }))
}
