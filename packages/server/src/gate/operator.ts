import { type EventType, events } from '@loquat/protocol'

/** What an operator can be in an app. */
export const ROLES = ['owner', 'admin', 'moderator', 'developer'] as const
export type Role = (typeof ROLES)[number]

/** The parts of an app's management, and who may use them. */
export const SECTIONS = {
  /** Keys, tokens, bots, webhooks. */
  integration: ['owner', 'admin', 'developer'],
  /** The app's data: users, groups, roles, conversations; the team. */
  data: ['owner', 'admin', 'moderator', 'developer'],
  moderation: ['owner', 'admin', 'moderator'],
  /** The app itself: name, settings, team, audit. */
  settings: ['owner', 'admin'],
  /** Its end. */
  ownership: ['owner'],
} satisfies Record<string, readonly Role[]>
export type Section = keyof typeof SECTIONS

export const mayUse = (role: Role, section: Section) =>
  (SECTIONS[section] as readonly Role[]).includes(role)

export const roleIsTooSmall = (role: Role) =>
  `Your role ${role} in this app doesn't allow this operation.`

/** By the tag of a v3 operation. What is not named here is for those who may do everything. */
const SECTION_OF_TAG: Record<string, Section> = {
  api_keys: 'integration',
  // Whoever makes a token of a user can act as that user.
  auth_tokens: 'integration',
  bots: 'integration',
  webhooks: 'integration',
  roles: 'data',
  users: 'data',
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
  events: 'data',
  stats: 'data',
}

export const sectionOfTag = (tag: string): Section => SECTION_OF_TAG[tag] ?? 'settings'

/** What an event tells of is for those who may see it elsewhere too. By the beginning of its type. */
const SECTIONS_OF_EVENTS: [prefix: string, Section][] = [
  ['apikey.', 'integration'],
  ['user.token', 'integration'],
  ['webhook.', 'integration'],
  ['app.settings.', 'settings'],
]

/** The types of events in the log that a role sees. */
export const visibleEvents = (role: Role): EventType[] =>
  (Object.keys(events) as EventType[]).filter((type) => {
    const [, section = 'data'] =
      SECTIONS_OF_EVENTS.find(([prefix]) => type.startsWith(prefix)) ?? []
    return mayUse(role, section)
  })

/** Who manages: a person with a session, or a program with key and secret. */
export interface Operator {
  no: number
  email: string
  name: string
  via: 'session' | 'key'
  /** Of a session: its id. */
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
