/**
 * How pages of conversations were once read: the messages with all columns, marks looked up for each, and everything
 * that they refer to in further statements. Tests compare the pages of the API with these.
 */
import { type ConversationKind, secondOf } from '../../src/core/ids.ts'
import { toMessages } from '../../src/core/message-record.ts'
import { MESSAGE_COLUMNS, type MessageRow } from '../../src/core/message-rows.ts'
import { SENDER_IS_THERE } from '../../src/core/visibility.ts'
import { type Executor, query } from '../../src/platform/db/query.ts'

type Range = {
  appNo: number
  viewer: string | null
  kind: ConversationKind
  withId: string
  down: boolean
  /** The page starts before or after this message. */
  from: number
  limit: number
}

const listRows = query<Range, MessageRow>(
  'oracle.history',
  `select ${MESSAGE_COLUMNS}
   from conversations h
     left join inbox i on i.app_no = h.app_no and i.conversation = h.no and i.uid = :viewer::text
     join messages m on m.app_no = h.app_no and m.conversation = h.no
   where h.app_no = :appNo and h.kind = :kind
     and case when :kind = 'group' then h.one = :withId else i.with_id = :withId end
     and m.id > greatest(h.purged_id, i.cleared_id)
     and case when :down then m.id < :from else m.id > :from end
     and ${SENDER_IS_THERE}
   order by case when :down then -m.id else m.id end limit :limit`,
)

export interface HistoryPage {
  viewer: string | undefined
  kind: ConversationKind
  withId: string
  affix: 'append' | 'prepend'
  id: number | undefined
  limit: number
  withTags: boolean
  hideQuoted: boolean
}

/** The answer to a page of a conversation that the viewer may read; undefined is the app. */
export async function historyByOracle(db: Executor, appNo: number, asked: HistoryPage) {
  const { viewer, kind, withId, affix, id, limit, withTags, hideQuoted } = asked
  const down = affix === 'prepend'
  const from = id ?? (down ? Number.MAX_SAFE_INTEGER : 0)
  const rows = await listRows.many(db, {
    ...{ appNo, viewer: viewer ?? null, kind, withId, down, from, limit: limit + 1 },
  })
  const shown = rows.slice(0, limit)
  if (down) shown.reverse()
  const data = await toMessages(db, appNo, shown, { viewer, hideQuoted, hideTags: !withTags })
  const last = data.at(down ? 0 : -1)
  const more = rows.length > limit && last
  return {
    data,
    meta: {
      current: { limit, count: data.length },
      ...(more && { next: { affix, id: last.id, sentAt: secondOf(Number(last.id)) } }),
      ...(kind === 'user' && last && { cursor: { affix, id: last.id } }),
    },
  }
}
