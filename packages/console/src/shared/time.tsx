import { useEffect, useState } from 'react'

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['second', 60],
  ['minute', 3_600],
  ['hour', 86_400],
  ['day', 86_400 * 30],
]
const SECONDS = { second: 1, minute: 60, hour: 3_600, day: 86_400 } as Record<string, number>
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' })
const days = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })

export const day = (seconds: number) => days.format(seconds * 1000)

/** `3 min. ago`, or the date if it is more than a month away. */
export function ago(seconds: number, now = Date.now() / 1000): string {
  const past = seconds - now
  if (Math.abs(past) < 5) return 'just now'
  const step = STEPS.find(([, limit]) => Math.abs(past) < limit)
  if (!step) return day(seconds)
  return relative.format(Math.round(past / (SECONDS[step[0]] ?? 1)), step[0])
}

/** A time in Unix seconds as relative time, with the exact time as tooltip. */
export function Time({ at }: { at: number | undefined }) {
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), 30_000)
    return () => clearInterval(timer)
  }, [])
  if (at === undefined) return null
  const date = new Date(at * 1000)
  return (
    <time dateTime={date.toISOString()} title={exact.format(date)}>
      {ago(at)}
    </time>
  )
}
