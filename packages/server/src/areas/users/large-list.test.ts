/** Lists of an app that is too large to be scanned: compares each filter with the same filter over all users. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { fillApp } from '../../fill/fill.ts'
import { users } from '../../fill/users.ts'
import { addToTotal } from '../../platform/db/totals.ts'

const server = useServer()
const CAP = 10_000
const FILLED = 9_000
const GUESTS = 10_500

interface Plain {
  uid: string
  name_key: string
  tags: string[]
}

let app: TestApp
let all: Plain[]

async function run<R extends object>(text: string): Promise<R[]> {
  return (await app.cell.db.query<R>({ name: '', text, values: [app.no] })).rows
}

const list = async (query: string) => (await app.call('GET', `/v3/users?${query}`)).body
const uidsOf = (found: { uid: string }[]) => found.map(({ uid }) => uid)
const holds = (text: string) => (user: Plain) =>
  user.name_key.includes(text) || user.uid.startsWith(text)

/** Filters for which scanning the sorted index alone doesn't fill a page. */
const cases: [query: string, passes: (user: Plain) => boolean][] = [
  ['searchKey=a', holds('a')],
  ['searchKey=q', holds('q')],
  ['searchKey=maria', holds('maria')],
  ['searchKey=Zephyrine', holds('zephyrine')],
  ['searchKey=uo', holds('uo')],
  ['searchKey=g-10', holds('g-10')],
  // More names than the cap begin with it, and two contain it elsewhere.
  ['searchKey=guest', holds('guest')],
  ['searchKey=guest&role=default', holds('guest')],
  ['searchKey=guest&withDeactivated=true', holds('guest')],
  // More names than the cap contain it, far from the beginning of the list.
  ['searchKey=uest', holds('uest')],
  ['searchKey=uest&searchIn=name', (user) => user.name_key.includes('uest')],
  ['tags=vip', ({ tags }) => tags.includes('vip')],
  ['tags=vip&searchKey=maria', (user) => user.tags.includes('vip') && holds('maria')(user)],
  ['role=default', () => true],
  ['role=nobody', () => false],
]

suite('listUsers in a large app', () => {
  before(async () => {
    app = await server.newApp()
    const { signal } = new AbortController()
    await fillApp(app, { kind: users, wanted: FILLED, onProgress: () => {}, signal })
    await run(`
      insert into users (app_no, uid, name, role)
      select $1, 'g-' || n, case n when 1 then 'Ada Guest' when 2 then 'Zoe Guest' else 'Guest ' || n end, 'default'
      from generate_series(1, ${GUESTS}) n`)
    await addToTotal(app.cell.db, app.no, 'users.active', GUESTS)
    all = await run<Plain>(
      'select uid, name_key, tags from users where app_no = $1 order by name_key, uid',
    )
  })

  for (const [query, passes] of cases) {
    test(`finds, counts and pages ${query}`, async () => {
      const expected = uidsOf(all.filter(passes))
      const first = await list(query)
      assert.deepEqual(uidsOf(first.data), expected.slice(0, 100))
      const { total, total_capped: capped } = first.meta.pagination
      assert.equal(total, Math.min(expected.length, CAP))
      assert.equal(capped, expected.length > CAP ? true : undefined)

      assert.deepEqual(uidsOf((await list(`${query}&page=2`)).data), expected.slice(100, 200))
      const jump = await list(`${query}&page=30&perPage=77`)
      assert.deepEqual(uidsOf(jump.data), expected.slice(29 * 77, 30 * 77))
      const last = await list(`${query}&sortOrder=desc`)
      assert.deepEqual(uidsOf(last.data), expected.toReversed().slice(0, 100))
      assert.deepEqual((await list(`${query}&count=true`)).data, {
        count: Math.min(expected.length, CAP),
        ...(expected.length > CAP && { total_capped: true }),
      })
    })
  }

  test('returns each user once to a reader that follows the cursor beyond the cap', async () => {
    const found: string[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const more: string = cursor && `&cursor=${cursor}`
      const page = await list(`searchKey=guest&perPage=1000${more}`)
      found.push(...uidsOf(page.data))
      cursor = page.meta.cursor?.next
    }
    assert.deepEqual(found, uidsOf(all.filter(holds('guest'))))
  })
})
