import type { Actor } from '../../core/actor.ts'
import { findLogging } from '../../core/notifications/log.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Executor } from '../../platform/db/query.ts'
import { type LogRow, readLogs, scanLogs, startLogging, stopLogging } from './logs.queries.ts'
import type { LogPage, LogQuery, NewLogSettings, NotificationLog } from './logs.schema.ts'
import { lockNotifications } from './settings.queries.ts'

/** Logging stops by itself after this time. */
const LOGGED_DAYS = 7
const PER_PAGE = 20
/** Entries that one request looks at: about 50 ms. A page that finds fewer than it may says where to go on. */
const SCANNED = 20_000

/** Newest first. `append` goes on to older entries, `prepend` back to newer ones. */
export async function listLogs(
  db: Executor,
  appNo: number,
  query: LogQuery,
  limits = { scan: SCANNED, limit: PER_PAGE },
): Promise<LogPage> {
  const isUp = query.affix === 'prepend'
  const { limit } = limits
  const found = await scanLogs(db, appNo, query, limits)
  const shown = found.filter(({ matches }) => matches).slice(0, limit)
  const rows =
    shown.length === 0 ? [] : await readLogs.many(db, { appNo, ids: shown.map(({ id }) => id) })
  // More matches than a page, or more entries than were looked at: the last of those looked at.
  const more = found.length > limit ? shown.at(-1) : found.find(({ matches }) => !matches)
  const [newest, oldest] = [rows[0], rows.at(-1)]
  const previous = isUp ? more : newest
  const next = isUp ? oldest : more
  return {
    data: rows.map(toLog),
    meta: {
      ...(previous && { previous: { affix: 'prepend' as const, ...cursorOf(previous) } }),
      current: { limit, count: rows.length },
      ...(next && { next: { affix: 'append' as const, ...cursorOf(next) } }),
    },
  }
}

const cursorOf = ({ id, message_id }: { id: string; message_id: number | null }) => ({
  messageId: message_id === null ? '' : String(message_id),
  logId: id,
})

function toLog(row: LogRow): NotificationLog {
  const [started, ended] = [row.started_at.getTime(), row.ended_at.getTime()]
  const isPush = row.platform !== null
  return {
    _id: row.id,
    uid: row.uid,
    component: 'notifications',
    channel: row.channel as NotificationLog['channel'],
    trigger: row.trigger,
    ...(row.message_id !== null && { messageId: String(row.message_id) }),
    ...(row.reaction_id !== null && { reactionId: String(row.reaction_id) }),
    ...(row.category !== null && { messageCategory: row.category }),
    ...(row.type !== null && { messageType: row.type }),
    messageSentAtMS: row.sent_at.getTime(),
    sender: row.sender,
    receiver: row.receiver,
    receiverType: row.receiver_type as 'user' | 'group',
    ...(row.receiver_type === 'group' && { member: row.uid }),
    ...(row.reaction_sender !== null && { reactionSender: row.reaction_sender }),
    ...(row.provider !== null && { provider: row.provider }),
    ...(row.provider_id !== null && { providerId: row.provider_id }),
    ...(isPush && {
      platform: row.platform as string,
      tokenType: row.platform?.endsWith('_voip') ? 'voip' : 'chat',
    }),
    ...(row.push_token !== null && { pushToken: row.push_token }),
    ...(row.payload !== null && { payload: row.payload as Record<string, unknown> }),
    notificationTriggered: row.triggered,
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.success !== null && { success: row.success }),
    processingStartedAtMS: started,
    processingEndedAtMS: ended,
    totalProcessingTimeInMS: ended - started,
  }
}

const shown = (until: Date | undefined) =>
  until ? { enabled: true, until: until.getTime() } : { enabled: false }

export const getLogSettings = async (db: Executor, appNo: number) =>
  shown((await findLogging.maybeOne(db, { appNo }))?.until)

export function updateNotificationLogSettings(
  deps: Deps,
  actor: Actor,
  { enabled }: NewLogSettings,
) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockNotifications.run(tx, { appNo })
    if (enabled) return shown((await startLogging.one(tx, { appNo, days: LOGGED_DAYS })).until)
    await stopLogging.run(tx, { appNo })
    return shown(undefined)
  })
}
