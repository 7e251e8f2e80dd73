import type { Receiver } from '../../../core/notifications/facts.ts'
import type { BatchChannel } from './batches.queries.ts'

/** An app can want emails about messages that were read, too. */
export const newsOf = ({ facts }: Receiver, channel: BatchChannel): Receiver['facts'] => ({
  ...facts,
  read: facts.read && facts.preferences[channel].notifyForUnreadOnly,
})
