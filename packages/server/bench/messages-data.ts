/** Apps with one long conversation, and with messages that have many reactions or replies. */
import pg from 'pg'
import type { Deps } from '../src/deps.ts'
import { fillApp } from '../src/fill/fill.ts'
import { groups } from '../src/fill/groups.ts'
import { messages } from '../src/fill/messages.ts'
import { users } from '../src/fill/users.ts'
import { connectionConfig } from '../src/platform/db/db.ts'
import { type BenchApp, newBenchApp } from './installation.ts'

/** Number of messages added per batch. */
const PART = 200_000

export interface Sizes {
  users: number
  members: number
  /** Number of messages in the group. */
  long: number
  /** Number of messages in 1:1 conversations, ten in each. */
  others: number
}

export interface Long {
  app: BenchApp
  client: pg.Client
  guid: string
  conversation: number
  members: string[]
  /** Ids of the group's first, middle and last message. */
  first: number
  middle: number
  last: number
}

export async function fillLong(deps: Deps, sizes: Sizes): Promise<Long> {
  const app = await newBenchApp(deps)
  const client = new pg.Client({ ...connectionConfig(app.cell.url), statement_timeout: 0 })
  await client.connect()
  const run = { onProgress: () => {}, signal: new AbortController().signal }
  await fillApp(app, { kind: users, wanted: sizes.users, ...run })
  // Before the group exists, because it would get some of these messages.
  await fillApp(app, { kind: messages, wanted: sizes.others, ...run })
  await fillApp(app, { kind: groups, wanted: 1, members: sizes.members, ...run })
  for (let left = sizes.long; left > 0; left -= PART) {
    const wanted = Math.min(left, PART)
    await fillApp(app, { kind: messages, wanted, conversations: 0, ...run })
  }
  const { rows } = await client.query<{ guid: string; no: number; members: string[] }>(
    `select h.one as guid, h.no::int, array(select i.uid from inbox i
       where i.app_no = $1 and i.conversation = h.no and i.scope is not null order by i.uid) as members
     from conversations h where h.app_no = $1 and h.kind = 'group'`,
    [app.no],
  )
  const [head] = rows
  if (!head) throw new Error('there is no group')
  const ids = await client.query<{ id: number }>(
    `select id from (
       select id, row_number() over (order by id) as n, count(*) over () as messages from messages
       where app_no = $1 and conversation = $2
     ) m where n in (1, messages / 2, messages) order by id`,
    [app.no, head.no],
  )
  const [first = 0, middle = 0, last = 0] = ids.rows.map(({ id }) => id)
  return { app, client, ...head, conversation: head.no, first, middle, last }
}

/** Stores reactions of many users to a message, as if each had reacted. */
export async function addReactions(
  { app, client }: Long,
  id: number,
  count: number,
  values: number,
): Promise<void> {
  await client.query(
    `insert into reactions (app_no, uid, message_id, reaction, id)
     select $1, uid, $2, 'r' || n % $4, tick() + n from (
       select uid, row_number() over (order by uid) as n from users where app_no = $1 order by uid limit $3
     ) u`,
    [app.no, id, count, values],
  )
  await client.query(
    `insert into reaction_counts (app_no, message_id, reaction, count, first_id)
     select $1, $2, reaction, count(*), min(id) from reactions
     where app_no = $1 and message_id = $2 group by reaction`,
    [app.no, id],
  )
  await client.query('update messages set reacted = true where app_no = $1 and id = $2', [
    app.no,
    id,
  ])
}

/** Adds replies to a message of the group. Each is one call of the function that the service uses. */
export async function addReplies(
  { app, client, guid, members }: Long,
  id: number,
  count: number,
): Promise<void> {
  await client.query(
    `select count(send_message($1, 'group', $2, $3, 'message', 'text', '{"text":"A reply"}', '{}', null,
       '', '\\xabcd', null, null, p_parent => $4))
     from generate_series(1, $5)`,
    [app.no, members[0], guid, id, count],
  )
}

/** Gives PostgreSQL the statistics and visibility maps of a database at rest. */
export const settle = ({ client }: Long) => client.query('vacuum (analyze)')
