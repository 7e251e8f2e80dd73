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
          position: Position(
            "The event's number in the app's log: 1, 2, 3 … without gaps, except after the database was restored. No position is assigned twice.",
          ),
          type: Type.String({ description: 'Event type; see docs/events.md.' }),
          at: Timestamp('Time of the event, in Unix seconds.'),
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
              'Pass this as `after` to continue. It covers every event read so far, including those that `types` filtered out.',
            ),
          },
          { additionalProperties: false },
        ),
        last: Position('Position of the newest event.'),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)
export type EventList = Static<typeof EventList>

/** Shorter than the time that clients and proxies wait for an answer. */
const LONGEST_WAIT_SECONDS = 20

export const EventListQuery = Type.Object({
  after: Type.Optional(
    Position('Only events after this position. Default: start with the oldest event.'),
  ),
  limit: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 100,
    description: 'Maximum number of events to return.',
  }),
  types: Type.Optional(
    Type.Array(EventTypeName, { uniqueItems: true, description: 'Only events of these types.' }),
  ),
  wait: Type.Integer({
    minimum: 0,
    maximum: LONGEST_WAIT_SECONDS,
    default: 0,
    description: 'Seconds to wait for an event if there is none yet.',
  }),
})
export type EventListQuery = Static<typeof EventListQuery>
