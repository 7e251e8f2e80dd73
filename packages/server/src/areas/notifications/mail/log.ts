import { timeOf } from '../../../core/ids.ts'
import type { MessageRow } from '../../../core/message-rows.ts'
import type { LogEntry } from '../../../core/notifications/log.ts'
import { receiverOf } from '../../../core/records/message.ts'
import type { Batch } from './batches.queries.ts'

type Result = Pick<LogEntry, 'triggered' | 'startedAt' | 'endedAt'> &
  Partial<Pick<LogEntry, 'reason' | 'success' | 'provider' | 'payload'>>

/** What the log says about a message of a batch. */
export const logEntryOf = ({ uid, channel }: Batch, row: MessageRow, result: Result): LogEntry => ({
  ...{ uid, channel, trigger: 'after_message', messageId: row.id },
  ...{ category: row.category, type: row.type, sender: row.sender },
  ...{ receiver: receiverOf(row), receiverType: row.kind, sentAt: timeOf(row.id) },
  ...result,
})
