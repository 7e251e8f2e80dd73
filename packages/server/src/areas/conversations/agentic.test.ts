/** Lists of a user who talks to many agents, compared with a plain recount. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { addBulkUsers } from '../../../test/bulk-users.ts'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { rows } from '../../../test/log-writers.ts'
import { LONG } from '../../../test/long.ts'
import { assertAllPages } from '../../../test/paging.ts'
import { conversationIdOf } from '../../core/ids.ts'
import type { Db } from '../../platform/db/db.ts'
import type { Statement } from '../../platform/db/query.ts'
import { listOwn, type ViewFilter } from './list.ts'

const server = useServer()

const AGENTS = LONG ? 10_000 : 250
const PEOPLE = LONG ? 3_000 : 75
const GROUPS = 5
const PER_PAGE = LONG ? 500 : 60
const RECEIVERS = 25

interface Row {
  kind: 'user' | 'group'
  with_id: string
  updated_second: number
  agentic: boolean
}

/** `u0` has written to all agents, to some people and in some groups. Many conversations have the same second. */
async function manyAgents(): Promise<TestApp> {
  const app = await server.newApp()
  const [me, ...others] = (await addBulkUsers(server.deps, app, 1 + AGENTS + PEOPLE)).map(
    ({ uid }) => uid,
  )
  const run = (text: string) => rows(app.cell.db, text, [app.no])
  await run(`update users set role = '@agentic'
    where app_no = $1 and uid <> 'u0' and substr(uid, 2)::int % ${AGENTS + PEOPLE} < ${AGENTS}`)
  const user = app.as(me ?? '')
  for (let from = 0; from < others.length; from += RECEIVERS) {
    const [receiver, ...uids] = others.slice(from, from + RECEIVERS)
    const body = { receiver, receiverType: 'user', data: { text: 'Hello' } }
    await user.call('POST', '/v3/messages', {
      body: { ...body, ...(uids.length > 0 && { multipleReceivers: { uids } }) },
    })
  }
  for (let n = 0; n < GROUPS; n++) {
    await user.groups.create({ guid: `g${n}`, name: `Group ${n}` })
    await user.sendText(`g${n}`, 'Hello', { receiverType: 'group' })
  }
  await user.call('DELETE', '/v3/users/u1/conversation')
  await app.client.users.delete('u2', { permanent: true })
  await run('update conversations set updated_second = updated_second - no % 37 where app_no = $1')
  return app
}

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

/** The pages of the database that the first page of a list reads. */
async function buffersOf({ no, cell }: TestApp, filter: Partial<ViewFilter>): Promise<number> {
  const all = { users: true, groups: true, blocked: false, filtered: true }
  const none = { searchKey: null, userTags: null, groupTags: null, tags: null }
  const wanted: ViewFilter = {
    ...{ ...all, ...none, conversationTags: null, unread: false, appNo: no },
    ...{ withBlocks: false, withCounterpartTags: false, hideAgentic: false, onlyAgentic: false },
    ...filter,
  }
  let buffers = 0
  const explaining = {
    async query({ text, values }: Statement) {
      const [explained] = await rows<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
        cell.db,
        `explain (analyze, buffers, format json) ${text}`,
        values,
      )
      const plan = explained?.['QUERY PLAN'][0].Plan ?? {}
      buffers = (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
      return { rows: [] }
    },
  }
  await listOwn(explaining as unknown as Db, wanted, 'u0', undefined, 101)
  return buffers
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
      if (!LONG) continue
      t.diagnostic(`${name}: ${await buffersOf(app, { [name]: true })} buffers for the first page`)
    }
  })
})
