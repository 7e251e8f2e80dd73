import { type Static, Type } from 'typebox'

const Time = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 9_999_999_999_999, description })

export const StatsQuery = Type.Object({
  fromDate: Time('Start of the period, in Unix seconds (10 digits) or milliseconds (13 digits).'),
  toDate: Time(
    'End of the period, in Unix seconds or milliseconds, at most 366 days after the start.',
  ),
})
export type StatsQuery = Static<typeof StatsQuery>

export const Amount = (description: string) => Type.Integer({ minimum: 0, description })

/** On the day when the device left. */
const Minutes = (description: string) => Type.Number({ minimum: 0, description })

export const Stats = Type.Object(
  {
    metrics: Type.Object(
      {
        audio_minutes: Minutes('Minutes of audio calls, added up over all devices.'),
        video_minutes: Minutes('Minutes of video calls, added up over all devices.'),
        recorded_minutes: Minutes('Minutes of recorded calls.'),
        active_users: Amount(
          'Number of distinct users who connected, used an auth token or sent a message, in whole days (UTC).',
        ),
        concurrent_users: Amount(
          'Largest number of users online at the same time, in whole days (UTC).',
        ),
      },
      { additionalProperties: false },
    ),
    counts: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
      description:
        'Counts in whole days (UTC): by event type, by receiver type and category (`messages.…`), by operation and status (`api.…`), of webhook calls (`webhook.…`), the milliseconds of devices in calls (`call.audio.ms`, `call.video.ms`) and of what was recorded of them (`call.recorded.ms`).',
    }),
    time_range: Type.Object(
      {
        fromDate: Type.Integer({ description: 'Unix milliseconds.' }),
        toDate: Type.Integer({ description: 'Unix milliseconds.' }),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false, 'x-component': 'Stats' },
)
export type Stats = Static<typeof Stats>

/** How much an app was used in a period. */
export const amounts = {
  activeUsers: Amount(
    'Number of distinct users who connected, used an auth token or sent a message.',
  ),
  concurrentUsers: Amount('Largest number of users online at the same time.'),
  messagesSent: Amount('Number of messages sent.'),
  apiCalls: Amount("Number of the app's API requests."),
  apiErrors: Amount('Number of API requests that failed.'),
  webhookCalls: Amount('Number of webhook calls.'),
  webhookFailures: Amount('Number of webhook calls that failed.'),
}

export const DailyStats = Type.Object(
  {
    days: Type.Array(
      Type.Object(
        {
          day: Type.String({ description: '`YYYY-MM-DD`.' }),
          ...amounts,
          audioMinutes: Minutes('Minutes of audio calls, added up over all devices.'),
          videoMinutes: Minutes('Minutes of video calls, added up over all devices.'),
        },
        { additionalProperties: false },
      ),
      { description: 'One entry per day (UTC), without gaps.' },
    ),
  },
  { additionalProperties: false, 'x-component': 'DailyStats' },
)
export type DailyStats = Static<typeof DailyStats>

export const MessageStatsQuery = Type.Object({
  fromDate: Type.Optional(
    Time(
      'Start of the period, in Unix seconds (10 digits) or milliseconds (13 digits), within the last seven days.',
    ),
  ),
  toDate: Type.Optional(
    Time(
      'End of the period, in Unix seconds or milliseconds, at most 24 hours after the start. Default: the last hour.',
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
          messagesSent: Amount('Number of messages sent.'),
          readReceipts: Amount('Number of read receipts.'),
          deliveryReceipts: Amount('Number of delivery receipts.'),
        },
        { additionalProperties: false },
      ),
      { description: 'One entry per five minutes, without gaps.' },
    ),
  },
  { additionalProperties: false, 'x-component': 'MessageStats' },
)
export type MessageStats = Static<typeof MessageStats>

const Stored = { files: Amount('Number of files.'), bytes: Amount('Bytes, with thumbnails.') }

export const FileStats = Type.Object(
  {
    ...Stored,
    limit: Amount('The most bytes that the app may store.'),
    users: Type.Array(
      Type.Object({ uid: Type.String(), ...Stored }, { additionalProperties: false }),
      { description: 'The 100 users who store the most, with their own files.' },
    ),
  },
  { additionalProperties: false, 'x-component': 'FileStats' },
)
export type FileStats = Static<typeof FileStats>
