import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import type { CreateGroupBody } from '@loquat/sdk'
import { type Caller, refused, type TestApp, useServer } from '../../../test/kit.ts'

const server = useServer()

const list = async (by: Caller, query = '') => (await by.call('GET', `/v3/groups?${query}`)).body
const guids = async (by: Caller, query = ''): Promise<string[]> =>
  (await list(by, query)).data.map((group: { guid: string }) => group.guid)

/** Sets a group's times, in seconds since `BASE`. */
const BASE = 1_700_000_000
const setTimes = (app: TestApp, guid: string, created: number, updated: number | null) =>
  app.cell.db.query({
    name: '',
    text: `update groups set created_at = to_timestamp($3), updated_at = to_timestamp($4)
      where app_no = $1 and guid = $2`,
    values: [app.no, guid, BASE + created + 0.5, updated === null ? null : BASE + updated + 0.5],
  })

const create = (app: TestApp, guid: string, fields: Partial<CreateGroupBody> = {}) =>
  app.client.groups.create({ guid, name: guid, ...fields })

suite('listGroups', () => {
  let app: TestApp
  before(async () => {
    app = await server.newApp()
    await app.users('amira', 'ben', 'cleo')
    await create(app, 'alpha', { name: 'Zürich 100%', tags: ['x', 'y'] })
    await create(app, 'beta', { name: 'Bees', type: 'private', owner: 'amira' })
    await create(app, 'gamma', { name: 'apes', type: 'password', password: 'p', tags: ['y'] })
    await create(app, 'delta', { name: 'Äpfel', members: { participants: ['amira', 'ben'] } })
    await create(app, 'omega', { name: 'zz', type: 'private', members: { admins: ['ben'] } })
    await setTimes(app, 'alpha', 10, 50)
    await setTimes(app, 'beta', 20, null)
    await setTimes(app, 'gamma', 30, 40)
    await setTimes(app, 'delta', 40, null)
    await setTimes(app, 'omega', 5, null)
  })

  test('sorts by the last change, then by guid', async () => {
    const { data, meta } = await list(app)
    assert.deepEqual(
      data.map((group: { guid: string }) => group.guid),
      ['omega', 'beta', 'delta', 'gamma', 'alpha'],
    )
    assert.deepEqual(meta, {
      pagination: { total: 5, count: 5, per_page: 100, current_page: 1, total_pages: 1 },
      cursor: { updatedAt: BASE + 50, id: 'alpha', affix: 'append' },
    })
    assert.equal('tags' in data[4] || 'hasJoined' in data[4], false)
    assert.deepEqual((await list(app, 'withTags=true')).data[4].tags, ['x', 'y'])
  })

  const cases: [query: string, expected: string][] = [
    ['sortOrder=desc', 'alpha gamma delta beta omega'],
    ['sortBy=name', 'gamma delta beta alpha omega'],
    ['sortBy=name&sortOrder=desc', 'omega alpha beta delta gamma'],
    ['sortBy=guid', 'alpha beta delta gamma omega'],
    ['sortBy=guid&sortOrder=desc', 'omega gamma delta beta alpha'],
    ['sortBy=createdAt', 'omega alpha beta gamma delta'],
    ['searchKey=ap', 'delta gamma'],
    ['searchKey=APES', 'gamma'],
    ['searchKey=zurich', 'alpha'],
    ['searchKey=0%25', 'alpha'],
    ['searchKey=%25', 'alpha'],
    ['searchKey=%CC%81', ''],
    ['searchKey=%CC%81%CC%81%CC%81', ''],
    ['searchKey=be', 'beta'],
    ['searchKey=ga', 'gamma'],
    ['searchKey=ga&searchIn=name', ''],
    ['searchKey=bees&searchIn=guid', ''],
    ['type=public', 'delta alpha'],
    ['types=password,private', 'omega beta gamma'],
    ['type=public&types=password', 'delta gamma alpha'],
    ['tags=x,z', 'alpha'],
    ['tags=y', 'gamma alpha'],
    ['guid=BETA', 'beta'],
    ['guids=beta,gamma,nobody', 'beta gamma'],
    [`createdAt[from]=${BASE + 20}&createdAt[to]=${BASE + 30}`, 'beta gamma'],
    [`updatedAt[from]=${BASE + 40}`, 'gamma alpha'],
    [`updatedAt[to]=${BASE + 40}`, 'gamma'],
    ['membersCount[eq]=2', 'delta'],
    ['membersCount[gte]=1', 'omega beta delta'],
    ['membersCount[gt]=1', 'delta'],
    ['membersCount[lt]=1', 'gamma alpha'],
    ['membersCount[lte]=1&type=private', 'omega beta'],
    ['hasJoined=false&sortBy=guid', 'alpha beta delta gamma omega'],
    [`affix=append&updatedAt=${BASE + 20}`, 'delta gamma alpha'],
    [`affix=prepend&updatedAt=${BASE + 40}&perPage=1`, 'beta'],
    [`affix=prepend&updatedAt=${BASE + 40}`, 'omega beta'],
    ['affix=prepend&perPage=2', 'gamma alpha'],
    [`affix=append&updatedAt=${BASE + 40}&sortOrder=desc`, 'beta omega'],
    [`affix=append&updatedAt=${BASE + 40}&id=delta`, 'gamma alpha'],
    [`affix=prepend&updatedAt=${BASE + 40}&id=gamma`, 'omega beta delta'],
    [`affix=append&updatedAt=${BASE + 40}&sortBy=guid`, 'alpha beta delta gamma omega'],
  ]
  for (const [query, expected] of cases) {
    test(`filters and sorts with ${query}`, async () =>
      assert.equal((await guids(app, query)).join(' '), expected))
  }

  test("hides other users' private groups from a viewer and shows the viewer's membership", async () => {
    const { data, meta } = await list(app.as('amira'), 'sortBy=guid')
    assert.deepEqual(
      data.map(({ guid, hasJoined, scope }: Record<string, unknown>) => [guid, hasJoined, scope]),
      [
        ['alpha', false, undefined],
        ['beta', true, 'admin'],
        ['delta', true, 'participant'],
        ['gamma', false, undefined],
      ],
    )
    assert.equal(meta.pagination.total, 4)
    assert.ok(data[1].joinedAt > 0)
    assert.deepEqual(await guids(app.as('ben'), 'types=private'), ['omega'])
    assert.deepEqual(await guids(app.as('ben'), 'hasJoined=true'), ['omega', 'delta'])
    assert.deepEqual(await guids(app.as('amira'), 'hasJoined=true&sortBy=name'), ['delta', 'beta'])
    assert.deepEqual(await guids(app.as('ben'), 'hasJoined=true&tags=x'), [])
    assert.equal((await list(app.as('ben'), 'hasJoined=true')).meta.pagination.total, 2)
    await refused(app.client.groups.list({ hasJoined: true }), 'ERR_BAD_REQUEST')
  })

  test('hides groups that banned the viewer', async () => {
    for (const guid of ['alpha', 'omega']) {
      await app.client.bannedUsers.ban(guid, 'cleo')
    }
    assert.deepEqual(await guids(app.as('cleo'), ''), ['delta', 'gamma'])
    assert.equal((await list(app.as('cleo'), '')).meta.pagination.total, 2)
    assert.deepEqual(await guids(app.as('cleo'), 'searchKey=zur'), [])
  })

  test('refuses cursors of another order or app', async () => {
    const { next } = (await list(app, 'perPage=1')).meta.cursor
    assert.deepEqual(await guids(app, `perPage=1&cursor=${next}`), ['beta'])
    const other = await server.newApp()
    for (const [reader, query] of [
      [app, 'sortBy=name'],
      [other, ''],
    ] as const) {
      await refused(reader.call('GET', `/v3/groups?${query}&cursor=${next}`), 'ERR_BAD_REQUEST')
    }
  })
})

const MANY = 6_000

/** Group n is the n-th in every order; a third of them has each type; the last ones have the tag `rare`. */
const FILL = `
  with made as (
    insert into groups (app_no, guid, name, type, owner, tags, members_count, created_at)
    select $1, 'g' || lpad(n::text, 6, '0'), 'Name ' || lpad(n::text, 6, '0'),
      (array['public', 'password', 'private'])[n % 3 + 1], 'app_system',
      case when n > 5900 then '{rare}'::text[] else '{}' end, n / 1000,
      to_timestamp(${BASE} + n / 10)
    from generate_series(1, ${MANY}) n returning guid, type
  ), heads as (
    insert into conversations (app_no, kind, one, other)
    select $1, 'group', guid, '' from made returning no, one
  ), joined as (
    insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
    select $1, 'amira', 'group', one, no, 'participant', now() from heads where one like '%77'
  )
  insert into totals (app_no, what, shard, total) values ($1, 'groups', 99, ${MANY})`

suite('listGroups with thousands of groups', () => {
  let app: TestApp
  before(async () => {
    app = await server.newApp()
    await app.users('amira')
    await app.cell.db.query({ name: '', text: FILL, values: [app.no] })
  })

  const numbers = Array.from({ length: MANY }, (_, n) => n + 1)
  const guidOf = (n: number) => `g${String(n).padStart(6, '0')}`
  const own = (n: number) => n % 100 === 77
  const crawls: [query: string, by: string | undefined, holds: (n: number) => boolean][] = [
    ['', undefined, () => true],
    ['type=private', undefined, (n) => n % 3 === 2],
    ['', 'amira', (n) => n % 3 !== 2 || own(n)],
    ['hasJoined=true', 'amira', own],
    ['tags=rare', undefined, (n) => n > 5900],
    ['tags=rare', 'amira', (n) => n > 5900 && (n % 3 !== 2 || own(n))],
    ['searchKey=0059', undefined, (n) => guidOf(n).includes('0059')],
    ['membersCount[gte]=6', undefined, (n) => n === 6000],
    [`createdAt[from]=${BASE + 590}`, undefined, (n) => n >= 5900],
    ['searchKey=nothing', undefined, () => false],
  ]
  const orders = ['', 'sortBy=name', 'sortBy=guid&sortOrder=desc', 'sortBy=createdAt']

  for (const [query, by, holds] of crawls) {
    test(`pages by number and by cursor in every order: ${query || 'all'} ${by ?? ''}`, async () => {
      const reader = by ? app.as(by) : app
      for (const order of orders) {
        const expected = numbers.filter(holds).map(guidOf)
        if (order.endsWith('desc')) expected.reverse()
        const perPage = expected.length > 1_000 ? 1_000 : 30
        const [byPage, byCursor]: string[][] = [[], []]
        let cursor = ''
        for (let page = 1; ; page++) {
          const filters = `${query}&${order}&perPage=${perPage}`
          const numbered = await list(reader, `${filters}&page=${page}`)
          const { data, meta } = await list(reader, `${filters}${cursor}`)
          byPage?.push(...numbered.data.map((group: { guid: string }) => group.guid))
          byCursor?.push(...data.map((group: { guid: string }) => group.guid))
          assert.equal(meta.pagination.total, expected.length)
          if (!meta.cursor?.next) break
          cursor = `&cursor=${meta.cursor.next}`
        }
        assert.deepEqual(byPage, expected, order)
        assert.deepEqual(byCursor, expected, order)
      }
    })
  }

  test('counts pages from the top', async () => {
    const page = (query: string) => guids(app, `perPage=50&page=100${query}`)
    assert.deepEqual(await page(''), numbers.slice(4950, 5000).map(guidOf))
    const reversed = numbers.toReversed().slice(4950, 5000).map(guidOf)
    assert.deepEqual(await page('&sortBy=name&sortOrder=desc'), reversed)
    assert.deepEqual(
      await guids(app, 'tags=rare&perPage=30&page=3'),
      numbers.slice(5960, 5990).map(guidOf),
    )
    assert.deepEqual(await guids(app, 'perPage=1000&page=7'), [])
  })

  test('continues forwards and backwards from a time', async () => {
    const first = await list(app, 'affix=append&perPage=100')
    assert.deepEqual(first.meta.cursor.affix, 'append')
    const last = await list(app, 'affix=prepend&perPage=101')
    assert.deepEqual(
      last.data.map((group: { guid: string }) => group.guid),
      numbers.slice(-101).map(guidOf),
    )
    assert.equal(last.meta.cursor.updatedAt, BASE + 590)
    const before = await guids(app, `affix=prepend&updatedAt=${BASE + 590}&perPage=10`)
    assert.deepEqual(before, numbers.slice(5889, 5899).map(guidOf))
    const later = await guids(app, `affix=append&updatedAt=${BASE}&perPage=10&page=3`)
    const all = await guids(app, `affix=append&updatedAt=${BASE}&perPage=30`)
    assert.deepEqual(later, all.slice(20))
    // The remembered page start leads to the same page as a jump.
    await guids(app, `affix=append&updatedAt=${BASE}&perPage=15`)
    const second = await guids(app, `affix=append&updatedAt=${BASE}&perPage=15&page=2`)
    assert.deepEqual(second, all.slice(15))
    const back = await guids(app, `affix=prepend&perPage=10&cursor=${last.meta.cursor.next}`)
    assert.deepEqual(back, numbers.slice(5889, 5899).map(guidOf))
  })
})
