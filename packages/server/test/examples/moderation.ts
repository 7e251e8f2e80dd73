import type { ServedApp } from '../../src/core/actor.ts'
import { insertBlocked } from '../held.ts'
import type { Story } from './story.ts'

/** A moderator looks at a message that a rule blocked, and lets it pass. */
export async function moderate(story: Story, app: ServedApp): Promise<void> {
  const messageId = await insertBlocked(app, 'ben', 'amira', 'I already know the ending.')
  await story.show('listBlockedMessages', { query: { limit: 10 } })
  await story.show('reviewBlockedMessage', {
    ids: { messageId },
    body: { status: 'approved', reviewed: true },
  })
  await story.show('listBlockedMessagesReviewed', { query: { limit: 10 } })
}
