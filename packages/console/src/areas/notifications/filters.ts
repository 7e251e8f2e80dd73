import type { Filters } from '../../shared/search.ts'
import { CHANNELS, REASONS } from './reasons.ts'

/** The filters of `GET /notifications/v1/logs` that operators ask for most. */
export const LOG_FILTERS = {
  uid: { label: 'User', kind: 'text', hint: 'A UID.' },
  messageId: { label: 'Message', kind: 'number', hint: 'The id of a message.' },
  notificationTriggered: {
    label: 'Result',
    kind: 'choice',
    options: { true: 'Notified', false: 'Not notified' },
  },
  reason: {
    label: 'Reason',
    kind: 'choice',
    options: Object.fromEntries(
      Object.entries(REASONS).map(([code, words]) => [code, words.replace(/\.$/, '')]),
    ),
  },
  channel: { label: 'Channel', kind: 'choice', options: CHANNELS },
  sender: { label: 'Sender', kind: 'text', hint: 'A UID.' },
  receiver: { label: 'Sent to', kind: 'text', hint: 'A UID or GUID.' },
} satisfies Filters
