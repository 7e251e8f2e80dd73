/** Apps with many conversations, and users who have as many as a bench asks for. */
import pg from 'pg'
import type { Deps } from '../src/deps.ts'
import { fillApp } from '../src/fill/fill.ts'
import { messages } from '../src/fill/messages.ts'
import { users } from '../src/fill/users.ts'
import { connectionConfig } from '../src/platform/db/db.ts'
import { type BenchApp, newBenchApp } from './installation.ts'

/** Each conversation has two views, so each user has about a hundred. */
export const CONVERSATIONS_PER_USER = 50
const BATCH = 1_000
const DATA = JSON.stringify({ text: 'Shall we meet at the station at nine?' })

export interface Filled {
  app: BenchApp
  client: pg.Client
  /** The part of the uids before the number, for users with conversations. */
  prefix: string
}

export async function fillConversations(deps: Deps, conversations: number): Promise<Filled> {
  const app = await newBenchApp(deps)
  const client = new pg.Client({ ...connectionConfig(app.cell.url), statement_timeout: 0 })
  await client.connect()
  const run = { onProgress: () => {}, signal: new AbortController().signal }
  await fillApp(app, { kind: users, wanted: conversations / CONVERSATIONS_PER_USER, ...run })
  const text = 'select min(uid) as uid from users where app_no = $1'
  const { rows } = await client.query<{ uid: string }>(text, [app.no])
  await fillApp(app, { kind: messages, wanted: conversations, conversations, ...run })
  return { app, client, prefix: (rows[0]?.uid ?? '').replace(/\d+$/, '') }
}

/** Adds users without any conversations. */
export async function addUsers({ app }: Filled, wanted: number): Promise<void> {
  const { signal } = new AbortController()
  await fillApp(app, { kind: users, wanted, onProgress: () => {}, signal })
}

/** Adds a user with the given numbers of 1:1 conversations and groups, and returns the uid. */
export async function addOwner(
  { app, client }: Filled,
  { direct = 0, groups = 0 }: { direct?: number; groups?: number },
): Promise<string> {
  const uid = `owner-${direct}-${groups}`
  await client.query(`insert into users (app_no, uid, name, role) values ($1, $2, $2, 'default')`, [
    app.no,
    uid,
  ])
  await client.query(`select add_total($1, 'users', 1)`, [app.no])
  for (let after = '', left = direct; left > 0; left -= BATCH) {
    const { rows } = await client.query<{ uid: string }>(
      `select max(u.uid) as uid, count(send_message($1, 'user', u.uid, $2, 'message', 'text',
         $5::jsonb, '{}', null, '', '\\xabcd', null, null))
       from (select uid from users where app_no = $1 and uid > $3 and uid like 'fill%'
         order by uid limit $4) u`,
      [app.no, uid, after, Math.min(left, BATCH), DATA],
    )
    after = rows[0]?.uid ?? ''
  }
  for (let nth = 0; nth < groups; nth++) await addGroup(client, app.no, uid, `${uid}-${nth}`)
  return uid
}

async function addGroup(client: pg.Client, appNo: number, uid: string, guid: string) {
  await client.query(
    `with made as (
       insert into groups (app_no, guid, name, type, owner, members_count)
       values ($1, $2, $2, 'public', $3, 1)
     ), head as (
       insert into conversations (app_no, kind, one, other) values ($1, 'group', $2, '')
       returning no
     )
     insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
     select $1, $3, 'group', $2, no, 'admin', clock_timestamp() from head`,
    [appNo, guid, uid],
  )
  await client.query(
    `select send_message($1, 'group', $2, $3, 'message', 'text', $4::jsonb, '{}', null, '',
       '\\xabcd', null, null), add_total($1, 'groups', 1)`,
    [appNo, uid, guid, DATA],
  )
}

/** Gives PostgreSQL the statistics and visibility maps of a database at rest. */
export const settle = ({ client }: Filled) => client.query('vacuum (analyze)')
