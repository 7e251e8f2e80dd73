/** The log of notifications, which an app switches on for a week: what was sent, and why something wasn't. */
import { randomUUID } from 'node:crypto'
import { type Executor, query } from '../../platform/db/query.ts'
import type { Channel, Reason } from './decide.ts'

export const LOG_TRIGGERS = [
  'after_message',
  'message_edited',
  'message_deleted',
  'message_reaction_added',
  'initiated',
  'rejected',
  'cancelled',
  'unanswered',
  'after_group_joined',
  'after_group_left',
  'after_group_members_added',
  'after_group_members_kicked',
  'after_group_members_banned',
  'after_group_members_unbanned',
  'after_scope_changed',
] as const
export type LogTrigger = (typeof LOG_TRIGGERS)[number]

export const LOG_PROVIDERS = [
  'fcm',
  'apns',
  'web_push',
  'custom',
  'sendgrid',
  'smtp',
  'twilio',
] as const

/** A decision not to notify, or the provider's answer, for one user, channel and device. */
export interface LogEntry {
  /** The user who is notified or not. */
  uid: string
  channel: Channel
  trigger: LogTrigger
  messageId?: number
  reactionId?: number
  /** Category and type of the message. */
  category?: string
  type?: string
  sender: string
  /** The user or group that the message was sent to. */
  receiver: string
  receiverType: 'user' | 'group'
  /** The user who reacted. */
  reactionSender?: string
  provider?: (typeof LOG_PROVIDERS)[number]
  providerId?: string
  platform?: string
  /** In full: the log stores the last characters. */
  pushToken?: string
  /** What the provider received. */
  payload?: object
  triggered: boolean
  /** Why the user isn't notified, or why the notification didn't arrive. */
  reason?: Reason
  /** Whether the provider accepted it. */
  success?: boolean
  /** When the message was sent or the event happened. */
  sentAt: Date
  startedAt: Date
  endedAt: Date
}

/** Until when the app logs its notifications; no row if it doesn't. */
export const findLogging = query<{ appNo: number }, { until: Date }>(
  'notificationLogs.findLogging',
  'select until from notification_logging where app_no = :appNo and until > now()',
)

/** What logs show of a push token: enough to recognise a device. The rest would let others notify it. */
export const shownToken = (token: string) => `****${token.slice(-8).toWellFormed()}`

interface StoredEntry extends Omit<LogEntry, 'payload'> {
  id: string
  payload: object | null
}

/** Nothing is stored for an app that doesn't log: it may have stopped since the caller looked. */
const insertLogs = query<{ appNo: number; entries: string }>(
  'notificationLogs.insert',
  `insert into notification_logs (app_no, id, uid, channel, trigger, message_id, reaction_id, category, type,
     sender, receiver, receiver_type, reaction_sender, provider, provider_id, platform, push_token, payload,
     triggered, reason, success, sent_at, started_at, ended_at, day)
   select l.app_no, e.id, e.uid, e.channel, e.trigger, e."messageId", e."reactionId", e.category, e.type,
     e.sender, e.receiver, e."receiverType", e."reactionSender", e.provider, e."providerId", e.platform,
     e."pushToken", e.payload, e.triggered, e.reason, e.success, e."sentAt", e."startedAt", e."endedAt",
     (now() at time zone 'utc')::date
   from notification_logging l, json_to_recordset(:entries::json) as e (id uuid, uid text, channel text,
     trigger text, "messageId" bigint, "reactionId" bigint, category text, type text, sender text, receiver text,
     "receiverType" text, "reactionSender" text, provider text, "providerId" text, platform text,
     "pushToken" text, payload jsonb, triggered boolean, reason text, success boolean, "sentAt" timestamptz,
     "startedAt" timestamptz, "endedAt" timestamptz)
   where l.app_no = :appNo and l.until > now()`,
)

/** Ids of one millisecond in this process. */
const IDS_PER_MS = 4_096
let lastStamp = 0

/** A UUID of version 7: its time, a counter that keeps the order within a process, and a random number. */
function nextId(): string {
  lastStamp = Math.max(Date.now() * IDS_PER_MS, lastStamp + 1)
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
  const ms = hex(Math.floor(lastStamp / IDS_PER_MS), 12)
  return `${ms.slice(0, 8)}-${ms.slice(8)}-7${hex(lastStamp % IDS_PER_MS, 3)}${randomUUID().slice(18)}`
}

/**
 * Adds entries in one statement. Call it in the transaction that stores the decisions or outcomes, so that a repetition
 * logs nothing twice; and only if the app logs (`findLogging`), so that others pay nothing.
 */
export async function recordLog(db: Executor, appNo: number, entries: LogEntry[]): Promise<void> {
  if (entries.length === 0) return
  const stored: StoredEntry[] = entries.map(({ pushToken, payload = null, ...entry }) => ({
    ...entry,
    id: nextId(),
    ...(pushToken !== undefined && { pushToken: shownToken(pushToken) }),
    payload,
  }))
  await insertLogs.run(db, { appNo, entries: JSON.stringify(stored) })
}
