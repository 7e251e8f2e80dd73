import { type Static, Type } from 'typebox'
import { Timestamp } from '../../platform/http/schemas.ts'

const Position = (description: string) =>
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description })

const Limit = Type.Integer({
  minimum: 1,
  maximum: 1000,
  default: 100,
  description: 'Records per request.',
})

const meta = Type.Object(
  {
    next: Type.Optional(
      Type.Integer({ description: 'Where the next page begins; none: this is the last one.' }),
    ),
  },
  { additionalProperties: false },
)

/** One try to deliver one event. */
export const Delivery = Type.Object(
  {
    id: Type.String(),
    position: Position('The position of the event in the log.'),
    type: Type.String({ description: 'The type of the event.' }),
    try: Type.Integer({ description: '1 for the first.' }),
    success: Type.Boolean(),
    status: Type.Optional(Type.Integer({ description: 'Of the answer.' })),
    error: Type.Optional(Type.String({ description: 'Why there was no answer.' })),
    durationMs: Type.Integer(),
    answer: Type.Optional(Type.String({ description: 'The beginning of the answer.' })),
    at: Timestamp('When, in Unix seconds.'),
  },
  { additionalProperties: false },
)
export type Delivery = Static<typeof Delivery>

export const DeliveryList = Type.Object(
  { data: Type.Array(Delivery), meta },
  { additionalProperties: false },
)

export const DeliveryListQuery = Type.Object({
  limit: Limit,
  before: Type.Optional(Position('Only tries before this one: `meta.next` of the page before.')),
  failed: Type.Boolean({ default: false, description: 'Only those that failed.' }),
})
export type DeliveryListQuery = Static<typeof DeliveryListQuery>

/** Events that were given up. */
export const DeadLetter = Type.Object(
  {
    position: Position('The position of the event, or of the first of several.'),
    count: Type.Integer({ description: 'How many positions in a row.' }),
    type: Type.Optional(Type.String({ description: 'The type of the event, where it is known.' })),
    reason: Type.Enum(['exhausted', 'noRetry', 'expired'], {
      description:
        '`exhausted`: all retries failed; `noRetry`: it failed, and `retryOnFailure` is off; `expired`: the log no longer held it.',
    }),
    at: Timestamp('When it was given up, in Unix seconds.'),
  },
  { additionalProperties: false },
)
export type DeadLetter = Static<typeof DeadLetter>

export const DeadLetterList = Type.Object(
  { data: Type.Array(DeadLetter), meta },
  { additionalProperties: false },
)

export const DeadLetterListQuery = Type.Object({
  limit: Limit,
  after: Type.Optional(Position('Only those past this position: `meta.next` of the page before.')),
})
export type DeadLetterListQuery = Static<typeof DeadLetterListQuery>

export const Replay = Type.Object({
  from: Position('The first position to send again.'),
  to: Type.Optional(Position('The last one; the same unless given.')),
})
export type Replay = Static<typeof Replay>

export const Replayed = Type.Object(
  { events: Type.Integer({ description: 'How many will be sent: those of its triggers.' }) },
  { additionalProperties: false },
)
