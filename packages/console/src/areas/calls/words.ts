import type { CallRecord } from '@loquat/sdk'
import { durationText } from '../../shared/durations.ts'

export const isLive = ({ status }: CallRecord) => status === 'ongoing' || status === 'initiated'

const MODES = { call: 'call', meet: 'meeting', presenter: 'presentation' }

/** `Video call`, `Audio meeting`. */
export const kindOf = ({ type, mode }: CallRecord) =>
  `${type === 'video' ? 'Video' : 'Audio'} ${MODES[mode]}`

/** From the answer to the end, or until now. Empty if nobody answered. */
export function lengthOf({ startedAt, endedAt }: CallRecord): string {
  if (startedAt === undefined) return ''
  return durationText((endedAt ?? Math.floor(Date.now() / 1000)) - startedAt)
}

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

export const minutesText = (minutes: number) => `${number.format(minutes)} min`
