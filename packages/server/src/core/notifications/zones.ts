/** Local times in the time zones of the IANA database, with their changes between standard and summer time. */
import { DAYS, type Day } from './preferences.ts'

/** A time as the clock on the wall shows it. */
export interface LocalTime {
  year: number
  month: number
  date: number
  day: Day
  /** `HHMM` */
  clock: number
}

/** There are about 600 zones, but their names can be spelled in many ways. */
const MOST_FORMATS = 1_000
const formats = new Map<string, Intl.DateTimeFormat>()

/** Making one takes far longer than using it. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: zone, hourCycle: 'h23', weekday: 'long' },
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' },
  })
  if (formats.size >= MOST_FORMATS) formats.clear()
  formats.set(zone, format)
  return format
}

/** Offsets such as `+02:00` aren't names: they have no summer time. */
export function isZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** The last minute that was asked for in each zone: the receivers of a message share it. */
const asked = new Map<string, { minute: number; time: LocalTime }>()

export function localTime(zone: string, at: Date): LocalTime {
  const minute = Math.floor(at.getTime() / 60_000)
  const known = asked.get(zone)
  if (known?.minute === minute) return known.time
  const time = readClock(zone, at)
  if (asked.size >= MOST_FORMATS) asked.clear()
  asked.set(zone, { minute, time })
  return time
}

function readClock(zone: string, at: Date): LocalTime {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const number = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type))
  const day = DAYS.find((name) => name === parts.get('weekday')?.toLowerCase()) ?? 'monday'
  const [year, month, date] = [number('year'), number('month'), number('day')]
  return { year, month, date, day, clock: number('hour') * 100 + number('minute') }
}
