import { type EventType, events } from '@loquat/protocol'

/** The roles of operators in an app. */
export const ROLES = ['owner', 'admin', 'moderator', 'developer'] as const
export type Role = (typeof ROLES)[number]

/** The sections of an app's management, and the roles that may use them. */
export const SECTIONS = {
  /** API keys, auth tokens, bots, webhooks. */
  integration: ['owner', 'admin', 'developer'],
  /** The app's data: users, groups, roles, conversations; the team. */
  data: ['owner', 'admin', 'moderator', 'developer'],
  moderation: ['owner', 'admin', 'moderator'],
  /** The app itself: name, settings, team, audit log. */
  settings: ['owner', 'admin'],
  /** Deletion and restoring. */
  ownership: ['owner'],
} satisfies Record<string, readonly Role[]>
export type Section = keyof typeof SECTIONS

export const mayUse = (role: Role, section: Section) =>
  (SECTIONS[section] as readonly Role[]).includes(role)

export const roleIsTooSmall = (role: Role) =>
  `Your role ${role} in this app doesn't allow this operation.`

/** By the tag of a v3 operation. Tags that aren't listed are for roles that may do everything. */
const SECTION_OF_TAG: Record<string, Section> = {
  api_keys: 'integration',
  // A person who creates a user's auth token can act as that user.
  auth_tokens: 'integration',
  bots: 'integration',
  webhooks: 'integration',
  // Who sets the URL of a check reads the messages.
  moderation_checks: 'integration',
  model_providers: 'integration',
  // An agent's tools see what users write, and know the secrets of other services.
  agents: 'integration',
  external_agents: 'integration',
  knowledge: 'integration',
  agent_revisions: 'integration',
  api_tools: 'integration',
  frontend_actions: 'integration',
  mcp_servers: 'integration',
  agent_tools: 'integration',
  agent_variables: 'integration',
  agent_budgets: 'integration',
  // A live one costs money.
  agent_replays: 'integration',
  // A run shows what users asked.
  agent_runs: 'data',
  agent_ratings: 'data',
  agent_handovers: 'data',
  agent_figures: 'data',
  roles: 'data',
  permissions: 'data',
  restricted_features: 'data',
  users: 'data',
  // Nobody can undo it.
  erasures: 'settings',
  friends: 'data',
  blocked_users: 'data',
  groups: 'data',
  group_members: 'data',
  banned_users: 'data',
  messages: 'data',
  threads: 'data',
  interactions: 'data',
  reactions: 'data',
  conversations: 'data',
  files: 'data',
  calls: 'data',
  events: 'data',
  stats: 'data',
  notification_settings: 'data',
  notification_preferences: 'data',
  muted_conversations: 'data',
  contact_details: 'data',
  notification_logs: 'data',
  notifications: 'data',
  // A list of push tokens shows auth tokens.
  push_tokens: 'integration',
  push_providers: 'integration',
  web_push_keys: 'data',
  sms_providers: 'integration',
  email_providers: 'integration',
  suppressions: 'data',
  // For those who can create a key with full access, too.
  imports: 'integration',
  exports: 'integration',
  blocked_messages: 'moderation',
  moderation_rules: 'moderation',
  keyword_lists: 'moderation',
  flag_reasons: 'moderation',
  flagged_messages: 'moderation',
  checked_messages: 'moderation',
  rule_previews: 'moderation',
  sanctions: 'moderation',
  review_items: 'moderation',
}

export const sectionOfTag = (tag: string): Section => SECTION_OF_TAG[tag] ?? 'settings'

/**
 * An event is visible to the roles that may see its subject elsewhere. By the start of its type.
 */
const SECTIONS_OF_EVENTS: [prefix: string, Section][] = [
  ['apikey.', 'integration'],
  ['user.token', 'integration'],
  ['webhook.', 'integration'],
  ['model.', 'integration'],
  ['app.settings.', 'settings'],
  ['message.held', 'moderation'],
  ['message.moderated', 'moderation'],
  ['message.edit.', 'moderation'],
  ['message.flagged', 'moderation'],
  ['message.unflagged', 'moderation'],
  ['user.flagged', 'moderation'],
  ['group.flagged', 'moderation'],
  ['moderation.', 'moderation'],
]

/** The event types in the log that a role sees. */
export const visibleEvents = (role: Role): EventType[] =>
  (Object.keys(events) as EventType[]).filter((type) => {
    const [, section = 'data'] =
      SECTIONS_OF_EVENTS.find(([prefix]) => type.startsWith(prefix)) ?? []
    return mayUse(role, section)
  })

/** Who manages: a person with a session, or a script with key and secret. */
export interface Operator {
  no: number
  email: string
  name: string
  via: 'session' | 'key'
  /** The session's id, if there is one. */
  sessionId?: string
  address: string
  userAgent: string
}

/** An app as one of its collaborators sees it. */
export interface ManagedApp {
  no: number
  id: string
  role: Role
  archived: boolean
}
