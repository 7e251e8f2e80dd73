/**
 * Whether a receiver is notified of an event over one channel, and why not. The order of the reasons is fixed: what
 * the receiver must not see; preferences of the app and the user; do not disturb; muted conversations; the schedule;
 * quotas; the provider. A function of its arguments alone, so the same facts always give the same answer.
 */
import type { CallAction, GroupAction, Preferences } from './preferences.ts'
import { isOpen, opensAt } from './schedule.ts'

export const CHANNELS = ['push', 'email', 'sms'] as const
export type Channel = (typeof CHANNELS)[number]

/** Why a receiver isn't notified, or why a notification didn't arrive. Those that the contract lacks come last. */
export const REASONS = [
  'MESSAGES_PREFERENCE',
  'REPLIES_PREFERENCE',
  'MESSAGE_ACTIONS_PREFERENCE',
  'REACTIONS_PREFERENCE',
  'GROUP_ACTIONS_PREFERENCE',
  'DND_PREFERENCE',
  'MUTE_PREFERENCE',
  'SCHEDULE_PREFERENCE',
  'CALL_PREFERENCE',
  'QUOTA_PREFERENCE',
  'MISSING_EMAIL',
  'MISSING_PHNO',
  'INVALID_PUSH_PROVIDER_ID',
  'TIMED_OUT',
  'NOT_FOUND',
  'TWILIO_CREATE_ERROR',
  'OWN_ACTION',
  'NO_ACCESS',
  'MODERATION',
  'BLOCKED_SENDER',
  'ALREADY_READ',
  'NO_PUSH_TOKEN',
  'NO_PROVIDER',
  'SUPPRESSED_ADDRESS',
] as const
export type Reason = (typeof REASONS)[number]

/** What happened, as far as the decision looks at it. */
export type Occasion =
  | { type: 'message' | 'reply'; mentioned: boolean }
  | { type: 'messageEdited' | 'messageDeleted' }
  /** `own`: to a message of the receiver. */
  | { type: 'reaction'; own: boolean }
  | { type: GroupAction }
  | { type: 'call'; action: CallAction }

export interface Facts {
  channel: Channel
  occasion: Occasion
  conversation: 'group' | 'oneOnOne'
  /** What holds for the receiver: the app's preferences with the choices that it allows (`settingsOfUser`). */
  preferences: Preferences
  /** The end of the receiver's mute of the conversation. */
  mutedUntil?: Date
  /** The receiver's time zone. */
  zone: string
  at: Date
  /** The receiver caused the event. */
  own: boolean
  /** Access control hides it from the receiver, or the receiver isn't a member. */
  hidden: boolean
  /** Moderation holds the message. */
  held: boolean
  /** One of receiver and sender blocks the other. */
  blocked: boolean
  /** The receiver has read it. */
  read: boolean
  /** How many emails or SMS went out today, in all and about the conversation. */
  sent?: { today: number; ofConversation: number }
  /** Whether the channel has what it needs of the receiver and of the app. */
  ready: 'yes' | keyof typeof UNREADY
}

export type Decision =
  | { notify: true }
  /** After the receiver's quiet hours. */
  | { notify: 'later'; at: Date; reason: Reason }
  | { notify: false; reason: Reason }

const UNREADY = {
  noToken: 'NO_PUSH_TOKEN',
  noEmail: 'MISSING_EMAIL',
  noPhone: 'MISSING_PHNO',
  noProvider: 'NO_PROVIDER',
  unknownProvider: 'INVALID_PUSH_PROVIDER_ID',
  suppressed: 'SUPPRESSED_ADDRESS',
} as const satisfies Record<string, Reason>

const no = (reason: Reason): Decision => ({ notify: false, reason })

export function decide(facts: Facts): Decision {
  const refusal = hiddenBy(facts) ?? unwantedBy(facts)
  if (refusal) return no(refusal)
  const decision = passesQuiet(facts) ? undefined : quietBy(facts)
  if (decision?.notify === false) return decision
  const obstacle = isOverQuota(facts) ? 'QUOTA_PREFERENCE' : unreadyBy(facts)
  return obstacle ? no(obstacle) : (decision ?? { notify: true })
}

/** What the receiver must not learn, or knows already. Nothing passes this. */
function hiddenBy({ own, hidden, held, blocked, read, occasion }: Facts): Reason | undefined {
  if (own) return 'OWN_ACTION'
  if (hidden) return 'NO_ACCESS'
  if (held) return 'MODERATION'
  if (blocked) return 'BLOCKED_SENDER'
  // A device may still show what was read on another one.
  return read && occasion.type !== 'messageDeleted' ? 'ALREADY_READ' : undefined
}

function unwantedBy({ occasion, conversation, preferences }: Facts): Reason | undefined {
  const of: Record<string, unknown> = preferences[conversation]
  switch (occasion.type) {
    case 'message':
      return wants(of.messagesSetting, occasion.mentioned) ? undefined : 'MESSAGES_PREFERENCE'
    case 'reply':
      return wants(of.repliesSetting, occasion.mentioned) ? undefined : 'REPLIES_PREFERENCE'
    case 'reaction':
      return of.reactionsSetting === 3 || (of.reactionsSetting === 2 && occasion.own)
        ? undefined
        : 'REACTIONS_PREFERENCE'
    case 'messageEdited':
    case 'messageDeleted':
      return of[`${occasion.type}Setting`] === 2 ? undefined : 'MESSAGE_ACTIONS_PREFERENCE'
    case 'call':
      return preferences.call[`${occasion.action}Setting`] === 2 ? undefined : 'CALL_PREFERENCE'
    default:
      return of[`${occasion.type}Setting`] === 2 ? undefined : 'GROUP_ACTIONS_PREFERENCE'
  }
}

const wants = (code: unknown, mentioned: boolean) => code === 2 || (code === 3 && mentioned)

/** Mentions pass if the app says so. A deletion only takes back what a device shows, which disturbs nobody. */
const passesQuiet = ({ occasion, preferences }: Facts) =>
  occasion.type === 'messageDeleted' ||
  ('mentioned' in occasion && occasion.mentioned && preferences.bypassPreferencesForMentions)

function quietBy(facts: Facts): Decision | undefined {
  const { preferences, conversation, mutedUntil, zone, at } = facts
  const { mute } = preferences
  if (mute.dndPreferenceSetting === 2) return no('DND_PREFERENCE')
  const mayMute = conversation === 'group' ? mute.mutedGroupsOverride : mute.mutedOneOnOnesOverride
  if (mayMute && mutedUntil && mutedUntil > at) return no('MUTE_PREFERENCE')
  const schedule = mute.schedulePreferenceSetting
  if (isOpen(schedule, zone, at)) return undefined
  const opening = mayWait(facts) ? opensAt(schedule, zone, at) : undefined
  const reason = 'SCHEDULE_PREFERENCE'
  return opening ? { notify: 'later', at: opening, reason } : no(reason)
}

/** A call is over when the quiet hours are. */
const mayWait = ({ occasion, preferences }: Facts) =>
  preferences.mute.holdPreferenceSetting && occasion.type !== 'call'

function isOverQuota({ channel, preferences, sent }: Facts): boolean {
  if (channel === 'push' || !sent) return false
  const { maxPerDay, maxPerDayPerConversation } = preferences[channel]
  return sent.today >= maxPerDay || sent.ofConversation >= maxPerDayPerConversation
}

const unreadyBy = ({ ready }: Facts): Reason | undefined =>
  ready === 'yes' ? undefined : UNREADY[ready]
