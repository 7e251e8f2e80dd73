import type pg from 'pg'
import { addToTotal } from '../platform/db/totals.ts'
import { copyInto } from './copy.ts'
import type { Run } from './kind.ts'
import { drawNumbers } from './people.ts'
import {
  MARK_COLUMNS,
  MESSAGE_COLUMNS,
  marksOf,
  type Place,
  type Thread,
  writeThread,
} from './thread.ts'

/** Kept in memory: an app with more gets its messages in the first of these. */
const MOST = 1_000_000

/** How many messages the conversation of a group gets. */
export interface Share {
  no: number
  size: number
}

/** Conversations of the groups that have members. */
export async function readGroupHeads(client: pg.Client, appNo: number): Promise<number[]> {
  const { rows } = await client.query<{ nos: number[] | null }>(
    `select json_agg(no) as nos from (
       select h.no from groups g
         join conversations h on h.app_no = g.app_no and h.kind = 'group' and h.one = g.guid
           and h.other = ''
       where g.app_no = $1 and g.removed_at is null and g.members_count > 0
       order by h.no limit ${MOST}
     ) heads`,
    [appNo],
  )
  return rows[0]?.nos ?? []
}

/** Adds messages to groups as they are, whoever else writes there; returns how many. */
export async function addToGroups(tx: pg.Client, run: Run, shares: Share[]): Promise<number> {
  const groups = await lockGroups(tx, run, shares)
  const sizes = new Map(shares.map(({ no, size }) => [no, size]))
  const sizeOf = ({ no }: Place) => sizes.get(no) ?? 0
  const count = groups.reduce((sum, { place }) => sum + sizeOf(place), 0)
  // Drawn under the locks: above all ids that are there.
  const ids = await drawNumbers(tx, 'message_ids', count)
  let used = 0
  const written = groups.map(({ place, appear }) => {
    const own = ids.slice(used, used + sizeOf(place))
    used += own.length
    return { place, appear, thread: writeThread(place, own) }
  })
  await storeAll(tx, run.appNo, written)
  return count
}

interface LockedGroup {
  place: Place
  /** How many views come with a message. */
  appear: number
}

interface HeadRow {
  no: number
  last_seq: number
  counted: number
  from: number
  appear: number
  uids: string[]
}

/** The head's lock keeps members from coming and going. Those without any are left out. */
async function lockGroups(tx: pg.Client, run: Run, shares: Share[]): Promise<LockedGroup[]> {
  const nos = shares.map(({ no }) => no)
  const { appNo, startedAt } = run
  await tx.query(
    `select from conversations where app_no = $1 and no = any ($2::bigint[])
     order by no for no key update`,
    [appNo, nos],
  )
  const { rows } = await tx.query<HeadRow>(
    `select h.no, h.last_seq, h.counted,
       ceil(extract(epoch from greatest(h.last_at, g.created_at)) * 1000)::bigint as from,
       case when h.shown_seq > 0 then h.hidden else g.members_count end as appear, m.uids
     from conversations h
       join groups g on g.app_no = h.app_no and g.guid = h.one and g.removed_at is null
       join lateral (select json_agg(i.uid) as uids from inbox i
         where i.app_no = h.app_no and i.conversation = h.no and i.scope is not null) m
       on m.uids is not null
     where h.app_no = $1 and h.no = any ($2::bigint[])
     order by h.no`,
    [appNo, nos],
  )
  return rows.map(({ no, last_seq: lastSeq, counted, from, appear, uids }) => {
    const until = Math.max(from, startedAt.getTime())
    return { place: { appNo, no, lastSeq, counted, uids, from, until }, appear }
  })
}

interface Written extends LockedGroup {
  thread: Thread
}

async function storeAll(tx: pg.Client, appNo: number, written: Written[]): Promise<void> {
  await copyInto(
    tx,
    'messages',
    MESSAGE_COLUMNS,
    written.flatMap(({ thread }) => thread.messages),
  )
  await moveHeads(tx, appNo, written)
  await moveMarks(tx, appNo, written)
  await copyInto(
    tx,
    'marks',
    MARK_COLUMNS,
    written.flatMap(({ place, thread }) => marksOf(place, thread)),
  )
  const appeared = written.reduce((sum, { appear }) => sum + appear, 0)
  await addToTotal(tx, appNo, 'views.group', appeared)
}

async function moveHeads(tx: pg.Client, appNo: number, written: Written[]): Promise<void> {
  const heads = written.map(({ place: { no }, thread }) => {
    const { lastSeq, lastId, lastAt, firstSecond, lastSecond, counted } = thread
    return { no, lastSeq, lastId, lastAt, firstSecond, lastSecond, counted }
  })
  await tx.query(
    `update conversations h set
       last_seq = n."lastSeq", last_at = n."lastAt", shown_seq = n."lastSeq",
       shown_id = n."lastId", created_second = coalesce(h.created_second, n."firstSecond"),
       updated_second = n."lastSecond", counted = n.counted, hidden = 0
     from json_to_recordset($2::json) as n (no bigint, "lastSeq" bigint, "lastId" bigint,
       "lastAt" timestamptz, "firstSecond" bigint, "lastSecond" bigint, counted bigint)
     where h.app_no = $1 and h.no = n.no`,
    [appNo, JSON.stringify(heads)],
  )
}

/** Who has read nothing of it keeps the mark. */
async function moveMarks(tx: pg.Client, appNo: number, written: Written[]): Promise<void> {
  const sides = written.flatMap(({ place: { no }, thread }) =>
    thread.sides
      .filter(({ readSeq, own }) => readSeq > 0 || own > 0)
      .map(({ uid, readSeq, readCounted, own }) => ({ no, uid, readSeq, readCounted, own })),
  )
  await tx.query(
    `update inbox i set
       read_seq = greatest(i.read_seq, n."readSeq"),
       read_counted = greatest(i.read_counted, n."readCounted"),
       own_since = n.own + case when n."readSeq" = 0 then i.own_since else 0 end
     from json_to_recordset($2::json)
       as n (no bigint, uid text, "readSeq" bigint, "readCounted" bigint, own bigint)
     where i.app_no = $1 and i.conversation = n.no and i.uid = n.uid`,
    [appNo, JSON.stringify(sides)],
  )
}
