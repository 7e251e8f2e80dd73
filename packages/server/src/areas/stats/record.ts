import type { Actor, ServedApp } from '../../core/actor.ts'
import { limitOf } from '../../core/settings.ts'
import { badRequest } from '../../platform/http/fail.ts'
import { listUsage as listStored } from '../files/queries.ts'
import {
  countActive,
  findPeak,
  listActive,
  listCounts,
  listDays,
  listPeaks,
  listSteps,
} from './queries.ts'
import type {
  DailyStats,
  FileStats,
  MessageStats,
  MessageStatsQuery,
  Stats,
  StatsQuery,
} from './schema.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const STEP_MS = 300_000
const LONGEST_MS = 366 * DAY_MS

/** `removeOldSteps` removes steps older than eight days: a day more than answers show. */
const STEPS_MS = 7 * DAY_MS

/** Ten digits are seconds, 13 are milliseconds. */
function millis(name: 'fromDate' | 'toDate', time: number): number {
  const digits = String(time).length
  if (digits === 10) return time * 1_000
  if (digits === 13) return time
  throw badRequest({
    [name]: [`${name} must be Unix seconds (10 digits) or milliseconds (13 digits)`],
  })
}

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

function checkWindow(from: number, to: number, longest: number): void {
  if (from >= to) throw badRequest({ toDate: ['toDate must be after fromDate'] })
  if (to - from > longest) {
    const hours = Math.round(longest / HOUR_MS)
    throw badRequest({ toDate: [`toDate must be at most ${hours} hours after fromDate`] })
  }
}

/** The days that a period touches. A period that ends at midnight doesn't include the next day. */
export function periodOf(query: StatsQuery) {
  const [fromDate, toDate] = [millis('fromDate', query.fromDate), millis('toDate', query.toDate)]
  checkWindow(fromDate, toDate, LONGEST_MS)
  return { fromDate, toDate, from: dayOf(fromDate), to: dayOf(toDate - 1) }
}
export type Period = ReturnType<typeof periodOf>

function daysOf(appNo: number, query: StatsQuery) {
  const { fromDate, toDate, from, to } = periodOf(query)
  return { fromDate, toDate, days: { appNo, from, to } }
}

/** To two digits. */
const minutes = (milliseconds = 0) => Math.round(milliseconds / 600) / 100

export async function statsOf({ no: appNo, cell }: ServedApp, query: StatsQuery): Promise<Stats> {
  const { fromDate, toDate, days } = daysOf(appNo, query)
  const { users } = await countActive.one(cell.db, days)
  const { online } = await findPeak.one(cell.db, days)
  const rows = await listCounts.many(cell.db, days)
  const counts = Object.fromEntries(rows.map(({ what, count }) => [what, count]))
  return {
    metrics: {
      audio_minutes: minutes(counts['call.audio.ms']),
      video_minutes: minutes(counts['call.video.ms']),
      recorded_minutes: minutes(counts['call.recorded.ms']),
      active_users: users,
      concurrent_users: online,
    },
    counts,
    time_range: { fromDate, toDate },
  }
}

export async function dailyStatsOf(
  { no: appNo, cell }: ServedApp,
  query: StatsQuery,
): Promise<DailyStats> {
  const { days } = daysOf(appNo, query)
  const active = new Map(
    (await listActive.many(cell.db, days)).map(({ day, users }) => [day, users]),
  )
  const peaks = new Map(
    (await listPeaks.many(cell.db, days)).map(({ day, online }) => [day, online]),
  )
  const counts = new Map((await listDays.many(cell.db, days)).map((row) => [row.day, row]))
  const first = Date.parse(days.from)
  const length = (Date.parse(days.to) - first) / DAY_MS + 1
  return {
    days: Array.from({ length }, (_, n) => {
      const day = dayOf(first + n * DAY_MS)
      const {
        messages = 0,
        calls = 0,
        errors = 0,
        delivered = 0,
        failed = 0,
        audio_ms = 0,
        video_ms = 0,
      } = counts.get(day) ?? {}
      return {
        day,
        activeUsers: active.get(day) ?? 0,
        concurrentUsers: peaks.get(day) ?? 0,
        messagesSent: messages,
        apiCalls: calls,
        apiErrors: errors,
        webhookCalls: delivered + failed,
        webhookFailures: failed,
        audioMinutes: minutes(audio_ms),
        videoMinutes: minutes(video_ms),
      }
    }),
  }
}

export async function messageStatsOf(
  { no: appNo, id: appId, cell }: ServedApp,
  query: MessageStatsQuery,
): Promise<MessageStats> {
  const now = Date.now()
  const end = query.toDate === undefined ? now : millis('toDate', query.toDate)
  const start = query.fromDate === undefined ? end - HOUR_MS : millis('fromDate', query.fromDate)
  checkWindow(start, end, DAY_MS)
  if (start < now - STEPS_MS) {
    const oldest = Math.ceil((now - STEPS_MS) / 1_000)
    throw badRequest({
      fromDate: [`fromDate must be ${oldest} or later: counts per step are kept for one week`],
    })
  }
  const [from, to] = [Math.floor(start / STEP_MS), Math.ceil(end / STEP_MS)]
  // Twelve steps per hour, whenever the request comes.
  const first = query.fromDate === undefined ? to - HOUR_MS / STEP_MS : from
  const found = await listSteps.many(cell.db, { appNo, from: first * STEP_MS, to: to * STEP_MS })
  const counts = new Map(found.map(({ at, what, count }) => [`${at.getTime()} ${what}`, count]))
  const dataPoints = Array.from({ length: to - first }, (_, n) => {
    const at = (first + n) * STEP_MS
    return {
      startTime: String(at),
      endTime: String(at + STEP_MS),
      messagesSent: counts.get(`${at} message.sent`) ?? 0,
      readReceipts: counts.get(`${at} conversation.read`) ?? 0,
      deliveryReceipts: counts.get(`${at} conversation.delivered`) ?? 0,
    }
  })
  return { appId, startTime: String(first * STEP_MS), endTime: String(to * STEP_MS), dataPoints }
}

/** How many users are listed. */
const USERS = 100

/** What the app stores now. */
export async function fileStatsOf({ app, settings }: Actor): Promise<FileStats> {
  const [total, ...users] = await listStored.many(app.cell.db, { appNo: app.no, limit: USERS })
  const { files = 0, bytes = 0 } = total ?? {}
  return { files, bytes, limit: limitOf(settings, 'limits.storageBytes'), users }
}
