/** The hours of a week in which notifications may arrive, by the receiver's clock. */
import { DAYS, type Schedule } from './preferences.ts'
import { localTime } from './zones.ts'

const MINUTE_MS = 60_000
const QUARTER_MS = 15 * MINUTE_MS

const isClock = (clock: number) => clock % 100 < 60

/** What is wrong with a schedule. */
export const scheduleFaults = (schedule: Schedule): string[] =>
  DAYS.flatMap((day) => {
    const { from, to } = schedule[day]
    return [
      ...(isClock(from) ? [] : [`${day}.from must be HHMM, with minutes from 00 to 59`]),
      ...(isClock(to) ? [] : [`${day}.to must be HHMM, with minutes from 00 to 59`]),
      ...(from > to ? [`${day}.from must not be after ${day}.to`] : []),
    ]
  })

/** Whether a notification may arrive now. Both ends count, so 0 to 2359 is the whole day. */
export function isOpen(schedule: Schedule, zone: string, at: Date): boolean {
  const { day, clock } = localTime(zone, at)
  const { from, to, dnd } = schedule[day]
  return !dnd && from <= clock && clock <= to
}

/**
 * The next minute in which a notification may arrive; undefined if there is none within eight days, so never. The
 * clocks of all zones change at a multiple of 15 minutes, so within a quarter the clock goes minute by minute.
 */
export function opensAt(schedule: Schedule, zone: string, after: Date): Date | undefined {
  const first = Math.ceil(after.getTime() / MINUTE_MS) * MINUTE_MS
  const end = first + 8 * 24 * 60 * MINUTE_MS
  for (let quarter = first; quarter < end; quarter = nextQuarter(quarter)) {
    const { day, clock } = localTime(zone, new Date(quarter))
    const { from, to, dnd } = schedule[day]
    const wait = Math.max(from - clock, 0)
    const at = quarter + wait * MINUTE_MS
    if (!dnd && at < nextQuarter(quarter) && clock + wait <= to) return new Date(at)
  }
  return undefined
}

const nextQuarter = (ms: number) => (Math.floor(ms / QUARTER_MS) + 1) * QUARTER_MS
