import { type EventType, events } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Timestamp } from '../../platform/http/schemas.ts'

const EventTypeName = Type.Enum(Object.keys(events) as EventType[])

const Position = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

export const EventList = Type.Object(
  {
    data: Type.Array(
      Type.Object(
        {
          position: Position('Its place in the log of the app: 1, 2, 3 … without a hole.'),
          type: Type.String({ description: 'One of docs/events.md.' }),
          at: Timestamp('When it happened, in Unix seconds.'),
          payload: Type.Record(Type.String(), Type.Unknown()),
        },
        { additionalProperties: false },
      ),
    ),
    meta: Type.Object(
      {
        next: Type.Object(
          {
            after: Position(
              'Where to go on: all up to here was looked at, also what `types` left out.',
            ),
          },
          { additionalProperties: false },
        ),
        last: Position('The position of the newest event.'),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)
export type EventList = Static<typeof EventList>

/** Less than what callers and proxies wait for an answer. */
const LONGEST_WAIT_SECONDS = 20

export const EventListQuery = Type.Object({
  after: Type.Optional(
    Position('Events past this position; from the oldest one there is unless given.'),
  ),
  limit: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 100,
    description: 'Events per request.',
  }),
  types: Type.Optional(
    Type.Array(EventTypeName, { uniqueItems: true, description: 'Only events of these types.' }),
  ),
  wait: Type.Integer({
    minimum: 0,
    maximum: LONGEST_WAIT_SECONDS,
    default: 0,
    description: 'Seconds to wait for an event when there is none.',
  }),
})
export type EventListQuery = Static<typeof EventListQuery>
