import type { Actor } from '../access/actor.ts'
import type { Readable } from './heads.ts'
import { cutPage, type IdQuery, idRange } from './id-page.ts'
import { listPinnedDown, listPinnedUp } from './pins.queries.ts'
import { toMessages } from './record.ts'

/** The pinned messages of a conversation, in the order in which they were sent. */
export async function pinnedOf(actor: Actor, head: Readable | undefined, query: IdQuery) {
  const { no: appNo, cell } = actor.app
  const { down, ...range } = idRange(query)
  const list = down ? listPinnedDown : listPinnedUp
  const place = head && { appNo, conversation: head.no, cleared: head.cleared_seq }
  const rows = place ? await list.many(cell.db, { ...place, ...range }) : []
  const { shown, meta } = cutPage(rows, query)
  return { data: await toMessages(cell.db, appNo, shown, { viewer: actor.uid }), meta }
}
