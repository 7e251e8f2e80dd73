import { type Actor, isModerator } from '../../core/actor.ts'
import { type ConversationKind, secondOf } from '../../core/ids.ts'
import { MessagePrinter } from '../../core/message-print.ts'
import { refuseIf, refuseOutside } from '../../core/policy.ts'
import { fail } from '../../platform/http/fail.ts'
import { directDown, directUp, groupDown, groupUp } from './page.queries.ts'
import { rangeOf } from './page.ts'
import { type PageHead, toParts } from './page-parts.ts'
import type { HistoryQuery } from './schema.ts'

const QUERIES = {
  user: { append: directUp, prepend: directDown },
  group: { append: groupUp, prepend: groupDown },
}

/** A page of a conversation as JSON text: oldest first, whether it lies before or after the cursor. */
export async function printedPage(
  actor: Actor,
  kind: ConversationKind,
  id: string,
  query: HistoryQuery,
): Promise<string> {
  const { no: appNo, cell } = actor.app
  const { limit, hideQuotedMessages: hideQuoted = false, withTags = false } = query
  const { hideReplies = false } = query
  const down = query.affix === 'prepend'
  const found = await QUERIES[kind][down ? 'prepend' : 'append'].many(cell.db, {
    ...{ appNo, id, viewer: actor.uid ?? null, checkViewer: actor.kind === 'appOnBehalf' },
    ...{ ...rangeOf(query), limit: limit + 1, hideQuoted, hideReplies },
    moderates: isModerator(actor),
  })
  const { head, rows, referred, entities } = toParts(found)
  checkAccess(actor, kind, id, head)
  const more = rows.length > limit
  // Held messages come on top of the limit.
  if (more) rows.splice(down ? 0 : limit, rows.length - limit)
  const printer = new MessagePrinter(entities, referred, { hideQuoted, hideTags: !withTags })
  const data = rows.map((row) => printer.print(row)).join(',')
  const last = rows.at(down ? 0 : -1)?.id
  return `{"data":[${data}],"meta":${JSON.stringify({
    current: { limit, count: rows.length },
    ...(more && last !== undefined && { next: nextOf(down, last) }),
    ...(kind === 'user' && last !== undefined && { cursor: cursorOf(down, last) }),
  })}}`
}

const affixOf = (down: boolean) => (down ? 'prepend' : 'append')
const cursorOf = (down: boolean, id: number) => ({ affix: affixOf(down), id: String(id) })
const nextOf = (down: boolean, id: number) => ({ ...cursorOf(down, id), sentAt: secondOf(id) })

/** Members who aren't banned and the app read groups; users read their own 1:1 conversations. */
function checkAccess({ uid }: Actor, kind: ConversationKind, id: string, head: PageHead): void {
  if (!head.active) throw fail('ERR_UID_NOT_FOUND', { uid: uid ?? '' })
  if (!head.known)
    throw kind === 'user'
      ? fail('ERR_UID_NOT_FOUND', { uid: id })
      : fail('ERR_GUID_NOT_FOUND', { guid: id })
  if (kind === 'group' && uid !== undefined) refuseIf(refuseOutside(head))
}
