import { shownTo } from '../../core/access/visible.ts'
import type { Actor } from '../../core/actor.ts'
import type { Readable } from '../../core/heads.ts'
import { asSeenBy, toMessages } from '../../core/message-record.ts'
import { cutPage, type IdQuery, idRange } from '../../platform/http/id-page.ts'
import { listPinnedDown, listPinnedUp } from './queries.ts'

/** The pinned messages of a conversation, in the order in which they were sent. */
export async function pinnedOf(actor: Actor, head: Readable | undefined, query: IdQuery) {
  const { no: appNo, cell } = actor.app
  const { down, ...range } = idRange(query)
  const list = down ? listPinnedDown : listPinnedUp
  const conversation = head && {
    appNo,
    conversation: head.no,
    cleared: head.cleared_id,
    ...shownTo(actor),
  }
  const rows = conversation ? await list.many(cell.db, { ...conversation, ...range }) : []
  const { shown, meta } = cutPage(rows, query)
  return { data: await toMessages(cell.db, appNo, shown, asSeenBy(actor)), meta }
}
