/**
 * The statements behind lists of conversations. A view of a 1:1 conversation is a row of its
 * owner's inbox, in index order; views of groups are the owner's memberships, joined to the heads.
 * Both are merged into one order and cut, and only the rest is joined to everything that records
 * show.
 */

import type { ConversationKind } from '../../core/ids.ts'
import { unreadOf } from '../../core/unread.ts'
import { isApart, type Relation } from '../../core/user-rows.ts'
import { SENDER_IS_THERE } from '../../core/visibility.ts'
import { query } from '../../platform/db/query.ts'

/** A user's view of a conversation with its last message; without one, the columns of the message are null. */
export interface ViewRow extends Relation {
  uid: string
  kind: ConversationKind
  one: string
  other: string
  with_id: string
  unread: number
  unread_mentions: number
  created_second: number
  updated_second: number
  read_id: number | null
  /** Null if there are none. */
  view_tags: string[] | null
  view_pinned_at: Date | null
  /** When the app pinned it for everyone. */
  app_pinned_at: Date | null
  /** The record of the owner as JSON, without the closing brace; in a user's list only in its first row. */
  owner: string | null
  /** The record of the counterpart as the owner sees it, likewise. */
  counterpart: string
  /** Null if there are none. */
  counterpart_tags: string[] | null
  /** The owner's scope and joining time in the group. */
  scope: string | null
  joined_second: number | null
  id: number | null
  /** Whether its record refers to more than its sender and receiver: it is then read with everything it refers to. */
  rich: boolean | null
  /**
   * Of a message that isn't rich: its record without content, as JSON without the closing brace. Null if the message is
   * a text that the head keeps.
   */
  message: string | null
  muid: string | null
  /** Its content. */
  data: string | null
  sender: string | null
  /** In groups: the sender, unless it is the owner. */
  sender_record: string | null
  /** In 1:1 conversations: when the receiver first reported receiving and reading it. */
  delivered_second: number | null
  read_second: number | null
}

/** Newest first, then by id and kind. */
export interface ViewSortKey {
  second: number
  withId: string
  kind: string
}
/** Sorts before all others. */
export const TOP: ViewSortKey = { second: Number.MAX_SAFE_INTEGER, withId: '', kind: '' }

const ORDER = 'updated_second desc, with_id, kind'

/** The columns of an inbox row that are passed on. */
const FIELDS = `i.uid, i.kind, i.with_id, i.conversation, i.read_id, i.read_counted, i.own_since,
  i.cleared_id, i.tags, i.pinned_at, i.created_second, i.scope, i.joined_at`

/** Removed, though not yet swept. */
const REMOVED_USERS = `array(
  select uid from users where app_no = :appNo and removed_at is not null)`
const REMOVED_GROUPS = `array(
  select guid from groups where app_no = :appNo and removed_at is not null)`

const UNREAD = unreadOf('v')

/**
 * The user's mentions after the mark; a user whose mark is at the end has none. The condition on both columns is one
 * that only the primary key can use: by the index of a user's mentions in all conversations, PostgreSQL would read
 * hundreds of a user who is mentioned more often than most.
 */
const UNREAD_MENTIONS = `case when v.read_id < h.last_id then (
  select count(*) from mentions n
  where n.app_no = :appNo and n.uid = v.uid and n.conversation = v.conversation
    and (n.conversation, n.message_id) > (v.conversation, v.read_id) and n.counts) else 0 end`

/** The time of the first message that moved the view since it was cleared. */
const CREATED = `case
  when v.kind = 'user' then v.created_second
  when v.cleared_id = 0 then h.created_second
  else coalesce((select id_second(m.id) from messages m
    where m.app_no = :appNo and m.conversation = v.conversation and m.id > v.cleared_id
      and m.shows
    order by m.id limit 1), h.updated_second) end`

/** Whether one of the two users of a 1:1 conversation blocks the other. */
const HAS_BLOCK = '(h.blocked_one or h.blocked_other)'
const BLOCKS = ':withBlocks::boolean'
const TAGS = ':withCounterpartTags::boolean'

/**
 * A reply that doesn't update the conversation has a higher id than the message that views show, so that message has no
 * thread if it is the last one.
 */
const IS_RICH = `(m.category in ('action', 'call') or m.reacted or m.saved or m.quoted_id is not null or m.tags <> '{}'
  or m.data ?| array['mentions', 'reactions', 'entities'] or h.last_id > h.shown_id)`

/** The newest message that the owner has read. If none was ever deleted for good, it is where the mark is. */
const READ_ID = `case
  when v.read_id <= v.cleared_id then null
  when h.removed = 0 then v.read_id
  else (
    select r.id from messages r
    where r.app_no = :appNo and r.conversation = v.conversation and r.id <= v.read_id
      and r.id > v.cleared_id
    order by r.id desc limit 1) end`

const HIDDEN_PRESENCE = `',"status":"offline"'`

const userText = (user: string, apart: string) =>
  `user_text(${user}) || case when ${apart} then ${HIDDEN_PRESENCE} else user_presence(${user}) end`

const SYSTEM_TEXT = `system_text(:appNo) || ${HIDDEN_PRESENCE}`

const IS_ACTIVE = 'u.deactivated_at is null and u.removed_at is null'

const ownerOf = (uid: string, condition = 'true') => `(
  select ${userText('u', 'false')} from users u
  where u.app_no = :appNo and u.uid = ${uid} and ${condition})`

/** Of the last message, what the head keeps; if it keeps nothing, the message is read. */
const LAST_MESSAGE = `
  select h.shown_id as id, h.shown_sender as sender, h.last_id > h.shown_id as rich, null as message,
    h.shown_data as data, h.shown_muid as muid
  where h.shown_data is not null and h.shown_sender <> all (${REMOVED_USERS})
  union all
  select m.id, m.sender, ${IS_RICH}, case when not ${IS_RICH} then message_text(m, h) end,
    case when not ${IS_RICH} then m.data::text end, null
  from messages m
  where h.shown_data is null and m.app_no = :appNo and m.id = h.shown_id and m.deleted_at is null
    and ${SENDER_IS_THERE}`

interface Shape {
  /** The record of the view's owner. */
  owner?: string
  /** Whether blocks are shown. */
  blocks?: string
  /** Whether tags of counterparts are shown. */
  tags?: string
  /** Who looks at the views: their owner, or the app, which sees everything. */
  viewer?: string | null
  more?: string
}

/** Everything shown of the views in `from`, which is called v, and of their last messages. */
const shown = (
  from: string,
  { owner = ownerOf(':uid'), blocks = BLOCKS, tags = TAGS, viewer = ':uid', more = '' }: Shape = {},
) => `
  select v.uid, v.with_id, h.kind, h.one, h.other,
    ${UNREAD} as unread, ${UNREAD_MENTIONS} as unread_mentions, ${CREATED} as created_second, h.updated_second,
    nullif(v.tags, '{}') as view_tags, v.pinned_at as view_pinned_at,
    case when exists (select from app_pins p where p.app_no = :appNo) then (
      select p.pinned_at from app_pins p
      where p.app_no = :appNo and p.kind = v.kind and p.id = v.with_id) end as app_pinned_at,
    ${READ_ID} as read_id,
    ${owner} as owner,
    case
      when v.kind = 'group' then (
        select group_text(g) from groups g where g.app_no = :appNo and g.guid = v.with_id)
      when v.with_id = 'app_system' then ${SYSTEM_TEXT}
      else (
        select ${userText('o', viewer === null ? 'false' : HAS_BLOCK)} from users o
        where o.app_no = :appNo and o.uid = v.with_id)
    end as counterpart,
    v.scope, unix(v.joined_at) as joined_second,
    case when ${tags} then nullif(case
      when v.kind = 'group' then (
        select g.tags from groups g where g.app_no = :appNo and g.guid = v.with_id)
      else (select o.tags from users o where o.app_no = :appNo and o.uid = v.with_id) end, '{}')
    end as counterpart_tags,
    case when ${blocks} and ${HAS_BLOCK} then (
      select b.created_at from blocks b
      where b.app_no = :appNo and b.uid = v.uid and b.blocked_uid = v.with_id
    ) end as blocked_by_me_at,
    case when ${blocks} and ${HAS_BLOCK} then (
      select b.created_at from blocks b
      where b.app_no = :appNo and b.uid = v.with_id and b.blocked_uid = v.uid
    ) end as has_blocked_me_at,
    ${more}
    m.id, m.sender, m.rich, m.message, m.data, m.muid,
    case when v.kind = 'group' and m.sender <> v.uid and not m.rich then
      case when m.sender = 'app_system' then ${SYSTEM_TEXT} else (
        select ${userText('s', viewer === null ? 'false' : isApart(viewer, 's.uid'))} from users s
        where s.app_no = :appNo and s.uid = m.sender) end
    end as sender_record,
    unix(h.delivered_at) as delivered_second, unix(h.read_at) as read_second
  from ${from}
    join conversations h on h.app_no = :appNo and h.no = v.conversation
    left join lateral (${LAST_MESSAGE}) m on true`

/** One view, if it exists. */
export const findView = query<
  { appNo: number; uid: string; kind: ConversationKind; withId: string },
  ViewRow
>(
  'conversations.find',
  `${shown(
    `(
      select ${FIELDS} from inbox i
      where i.app_no = :appNo and i.uid = :uid and i.kind = :kind and i.with_id = :withId
        and (i.kind = 'user' or i.scope is not null)
    ) v`,
    { blocks: 'false', tags: 'true' },
  )}
   where h.shown_id > v.cleared_id
     and not (v.kind = 'user' and v.with_id = any (${REMOVED_USERS}))
     and not (v.kind = 'group' and v.with_id = any (${REMOVED_GROUPS}))`,
)

/** In the first row: null if the owner doesn't exist or is deactivated. */
const OWNER_ONCE = `case when v.nth = 1 then ${ownerOf(':uid', IS_ACTIVE)} end`

type Shown = { withBlocks: boolean; withCounterpartTags: boolean }

/** Which views a list contains, for any owner. */
interface Kinds extends Record<string, unknown> {
  users: boolean
  groups: boolean
  /** Whether to include views with users whom the owner blocks. */
  blocked: boolean
}

interface Start {
  second: number
  withId: string
  afterKind: string
}

const afterStart = (view: string) => `
  (${view}.updated_second < :second::bigint or (${view}.updated_second = :second::bigint
    and (${view}.with_id, ${view}.kind) > (:withId, :afterKind)))`

/** A part of the user's next :limit views of 1:1 conversations, by the index. */
const directPart = (blocked: boolean, where: string) => `
  (select d.with_id, d.updated_second from direct_views d
   where :users::boolean and (${blocked} = false or :blocked::boolean)
     and d.app_no = :appNo and d.uid = :uid and d.blocked = ${blocked} and ${where}
     and d.with_id <> all (${REMOVED_USERS})
   order by d.updated_second desc, d.with_id limit :limit)`

// 'group' sorts before 'user': after a group's sort key, the user with the same id is still to come.
const SAME_SECOND = `d.updated_second = :second::bigint and d.with_id >= :withId
  and (d.with_id > :withId or :afterKind < 'user')`
const LATER = `d.updated_second < :second::bigint`

/** The sort keys of the user's next :limit views of 1:1 conversations. */
const DIRECT_NEXT = `select d.* from (${[false, true]
  .flatMap((blocked) => [directPart(blocked, SAME_SECOND), directPart(blocked, LATER)])
  .join(' union all ')}) d order by d.updated_second desc, d.with_id limit :limit`

/** All views of a user's groups. */
const groupViews = (columns: string) => `
  select ${columns} from inbox i
    join conversations h on h.app_no = i.app_no and h.no = i.conversation
  where :groups::boolean and i.app_no = :appNo and i.uid = :uid and i.kind = 'group'
    and i.scope is not null and h.shown_id > i.cleared_id
    and i.with_id <> all (${REMOVED_GROUPS})`

const viewsNext = (direct: string, joined: string) => `
  select * from (
    ${direct}
    union all
    select * from (${joined}) joined where ${afterStart('joined')}
  ) views order by ${ORDER} limit :limit`

/** A user's next :limit views. Each row of direct_views has an inbox row, looked up by its key. */
const VIEWS_NEXT = viewsNext(
  `select ${FIELDS}, d.updated_second from (${DIRECT_NEXT}) d
     cross join lateral (
       select * from inbox o
       where o.app_no = :appNo and o.uid = :uid and o.kind = 'user' and o.with_id = d.with_id
       offset 0) i`,
  groupViews(`${FIELDS}, h.updated_second`),
)

/** The sort keys of a user's next :limit views. */
const SORT_KEYS_NEXT = viewsNext(
  `select d.updated_second, d.with_id, 'user' as kind from (${DIRECT_NEXT}) d`,
  groupViews('h.updated_second, i.with_id, i.kind'),
)

/** A user's number of views. */
const TOTAL = `(case when :users::boolean then coalesce((
    select case when :blocked::boolean then t.visible else t.unblocked end from view_totals t
    where t.app_no = :appNo and t.uid = :uid), 0) else 0 end
  - case when :users then (
    select count(*) from inbox i
    where i.app_no = :appNo and i.uid = :uid and i.kind = 'user' and i.visible
      and (not i.blocked or :blocked) and i.with_id = any (${REMOVED_USERS})) else 0 end
  + (select count(*) from (${groupViews('1')}) joined))::int`

export const countViews = query<Kinds & { appNo: number; uid: string }, { total: number }>(
  'conversations.count',
  `select ${TOTAL} as total`,
)

/**
 * A page of a user's list. The first row also holds the owner and the total, which is cheaper than
 * a second statement.
 */
export const listViews = query<
  Shown & Kinds & Start & { appNo: number; uid: string; limit: number },
  ViewRow & { total: number | null }
>(
  'conversations.list',
  `${shown(`(select *, row_number() over (order by ${ORDER}) as nth from (${VIEWS_NEXT}) n) v`, {
    owner: OWNER_ONCE,
    more: `case when v.nth = 1 then ${TOTAL} end as total,`,
  })}
   order by v.nth`,
)

/** The sort key of the last of the first :limit views, if there are that many. */
export const findViewStart = query<
  Kinds & Start & { appNo: number; uid: string; limit: number },
  { updated_second: number; with_id: string; kind: ConversationKind }
>(
  'conversations.findViewStart',
  `select updated_second, with_id, kind from (${SORT_KEYS_NEXT}) v
   order by ${ORDER} offset :limit - 1`,
)

/** Conditions on the counterpart and the unread count; null and false mean no condition. */
export interface Filters extends Record<string, unknown> {
  searchKey: string | null
  userTags: string[] | null
  groupTags: string[] | null
  /** More tags of the group. */
  tags: string[] | null
  conversationTags: string[] | null
  unread: boolean
  hideAgentic: boolean
  onlyAgentic: boolean
}

/** All views of a user, unordered. */
const VIEWS = `
  select ${FIELDS} from inbox i
  where :users::boolean and i.app_no = :appNo and i.uid = :uid and i.kind = 'user'
    and i.visible and (not i.blocked or :blocked::boolean)
    and i.with_id <> all (${REMOVED_USERS})
  union all
  ${groupViews(FIELDS)}`

/** Tags of users and of groups are alternatives. Those of groups must match both lists, if there are two. */
const HAS_TAGS = `(
  (:userTags::text[] is null and :groupTags::text[] is null and :tags::text[] is null)
  or coalesce(o.tags && :userTags, false)
  or (coalesce(:groupTags, :tags) is not null and g.guid is not null
    and coalesce(g.tags && :groupTags, true) and coalesce(g.tags && :tags, true)))`

/** The views that pass the filters. */
const VIEWS_PASSING = `
  select v.*, h.updated_second from (${VIEWS}) v
    join conversations h on h.app_no = :appNo and h.no = v.conversation
    left join users o on v.kind = 'user' and o.app_no = :appNo and o.uid = v.with_id
    left join groups g on v.kind = 'group' and g.app_no = :appNo and g.guid = v.with_id
  where (:searchKey::text is null
      or strpos(coalesce(o.name_key, g.name_key, 'system'), nullif(fold_name(:searchKey), '')) > 0)
    and ${HAS_TAGS}
    and (:conversationTags::text[] is null or v.tags && :conversationTags)
    and not (:hideAgentic::boolean and coalesce(o.role = '@agentic', false))
    and not (:onlyAgentic::boolean and coalesce(o.role <> '@agentic', true))
    and not (:unread::boolean and ${UNREAD} = 0)`

type Filtered = Kinds & Filters & { appNo: number }

export const listFilteredViews = query<
  Shown & Filtered & Start & { uid: string; offset: number; limit: number },
  ViewRow
>(
  'conversations.listFiltered',
  `with passing as materialized (${VIEWS_PASSING}), page as (
     select *, row_number() over (order by ${ORDER}) as nth from (
       select * from passing where ${afterStart('passing')}
       order by ${ORDER} offset :offset limit :limit) cut
   )
   ${shown('page v', { owner: OWNER_ONCE })} order by v.nth`,
)

export const countFilteredViews = query<Filtered & { uid: string }, { total: number }>(
  'conversations.countFiltered',
  `select count(*)::int as total from (${VIEWS_PASSING}) passing`,
)

/**
 * The views of any users with the keys :keys, a JSON array of [uid, kind, with_id, second], in that order.
 */
export const SHOWN_BY_KEY = `${shown(
  `(select ${FIELDS}, listed.nth, (listed.key ->> 3)::bigint as sort_second
    from json_array_elements(:keys::json) with ordinality as listed (key, nth)
      join inbox i on i.app_no = :appNo and i.uid = listed.key ->> 0
        and i.kind = listed.key ->> 1 and i.with_id = listed.key ->> 2) v`,
  { owner: ownerOf('v.uid'), viewer: null, more: 'v.sort_second,' },
)}
 order by v.nth`
