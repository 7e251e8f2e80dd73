import { type Static, type TSchema, Type } from 'typebox'
import { MessageRecord, RoleRecord, UserRecord } from './records.ts'

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

const OneMessage = Type.Object({ message: MessageRecord })
const Mark = Type.Object({
  uid: Type.String(),
  conversationId: Type.String(),
  receiverType: Type.Enum(['user', 'group']),
  receiver: Type.String({ description: 'The other user, or the group.' }),
  messageId: Type.String({ description: 'The message that the mark stands at.' }),
  at: Type.Integer({ description: 'Unix seconds.' }),
})

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
  'message.sent': {
    summary: 'A message was sent.',
    trigger: 'message_sent',
    payload: OneMessage,
  },
  'message.deleted': {
    summary: 'A message was deleted. Holds the action message that tells of it.',
    trigger: 'message_deleted',
    payload: OneMessage,
  },
  'conversation.delivered': {
    summary: 'A user received the messages of a conversation up to one.',
    trigger: 'message_delivery_receipt',
    payload: Mark,
  },
  'conversation.read': {
    summary: 'A user read the messages of a conversation up to one.',
    trigger: 'message_read_receipt',
    payload: Mark,
  },
  'conversation.unread': {
    summary: 'A user marked the messages of a conversation after one as unread.',
    payload: Mark,
  },
  'conversation.cleared': {
    summary: 'A user cleared a conversation away; `forAll`: its messages are gone for both.',
    payload: Type.Object({
      uid: Type.String(),
      conversationId: Type.String(),
      forAll: Type.Boolean(),
    }),
  },
} satisfies Record<string, EventDefinition>

export type EventType = keyof typeof events
export type EventPayload<T extends EventType> = Static<(typeof events)[T]['payload']>
