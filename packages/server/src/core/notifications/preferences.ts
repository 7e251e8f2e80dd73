/**
 * What an app and its users can choose about notifications, and what holds if they choose nothing. Each choice of the
 * app has a flag (`…Override`) that says whether users may choose for themselves.
 */
import { type Static, type TSchema, Type } from 'typebox'
import { Metadata } from '../../platform/http/schemas.ts'

export type Code = 1 | 2 | 3

const MESSAGES = '1: none. 2: all. 3: only with a mention.'
const REACTIONS = '1: none. 2: to own messages. 3: to all messages.'

const Three = (description: string) => Type.Enum([1, 2, 3], { default: 2, description })
const Two = (initial: 1 | 2) =>
  Type.Enum([1, 2], { default: initial, description: '1: off. 2: on.' })
const Flag = (initial: boolean, description?: string) =>
  Type.Boolean({ default: initial, ...(description !== undefined && { description }) })

/** The same schema under several names. */
const each = <N extends string, T extends TSchema>(names: readonly N[], schema: T) =>
  Object.fromEntries(names.map((name) => [name, schema])) as Record<N, T>

const suffixed = <N extends string, S extends string>(names: readonly N[], suffix: S) =>
  names.map((name) => `${name}${suffix}` as const)

/** What happens in a group besides messages. */
export const GROUP_ACTIONS = [
  'memberLeft',
  'memberAdded',
  'memberJoined',
  'memberKicked',
  'memberBanned',
  'memberUnbanned',
  'memberScopeChanged',
] as const
export type GroupAction = (typeof GROUP_ACTIONS)[number]

export const CALL_ACTIONS = [
  'initiated',
  'ongoing',
  'cancelled',
  'busy',
  'rejected',
  'unanswered',
  'ended',
] as const
export type CallAction = (typeof CALL_ACTIONS)[number]

export const DAYS = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const
export type Day = (typeof DAYS)[number]

const ofMessages = {
  messagesSetting: Three(MESSAGES),
  messagesOverride: Flag(true),
  repliesSetting: Three(MESSAGES),
  repliesOverride: Flag(true),
  reactionsSetting: Three(REACTIONS),
  reactionsOverride: Flag(true),
  messageEditedSetting: Two(2),
  messageDeletedSetting: Two(2),
}

/** An hour and a minute as people write them: 1730 is half past five in the afternoon. */
const Clock = (initial: number, description: string) =>
  Type.Integer({ minimum: 0, maximum: 2359, default: initial, description })

const hours = {
  from: Clock(0, 'First minute in which notifications may arrive: `HHMM`, 0 to 2359.'),
  to: Clock(2359, 'Last minute in which they may arrive.'),
  dnd: Flag(false, 'Whether nothing arrives on this day.'),
}
export type Hours = { from: number; to: number; dnd: boolean }
export type Schedule = Record<Day, Hours>

const Week = Type.Object(each(DAYS, Type.Object(hours, { additionalProperties: false })), {
  additionalProperties: false,
  description: 'The hours of each day in which notifications may arrive.',
})

const metadata = (initial: boolean) =>
  each(
    [
      'includeSenderMetadataSetting',
      'includeReceiverMetadataSetting',
      'includeMessageMetadataSetting',
    ],
    Flag(initial),
  )

/** Notifications that are sent at intervals. */
const ofBatches = {
  notifyForUnreadOnly: Flag(true, 'Whether only unread messages count.'),
  intervalInSeconds: Type.Integer({ minimum: 60, maximum: 86_400, default: 7_200 }),
  maxPerDay: Type.Integer({ minimum: 1, maximum: 30, default: 20 }),
  maxPerDayPerConversation: Type.Integer({ minimum: 1, maximum: 30, default: 2 }),
  includeMessageObjectSetting: Flag(false),
  ...metadata(false),
}

const Section = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

const Batches = Section(ofBatches)

export const Preferences = Type.Object(
  {
    group: Section({
      ...ofMessages,
      ...each(suffixed(GROUP_ACTIONS, 'Setting'), Two(1)),
      ...each(suffixed(GROUP_ACTIONS, 'Override'), Flag(true)),
    }),
    oneOnOne: Section(ofMessages),
    mute: Section({
      dndPreferenceSetting: Two(1),
      dndPreferenceOverride: Flag(true),
      schedulePreferenceSetting: Week,
      schedulePreferenceOverride: Flag(true),
      holdPreferenceSetting: Flag(
        false,
        'Whether what comes outside the hours of the schedule waits until they begin. Otherwise nobody is notified of it.',
      ),
      holdPreferenceOverride: Flag(true),
      mutedGroupsOverride: Flag(true, 'Whether users may mute groups.'),
      mutedOneOnOnesOverride: Flag(true, 'Whether users may mute 1:1 conversations.'),
    }),
    call: Section({
      ...each(suffixed(CALL_ACTIONS, 'Setting'), Two(2)),
      ...each(suffixed(CALL_ACTIONS, 'Override'), Flag(false)),
    }),
    email: Batches,
    sms: Batches,
    push: Section({
      includeMessageObjectSetting: Flag(false, 'Whether the message goes along.'),
      ...metadata(true),
      trimTextFieldSetting: Flag(false, 'Whether a text is shortened if it exceeds 4 KB.'),
      unreadMessageCountSetting: Flag(
        false,
        'Whether the number of unread messages goes along, for the badge of the app.',
      ),
      customJson: Type.Optional(Metadata(2_048, 'Goes along as `custom`.')),
    }),
    bypassPreferencesForMentions: Flag(
      false,
      'Whether a mention passes do not disturb, muted conversations and the schedule.',
    ),
  },
  { additionalProperties: false, 'x-component': 'NotificationPreferences' },
)
export type Preferences = Static<typeof Preferences>
