/**
 * Random sets of conversations for tests of the app's list, and a plain recount of what that list contains. The recount
 * reads whole tables and shares no code with the service.
 */

import { type Draw, drawFrom, pick } from '../src/fill/names.ts'
import type { Db } from '../src/platform/db/db.ts'
import { addToTotal } from '../src/platform/db/totals.ts'
import { queryAt } from './databases.ts'

const USERS = 1_400
const DIRECT = 1_150
const GROUPS = 60
const MEMBERS = 24

const LETTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789_-']
const NAMES = ['Ann Reed', 'Bob Ärger', 'Systema', 'Olga', 'Q', 'Zoë 100%', 'Reed Ann']
const TITLES = ['The Reds', 'The Blues', 'Ecosystems', 'Plain', 'Reeds']

interface App {
  no: number
  cell: { db: Db; url: string }
}

const chance = (draw: Draw, percent: number) => draw(100) < percent

function drawId(draw: Draw, taken: Set<string>): string {
  for (;;) {
    const id = Array.from({ length: 1 + draw(5) }, () => pick(draw, LETTERS)).join('')
    if (taken.has(id)) continue
    taken.add(id)
    return id
  }
}

function drawTags(draw: Draw, nth: number): string[] {
  const tags = chance(draw, 50) ? ['half'] : []
  if (chance(draw, 10)) tags.push('eu')
  if (nth < 3) tags.push('rare')
  return tags
}

/** Fills an app with about 3,000 views: hidden, blocked, cleared, read and unread ones, of users and groups in all states. */
export async function addConversations({ no, cell }: App, seed: number): Promise<void> {
  const draw = drawFrom(seed)
  const taken = new Set<string>()
  const uids = Array.from({ length: USERS }, () => drawId(draw, taken))
  // Users and groups can have the same ids.
  const guids = [...uids.slice(0, 5), ...uids.slice(5, GROUPS).map((uid) => `${uid}-g`)]
  const users = uids.map((uid, n) => ({
    uid,
    name: n < 2 ? `${uid} Zephyrine` : pick(draw, NAMES),
    role: chance(draw, 2) ? '@agentic' : 'default',
    tags: drawTags(draw, n),
    removed: chance(draw, 1),
    deactivated: chance(draw, 1),
  }))
  const groups = guids.map((guid, n) => ({
    guid,
    name: n === 0 ? 'Zephyrine' : pick(draw, TITLES),
    tags: drawTags(draw, n),
    removed: n === 7,
  }))
  const heads = [...directHeads(draw, uids), ...groupHeads(draw, uids, guids)]
  const run = (text: string, rows: unknown) =>
    cell.db.query({ name: '', label: 'test.fill', text, values: [no, JSON.stringify(rows)] })
  await run(
    `insert into users (app_no, uid, name, role, tags, removed_at, deactivated_at)
     select $1, uid, name, role, tags, case when removed then now() end,
       case when deactivated then now() end
     from json_to_recordset($2::json) as u (uid text, name text, role text, tags text[],
       removed boolean, deactivated boolean)`,
    users,
  )
  await run(
    `insert into groups (app_no, guid, name, type, owner, tags, removed_at)
     select $1, guid, name, 'public', 'app_system', tags, case when removed then now() end
     from json_to_recordset($2::json) as g (guid text, name text, tags text[], removed boolean)`,
    groups,
  )
  await run(
    `insert into conversations
       (app_no, kind, one, other, last_id, shown_id, created_second, updated_second, counted,
        hidden, blocked_one, blocked_other)
     select $1, kind, one, other, counted, shown_id, second, second, counted, hidden, blocked_one,
       blocked_other
     from json_to_recordset($2::json) as h (kind text, one text, other text, shown_id bigint,
       second bigint, counted bigint, hidden int, blocked_one boolean, blocked_other boolean)`,
    heads.map(({ views, ...head }) => ({
      ...head,
      hidden: views.filter(({ visible }) => head.kind === 'user' && !visible).length,
      blocked_one: views.some(({ uid, blocked }) => uid === head.one && blocked),
      blocked_other: views.some(({ uid, blocked }) => uid === head.other && blocked),
    })),
  )
  await run(
    `insert into inbox (app_no, uid, kind, with_id, conversation, read_id, read_counted, own_since,
       cleared_id, tags, visible, blocked, created_second, scope, joined_at)
     select $1, i.uid, i.kind, i.with_id, h.no, i.read, i.read, i.own, i.cleared, i.tags, i.visible,
       i.blocked, i.second, i.scope, case when i.kind = 'group' then now() end
     from json_to_recordset($2::json) as i (one text, other text, uid text, kind text, with_id text,
       read bigint, own bigint, cleared bigint, tags text[], visible boolean, blocked boolean,
       second bigint, scope text)
       join conversations h on h.app_no = $1 and h.kind = i.kind and h.one = i.one
         and h.other = i.other`,
    heads.flatMap(({ kind, one, other, second, views }) =>
      views.map((view) => ({ kind, one, other, second: kind === 'user' ? second : 0, ...view })),
    ),
  )
  await run(
    `insert into direct_views (app_no, uid, blocked, updated_second, with_id)
     select $1, uid, blocked, second, with_id
     from json_to_recordset($2::json) as v (uid text, blocked boolean, second bigint, with_id text)`,
    heads.flatMap(({ kind, second, views }) =>
      views
        .filter(({ visible }) => kind === 'user' && visible)
        .map((view) => ({ second, ...view })),
    ),
  )
  await run(
    `insert into uncounted (app_no, conversation, id)
     select $1, h.no, u.id from json_to_recordset($2::json) as u (kind text, one text, other text, id bigint)
       join conversations h on h.app_no = $1 and h.kind = u.kind and h.one = u.one
         and h.other = u.other`,
    heads.filter(({ uncounted }) => uncounted).map((head) => ({ ...head, id: head.counted })),
  )
  // Beside other tests, the statistics may be those of tables that were nearly empty, and a recount takes minutes.
  await queryAt(cell.url, 'analyze users, groups, conversations, inbox, direct_views, uncounted')
}

/** Stores the totals as the service keeps them: a removed user's views count until they are swept, a removed group's don't. */
export async function addTotals({ no, cell }: App): Promise<void> {
  const text = `select count(*) filter (where i.kind = 'user' and i.visible)::int as "views.user",
      count(*) filter (where i.kind = 'user' and i.visible and not i.blocked)::int as "views.user.unblocked",
      count(*) filter (where i.kind = 'group' and i.scope is not null and h.shown_id > i.cleared_id
        and g.removed_at is null)::int as "views.group"
    from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
      left join groups g on i.kind = 'group' and g.app_no = i.app_no and g.guid = i.with_id
    where i.app_no = $1`
  const { rows } = await cell.db.query<Record<string, number>>({
    ...{ name: '', label: 'test.read', text, values: [no] },
  })
  for (const [what, total] of Object.entries(rows[0] ?? {}))
    await addToTotal(cell.db, no, what, total)
}

function directHeads(draw: Draw, uids: string[]) {
  const pairs = new Map<string, [string, string]>()
  while (pairs.size < DIRECT) {
    const first = pick(draw, uids)
    const second = pairs.size < 40 ? 'app_system' : pairs.size < 45 ? first : pick(draw, uids)
    const [one = '', other = ''] = [first, second].sort()
    if (pairs.size >= 45 && one === other) continue
    pairs.set(`${one} ${other}`, [one, other])
  }
  return [...pairs.values()].map(([one, other]) => {
    const head = drawHead(draw)
    const sides =
      one === other
        ? [[one, one]]
        : [
            [one, other],
            [other, one],
          ]
    const views = sides
      .filter(([uid]) => uid !== 'app_system')
      .map(([uid, with_id]) => ({
        ...drawInbox(draw, head.counted),
        ...{ uid, with_id, cleared: 0, scope: null },
        visible: chance(draw, 90),
        blocked: chance(draw, 5),
      }))
    return { kind: 'user', one, other, ...head, views }
  })
}

const groupHeads = (draw: Draw, uids: string[], guids: string[]) =>
  guids.map((guid) => {
    const head = drawHead(draw)
    const members = new Set(Array.from({ length: MEMBERS }, () => pick(draw, uids)))
    const views = [...members].map((uid) => ({
      ...drawInbox(draw, head.counted),
      ...{ uid, with_id: guid, visible: false, blocked: false },
      cleared: chance(draw, 10) ? head.shown_id : 0,
      scope: chance(draw, 5) ? null : 'participant',
    }))
    const shown_id = chance(draw, 10) ? 0 : head.shown_id
    return { kind: 'group', one: guid, other: '', ...head, shown_id, views }
  })

/** Few different seconds, so that many views are sorted by their counterparts. */
function drawHead(draw: Draw) {
  const counted = 1 + draw(4)
  const second = 1_700_000_000 + draw(40)
  return { counted, shown_id: counted, second, uncounted: chance(draw, 10) }
}

function drawInbox(draw: Draw, counted: number) {
  const read = draw(counted + 1)
  const tags = chance(draw, 5) ? ['mine'] : []
  return { read, own: draw(counted - read + 1), tags }
}

/** The parameters that decide what the app's list contains. */
export interface Filter {
  searchKey?: string
  conversationType?: 'user' | 'group'
  tags?: string
  userTags?: string
  groupTags?: string
  conversationTags?: string
  unread?: true
  hideAgentic?: true
  onlyAgentic?: true
  includeBlockedUsers?: true
  unique?: 1
}

interface Entity {
  name: string
  tags: string[]
  role: string
  removed: boolean
}

interface View {
  uid: string
  kind: 'user' | 'group'
  with_id: string
  conversation: string
  one: string
  other: string
  second: number
  tags: string[]
  blocked: boolean
  unread: number
  owner: Entity
  counterpart: Entity
}

const SYSTEM: Entity = { name: 'System', tags: [], role: 'default', removed: false }

/** Reads everything that the list depends on. */
export async function readViews({ no, cell }: App): Promise<View[]> {
  const select = async <R extends object>(text: string): Promise<R[]> =>
    (await cell.db.query<R>({ name: '', label: 'test.read', text, values: [no] })).rows
  const entities = new Map(
    (
      await select<Entity & { id: string }>(
        `select 'user:' || uid as id, name, tags, role, removed_at is not null as removed
         from users where app_no = $1
         union all select 'group:' || guid, name, tags, '', removed_at is not null
         from groups where app_no = $1`,
      )
    ).map((entity) => [entity.id, entity]),
  )
  const entity = (kind: string, id: string): Entity =>
    entities.get(`${kind}:${id}`) ?? (kind === 'user' && id === 'app_system' ? SYSTEM : GONE)
  const gone = await select<{ conversation: string; id: number }>(
    'select conversation::text, id::int from uncounted where app_no = $1',
  )
  const heads = new Map(
    (
      await select<
        Record<'no' | 'one' | 'other', string> & Record<'second' | 'shown' | 'counted', number>
      >(
        `select no::text, one, other, updated_second::int as second, shown_id::int as shown,
           counted::int from conversations where app_no = $1`,
      )
    ).map((head) => [head.no, head]),
  )
  const rows = await select<
    Pick<View, 'uid' | 'kind' | 'with_id' | 'conversation' | 'tags' | 'blocked'> &
      Record<'read_id' | 'read' | 'own' | 'cleared', number> & {
        visible: boolean
        member: boolean
      }
  >(
    `select uid, kind, with_id, conversation::text, tags, blocked, visible, read_id::int,
       read_counted::int as read, own_since::int as own, cleared_id::int as cleared,
       scope is not null as member
     from inbox where app_no = $1`,
  )
  return rows.flatMap((row) => {
    const head = heads.get(row.conversation)
    if (!head) return []
    const { uid, kind, with_id, conversation, tags, blocked } = row
    const { one, other, second, shown, counted } = head
    const there = kind === 'user' ? row.visible : row.member && shown > row.cleared
    const [owner, counterpart] = [entity('user', uid), entity(kind, with_id)]
    if (!there || owner.removed || counterpart.removed) return []
    const after = counted - row.read - row.own
    const deleted = gone.filter((g) => g.conversation === conversation && g.id > row.read_id)
    const unread = after === 0 ? 0 : after - deleted.length
    const view = { uid, kind, with_id, conversation, tags, blocked, one, other, second, unread }
    return [{ ...view, owner, counterpart }]
  })
}
const GONE: Entity = { name: '', tags: [], role: '', removed: true }

/** `uid conversationId` of each view in the list, in order. */
export function recount(views: readonly View[], filter: Filter): string[] {
  let listed = views.filter(({ blocked }) => !blocked || filter.includeBlockedUsers)
  if (filter.unique) {
    const first = new Map<string, string>()
    for (const { conversation, uid } of listed) {
      const known = first.get(conversation)
      if (known === undefined || uid < known) first.set(conversation, uid)
    }
    listed = listed.filter(({ conversation, uid }) => first.get(conversation) === uid)
  }
  return listed
    .filter((view) => passes(view, filter))
    .sort(inOrder)
    .map(({ uid, kind, one, other }) =>
      kind === 'group' ? `${uid} group_${one}` : `${uid} ${one}_user_${other}`,
    )
}

const folded = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()

function passes(view: View, filter: Filter): boolean {
  const { kind, owner, counterpart } = view
  const has = (tags: string[], list = '') => list.split(',').some((tag) => tags.includes(tag))
  const { tags, userTags, groupTags, searchKey } = filter
  const sides = kind === 'user' ? [owner, counterpart] : [counterpart]
  const agentic = kind === 'user' && sides.some(({ role }) => role === '@agentic')
  const searched = filter.unique ? sides : [counterpart]
  const byTags =
    kind === 'user'
      ? has(counterpart.tags, userTags)
      : [tags, groupTags].some((list) => list !== undefined) &&
        [tags, groupTags].every((list) => list === undefined || has(counterpart.tags, list))
  return [
    filter.conversationType === undefined || filter.conversationType === kind,
    searchKey === undefined ||
      searched.some(({ name }) => folded(name).includes(folded(searchKey))),
    (tags ?? userTags ?? groupTags) === undefined || byTags,
    filter.conversationTags === undefined || has(view.tags, filter.conversationTags),
    !filter.unread || view.unread !== 0,
    !filter.hideAgentic || !agentic,
    !filter.onlyAgentic || agentic,
  ].every(Boolean)
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const inOrder = (a: View, b: View) =>
  compare(a.uid, b.uid) ||
  b.second - a.second ||
  compare(a.with_id, b.with_id) ||
  compare(a.kind, b.kind)
