import { type Static, type TSchema, Type } from 'typebox'
import {
  GroupRecord,
  MessageRecord,
  ReactionRecord,
  RoleRecord,
  SCOPES,
  UserRecord,
  WebhookRecord,
} from './records.ts'

interface EventDefinition {
  /** When it happens: a sentence for the documentation. */
  summary: string
  /** The name by which webhooks subscribe to it. */
  trigger?: string
  /** What webhooks are sent of the payload, where that is not the payload itself. */
  // biome-ignore lint/suspicious/noExplicitAny: each takes the payload of its own type
  triggerData?: (payload: any) => object
  payload: TSchema
}

const Settings = Type.Record(
  Type.String(),
  Type.Union([Type.Boolean(), Type.Integer(), Type.String()]),
)

const OneUser = Type.Object({ user: UserRecord })
const OneRole = Type.Object({ role: RoleRecord })
const Uids = Type.Array(Type.String())
const Friends = Type.Object({ uid: Type.String(), friends: Uids })
const Blocks = Type.Object({ users: Type.Record(Type.String(), UserRecord), by: UserRecord })

const OneGroup = Type.Object({ group: GroupRecord })
const Members = Type.Record(Type.String(), UserRecord)
const OwnMembership = Type.Object({ group: GroupRecord, members: Members, message: MessageRecord })
const Membership = Type.Object({ ...OwnMembership.properties, by: UserRecord })
const Scope = Type.Enum([...SCOPES])
const ScopedMembers = Type.Record(
  Type.String(),
  Type.Object({ ...UserRecord.properties, scope: Scope, oldScope: Scope }),
)
const FormerMembers = Type.Record(
  Type.String(),
  Type.Object({
    ...UserRecord.properties,
    oldScope: Type.Optional({ ...Scope, description: 'Not of somebody who was no member.' }),
  }),
)
const OneMessage = Type.Object({ message: MessageRecord })
const Reaction = Type.Object({
  reaction: ReactionRecord,
  conversationId: Type.String(),
  receiverType: Type.Enum(['user', 'group']),
  receiver: Type.String({ description: 'The receiver of the message.' }),
  parentMessageId: Type.Optional(Type.String({ description: 'Where the message is a reply.' })),
})
/** Whose view of which conversation. */
const View = {
  uid: Type.String(),
  conversationId: Type.String(),
  receiverType: Type.Enum(['user', 'group']),
  receiver: Type.String({ description: 'The other user, or the group.' }),
}
const Save = Type.Object({ uid: Type.String(), messageId: Type.String() })
const Mark = Type.Object({
  ...View,
  user: UserRecord,
  messageId: Type.String({
    description:
      'The message that the mark stands at; of what was received or read, one that another sent.',
  }),
  messageSender: Type.Optional(Type.String({ description: 'Who sent that message.' })),
  at: Type.Integer({ description: 'Unix seconds.' }),
  senders: Type.Optional(
    Type.Array(Type.String(), {
      description: 'In groups: who sent the newest of the messages that the mark covers.',
    }),
  ),
})

/** As webhooks tell of a mark. */
const receipt =
  (action: 'delivered' | 'read') =>
  ({ uid, user, receiver, receiverType, messageId, messageSender, at }: Static<typeof Mark>) => ({
    receiver,
    receiverType,
    type: 'receipts',
    sender: uid,
    messageSender,
    body: { action, messageId, user, timestamp: at },
  })

const ConnectionChange = Type.Object({
  user: UserRecord,
  status: Type.Enum(['online', 'offline']),
  timestamp: Type.Integer({ description: 'Unix milliseconds.' }),
  connection: Type.Optional(
    Type.Object(
      {
        platform: Type.Optional(Type.String()),
        userAgent: Type.Optional(Type.String()),
        connectedAt: Type.Integer({ description: 'Unix milliseconds.' }),
      },
      { description: 'The device that came first or left last, where that is known.' },
    ),
  ),
})

/** As webhooks tell of a device. Only a change of the user's presence is an event. */
const connectionStatus = ({
  user,
  status,
  timestamp,
  connection,
}: Static<typeof ConnectionChange>) => ({
  timestamp,
  user,
  status,
  currentConnection: { action: status === 'online' ? 'connected' : 'disconnected', ...connection },
  userPresenceChanged: true,
})

const OneWebhook = Type.Object({ webhook: WebhookRecord })

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
  'app.archived': {
    summary: 'The app was taken out of service, to be removed after the grace.',
    payload: Type.Object({ appId: Type.String() }),
  },
  'app.restored': {
    summary: 'The app was put back into service.',
    payload: Type.Object({ appId: Type.String() }),
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
  'user.friends.added': {
    summary: 'Two users became friends, both ways: an event for each pair.',
    payload: Friends,
  },
  'user.friends.removed': {
    summary: 'Two users are no longer friends, both ways: an event for each pair.',
    payload: Friends,
  },
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
  'user.connection.changed': {
    summary: 'A user came online with a first device, or is offline since the last one left.',
    trigger: 'user_connection_status_changed',
    triggerData: connectionStatus,
    payload: ConnectionChange,
  },
  'group.created': {
    summary: 'A group was created. Its first members are its owner and creator.',
    trigger: 'group_created',
    payload: Type.Object({ group: GroupRecord, members: Members }),
  },
  'group.updated': {
    summary: 'A group changed. Holds the group as it is now.',
    trigger: 'group_updated',
    payload: OneGroup,
  },
  'group.deleted': {
    summary: 'A group was removed, with its members, bans and messages.',
    trigger: 'group_deleted',
    payload: OneGroup,
  },
  'group.owner.transferred': {
    summary: 'A group has another owner.',
    trigger: 'group_owner_transferred',
    payload: Type.Object({ group: GroupRecord, oldOwner: Type.String() }),
  },
  'group.member.added': {
    summary: 'Somebody made a user a member.',
    trigger: 'group_member_added',
    payload: Membership,
  },
  'group.member.joined': {
    summary: 'A user joined.',
    trigger: 'group_member_joined',
    payload: OwnMembership,
  },
  'group.member.left': {
    summary: 'A user left.',
    trigger: 'group_member_left',
    payload: OwnMembership,
  },
  'group.member.kicked': {
    summary: 'A member was removed, and may join again.',
    trigger: 'group_member_kicked',
    payload: Membership,
  },
  'group.member.banned': {
    summary: 'A user was banned; a membership ended with it.',
    trigger: 'group_member_banned',
    payload: Type.Object({ ...Membership.properties, members: FormerMembers }),
  },
  'group.member.unbanned': {
    summary: 'A ban was lifted.',
    trigger: 'group_member_unbanned',
    payload: Membership,
  },
  'group.member.scope.changed': {
    summary: 'A member has another scope.',
    trigger: 'group_member_scope_changed',
    payload: Type.Object({ ...Membership.properties, members: ScopedMembers }),
  },
  'message.sent': {
    summary: 'A message was sent.',
    trigger: 'message_sent',
    payload: OneMessage,
  },
  'user.mentioned': {
    summary:
      'A message mentions a user, since it was sent or edited. One event for each user who can read it, without blocks between the two.',
    trigger: 'user_mentioned',
    payload: Type.Object({ uid: Type.String(), message: MessageRecord }),
  },
  'thread.followed': {
    summary: 'A user follows the thread of a message, or no longer does.',
    payload: Type.Object({
      uid: Type.String(),
      messageId: Type.String(),
      follows: Type.Boolean(),
    }),
  },
  'message.interacted': {
    summary: 'A user used elements of an interactive message for the first time.',
    payload: Type.Object({
      uid: Type.String(),
      messageId: Type.String(),
      messageSender: Type.String(),
      conversationId: Type.String(),
      receiverType: Type.Enum(['user', 'group']),
      interactions: Type.Array(
        Type.Object({
          elementId: Type.String(),
          interactedAt: Type.Integer({ description: 'Unix seconds.' }),
        }),
      ),
    }),
  },
  'message.edited': {
    summary: 'A message was edited. Holds the action message that tells of it.',
    trigger: 'message_edited',
    payload: OneMessage,
  },
  'message.deleted': {
    summary: 'A message was deleted. Holds the action message that tells of it.',
    trigger: 'message_deleted',
    payload: OneMessage,
  },
  'message.reaction.added': {
    summary: 'A user reacted to a message.',
    trigger: 'message_reaction_added',
    payload: Reaction,
  },
  'message.reaction.removed': {
    summary: 'A user took a reaction back.',
    trigger: 'message_reaction_removed',
    payload: Reaction,
  },
  'message.pinned': {
    summary: 'A message was pinned for all who take part.',
    payload: OneMessage,
  },
  'message.unpinned': {
    summary: 'A message is no longer pinned. `by` released it.',
    payload: Type.Object({ ...OneMessage.properties, by: Type.String() }),
  },
  'message.saved': {
    summary: "A message was put on a user's own list.",
    payload: Save,
  },
  'message.unsaved': {
    summary: "A message was taken off a user's own list.",
    payload: Save,
  },
  'conversation.delivered': {
    summary: 'A user received the messages of a conversation up to one.',
    trigger: 'message_delivery_receipt',
    triggerData: receipt('delivered'),
    payload: Mark,
  },
  'conversation.read': {
    summary: 'A user read the messages of a conversation up to one.',
    trigger: 'message_read_receipt',
    triggerData: receipt('read'),
    payload: Mark,
  },
  'conversation.unread': {
    summary: 'A user marked the messages of a conversation after one as unread.',
    payload: Mark,
  },
  'conversation.mark.moved': {
    summary:
      'What a user has read up to moved, and nobody else is told: all of it was read before or is their own, or one of the two blocks the other.',
    payload: Mark,
  },
  'conversation.tags.updated': {
    summary: "A user's own tags of a conversation changed.",
    payload: Type.Object({ ...View, tags: Type.Array(Type.String()) }),
  },
  'conversation.pinned': {
    summary: 'A user pinned a conversation, or no longer does.',
    payload: Type.Object({ ...View, pinned: Type.Boolean() }),
  },
  'app.conversations.pinned': {
    summary: 'The app pinned conversations for everyone. Holds all that are pinned now.',
    payload: Type.Object({ conversations: Type.Array(Type.String()) }),
  },
  'conversation.cleared': {
    summary: 'A user cleared a conversation away; `forAll`: for all who take part.',
    payload: Type.Object({ ...View, forAll: Type.Boolean() }),
  },
  'webhook.created': { summary: 'A webhook was created.', payload: OneWebhook },
  'webhook.updated': {
    summary: 'A webhook, its triggers or its secret changed. Secrets are in no event.',
    payload: OneWebhook,
  },
  'webhook.deleted': { summary: 'A webhook was removed.', payload: OneWebhook },
  'webhook.disabled': {
    summary: 'A webhook was disabled: for five days nothing could be delivered.',
    payload: OneWebhook,
  },
} satisfies Record<string, EventDefinition>

export type EventType = keyof typeof events
export type EventPayload<T extends EventType> = Static<(typeof events)[T]['payload']>

/** What webhooks can subscribe to: triggers with the type of event that pulls each. */
export const triggers: ReadonlyMap<string, { type: EventType; summary: string }> = new Map(
  Object.entries<EventDefinition>(events).flatMap(([type, { trigger, summary }]) =>
    trigger === undefined ? [] : [[trigger, { type: type as EventType, summary }] as const],
  ),
)

/** What a webhook is sent of an event's payload. */
export function triggerDataOf(type: EventType, payload: unknown): unknown {
  const { triggerData }: EventDefinition = events[type]
  return triggerData ? triggerData(payload) : payload
}
