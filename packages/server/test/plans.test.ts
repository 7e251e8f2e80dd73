/** The rows that hot statements touch in a larger app, planned for any values. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import pg from 'pg'
import { showViews } from '../src/areas/conversations/app.queries.ts'
import * as views from '../src/areas/conversations/views.queries.ts'
import { conditionsOf } from '../src/areas/history/filter.ts'
import * as pages from '../src/areas/history/page.queries.ts'
import * as history from '../src/areas/history/queries.ts'
import type { MessageFilters } from '../src/areas/history/schema.ts'
import {
  conversationsOf,
  directOf,
  type Streams,
  streamsOfApp,
  streamsOfConversations,
} from '../src/areas/history/streams.ts'
import { walk } from '../src/areas/history/walk.ts'
import { readAfter, START } from '../src/areas/imports/exports/reader.ts'
import { listReviewRows } from '../src/areas/moderation/reviews.queries.ts'
import * as pins from '../src/areas/pins/queries.ts'
import * as reactions from '../src/areas/reactions/queries.ts'
import * as saves from '../src/areas/saves/queries.ts'
import * as threads from '../src/areas/threads/queries.ts'
import * as annotations from '../src/core/annotations.ts'
import { findEntities } from '../src/core/entities.ts'
import { findMessage } from '../src/core/message-access.ts'
import { listReferred } from '../src/core/message-rows.ts'
import type { Executor, Query, Statement } from '../src/platform/db/query.ts'
import { command } from './command.ts'
import { ownerEnv, queryAt } from './databases.ts'
import { type TestApp, useServer } from './kit.ts'

const server = useServer()

interface Node {
  'Node Type': string
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  Plans?: Node[]
}

const LIMIT = 21
/** How many rows a page may touch: some in several tables for each row shown, and the user's groups. */
const MOST_ROWS = LIMIT * 40
/** A first step reads 200 messages, or 10 of each conversation, and the conversations. */
const MOST_WALKED = 4 * 200 + MOST_ROWS

let app: TestApp
let client: pg.Client
let uid: string
let conversation: number
let message: number
/** A 1:1 conversation of the user, and a group with one of its members. */
let direct: { viewer: string; id: string }
let group: { viewer: string; id: string }
/** The keys of a page of the app's list. */
let keys: string

async function fillAndConnect() {
  app = await server.newApp()
  const fill = (flags: string) =>
    command(['fill', '--app', app.id, ...flags.split(' ')], { ...server.env, ...ownerEnv() }).then(
      ({ code, stderr }) => assert.equal(code, 0, stderr),
    )
  await fill('--users 3000')
  await fill('--groups 4000 --members 3 --messages 40000 --conversations 15000')
  client = new pg.Client(app.cell.url)
  await client.connect()
  await client.query('set plan_cache_mode = force_generic_plan')
  const select = async (text: string) => (await client.query(text)).rows[0]
  for (const text of THREADS) await client.query(text)
  uid = (await select(`select uid from view_totals where app_no = ${app.no} order by visible desc`))
    .uid
  const head = await select(
    `select no, shown_id from conversations where app_no = ${app.no} order by stored desc`,
  )
  conversation = Number(head.no)
  message = Number(head.shown_id)
  const longest = (kind: string) =>
    select(`select i.uid as viewer, i.with_id as id from conversations h
      join inbox i on i.app_no = h.app_no and i.conversation = h.no
      where h.app_no = ${app.no} and h.kind = '${kind}' order by h.stored desc, i.uid limit 1`)
  direct = await longest('user')
  group = await longest('group')
  keys = (
    await select(`select json_agg(json_build_array(uid, kind, with_id, created_second))::text as keys
      from (select * from inbox where app_no = ${app.no} order by uid limit ${LIMIT}) page`)
  ).keys
  await leaveTraces()
}

/** One in five messages has reactions, is saved by its sender, or is pinned. */
async function leaveTraces() {
  const some = `from messages where app_no = ${app.no} and (id % 5 = 0 or id = ${message})`
  await client.query(`insert into reactions (app_no, uid, message_id, reaction, id)
    select app_no, uid, id, 'up', row_number() over () from (select app_no, sender as uid, id ${some}
      union all select app_no, 'a', id ${some}) both_users`)
  await client.query(`insert into reaction_counts (app_no, message_id, reaction, count, first_id)
    select app_no, id, 'up', 2, id ${some}`)
  await client.query(
    `insert into saves (app_no, uid, message_id) select app_no, sender, id ${some}`,
  )
  await client.query(
    `update messages set reacted = true, saved = true, pinned_at = now() where app_no = ${app.no}
       and id in (select id ${some})`,
  )
  // Moderators have reviewed nearly all messages, and one rule has blocked nearly all of them.
  await client.query(`insert into reviews (app_no, message_id, sender, rule_id, reviewed_at, decision)
    select app_no, id, sender, case when id % 997 = 0 then 'rare' else 'common' end,
      case when id % 499 <> 0 then now() end, case when id % 499 <> 0 then 'approved' end
    from messages where app_no = ${app.no}`)
  // The service's role couldn't.
  await queryAt(
    app.cell.url,
    `analyze reactions, reaction_counts, saves, messages, reviews, threads, thread_users, mentions`,
  )
}

/** Half of all messages as if they had replies and mentioned their senders. */
const THREADS = [
  `insert into threads
     (app_no, parent_id, conversation, replies, last_id, updated_second)
   select app_no, id, conversation, 1, id, id_second(id) from messages where id % 2 = 0`,
  `insert into thread_users (app_no, uid, parent_id, conversation, direct, wrote, follows)
   select m.app_no, m.sender, m.id, m.conversation, h.kind = 'user', true, true
   from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
   where m.id % 2 = 0`,
  `insert into mentions (app_no, uid, conversation, message_id, counts)
   select app_no, sender, conversation, id, true from messages where id % 2 = 0`,
]

/** The statement as the service would send it. */
const captured = <P extends object>(query: Query<P, never>, params: P): Promise<Statement> =>
  capturedFrom((db) => query.many(db, params))

async function capturedFrom(run: (db: Executor) => Promise<unknown>): Promise<Statement> {
  let sent: Statement | undefined
  const recorder = {
    query: async (statement: Statement) => {
      sent = statement
      return { rows: [] }
    },
  }
  await run(recorder as Executor)
  assert.ok(sent)
  return sent
}

/** The first step of a list of messages, for the app or for a user. */
const capturedWalk = (query: Partial<MessageFilters>, ofUser: boolean) => {
  const asked = { limit: LIMIT, ...query }
  return ofUser
    ? capturedStreams(
        streamsOfConversations(conversationsOf(app.no, uid, asked), asked),
        asked,
        uid,
      )
    : capturedStreams(streamsOfApp(app.no, '', asked), asked)
}

const capturedStreams = (streams: Streams, query: MessageFilters, reader = '') =>
  capturedFrom((db) => {
    const conditions = conditionsOf(app.no, reader, query)
    const range = { after: 0, before: Number.MAX_SAFE_INTEGER, down: true, limit: LIMIT, until: 0 }
    return walk(db, app.no, { ...streams, count: reader === '' ? 1 : 20 }, conditions, range)
  })

const literal = (value: unknown): string => {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return `'{${value.join(',')}}'`
  if (value instanceof Date) return `'${value.toISOString()}'`
  return typeof value === 'string' ? `'${value}'` : String(value)
}

async function planOf({ text, values }: Statement): Promise<Node> {
  await client.query(`prepare asked as ${text}`)
  const call = `execute asked(${values.map(literal).join(', ')})`
  const { rows } = await client.query(`explain (analyze, format json, timing off) ${call}`)
  await client.query('deallocate asked')
  return rows[0]['QUERY PLAN'][0].Plan
}

const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

const rowsOf = (node: Node): number =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']

/** Tables that are small by nature or nearly always empty. */
const SMALL = ['app_pins', 'apps', 'totals', 'roles']

suite('plans for any values', () => {
  before(fillAndConnect)
  after(() => client?.end())

  const list = { users: true, groups: true, blocked: false, limit: LIMIT }
  const top = { second: Number.MAX_SAFE_INTEGER, withId: '', afterKind: '' }
  const listOfThreads = (
    query: Query<threads.ThreadParams, threads.ThreadRow>,
    uid: string | null,
  ) =>
    captured(
      query as never,
      {
        ...{ appNo: app.no, uid, limit: LIMIT, countReplies: true, countMentions: true },
        ...(query.name.endsWith('Older') ? { second: 10 ** 12, id: 0 } : { second: 0, id: 0 }),
      } as never,
    )
  const capturedPage = (query: typeof pages.directUp, of: typeof direct) =>
    captured(
      query as never,
      {
        ...{ ...of, appNo: app.no, checkViewer: true, hideQuoted: false, hideReplies: true },
        ...{ after: 0, upto: Number.MAX_SAFE_INTEGER, limit: LIMIT },
      } as never,
    )
  const cases: Record<string, () => Promise<Statement>> = {
    'a page of a user': () =>
      captured(views.listViews as never, { ...list, ...top, appNo: app.no, uid } as never),
    'the count of a user': () =>
      captured(views.countViews as never, { ...list, appNo: app.no, uid } as never),
    'a page of the app': () =>
      captured(showViews as never, { appNo: app.no, withBlocks: false, keys } as never),
    'users and groups by id': () =>
      captured(
        findEntities as never,
        { appNo: app.no, uids: [uid], guids: ['nobody'], system: true } as never,
      ),
    'a page of history': () =>
      captured(
        history.listMessagesDown as never,
        { appNo: app.no, conversation, after: 0, upto: 1_000_000, limit: LIMIT } as never,
      ),
    'a page of a 1:1 history with everything it shows': () =>
      capturedPage(pages.directDown, direct),
    'a page of a group with everything it shows': () => capturedPage(pages.groupUp, group),
    'one message': () =>
      captured(findMessage as never, { appNo: app.no, id: message, viewer: uid } as never),
    'the replies of a thread': () =>
      captured(
        threads.listRepliesDown as never,
        { ...{ appNo: app.no, parent: message, after: 0, upto: 1_000_000 }, limit: LIMIT } as never,
      ),
    'messages that others refer to': () =>
      captured(listReferred as never, { appNo: app.no, ids: [message] } as never),
    'the threads of the app': () => listOfThreads(threads.threadsOfApp.older, null),
    'the threads that a user sees': () => listOfThreads(threads.threadsOfUser.newer, uid),
    'the threads of a user': () => listOfThreads(threads.threadsOfParticipant.older, uid),
  }
  const ids = [message]
  const range = { after: 0, before: Number.MAX_SAFE_INTEGER, limit: LIMIT }
  const marked: Record<string, () => Promise<Statement>> = {
    'reactions at messages of a page': () =>
      captured(
        annotations.listReactionCounts as never,
        { appNo: app.no, ids, viewer: uid } as never,
      ),
    'who reacted to a message': () =>
      captured(
        reactions.listReactionsDown as never,
        { ...range, appNo: app.no, id: message } as never,
      ),
    'who reacted with one value': () =>
      captured(
        reactions.listValueUp as never,
        { ...range, appNo: app.no, id: message, reaction: 'up' } as never,
      ),
    'what a user saved of a page': () =>
      captured(annotations.listSaveTimes as never, { appNo: app.no, uid, ids } as never),
    'a page of saved messages': () =>
      captured(saves.listSavedUp as never, { ...range, appNo: app.no, uid } as never),
    'a page of pinned messages': () =>
      captured(
        pins.listPinnedUp as never,
        { ...range, appNo: app.no, conversation, cleared: 0 } as never,
      ),
    'the number of pinned messages': () =>
      captured(pins.countPinned as never, { appNo: app.no, conversation } as never),
  }
  const capturedReviews = (which: 'open' | 'done', filter: { sender?: string; ruleId?: string }) =>
    capturedFrom((db) =>
      listReviewRows(db, app.no, which, filter, { ...range, down: which === 'done' }),
    )
  const reviews: Record<string, () => Promise<Statement>> = {
    'reviewed messages': () => capturedReviews('done', {}),
    'reviewed messages of a user': () => capturedReviews('done', { sender: uid }),
    'reviewed messages of a user without messages': () => capturedReviews('done', { sender: 'a' }),
    'reviewed messages of a rule': () => capturedReviews('done', { ruleId: 'rare' }),
    'reviewed messages of a user and a rule': () =>
      capturedReviews('done', { sender: uid, ruleId: 'common' }),
    'blocked messages of a user': () => capturedReviews('open', { sender: uid }),
    'blocked messages of a rule': () => capturedReviews('open', { ruleId: 'common' }),
  }
  const walks: Record<string, () => Promise<Statement>> = {
    'a search in the app': () => capturedWalk({ searchKey: 'zzz' }, false),
    'a search of a user': () => capturedWalk({ searchKey: 'zzz' }, true),
    'messages of the app with attachments': () => capturedWalk({ hasAttachments: true }, false),
    'messages of the app with links': () => capturedWalk({ hasLinks: true }, false),
    'messages of the app with mentions': () => capturedWalk({ hasMentions: true }, false),
    'messages of the app that mention a user': () => capturedWalk({ mentionedUids: ['a'] }, false),
    'messages of the app with a tag': () => capturedWalk({ tags: ['a'] }, false),
    'deleted messages of the app': () => capturedWalk({ onlyDeleted: true }, false),
    'custom messages of the app': () => capturedWalk({ category: 'custom' }, false),
    'the 1:1 conversations of a user, for the app': () => {
      const asked = { limit: LIMIT }
      return capturedStreams(streamsOfConversations(directOf(app.no, uid), asked), asked)
    },
    'what two users sent': () => capturedWalk({ senders: [uid, 'a'] }, false),
    'what is unread of a user': () => capturedWalk({ unread: true }, true),
    'messages of a user in a time': () => capturedWalk({ 'sentAt[from]': 1_700_000_000 }, true),
  }
  for (const [what, statement] of Object.entries({ ...cases, ...marked, ...reviews, ...walks })) {
    const most = what in walks ? MOST_WALKED : MOST_ROWS
    test(`use indexes only and touch few rows: ${what}`, async () => {
      const nodes = nodesOf(await planOf(await statement()))
      const scans = nodes
        .filter((node) => node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0)
        .map((node) => node['Relation Name'] ?? '')
        .filter((table) => !SMALL.includes(table))
      assert.deepEqual(scans, [], 'tables read from end to end')
      const touched = nodes
        .filter((node) => node['Relation Name'] !== undefined)
        .reduce((sum, node) => sum + rowsOf(node), 0)
      assert.ok(touched <= most, `${touched} rows were touched`)
    })
  }

  test('an export of one group reads nothing of others', async () => {
    const { rows } = await client.query(
      `select no from conversations where app_no = ${app.no} and kind = 'group' and one = '${group.id}'`,
    )
    const statements: Statement[] = []
    const recorder = {
      query: async (statement: Statement) => {
        statements.push(statement)
        return { rows: [] }
      },
    }
    const scope = {
      ...{ appNo: app.no, uid: null, fromId: 0, beforeId: Number.MAX_SAFE_INTEGER },
      conversation: { no: Number(rows[0].no), kind: 'group' as const, one: group.id, other: '' },
      until: new Date(),
    }
    await readAfter(recorder as unknown as Executor, scope, START)
    assert.equal(statements.length, 7)
    // They are planned for their values.
    await client.query('set plan_cache_mode = force_custom_plan')
    for (const statement of statements) {
      const touched = nodesOf(await planOf(statement)).filter((node) => node['Relation Name'])
      const read = touched.reduce((sum, node) => sum + rowsOf(node), 0)
      assert.ok(read <= MOST_ROWS, `${statement.label} reads ${read} rows`)
    }
    await client.query('set plan_cache_mode = force_generic_plan')
  })
})
