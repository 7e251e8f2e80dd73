import type { Strings } from './strings/en.ts'

const formats = new Map<string, Intl.DateTimeFormat>()

/** Formatters are expensive to create. */
function formatOf(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = locale + JSON.stringify(options)
  const known = formats.get(key) ?? new Intl.DateTimeFormat(locale, options)
  formats.set(key, known)
  return known
}

const format = (seconds: number, locale: string, options: Intl.DateTimeFormatOptions) =>
  formatOf(locale, options).format(seconds * 1000)

const DAY_MS = 86_400_000

/** How many midnights ago it was. Rounded, because clocks change: not every day has 24 hours. */
function daysAgo(seconds: number): number {
  const midnight = new Date().setHours(0, 0, 0, 0)
  const itsMidnight = new Date(seconds * 1000).setHours(0, 0, 0, 0)
  return Math.max(0, Math.round((midnight - itsMidnight) / DAY_MS))
}

/** `14:05`. */
export const timeOf = (seconds: number, { locale }: Strings) =>
  format(seconds, locale, { timeStyle: 'short' })

/** `Monday, November 16, 2026 at 14:05`. */
export const exactTimeOf = (seconds: number, { locale }: Strings) =>
  format(seconds, locale, { dateStyle: 'full', timeStyle: 'short' })

/** `November 16, 2026`. */
export const dateOf = (seconds: number, { locale }: Strings) =>
  format(seconds, locale, { dateStyle: 'long' })

/** `Today`, `Yesterday`, `Monday, November 9`. */
export function dayNameOf(seconds: number, strings: Strings): string {
  const days = daysAgo(seconds)
  if (days === 0) return strings.today
  if (days === 1) return strings.yesterday
  const isThisYear = new Date(seconds * 1000).getFullYear() === new Date().getFullYear()
  const year = isThisYear ? {} : { year: 'numeric' as const }
  return format(seconds, strings.locale, {
    ...{ weekday: 'long', day: 'numeric', month: 'long' },
    ...year,
  })
}

/** As short as it can be, for lists: the time, the weekday or the date. */
export function shortTimeOf(seconds: number, strings: Strings): string {
  const days = daysAgo(seconds)
  if (days === 0) return timeOf(seconds, strings)
  if (days < 7) return format(seconds, strings.locale, { weekday: 'short' })
  return format(seconds, strings.locale, { day: 'numeric', month: 'short' })
}

/** `1:05`. */
export const durationOf = (seconds: number) =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte']

export function sizeOf(bytes: number, { locale }: Strings): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  return new Intl.NumberFormat(locale, {
    ...{ style: 'unit', unit: UNITS[power] as string, unitDisplay: 'short' },
    maximumFractionDigits: 1,
  }).format(bytes / 1000 ** power)
}
