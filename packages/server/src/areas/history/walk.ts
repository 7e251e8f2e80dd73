import { MESSAGE_COLUMNS, type MessageRow } from '../../core/message-rows.ts'
import type { Executor } from '../../platform/db/query.ts'
import { joinSql, runSql, Sql, sql } from '../../platform/db/sql.ts'
import type { Conditions } from './filter.ts'
import type { Listed, Streams } from './streams.ts'

/** Ids between these two, exclusive; and how many messages are wanted. */
export interface Range {
  after: number
  before: number
  down: boolean
  limit: number
}

/** A range, and until when to look for messages, by `performance.now()`. */
export interface Wanted extends Range {
  until: number
}

export interface Walked {
  /** In the direction of the list. */
  rows: MessageRow[]
  /** If set: nothing but `rows` was found up to this id, and there are more messages after it. */
  walkedTo: number | undefined
}

/** Messages read by the first statements, over all streams; later ones read as many as the last of these. */
const WIDTHS = [200, 1_800, 13_000]
/** The least number of messages by which a stream advances. */
const LEAST = 10

const columns = new Sql([MESSAGE_COLUMNS], [])

/** The next messages of the streams that pass: walks until there are enough, or no messages are left. */
export async function walk(
  db: Executor,
  appNo: number,
  streams: Listed,
  conditions: Conditions,
  range: Wanted,
): Promise<Walked> {
  const rows: MessageRow[] = []
  let { after, before } = range
  // Streams differ in length: once the short ones have ended, the others advance faster.
  let pace = 1
  for (let step = 0; ; step++) {
    const total = WIDTHS[Math.min(step, WIDTHS.length - 1)] ?? 0
    const limit = range.limit - rows.length
    const width = pace * Math.max(LEAST, Math.ceil(Math.max(total, limit) / streams.count))
    const found = await walkOnce(db, appNo, streams, conditions, {
      ...{ after, before, down: range.down, limit, width },
    })
    rows.push(...found.rows)
    const { walkedTo } = found
    const enough = rows.length >= range.limit || performance.now() > range.until
    if (enough || walkedTo === undefined) return { rows, walkedTo }
    if (range.down) before = walkedTo
    else after = walkedTo
    if (found.walked < total / 2) pace *= 2
    else if (found.walked > total * 2 && pace > 1) pace /= 2
  }
}

type WalkedRow = { walked_to: number | null; walked: number } & (MessageRow | { id: null })

/**
 * Reads the next `width` messages of each stream. Of the streams that have more, the one that got
 * least far determines how far all of them have been searched.
 */
export async function walkOnce(
  db: Executor,
  appNo: number,
  streams: Streams,
  { message, conversation }: Conditions,
  { after, before, down, limit, width }: Range & { width: number },
): Promise<Walked & { walked: number }> {
  const order = down ? sql`desc` : sql`asc`
  const [last, nearest] = down ? [sql`min(id)`, sql`max(id)`] : [sql`max(id)`, sql`min(id)`]
  // The conversation is looked up only for messages that pass everything else.
  const inConversation = sql`exists (select from conversations h
    where h.app_no = m.app_no and h.no = m.conversation and ${joinSql(conversation, ' and ')})`
  const passes = joinSql([...message, ...streams.where, inConversation], ' and ')
  const found = await runSql<WalkedRow>(
    db,
    'history.walk',
    sql`with walked as materialized (
        select s.n, w.id, w.passes from (${streams.list}) s cross join lateral (
          select m.id, ${passes} as passes from (
            select m.* from ${streams.messages}
              and m.app_no = ${appNo} and m.id > ${after} and m.id < ${before}
            order by m.id ${order} limit ${width}
          ) m
        ) w
      ), reached as (
        select ${nearest} as id from (
          select ${last} as id from walked group by n having count(*) >= ${width}
        ) ends
      ), page as (
        select distinct w.id from walked w, reached r
        where w.passes and (r.id is null or w.id ${down ? sql`>=` : sql`<=`} r.id)
        order by w.id ${order} limit ${limit}
      )
      select r.id as walked_to, (select count(*) from walked) as walked, shown.*
      from reached r left join (
        select ${columns} from messages m
          join conversations h on h.app_no = m.app_no and h.no = m.conversation
        where m.app_no = ${appNo} and m.id = any(array(select id from page))
      ) shown on true
      order by shown.id ${order}`,
  )
  const rows = found.filter((row): row is WalkedRow & MessageRow => row.id !== null)
  const [{ walked_to = null, walked = 0 } = {}] = found
  return { rows, walkedTo: walked_to ?? undefined, walked }
}
