import type pg from 'pg'
import { addToTotal } from '../platform/db/totals.ts'
import {
  type Conversation,
  copyMessages,
  lastOf,
  MARK_COLUMNS,
  marksOf,
  type NewMessages,
  writeMessages,
} from './conversation.ts'
import { copyInto } from './copy.ts'
import type { Run } from './kind.ts'

/** Kept in memory. If an app has more groups, only the first ones get messages. */
const MAX_GROUPS = 1_000_000

/** How many messages the conversation of a group gets. */
export interface Share {
  no: number
  size: number
}

/** The conversations of all groups that have members. */
export async function readGroupHeads(client: pg.Client, appNo: number): Promise<number[]> {
  const { rows } = await client.query<{ nos: number[] | null }>(
    `select json_agg(no) as nos from (
       select h.no from groups g
         join conversations h on h.app_no = g.app_no and h.kind = 'group' and h.one = g.guid
           and h.other = ''
       where g.app_no = $1 and g.removed_at is null and g.members_count > 0
       order by h.no limit ${MAX_GROUPS}
     ) heads`,
    [appNo],
  )
  return rows[0]?.nos ?? []
}

/** Adds messages to existing groups, even while others send messages there. Returns how many. */
export async function addToGroups(tx: pg.Client, run: Run, shares: Share[]): Promise<number> {
  const groups = await lockGroups(tx, run, shares)
  const sizes = new Map(shares.map(({ no, size }) => [no, size]))
  const ids = new Set<number>()
  const written = groups.map(({ conversation, appear }) => {
    const size = sizes.get(conversation.no) ?? 0
    return { conversation, appear, added: writeMessages(conversation, size, ids) }
  })
  await storeAll(tx, run.appNo, written)
  return ids.size
}

interface LockedGroup {
  conversation: Conversation
  /** How many views the first message adds. */
  appear: number
}

interface HeadRow {
  no: number
  counted: number
  from: number
  until: number
  appear: number
  uids: string[]
}

/** Locks the heads, so that members can't join or leave. Skips groups without members. */
async function lockGroups(tx: pg.Client, run: Run, shares: Share[]): Promise<LockedGroup[]> {
  const nos = shares.map(({ no }) => no)
  const { appNo } = run
  await tx.query(
    `select from conversations where app_no = $1 and no = any ($2::bigint[])
     order by no for no key update`,
    [appNo, nos],
  )
  const { rows } = await tx.query<HeadRow>(
    `select h.no, h.counted, greatest(h.last_id,
         ceil((extract(epoch from g.created_at) - 1000000000) * 4000000)::bigint) as from,
       tick() as until, case when h.shown_id > 0 then h.hidden else g.members_count end as appear, m.uids
     from conversations h
       join groups g on g.app_no = h.app_no and g.guid = h.one and g.removed_at is null
       join lateral (select json_agg(i.uid) as uids from inbox i
         where i.app_no = h.app_no and i.conversation = h.no and i.scope is not null) m
       on m.uids is not null
     where h.app_no = $1 and h.no = any ($2::bigint[])
     order by h.no`,
    [appNo, nos],
  )
  return rows.map(({ appear, from, until, ...head }) => ({
    conversation: { appNo, ...head, from, until: Math.max(from, until) },
    appear,
  }))
}

interface Written extends LockedGroup {
  added: NewMessages
}

async function storeAll(tx: pg.Client, appNo: number, written: Written[]): Promise<void> {
  await copyMessages(
    tx,
    appNo,
    written.map(({ added }) => added),
  )
  await moveHeads(tx, appNo, written)
  await moveMarks(tx, appNo, written)
  await copyInto(
    tx,
    'marks',
    MARK_COLUMNS,
    written.flatMap(({ conversation, added }) => marksOf(conversation, added)),
  )
  const appeared = written.reduce((sum, { appear }) => sum + appear, 0)
  await addToTotal(tx, appNo, 'views.group', appeared)
}

async function moveHeads(tx: pg.Client, appNo: number, written: Written[]): Promise<void> {
  const heads = written.map(({ conversation: { no }, added }) => {
    const { messages, lastId, firstSecond, lastSecond, counted } = added
    const { sender, data } = lastOf(added)
    return { no, size: messages.length, lastId, firstSecond, lastSecond, counted, sender, data }
  })
  await tx.query(
    `update conversations h set
       last_id = n."lastId", shown_id = n."lastId", stored = h.stored + n.size, created_second = coalesce(h.created_second, n."firstSecond"),
       updated_second = n."lastSecond", counted = n.counted, hidden = 0,
       shown_sender = n.sender, shown_data = n.data, shown_muid = null
     from json_to_recordset($2::json) as n (no bigint, size bigint, "lastId" bigint,
       "firstSecond" bigint, "lastSecond" bigint, counted bigint, sender text, data text)
     where h.app_no = $1 and h.no = n.no`,
    [appNo, JSON.stringify(heads)],
  )
}

/** Users who have read none of the new messages keep their mark. */
async function moveMarks(tx: pg.Client, appNo: number, written: Written[]): Promise<void> {
  const participants = written.flatMap(({ conversation: { no }, added }) =>
    added.participants
      .filter(({ readId, own }) => readId > 0 || own > 0)
      .map(({ uid, readId, readCounted, own }) => ({ no, uid, readId, readCounted, own })),
  )
  await tx.query(
    `update inbox i set
       read_id = greatest(i.read_id, n."readId"),
       read_counted = greatest(i.read_counted, n."readCounted"),
       own_since = n.own + case when n."readId" = 0 then i.own_since else 0 end
     from json_to_recordset($2::json)
       as n (no bigint, uid text, "readId" bigint, "readCounted" bigint, own bigint)
     where i.app_no = $1 and i.conversation = n.no and i.uid = n.uid`,
    [appNo, JSON.stringify(participants)],
  )
}
