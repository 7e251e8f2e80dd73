import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { firstIdOf, timeOf } from '../core/ids.ts'
import { addToTotal } from '../platform/db/totals.ts'
import { UserError } from '../platform/errors.ts'
import {
  type Conversation,
  copyMessages,
  lastOf,
  MARK_COLUMNS,
  marksOf,
  type NewMessages,
  writeMessages,
} from './conversation.ts'
import { type CopyRow, copyInto } from './copy.ts'
import type { Run } from './kind.ts'
import { drawFrom } from './names.ts'
import { pairAt, pairsAmong, scattered } from './order.ts'
import { drawNos } from './people.ts'

/** As a distance of ids. */
const YEAR = 365 * 86_400 * 4_000_000

const HEADS = [
  ...['app_no', 'no', 'kind', 'one', 'other', 'last_id', 'shown_id', 'stored'],
  ...['created_second', 'updated_second', 'counted', 'shown_sender', 'shown_data', 'read_at'],
]
const INBOX = [
  ...['app_no', 'uid', 'kind', 'with_id', 'conversation', 'read_id', 'read_counted', 'own_since'],
  ...['visible', 'created_second'],
]
const VIEWS = ['app_no', 'uid', 'blocked', 'updated_second', 'with_id']

/** Two users, in byte order. */
type Pair = [string, string]

/** All pairs of users, each once. `takeNew` skips pairs that already have a conversation. */
export function scatteredPairs(uids: string[]): Iterator<Pair> {
  const sorted = uids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const all = pairsAmong(sorted.length)
  return scattered(all, randomInt(2 ** 40) % all).map((nth): Pair => {
    const [one, other] = pairAt(nth)
    return [sorted[one] ?? '', sorted[other] ?? '']
  })
}

/** Adds one 1:1 conversation for each of `sizes`, with that many messages. Returns the number of messages. */
export async function addDirect(
  tx: pg.Client,
  run: Run,
  pairs: Iterator<Pair>,
  sizes: number[],
): Promise<number> {
  const taken = await takeNew(tx, run.appNo, pairs, sizes.length)
  const nos = await drawNos(tx, sizes.length)
  const ids = new Set<number>()
  const written = taken.map((uids, n) => {
    const conversation = newConversation(run, nos[n] ?? 0, uids)
    return { conversation, added: writeMessages(conversation, sizes[n] ?? 0, ids) }
  })
  await copyAll(tx, run.appNo, written)
  await addViews(tx, run.appNo, taken.flat())
  return ids.size
}

/**
 * Takes pairs without a conversation; existing conversations, which also store blocks, are left alone. Sorts them
 * like the views, so that neighbouring index entries are written together. This saves a third of the time.
 */
async function takeNew(
  tx: pg.Client,
  appNo: number,
  pairs: Iterator<Pair>,
  count: number,
): Promise<Pair[]> {
  const taken: Pair[] = []
  while (taken.length < count) {
    const some: Pair[] = []
    for (let left = count - taken.length; left > 0; left--) {
      const { done, value } = pairs.next()
      if (done) throw new UserError('All pairs of users already have a conversation.')
      some.push(value)
    }
    const { rows } = await tx.query<{ fresh: Pair[] | null }>(
      `select json_agg(json_build_array(p ->> 0, p ->> 1)) as fresh
       from json_array_elements($2::json) p
       where not exists (select from conversations
         where app_no = $1 and kind = 'user' and one = p ->> 0 and other = p ->> 1)`,
      [appNo, JSON.stringify(some)],
    )
    taken.push(...(rows[0]?.fresh ?? []))
  }
  return taken.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** A conversation that began some time in the last year and lasted for part of the time since. */
function newConversation(
  { appNo, startedAt, spread = YEAR }: Run,
  no: number,
  uids: Pair,
): Conversation {
  const draw = drawFrom(no)
  const until = Math.floor(firstIdOf(startedAt.getTime() / 1000))
  const from = until - Math.floor((spread * (1 + draw(10_000))) / 10_000)
  const lasted = Math.floor(((until - from) * draw(10_000)) / 10_000)
  return { appNo, no, counted: 0, uids, from, until: from + lasted }
}

interface Written {
  conversation: Conversation
  added: NewMessages
}

async function copyAll(tx: pg.Client, appNo: number, written: Written[]): Promise<void> {
  await copyInto(tx, 'conversations', HEADS, written.map(headOf))
  await copyMessages(
    tx,
    appNo,
    written.map(({ added }) => added),
  )
  await copyInto(tx, 'inbox', INBOX, written.flatMap(inboxOf).sort(byUid))
  await copyInto(tx, 'direct_views', VIEWS, written.flatMap(viewsOf).sort(byUid))
  await copyInto(
    tx,
    'marks',
    MARK_COLUMNS,
    written.flatMap(({ conversation, added }) => marksOf(conversation, added)),
  )
}

function headOf({ conversation, added }: Written): CopyRow {
  const { messages, lastId, firstSecond, lastSecond, counted } = added
  const key = [conversation.appNo, conversation.no, 'user', ...conversation.uids]
  const { sender, data } = lastOf(added)
  const receiver = added.participants.find(({ uid }) => uid !== sender)
  const readAt = receiver?.readId === lastId ? timeOf(lastId).toISOString() : null
  const counts = [messages.length, firstSecond, lastSecond, counted]
  return [...key, lastId, lastId, ...counts, sender, data, readAt]
}

const inboxOf = ({ conversation, added }: Written): CopyRow[] =>
  added.participants.map(({ uid, readId, readCounted, own }, n) => {
    const other = conversation.uids[1 - n] ?? ''
    const marks = [readId, readCounted, own]
    return [
      ...[conversation.appNo, uid, 'user', other, conversation.no, ...marks],
      ...['t', added.firstSecond],
    ]
  })

const viewsOf = ({ conversation, added }: Written): CopyRow[] =>
  conversation.uids.map((uid, n) => {
    const other = conversation.uids[1 - n] ?? ''
    return [conversation.appNo, uid, 'f', added.lastSecond, other]
  })

/** Adds one view to the totals for each time that a user is listed. Comes last, because other batches wait for these rows. */
async function addViews(tx: pg.Client, appNo: number, uids: string[]): Promise<void> {
  await tx.query(
    `insert into view_totals as t (app_no, uid, visible, unblocked)
     select $1, uid, count(*), count(*) from json_array_elements_text($2::json) as uid
     group by uid order by uid collate "C"
     on conflict (app_no, uid) do update
     set visible = t.visible + excluded.visible, unblocked = t.unblocked + excluded.unblocked`,
    [appNo, JSON.stringify(uids)],
  )
  await addToTotal(tx, appNo, 'views.user', uids.length)
  await addToTotal(tx, appNo, 'views.user.unblocked', uids.length)
}
const byUid = (a: CopyRow, b: CopyRow) => (String(a[1]) < String(b[1]) ? -1 : 1)
