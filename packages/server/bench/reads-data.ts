/** An app with users, and with conversations of at least fifty messages. */
import pg from 'pg'
import type { Deps } from '../src/deps.ts'
import { fillApp } from '../src/fill/fill.ts'
import { groups } from '../src/fill/groups.ts'
import { messages } from '../src/fill/messages.ts'
import { users } from '../src/fill/users.ts'
import { connectionConfig } from '../src/platform/db/db.ts'
import { type BenchApp, newBenchApp } from './installation.ts'

const USERS = 5_000
const DIRECT = { wanted: 60_000, conversations: 400 }
const GROUPS = { wanted: 30, members: 40, messages: 30_000 }
/** Groups whose messages are sent one by one, with everything that a page can show. */
const RICH = 3

interface OfGroup {
  guid: string
  /** A member. */
  uid: string
}

export interface ReadData {
  app: BenchApp
  client: pg.Client
  uids: string[]
  direct: { uid: string; other: string }[]
  groups: OfGroup[]
  rich: OfGroup[]
}

export async function fillReads(deps: Deps, port: number): Promise<ReadData> {
  const app = await newBenchApp(deps)
  const client = new pg.Client({ ...connectionConfig(app.cell.url), statement_timeout: 0 })
  await client.connect()
  const run = { onProgress: () => {}, signal: new AbortController().signal }
  await fillApp(app, { kind: users, wanted: USERS, ...run })
  await fillApp(app, { kind: messages, ...DIRECT, ...run })
  await fillApp(app, { kind: groups, wanted: GROUPS.wanted, members: GROUPS.members, ...run })
  await fillApp(app, { kind: messages, wanted: GROUPS.messages, conversations: 0, ...run })
  const { rows } = await client.query<{ uid: string }>(
    'select uid from users where app_no = $1 order by uid limit 500',
    [app.no],
  )
  const uids = rows.map(({ uid }) => uid)
  const rich: OfGroup[] = []
  for (let n = 0; n < RICH; n++) rich.push(await addRich(app, port, `rich-${n}`, uids.slice(0, 12)))
  await client.query('vacuum (analyze)')
  return { app, client, uids, ...(await findLong(app, client)), rich }
}

/** Conversations with at least fifty messages, and a user of each. */
async function findLong(app: BenchApp, client: pg.Client) {
  const { rows } = await client.query<{ kind: string; one: string; other: string; uid: string }>(
    `select h.kind, h.one, h.other, (select min(i.uid) from inbox i
       where i.app_no = h.app_no and i.conversation = h.no) as uid
     from conversations h
     where h.app_no = $1 and h.one not like 'rich-%' and 50 <= (
       select count(*) from messages m where m.app_no = h.app_no and m.conversation = h.no)`,
    [app.no],
  )
  const of = (wanted: string) => rows.filter(({ kind }) => kind === wanted)
  return {
    direct: of('user').map(({ one, other }) => ({ uid: one, other })),
    groups: of('group').map(({ one, uid }) => ({ guid: one, uid })),
  }
}

/** A group with sixty messages: replies, quotes, mentions, reactions, saves and action messages among them. */
async function addRich(
  app: BenchApp,
  port: number,
  guid: string,
  members: string[],
): Promise<OfGroup> {
  const call = async (uid: string, path: string, body?: object) => {
    const headers = {
      ...{ appid: app.id, apikey: app.apiKey, onbehalfof: uid },
      ...(body && { 'content-type': 'application/json' }),
    }
    const response = await fetch(`http://127.0.0.1:${port}/v3/${path}`, {
      ...{ method: 'POST', headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as { data?: { id: string } }
    if (!response.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`)
    return answer.data?.id ?? ''
  }
  const [owner = '', ...others] = members
  await call(owner, 'groups', { guid, name: guid, type: 'public' })
  for (const uid of others) await call(uid, `groups/${guid}/join`)
  const ids: string[] = []
  for (let n = 0; n < 60; n++) {
    const uid = members[n % members.length] ?? ''
    const mentioned = n % 7 === 3 ? `Hi <@uid:${members[(n * 5) % members.length]}>, ` : ''
    const last = ids.at(-3)
    const id = await call(uid, n % 9 === 5 && last ? `messages/${last}/thread` : 'messages', {
      ...{ receiver: guid, receiverType: 'group', type: 'text', category: 'message' },
      data: { text: `${mentioned}this is message number ${n} of the group.` },
      ...(n % 8 === 6 && last && { quotedMessageId: last }),
    })
    if (n % 9 !== 5) ids.push(id)
    if (n % 4 === 1) await call(others[n % others.length] ?? '', `messages/${id}/reactions/up`)
    if (n % 10 === 7) await call(owner, `messages/${id}/save`)
  }
  return { guid, uid: owner }
}
