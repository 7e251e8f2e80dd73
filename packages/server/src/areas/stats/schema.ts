import { type Static, Type } from 'typebox'

const Time = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 9_999_999_999_999, description })

export const StatsQuery = Type.Object({
  fromDate: Time('From when, in Unix seconds (10 digits) or milliseconds (13).'),
  toDate: Time('Until when, in Unix seconds or milliseconds; up to 366 days later.'),
})
export type StatsQuery = Static<typeof StatsQuery>

const Amount = (description: string) => Type.Integer({ minimum: 0, description })

export const Stats = Type.Object(
  {
    metrics: Type.Object(
      {
        audio_minutes: Amount('Minutes of audio calls, of all who took part.'),
        video_minutes: Amount('Minutes of video calls, of all who took part.'),
        recorded_minutes: Amount('Minutes that were recorded.'),
        active_users: Amount(
          'Users who connected, used a token or sent a message, each once. By whole days (UTC).',
        ),
        concurrent_users: Amount('The most users online at the same time. By whole days (UTC).'),
      },
      { additionalProperties: false },
    ),
    counts: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
      description:
        'How often what happened, by whole days (UTC): types of events, `messages.` with receiver and category, `api.` with operation and status, `webhook.`.',
    }),
    time_range: Type.Object(
      {
        fromDate: Type.Integer({ description: 'Unix milliseconds.' }),
        toDate: Type.Integer({ description: 'Unix milliseconds.' }),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)
export type Stats = Static<typeof Stats>

export const DailyStats = Type.Object(
  {
    days: Type.Array(
      Type.Object(
        {
          day: Type.String({ description: '`YYYY-MM-DD`.' }),
          activeUsers: Amount('Users who connected, used a token or sent a message, each once.'),
          concurrentUsers: Amount('The most users online at the same time.'),
          messagesSent: Amount('Messages sent.'),
          apiCalls: Amount('Requests of the app.'),
          apiErrors: Amount('Those of them that were answered with an error.'),
          webhookCalls: Amount('Calls of webhooks.'),
          webhookFailures: Amount('Those of them that failed.'),
        },
        { additionalProperties: false },
      ),
      { description: 'Days (UTC), without a gap.' },
    ),
  },
  { additionalProperties: false },
)
export type DailyStats = Static<typeof DailyStats>

export const MessageStatsQuery = Type.Object({
  fromDate: Type.Optional(
    Time(
      'From when, in Unix seconds (10 digits) or milliseconds (13); within the last seven days.',
    ),
  ),
  toDate: Type.Optional(
    Time(
      'Until when, in Unix seconds or milliseconds; up to 24 hours later. The last hour unless given.',
    ),
  ),
})
export type MessageStatsQuery = Static<typeof MessageStatsQuery>

const Millis = Type.String({ description: 'Unix milliseconds.' })

export const MessageStats = Type.Object(
  {
    appId: Type.String(),
    startTime: Millis,
    endTime: Millis,
    dataPoints: Type.Array(
      Type.Object(
        {
          startTime: Millis,
          endTime: Millis,
          messagesSent: Amount('Messages sent.'),
          readReceipts: Amount('Marks as read.'),
          deliveryReceipts: Amount('Marks as delivered.'),
        },
        { additionalProperties: false },
      ),
      { description: 'Steps of five minutes, without a gap.' },
    ),
  },
  { additionalProperties: false },
)
export type MessageStats = Static<typeof MessageStats>
