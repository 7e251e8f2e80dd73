import { type Static, Type } from 'typebox'
import { CHANNELS, REASONS } from '../../core/notifications/decide.ts'
import { LOG_PROVIDERS, LOG_TRIGGERS } from '../../core/notifications/log.ts'
import { Current } from '../../platform/http/id-page.ts'
import { Data, Metadata, Milliseconds } from '../../platform/http/schemas.ts'

const UUID = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
const LAST_ID = Number.MAX_SAFE_INTEGER

const MessageId = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: LAST_ID, description }))
const Party = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 100, 'x-lower': true, description }))

export const LogQuery = Type.Object({
  uid: Party('Only notifications to this user.'),
  messageId: MessageId('Only about this message.'),
  reactionId: MessageId('Only about this reaction.'),
  from: Type.Optional(Milliseconds('Only messages sent at this time or later.')),
  to: Type.Optional(Milliseconds('Only messages sent at this time or before.')),
  messageCategory: Type.Optional(Type.Enum(['message', 'interactive', 'custom', 'action', 'call'])),
  messageType: Type.Optional(
    Type.String({ maxLength: 100, description: 'Type of the message, such as `text`.' }),
  ),
  trigger: Type.Optional(Type.Enum([...LOG_TRIGGERS], { description: 'What happened.' })),
  sender: Party('Only messages of this sender.'),
  receiver: Party('Only messages to this user or group.'),
  reactionSender: Party('Only reactions of this user.'),
  reactionReceiver: Party('Only about reactions, to this user.'),
  member: Party('Only messages in groups, to this member.'),
  receiverType: Type.Optional(Type.Enum(['user', 'group'])),
  channel: Type.Optional(Type.Enum([...CHANNELS])),
  provider: Type.Optional(Type.Enum([...LOG_PROVIDERS])),
  notificationTriggered: Type.Optional(
    Type.Boolean({ description: 'False: the user was not notified; `reason` says why.' }),
  ),
  reason: Type.Optional(Type.Enum([...REASONS])),
  success: Type.Optional(Type.Boolean({ description: 'Whether the provider accepted it.' })),
  affix: Type.Optional(
    Type.Enum(['append', 'prepend'], {
      description: 'With `logId`: entries after it in the list, which are older, or before it.',
    }),
  ),
  logId: Type.Optional(
    Type.String({ pattern: UUID, description: 'Cursor: the `_id` of an entry.' }),
  ),
})
export type LogQuery = Static<typeof LogQuery>

export const NotificationLog = Type.Object(
  {
    _id: Type.String(),
    uid: Type.String({ description: 'UID of the user who was notified or not.' }),
    component: Type.Literal('notifications'),
    channel: Type.Enum([...CHANNELS]),
    trigger: Type.String({ description: 'What happened.' }),
    messageId: Type.Optional(Type.String()),
    reactionId: Type.Optional(Type.String()),
    messageCategory: Type.Optional(Type.String()),
    messageType: Type.Optional(Type.String()),
    messageSentAtMS: Milliseconds('When the message was sent.'),
    sender: Type.String({ description: 'UID of the sender.' }),
    receiver: Type.String({ description: 'UID or GUID that the message was sent to.' }),
    receiverType: Type.Enum(['user', 'group']),
    member: Type.Optional(
      Type.String({ description: 'In groups: UID of the member who was notified or not.' }),
    ),
    reactionSender: Type.Optional(Type.String({ description: 'UID of the user who reacted.' })),
    provider: Type.Optional(
      Type.String({ description: 'Absent if the decision needed no provider.' }),
    ),
    providerId: Type.Optional(Type.String()),
    platform: Type.Optional(Type.String({ description: 'Platform of the device.' })),
    tokenType: Type.Optional(Type.Enum(['chat', 'voip'])),
    pushToken: Type.Optional(Type.String({ description: 'Its last characters.' })),
    payload: Type.Optional(Metadata(65_536, 'What the provider received.')),
    notificationTriggered: Type.Boolean(),
    reason: Type.Optional(
      Type.String({ description: 'Why the user was not notified, or why it did not arrive.' }),
    ),
    success: Type.Optional(Type.Boolean({ description: 'Whether the provider accepted it.' })),
    processingStartedAtMS: Milliseconds('When its processing began.'),
    processingEndedAtMS: Milliseconds('When its processing ended.'),
    totalProcessingTimeInMS: Type.Integer(),
  },
  { additionalProperties: false, 'x-component': 'NotificationLog' },
)
export type NotificationLog = Static<typeof NotificationLog>

const LogCursor = Type.Object(
  {
    affix: Type.Enum(['append', 'prepend']),
    messageId: Type.String({ description: 'Message of that entry. Empty if it has none.' }),
    logId: Type.String(),
  },
  { additionalProperties: false, 'x-component': 'NotificationLogCursor' },
)

export const LogPage = Type.Object(
  {
    data: Type.Array(NotificationLog),
    meta: Type.Object(
      {
        previous: Type.Optional(LogCursor),
        current: Current,
        next: Type.Optional(LogCursor),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)
export type LogPage = Static<typeof LogPage>

export const LogSettings = Data(
  Type.Object(
    {
      enabled: Type.Boolean({ description: 'Whether notifications are logged.' }),
      until: Type.Optional(Milliseconds('When logging stops by itself.')),
    },
    { additionalProperties: false, 'x-component': 'NotificationLogSettings' },
  ),
)

export const NewLogSettings = Type.Object({
  enabled: Type.Boolean({
    description: 'True starts seven days of logging, also if it was on. False stops it.',
  }),
})
export type NewLogSettings = Static<typeof NewLogSettings>
