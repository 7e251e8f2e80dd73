import type { CallRecord } from '@loquat/sdk'
import type { Filters } from '../../shared/search.ts'
import type { Tone } from '../../shared/status.tsx'

export const STATUSES: Record<CallRecord['status'], { label: string; tone: Tone }> = {
  ongoing: { label: 'Live', tone: 'good' },
  initiated: { label: 'Ringing', tone: 'info' },
  ended: { label: 'Ended', tone: 'plain' },
  unanswered: { label: 'Unanswered', tone: 'warn' },
  rejected: { label: 'Rejected', tone: 'warn' },
  cancelled: { label: 'Cancelled', tone: 'plain' },
  busy: { label: 'Busy', tone: 'warn' },
}

/** The filters of `GET /calls`. */
export const CALL_FILTERS = {
  status: {
    label: 'Status',
    kind: 'choice',
    options: Object.fromEntries(Object.entries(STATUSES).map(([id, { label }]) => [id, label])),
  },
  type: { label: 'Type', kind: 'choice', options: { audio: 'Audio', video: 'Video' } },
  uid: { label: 'User', kind: 'text', hint: 'UID of someone who was called or took part.' },
  startedAt: { label: 'Answered after', kind: 'time' },
  endedAt: { label: 'Ended before', kind: 'time' },
  mode: {
    label: 'Mode',
    kind: 'choice',
    options: { call: 'Call', meet: 'Meeting', presenter: 'Presentation' },
  },
  receiverType: { label: 'Called', kind: 'choice', options: { user: 'User', group: 'Group' } },
} satisfies Filters
