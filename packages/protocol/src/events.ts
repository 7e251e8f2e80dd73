import { type Static, type TSchema, Type } from 'typebox'
import { RoleRecord, UserRecord } from './records.ts'

interface EventDefinition {
  /** When it happens: a sentence for the documentation. */
  summary: string
  /** The name by which webhooks subscribe to it. */
  trigger?: string
  payload: TSchema
}

const Settings = Type.Record(Type.String(), Type.Union([Type.Boolean(), Type.Integer()]))

const OneUser = Type.Object({ user: UserRecord })
const OneRole = Type.Object({ role: RoleRecord })
const Uids = Type.Array(Type.String())
const Friends = Type.Object({ uid: Type.String(), friends: Uids })
const Blocks = Type.Object({ users: Type.Record(Type.String(), UserRecord), by: UserRecord })

const ApiKey = Type.Object({ name: Type.String(), scope: Type.String() })

/** Every type of event that an app's log can hold, and nothing else. */
export const events = {
  'app.created': {
    summary: 'The app was created. The first event of every log.',
    payload: Type.Object({ appId: Type.String(), name: Type.String(), region: Type.String() }),
  },
  'app.settings.updated': {
    summary: 'Settings of the app changed. Holds the values in force of those that were named.',
    payload: Type.Object({ settings: Settings }),
  },
  'apikey.created': {
    summary: 'An API key was created. Key values are in no event.',
    payload: ApiKey,
  },
  'apikey.updated': {
    summary: 'The name or scope of an API key changed. Holds both as they are now.',
    payload: ApiKey,
  },
  'apikey.deleted': {
    summary: 'An API key was removed.',
    payload: ApiKey,
  },
  'role.created': { summary: 'A role was created.', payload: OneRole },
  'role.updated': { summary: 'A role changed.', payload: OneRole },
  'role.deleted': {
    summary: 'A role was removed; its holders have the role `default`.',
    payload: OneRole,
  },
  'user.created': { summary: 'A user was created.', payload: OneUser },
  'user.updated': { summary: 'A user changed. Holds the user as it is now.', payload: OneUser },
  'user.deactivated': { summary: 'A user was deactivated.', payload: OneUser },
  'user.reactivated': { summary: 'A deactivated user was brought back.', payload: OneUser },
  'user.deleted': { summary: 'A user was removed for good.', payload: OneUser },
  'user.token.created': {
    summary: 'An auth token was issued. Token values are in no event.',
    payload: Type.Object({ uid: Type.String() }),
  },
  'user.token.updated': {
    summary: 'It was stored where a token is in use.',
    payload: Type.Object({ uid: Type.String(), platform: Type.Optional(Type.String()) }),
  },
  'user.tokens.revoked': {
    summary: 'Auth tokens of a user were revoked: one, or all.',
    payload: Type.Object({ uid: Type.String(), count: Type.Integer() }),
  },
  'user.friends.added': { summary: 'Users became friends, both ways.', payload: Friends },
  'user.friends.removed': { summary: 'Users are no longer friends, both ways.', payload: Friends },
  'user.blocked': {
    summary: 'A user blocked others.',
    trigger: 'user_blocked',
    payload: Blocks,
  },
  'user.unblocked': {
    summary: 'A user no longer blocks others.',
    trigger: 'user_unblocked',
    payload: Blocks,
  },
} satisfies Record<string, EventDefinition>

export type EventType = keyof typeof events
export type EventPayload<T extends EventType> = Static<(typeof events)[T]['payload']>
