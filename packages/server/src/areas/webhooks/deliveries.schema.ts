import { type Static, Type } from 'typebox'
import { Timestamp } from '../../platform/http/schemas.ts'

const Position = (description: string) =>
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description })

const Limit = Type.Integer({
  minimum: 1,
  maximum: 1000,
  default: 100,
  description: 'Maximum number of records per page.',
})

const meta = Type.Object(
  {
    next: Type.Optional(
      Type.Integer({ description: 'Where the next page starts. Missing on the last page.' }),
    ),
  },
  { additionalProperties: false },
)

/** One attempt to deliver one event. */
export const Delivery = Type.Object(
  {
    id: Type.String(),
    position: Position('Position of the event in the log.'),
    type: Type.String({ description: 'Event type.' }),
    try: Type.Integer({ description: 'Number of the attempt, starting at 1.' }),
    success: Type.Boolean(),
    status: Type.Optional(Type.Integer({ description: 'HTTP status of the response.' })),
    error: Type.Optional(Type.String({ description: 'Why there was no response.' })),
    durationMs: Type.Integer(),
    answer: Type.Optional(Type.String({ description: 'The first part of the response body.' })),
    at: Timestamp('Time of the entry, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'WebhookDelivery' },
)
export type Delivery = Static<typeof Delivery>

export const DeliveryList = Type.Object(
  { data: Type.Array(Delivery), meta },
  { additionalProperties: false },
)

export const DeliveryListQuery = Type.Object({
  limit: Limit,
  before: Type.Optional(
    Position('Only attempts before this one. Pass `meta.next` of the previous page.'),
  ),
  failed: Type.Boolean({ default: false, description: 'Only failed attempts.' }),
})
export type DeliveryListQuery = Static<typeof DeliveryListQuery>

/** Events whose delivery was given up. */
export const DeadLetter = Type.Object(
  {
    position: Position('Position of the event, or of the first of several.'),
    count: Type.Integer({ description: 'Number of consecutive positions.' }),
    type: Type.Optional(Type.String({ description: 'Event type, if known.' })),
    reason: Type.Enum(['exhausted', 'noRetry', 'expired', 'unknownType'], {
      description:
        '`exhausted`: all retries failed; `noRetry`: the first attempt failed and `retryOnFailure` is off; `expired`: the event left the log before it could be delivered; `unknownType`: the service ran an older version that does not know this type of event. Replay the event later.',
    }),
    at: Timestamp('Time when the delivery was given up, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'WebhookDeadLetter' },
)
export type DeadLetter = Static<typeof DeadLetter>

export const DeadLetterList = Type.Object(
  { data: Type.Array(DeadLetter), meta },
  { additionalProperties: false },
)

export const DeadLetterListQuery = Type.Object({
  limit: Limit,
  after: Type.Optional(
    Position('Only dead letters after this position. Pass `meta.next` of the previous page.'),
  ),
})
export type DeadLetterListQuery = Static<typeof DeadLetterListQuery>

export const Replay = Type.Object({
  from: Position('First position to replay.'),
  to: Type.Optional(Position('Last position to replay. Default: the first one.')),
})
export type Replay = Static<typeof Replay>

export const Replayed = Type.Object(
  {
    events: Type.Integer({
      description: "Number of events to replay: those that match the webhook's triggers.",
    }),
  },
  { additionalProperties: false },
)
