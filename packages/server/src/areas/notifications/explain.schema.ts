import { type Static, Type } from 'typebox'
import { CHANNELS } from '../../core/notifications/decide.ts'
import { Id } from '../../platform/http/schemas.ts'
import { NotificationLog } from './logs.schema.ts'

export const ExplainQuery = Type.Object({
  uid: Id('UID of the user.'),
  messageId: Type.String({ pattern: '^[0-9]{1,16}$', description: 'Id of the message.' }),
})
export type ExplainQuery = Static<typeof ExplainQuery>

const Way = Type.Object(
  {
    channel: Type.Enum([...CHANNELS]),
    notified: Type.Enum(['yes', 'no', 'later'], {
      description: '`later`: after the quiet hours of the user.',
    }),
    reason: Type.Optional(Type.String({ description: 'Why not, or why later.' })),
    at: Type.Optional(Type.Integer({ description: 'When it is due, in milliseconds.' })),
    platform: Type.Optional(Type.String({ description: 'Platform of the device.' })),
    pushToken: Type.Optional(Type.String({ description: 'Last characters of its push token.' })),
    provider: Type.Optional(Type.String()),
    providerId: Type.Optional(Type.String()),
  },
  { additionalProperties: false, 'x-component': 'NotificationWay' },
)
export type Way = Static<typeof Way>

export const NotificationExplanation = Type.Object(
  {
    uid: Type.String(),
    messageId: Type.String(),
    sentAt: Type.Integer({ description: 'When the message was sent, in milliseconds.' }),
    ways: Type.Array(Way, {
      description:
        'For each channel and device: whether the user would have been notified at that time with the settings of today.',
    }),
    read: Type.Boolean({ description: 'Whether the user has read the message meanwhile.' }),
    waiting: Type.Integer({ description: 'Pushes about it that wait for their provider.' }),
    log: Type.Array(NotificationLog, {
      description: 'What really happened, if the app logged its notifications.',
    }),
  },
  { additionalProperties: false, 'x-component': 'NotificationExplanation' },
)
export type NotificationExplanation = Static<typeof NotificationExplanation>
