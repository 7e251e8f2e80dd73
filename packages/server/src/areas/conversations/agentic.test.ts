/** Lists of a user who talks to many agents, compared with a plain recount. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { addBulkUsers } from '../../../test/bulk-users.ts'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { LONG } from '../../../test/long.ts'
import { assertAllPages } from '../../../test/paging.ts'
import { conversationIdOf } from '../../core/ids.ts'
import { addDirect } from '../../fill/direct.ts'
import { fillApp } from '../../fill/fill.ts'
import type { Kind } from '../../fill/kind.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Statement } from '../../platform/db/query.ts'
import { verify } from '../../verify/verify.ts'
import { listOwn, type ViewFilter } from './list.ts'

const server = useServer()

const AGENTS = LONG ? 10_000 : 250
const PEOPLE = LONG ? 3_000 : 75
const GROUPS = 5
const PER_PAGE = LONG ? 500 : 60
/** Less than a minute, so that many conversations have the same second. */
const SPREAD = 37 * 4_000_000

interface Row {
  kind: 'user' | 'group'
  with_id: string
  updated_second: number
  agentic: boolean
}

/** `u0` has written to all agents, to some people and in some groups. Many conversations have the same second. */
async function manyAgents(): Promise<TestApp> {
  const app = await server.newApp()
  const [me = '', ...others] = (await addBulkUsers(server.deps, app, 1 + AGENTS + PEOPLE)).map(
    ({ uid }) => uid,
  )
  const run = (text: string) => rows(app.cell.db, text, [app.no])
  for (const total of ['users', 'users.active']) {
    await run(`select add_total($1, '${total}', ${1 + others.length})`)
  }
  await run(`update users set role = '@agentic'
    where app_no = $1 and uid <> 'u0' and substr(uid, 2)::int % ${AGENTS + PEOPLE} < ${AGENTS}`)
  await fillApp(app, {
    ...{ kind: conversationsOf(me, others), wanted: others.length },
    ...{ onProgress() {}, signal: new AbortController().signal },
  })
  const user = app.as(me)
  for (let n = 0; n < GROUPS; n++) {
    await user.groups.create({ guid: `g${n}`, name: `Group ${n}` })
    await user.sendText(`g${n}`, 'Hello', { receiverType: 'group' })
  }
  await user.call('DELETE', '/v3/users/u1/conversation')
  await app.client.users.delete('u2', { permanent: true })
  // With many rows, its statements take longer than those of requests may.
  if (!LONG) assert.deepEqual(await verify(app.cell, app.no), [])
  return app
}

/** Rows by COPY: so many sends would take an hour on a busy machine. */
const conversationsOf = (me: string, others: string[]): Kind => ({
  name: 'conversations',
  tables: ['users', 'conversations', 'inbox', 'direct_views', 'messages'],
  plan: async (_, run) => [
    {
      add(tx) {
        const pairs = others.map((uid): [string, string] => [me, uid])
        const sizes = others.map(() => 1)
        return addDirect(tx, { ...run, spread: SPREAD }, pairs.values(), sizes)
      },
    },
  ],
})

/** Without the indexes and orders that the list uses. */
async function recount(app: TestApp): Promise<Row[]> {
  const all = await rows<Row & { shown: boolean }>(
    app.cell.db,
    `select i.kind, i.with_id, h.updated_second, coalesce(u.role = '@agentic', false) as agentic,
       case i.kind when 'user' then i.visible and u.removed_at is null
         else i.scope is not null and h.shown_id > i.cleared_id end as shown
     from inbox i
     join conversations h on h.app_no = i.app_no and h.no = i.conversation
     left join users u on i.kind = 'user' and u.app_no = i.app_no and u.uid = i.with_id
     where i.app_no = $1 and i.uid = 'u0'`,
    [app.no],
  )
  const compare = (one: string, other: string) => Number(one > other) - Number(one < other)
  return all
    .filter(({ shown }) => shown)
    .sort(
      (one, other) =>
        other.updated_second - one.updated_second ||
        compare(one.with_id, other.with_id) ||
        compare(one.kind, other.kind),
    )
}

const idOf = ({ kind, with_id: id }: Row) =>
  kind === 'group' ? `group_${id}` : conversationIdOf('u0', id)

interface Cost {
  buffers: number
  ms: number
}

/** What PostgreSQL does for the first page of a list. */
async function costOf({ no, cell }: TestApp, filter: Partial<ViewFilter>): Promise<Cost> {
  const all = { users: true, groups: true, blocked: false, filtered: false }
  const none = { searchKey: null, userTags: null, groupTags: null, tags: null }
  const wanted: ViewFilter = {
    ...{ ...all, ...none, conversationTags: null, unread: false, appNo: no },
    ...{ withBlocks: false, withCounterpartTags: false, hideAgentic: false, onlyAgentic: false },
    ...filter,
  }
  let cost: Cost = { buffers: 0, ms: 0 }
  const explaining = {
    async query({ text, values }: Statement) {
      const [explained] = await rows<{
        'QUERY PLAN': [{ Plan: Record<string, number>; 'Execution Time': number }]
      }>(cell.db, `explain (analyze, timing off, buffers, format json) ${text}`, values)
      const [{ Plan: plan, 'Execution Time': ms } = { Plan: {}, 'Execution Time': 0 }] =
        explained?.['QUERY PLAN'] ?? []
      cost = { buffers: (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0), ms }
      return { rows: [] }
    },
  }
  const read = () => listOwn(explaining as unknown as Db, wanted, 'u0', undefined, 101)
  // The second time everything is in memory.
  await read()
  await read()
  return cost
}

/** Beside the page without a filter, for docs/measurements/conversations.md. */
async function reportCosts(t: TestContext, app: TestApp): Promise<void> {
  for (const name of ['none', 'onlyAgentic', 'hideAgentic']) {
    const filter = name === 'none' ? {} : { filtered: true, [name]: true }
    const { buffers, ms } = await costOf(app, filter)
    t.diagnostic(`filter ${name}: ${buffers} buffers and ${ms} ms for the first page of 100`)
  }
}

suite('a list of conversations with many agents', () => {
  test('has exactly those that it should have, on all pages', async (t) => {
    const app = await manyAgents()
    const all = await recount(app)
    const user = app.as('u0')
    for (const [name, wanted] of [
      ['onlyAgentic', ({ agentic }: Row) => agentic],
      ['hideAgentic', ({ agentic }: Row) => !agentic],
    ] as const) {
      const expected = all.filter(wanted).map(idOf)
      assert.equal(expected.length, name === 'onlyAgentic' ? AGENTS - 2 : PEOPLE + GROUPS)
      await assertAllPages({
        ...{ expected, perPage: PER_PAGE },
        async read(query) {
          const { body } = await user.call('GET', `/v3/conversations?${name}=true&${query}`)
          const { data, meta } = body
          const ids = data.map((row: { conversationId: string }) => row.conversationId)
          return { ids, pagination: meta.pagination, next: meta.cursor?.next }
        },
      })
    }
    if (LONG) await reportCosts(t, app)
  })
})
