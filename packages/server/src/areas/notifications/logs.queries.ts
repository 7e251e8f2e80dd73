import type { CellRows } from '../../../db/rows.gen.ts'
import { type Executor, query } from '../../platform/db/query.ts'
import { joinSql, runSql, Sql, sql } from '../../platform/db/sql.ts'
import type { LogQuery } from './logs.schema.ts'

export type LogRow = Omit<CellRows['notification_logs'], 'app_no' | 'day'>
type Scanned = Pick<LogRow, 'id' | 'message_id'> & { matches: boolean }

/** Starts the time of logging again if the app logs already. */
export const startLogging = query<{ appNo: number; days: number }, { until: Date }>(
  'notificationLogs.start',
  `insert into notification_logging (app_no, until)
   values (:appNo, date_trunc('milliseconds', now() + make_interval(days => :days)))
   on conflict (app_no) do update set until = excluded.until
   returning until`,
)

export const stopLogging = query<{ appNo: number }>(
  'notificationLogs.stop',
  'delete from notification_logging where app_no = :appNo',
)

const raw = (text: string) => new Sql([text], [])
const when = (given: unknown, condition: Sql) => (given === undefined ? [] : [condition])

/**
 * Which entries a page looks at, in its direction, and which of them match: at most `limit` + 1. It looks at no more than
 * `scan` entries: an app may have millions of which a filter finds none. Messages and users have indexes. Without a
 * filter, all match.
 */
export function scanLogs(
  db: Executor,
  appNo: number,
  query: LogQuery,
  { scan, limit }: { scan: number; limit: number },
): Promise<Scanned[]> {
  const { uid, member, reactionReceiver, messageId, from, logId, affix } = query
  const isUp = affix === 'prepend'
  const user = uid ?? member ?? reactionReceiver
  const bounds = [
    sql`app_no = ${appNo}`,
    ...when(logId, isUp ? sql`id > ${logId}` : sql`id < ${logId}`),
    ...when(messageId, sql`message_id = ${messageId}`),
    ...when(user, sql`uid = ${user}`),
    // Nothing is logged before it happens.
    ...when(from, sql`day >= (to_timestamp(${from}::bigint / 1000) at time zone 'utc')::date`),
  ]
  const filters = filtersOf(query)
  const most = filters.length === 0 ? limit + 1 : scan
  const order = raw(isUp ? 'id' : 'id desc')
  return runSql<Scanned>(
    db,
    'notificationLogs.scan',
    sql`with scanned as materialized (
          select id, message_id, coalesce(${joinSql([sql`true`, ...filters], ' and ')}, false) as matches
          from notification_logs where ${joinSql(bounds, ' and ')}
          order by ${order} limit ${most}
        ), matching as (
          select id, message_id, matches from scanned where matches order by ${order} limit ${limit + 1}
        )
        select * from matching
        union all
        (select id, message_id, false from scanned
         where (select count(*) from matching) <= ${limit} and (select count(*) from scanned) = ${most}
         order by ${raw(isUp ? 'id desc' : 'id')} limit 1)`,
  )
}

/** Conditions that are checked entry by entry. */
function filtersOf(query: LogQuery): Sql[] {
  const { uid, member, reactionReceiver, from, to, notificationTriggered: triggered } = query
  return [
    ...when(uid, sql`uid = ${uid}`),
    ...when(member, sql`uid = ${member} and receiver_type = 'group'`),
    ...when(reactionReceiver, sql`uid = ${reactionReceiver} and reaction_id is not null`),
    ...when(query.reactionId, sql`reaction_id = ${query.reactionId}`),
    ...when(from, sql`sent_at >= to_timestamp(${from} / 1000.0)`),
    ...when(to, sql`sent_at <= to_timestamp(${to} / 1000.0)`),
    ...when(query.messageCategory, sql`category = ${query.messageCategory}`),
    ...when(query.messageType, sql`type = ${query.messageType}`),
    ...when(query.trigger, sql`trigger = ${query.trigger}`),
    ...when(query.sender, sql`sender = ${query.sender}`),
    ...when(query.receiver, sql`receiver = ${query.receiver}`),
    ...when(query.receiverType, sql`receiver_type = ${query.receiverType}`),
    ...when(query.reactionSender, sql`reaction_sender = ${query.reactionSender}`),
    ...when(query.channel, sql`channel = ${query.channel}`),
    ...when(query.provider, sql`provider = ${query.provider}`),
    ...when(triggered, sql`triggered = ${triggered}`),
    ...when(query.reason, sql`reason = ${query.reason}`),
    ...when(query.success, sql`success = ${query.success}`),
  ]
}

/** Entries in full, newest first. */
export const readLogs = query<{ appNo: number; ids: string[] }, LogRow>(
  'notificationLogs.read',
  `select id, uid, channel, trigger, message_id, reaction_id, category, type, sender, receiver, receiver_type,
     reaction_sender, provider, provider_id, platform, push_token, payload, triggered, reason, success, sent_at,
     started_at, ended_at
   from notification_logs where app_no = :appNo and id = any(:ids::uuid[]) order by id desc`,
)
