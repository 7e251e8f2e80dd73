/**
 * Lists with filters over random data, compared with a plain recount: every filter alone and pairs of filters, by page
 * number and by cursor. There is more data than any list reads in one statement.
 */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { type Draw, drawFrom } from '../src/fill/names.ts'
import { addToTotal } from '../src/platform/db/totals.ts'
import { queryAt } from './databases.ts'
import { type Caller, type TestApp, useServer } from './kit.ts'
import { rows } from './log-writers.ts'
import { LONG } from './long.ts'
import { assertAllPages, assertSomePages } from './paging.ts'
import { seeded } from './seed.ts'

const server = useServer()

const SETS = LONG ? 20 : 1
const USERS = 10_500
const GROUPS = 2_500
const MEMBERS = 10_300
const MESSAGES = LONG ? 16_000 : 4_000
/** How many filters alone, pairs of them, and whole lists are checked: in the long form all filters alone. */
const [ALONE, PAIRS, WHOLE] = LONG ? [100, 40, 10] : [5, 2, 1]
/** Lists of more records are read in part only. */
const LONGEST = LONG ? Number.POSITIVE_INFINITY : 500

const BASE = 1_700_000_000

interface Filter<R> {
  query: string
  passes: (row: R) => boolean
}

/** Filters alone, and pairs that have no parameter in common. */
function combined<R>(filters: Filter<R>[], draw: Draw): Filter<R>[] {
  const pairs = filters.flatMap((one, n) =>
    filters.slice(n + 1).flatMap((other) => (overlap(one, other) ? [] : [both(one, other)])),
  )
  return [...some(filters, ALONE, draw), ...some(pairs, PAIRS, draw)]
}

/** `type` and `types` are one filter. */
const namesOf = ({ query }: Filter<never>) =>
  [...new URLSearchParams(query).keys()].map((name) => name.replace(/s$/, ''))
const overlap = (one: Filter<never>, other: Filter<never>) =>
  namesOf(one).some((name) => namesOf(other).includes(name))

const both = <R>(one: Filter<R>, other: Filter<R>): Filter<R> => ({
  query: `${one.query}&${other.query}`,
  passes: (row) => one.passes(row) && other.passes(row),
})

const some = <T>(all: T[], count: number, draw: Draw): T[] =>
  all
    .map((item) => ({ item, at: draw(2 ** 31) }))
    .sort((one, other) => one.at - other.at)
    .slice(0, count)
    .map(({ item }) => item)

const compare = (one: string | number, other: string | number) =>
  Number(one > other) - Number(one < other)

interface User {
  uid: string
  name: string
  role: string
  tags: string[]
  created: number
  updated: number | null
  deactivated: boolean
  online: boolean
}

interface Group {
  guid: string
  name: string
  type: string
  tags: string[]
  size: number
  created: number
  updated: number | null
  joined: boolean
  banned: boolean
}

interface Member {
  uid: string
  scope: string
  joined: number
}

interface Known {
  id: string
  sender: string
  one: string
  other: string
  kind: string
  category: string
  type: string
  text: string
  tags: string[]
  sent: number
}

/** A random app, and everything that is in it. */
class World {
  readonly draw: Draw
  readonly app: TestApp
  readonly users: User[]
  readonly groups: Group[]
  readonly members: Member[]
  messages: Known[] = []

  constructor(app: TestApp, seed: number) {
    this.app = app
    this.draw = drawFrom(seed)
    this.users = Array.from({ length: USERS }, (_, n) => this.#user(n))
    this.groups = Array.from({ length: GROUPS }, (_, n) => this.#group(n))
    this.members = some(this.users.slice(1), MEMBERS, this.draw).map(({ uid }) => ({
      uid,
      scope: this.pick(['admin', 'moderator', 'participant', 'participant', 'participant']),
      joined: BASE + this.draw(500),
    }))
  }

  pick = <T>(from: readonly T[]): T => from[this.draw(from.length)] as T
  chance = (share: number) => this.draw(1_000_000) < share * 1_000_000

  #tags(): string[] {
    if (this.chance(0.0005)) return ['rare']
    return this.chance(0.3) ? [this.pick(['vip', 'new york', 'staff'])] : []
  }

  #user(n: number): User {
    const [first, last] = [
      this.pick(['Ana', 'Maria', 'Guest', 'Zoe']),
      this.pick(['Lee', 'Okuo', 'Ito']),
    ]
    // The first ones act and write.
    const deactivated = n > 3 && this.chance(0.02)
    return {
      uid: `u${n}`,
      name: this.chance(0.0005) ? `${first} Zephyrine` : `${first} ${last} ${this.draw(900)}`,
      role: this.chance(0.01) ? 'coach' : 'default',
      tags: this.#tags(),
      created: BASE + this.draw(5_000),
      updated: this.chance(0.3) ? BASE + 5_000 + this.draw(5_000) : null,
      deactivated,
      online: !deactivated && this.chance(0.1),
    }
  }

  #group(n: number): Group {
    const joined = this.chance(0.02)
    return {
      guid: `g${n}`,
      name: this.chance(0.002) ? `Zephyr ${n}` : `${this.pick(['Red', 'Blue'])} ${this.draw(400)}`,
      type: this.pick(['public', 'public', 'private', 'password']),
      tags: this.#tags(),
      size: this.draw(6),
      created: BASE + this.draw(300),
      updated: this.chance(0.3) ? BASE + 300 + this.draw(300) : null,
      joined,
      banned: !joined && this.chance(0.02),
    }
  }

  async fill(): Promise<this> {
    const { app } = this
    await app.client.roles.create({ role: 'coach', name: 'Coach' })
    const active = this.users.filter(({ deactivated }) => !deactivated).length
    await this.#insert(INSERT_USERS, this.users)
    await addToTotal(app.cell.db, app.no, 'users.active', active)
    await addToTotal(app.cell.db, app.no, 'users.deactivated', USERS - active)
    await this.#insert(INSERT_GROUPS, this.groups)
    await addToTotal(app.cell.db, app.no, 'groups', GROUPS)
    await app.client.groups.create({ guid: 'big', name: 'Big', type: 'private' })
    await this.#insert(INSERT_MEMBERS, this.members)
    await rows(
      app.cell.db,
      `update groups set members_count = ${MEMBERS} where app_no = $1 and guid = 'big'`,
      [app.no],
    )
    await this.#fillMessages()
    await queryAt(app.cell.url, 'analyze users, presence, groups, conversations, inbox, messages')
    return this
  }

  async #fillMessages(): Promise<void> {
    const heads = [
      { kind: 'user', one: 'u1', other: 'u2' },
      { kind: 'user', one: 'u1', other: 'u3' },
      { kind: 'group', one: 'g1', other: '' },
    ] as const
    const drafts = Array.from({ length: MESSAGES }, () => {
      const head = this.chance(0.97) ? heads[0] : this.pick(heads)
      const { kind, one, other } = head
      const type = this.pick(['poll', 'vote'])
      const custom = this.chance(0.0015)
      return {
        ...head,
        sender: kind === 'group' ? 'u1' : this.chance(0.01) ? one : other,
        category: custom ? 'custom' : 'message',
        type: custom ? type : 'text',
        text: this.chance(0.0005) ? 'a needle' : 'hay',
        tags: this.chance(0.002) ? ['plan'] : [],
        sent: BASE + this.draw(5),
      }
    })
    // Within a conversation, times grow with the order.
    drafts.sort((one, other) => one.sent - other.sent)
    await this.#insert(INSERT_PAIRS, heads.slice(0, 2))
    const ids = await this.#insert<{ id: string }>(INSERT_MESSAGES, drafts)
    this.messages = drafts.map((draft, n) => ({ ...draft, id: ids[n]?.id ?? '' }))
  }

  #insert = <R extends object>(statement: string, values: object[]): Promise<R[]> =>
    rows<R>(this.app.cell.db, statement, [this.app.no, JSON.stringify(values)])
}

const INSERT_USERS = `
  with made as (
    insert into users (app_no, uid, name, role, tags, online, created_at, updated_at, deactivated_at)
    select $1::int, uid, name, role, tags, online, to_timestamp(created + 0.5),
      to_timestamp(updated + 0.5), case when deactivated then now() end
    from json_to_recordset($2::json) as u (uid text, name text, role text, tags text[], online boolean,
      created int, updated int, deactivated boolean)
    returning uid, name_key, online)
  insert into presence (app_no, uid, name_key, gateways)
  select $1::int, uid, name_key, array[gen_random_uuid()] from made where online`

const INSERT_GROUPS = `
  with given as (
    select * from json_to_recordset($2::json) as g (guid text, name text, type text, tags text[], size int,
      created int, updated int, joined boolean, banned boolean)
  ), made as (
    insert into groups (app_no, guid, name, type, owner, tags, members_count, created_at, updated_at)
    select $1::int, guid, name, type, 'app_system', tags, size, to_timestamp(created + 0.5),
      to_timestamp(updated + 0.5) from given
  ), heads as (
    insert into conversations (app_no, kind, one, other)
    select $1::int, 'group', guid, '' from given returning no, one
  ), memberships as (
    insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
    select $1::int, 'u0', 'group', guid, no, 'participant', now()
    from given join heads on one = guid where joined
  )
  insert into bans (app_no, guid, uid, banned_at) select $1::int, guid, 'u0', now() from given where banned`

const INSERT_MEMBERS = `
  insert into inbox (app_no, uid, kind, with_id, conversation, scope, joined_at)
  select $1::int, m.uid, 'group', 'big', h.no, m.scope, to_timestamp(m.joined)
  from json_to_recordset($2::json) as m (uid text, scope text, joined int)
    join conversations h on h.app_no = $1 and h.kind = 'group' and h.one = 'big' and h.other = ''`

const INSERT_PAIRS = `
  with heads as (
    insert into conversations (app_no, kind, one, other)
    select $1::int, 'user', one, other from json_to_recordset($2::json) as c (one text, other text)
    returning no, one, other)
  insert into inbox (app_no, uid, kind, with_id, conversation)
  select $1::int, one, 'user', other, no from heads
  union all select $1::int, other, 'user', one, no from heads`

/** Numbered in order, as sends would do it. */
const INSERT_MESSAGES = `
  with given as materialized (
    select h.no, m.*, (sent - 1000000000) * 4000000::bigint + n as id
    from rows from (json_to_recordset($2::json) as (kind text, one text, other text, sender text,
        category text, type text, text text, tags text[], sent int))
      with ordinality as m (kind, one, other, sender, category, type, text, tags, sent, n)
      join conversations h on h.app_no = $1 and h.kind = m.kind and h.one = m.one and h.other = m.other
  ), heads as (
    update conversations h set last_id = ends.id, stored = ends.stored
    from (select no, max(id) as id, count(*) as stored from given group by no) ends where h.app_no = $1 and h.no = ends.no
  ), made as (
    insert into messages (app_no, id, conversation, sender, category, type, data, tags, counts,
      shows, counted)
    select $1::int, id, no, sender, category, type,
      jsonb_build_object('text', text)
        || case category when 'custom' then '{"customData": {}}'::jsonb else '{}' end, tags, false, false, 0
    from given
    returning id)
  select id::text from made order by made.id`

const TAGS = <R extends { tags: string[] }>(): Filter<R>[] =>
  ['vip', 'rare', 'rare,staff', 'nobody'].map((value) => ({
    query: `tags=${value}`,
    passes: ({ tags }) => tags.some((tag) => value.split(',').includes(tag)),
  }))

const WINDOWS = <R extends { created: number; updated: number | null }>(
  created: number,
  updated: number,
): Filter<R>[] => [
  { query: `createdAt[from]=${created}`, passes: (row) => row.created >= created },
  { query: `createdAt[to]=${created}`, passes: (row) => row.created <= created },
  {
    query: `updatedAt[from]=${updated}`,
    passes: (row) => row.updated !== null && row.updated >= updated,
  },
  {
    query: `updatedAt[to]=${updated}`,
    passes: (row) => row.updated !== null && row.updated <= updated,
  },
]

/** Reads pages of a list and checks them; some lists completely. */
async function check<R>(
  { draw }: World,
  by: Caller,
  path: string,
  filters: Filter<R>[],
  expectedOf: (filter: Filter<R>) => string[],
): Promise<void> {
  const all = combined(filters, draw).map((filter) => ({ filter, expected: expectedOf(filter) }))
  const short = all.filter(({ expected }) => expected.length <= LONGEST)
  const whole = new Set(some(short, WHOLE, draw))
  for (const one of all) {
    const { filter, expected } = one
    const pages = whole.has(one) ? 2 + draw(4) : 10 + draw(500)
    const perPage = Math.min(1_000, Math.max(3, Math.ceil(expected.length / pages)))
    const list = {
      ...{ expected, perPage },
      async read(query: string) {
        const { status, body } = await by.call('GET', `${path}?${filter.query}&${query}`)
        assert.equal(status, 200, JSON.stringify(body))
        const { pagination, cursor } = body.meta
        const ids = body.data.map(({ uid, guid }: { uid?: string; guid?: string }) => guid ?? uid)
        return { ids, pagination, next: cursor?.next }
      },
    }
    try {
      await (whole.has(one) ? assertAllPages(list) : assertSomePages(list, draw))
    } catch (error) {
      throw new Error(`${path}?${filter.query} (${expected.length} records)`, { cause: error })
    }
  }
}

for (let set = 0; set < SETS; set++) {
  suite(`lists with filters and random data, seed ${seeded.seed + set}`, () => {
    let world: World
    before(async () => {
      world = await new World(await server.newApp(), seeded.seed + set).fill()
    })

    test('listUsers returns every user once', async () => {
      const sorted = world.users.toSorted(
        (one, other) =>
          compare(one.name.toLowerCase(), other.name.toLowerCase()) || compare(one.uid, other.uid),
      )
      const holds = (text: string) => (user: User) =>
        user.name.toLowerCase().includes(text) || user.uid.startsWith(text)
      const uids = some(world.users, 20, world.draw).map(({ uid }) => uid)
      const filters: Filter<User>[] = [
        ...['maria', 'a', 'uo', 'zephyrine', 'guest lee 1', 'u11', 'q'].map((text) => ({
          query: `searchKey=${encodeURIComponent(text)}`,
          passes: holds(text),
        })),
        ...TAGS<User>(),
        ...WINDOWS<User>(BASE + world.draw(5_000), BASE + 5_000 + world.draw(5_000)),
        { query: 'role=coach', passes: ({ role }) => role === 'coach' },
        { query: 'roles=default,coach', passes: () => true },
        { query: 'status=online', passes: ({ online }) => online },
        { query: 'status=offline', passes: ({ online }) => !online },
        { query: `uids=${uids}`, passes: ({ uid }) => uids.includes(uid) },
        { query: 'withDeactivated=true', passes: () => true },
        { query: 'onlyDeactivated=true', passes: () => true },
        { query: 'sortOrder=desc', passes: () => true },
      ]
      await check(world, world.app, '/v3/users', filters, ({ query, passes }) => {
        const [only, both] = [query.includes('onlyD'), query.includes('withD')]
        const shown = sorted.filter(
          (user) =>
            (user.deactivated === only || both) && (user.deactivated || !only) && passes(user),
        )
        const uids = shown.map(({ uid }) => uid)
        return query.includes('desc') ? uids.reverse() : uids
      })
    })

    test('listGroups returns every group once, to the app and to a user', async () => {
      const holds = (text: string) => (group: Group) =>
        group.name.toLowerCase().includes(text) || group.guid.startsWith(text)
      const guids = some(world.groups, 20, world.draw).map(({ guid }) => guid)
      const filters: Filter<Group>[] = [
        ...['red', 'e', 'zephyr', 'g11', 'q'].map((text) => ({
          query: `searchKey=${text}`,
          passes: holds(text),
        })),
        ...TAGS<Group>(),
        ...WINDOWS<Group>(BASE + world.draw(300), BASE + 300 + world.draw(300)),
        { query: 'type=private', passes: ({ type }) => type === 'private' },
        { query: 'types=public,password', passes: ({ type }) => type !== 'private' },
        { query: `guids=${guids}`, passes: ({ guid }) => guids.includes(guid) },
        { query: 'membersCount[gte]=4', passes: ({ size }) => size >= 4 },
        { query: 'membersCount[eq]=0', passes: ({ size }) => size === 0 },
        { query: 'sortOrder=desc', passes: () => true },
        { query: 'sortBy=name', passes: () => true },
        { query: 'sortBy=guid&sortOrder=desc', passes: () => true },
        { query: 'sortBy=createdAt', passes: () => true },
      ]
      const big = { guid: 'big', name: 'Big', type: 'private', tags: [], size: MEMBERS }
      const now = { created: 2 * BASE, updated: null, joined: false, banned: false }
      const all: Group[] = [...world.groups, { ...big, ...now }]
      const expected = (seen: (group: Group) => boolean) => (filter: Filter<Group>) => {
        const [, order = ''] = /sortBy=(\w+)/.exec(filter.query) ?? []
        const key = ({ name, created, updated }: Group) =>
          ({ '': updated ?? created, name: name.toLowerCase(), guid: '', createdAt: created })[
            order
          ] ?? 0
        const guids = all
          .filter((group) => seen(group) && filter.passes(group))
          .toSorted((one, other) => compare(key(one), key(other)) || compare(one.guid, other.guid))
          .map(({ guid }) => guid)
        return filter.query.includes('desc') ? guids.reverse() : guids
      }
      await check(
        world,
        world.app,
        '/v3/groups',
        filters,
        expected(() => true),
      )
      const viewer = world.app.as('u0')
      const sees = ({ type, joined, banned }: Group) => joined || (type !== 'private' && !banned)
      const joined = { query: 'hasJoined=true', passes: (group: Group) => group.joined }
      await check(world, viewer, '/v3/groups', [joined, ...filters], expected(sees))
    })

    test('listMembers returns every member once', async () => {
      const online = new Set(world.users.filter((user) => user.online).map(({ uid }) => uid))
      const filters: Filter<Member>[] = [
        { query: '', passes: () => true },
        { query: 'scopes=admin', passes: ({ scope }) => scope === 'admin' },
        { query: 'scopes=moderator,participant', passes: ({ scope }) => scope !== 'admin' },
        { query: 'status=online', passes: ({ uid }) => online.has(uid) },
        { query: 'status=offline', passes: ({ uid }) => !online.has(uid) },
      ]
      const sorted = world.members.toSorted(
        (one, other) => compare(one.joined, other.joined) || compare(one.uid, other.uid),
      )
      await check(world, world.app, '/v3/groups/big/members', filters, ({ passes }) =>
        sorted.filter(passes).map(({ uid }) => uid),
      )
    })

    test('listMessages returns every message once, in full pages', async () => {
      const { app, draw, messages } = world
      const at = BASE + draw(5)
      const filters: Filter<Known>[] = [
        { query: 'senders=u1', passes: ({ sender }) => sender === 'u1' },
        { query: 'types=poll,image', passes: ({ type }) => type === 'poll' },
        { query: 'types=text', passes: ({ type }) => type === 'text' },
        { query: 'type=none', passes: () => false },
        { query: 'categories=custom', passes: ({ category }) => category === 'custom' },
        { query: 'tags=plan', passes: ({ tags }) => tags.length > 0 },
        { query: 'searchKey=needle', passes: ({ text }) => text.includes('needle') },
        { query: 'receiverType=group', passes: ({ kind }) => kind === 'group' },
        { query: `sentAt[from]=${at}`, passes: ({ sent }) => sent >= at },
        { query: `sentAt[to]=${at}`, passes: ({ sent }) => sent <= at },
      ]
      for (const { query, passes } of combined(filters, draw)) {
        for (const reader of [undefined, 'u3']) {
          const expected = messages.filter(
            (message) => passes(message) && (reader === undefined || message.other === reader),
          )
          const down = draw(2) === 0
          await assertMessages(
            app.as(reader),
            query,
            down,
            expected.map(({ id }) => id),
            draw,
          )
        }
      }
    })
  })
}

/** All pages up to the fourth, each full unless it is the last. */
async function assertMessages(
  by: Caller,
  query: string,
  down: boolean,
  expected: string[],
  draw: Draw,
): Promise<void> {
  const limit = Math.min(1_000, Math.max(2, Math.ceil(expected.length / (1 + draw(4)))))
  const left = down ? expected.toReversed() : [...expected]
  let cursor = `affix=${down ? 'prepend' : 'append'}&limit=${limit}`
  for (let page = 1; page <= 4; page++) {
    const { body } = await by.call('GET', `/v3/messages?${query}&${cursor}`)
    const ids: string[] = body.data.map(({ id }: { id: string }) => id)
    assert.deepEqual(down ? ids.reverse() : ids, left.splice(0, limit), `${query} page ${page}`)
    assert.equal(body.meta.next === undefined, left.length === 0, `${query}: more pages`)
    if (!body.meta.next) return
    cursor = new URLSearchParams({ ...body.meta.next, limit }).toString()
  }
}
