/**
 * How records of conversations were once made: all columns of the last message are read, every text is parsed, and
 * marks are looked up for receipts. Slow, and easy to check against the rows. Tests compare the records of the API with these.
 */
import assert from 'node:assert/strict'
import { type ConversationKind, printedId, SYSTEM_UID } from '../../src/core/ids.ts'
import { toMessages } from '../../src/core/message-record.ts'
import { MESSAGE_COLUMNS, type MessageRow } from '../../src/core/message-rows.ts'
import { seconds } from '../../src/core/time.ts'
import { unreadOf } from '../../src/core/unread.ts'
import { blockFields, withoutPresence } from '../../src/core/user-record.ts'
import type { Relation } from '../../src/core/user-rows.ts'
import { SENDER_IS_THERE } from '../../src/core/visibility.ts'
import { type Executor, query } from '../../src/platform/db/query.ts'

interface ViewKey {
  uid: string
  kind: ConversationKind
  withId: string
}

type Row = Relation & { [K in keyof MessageRow]: MessageRow[K] | null } & {
  uid: string
  kind: ConversationKind
  one: string
  other: string
  with_id: string
  unread: number
  unread_mentions: number
  created_second: number
  updated_second: number
  last_read_id: number | null
  view_tags: string[]
  view_pinned_at: Date | null
  app_pinned_at: Date | null
  owner: string
  counterpart: string
  apart: boolean
  scope: string | null
  joined_second: number | null
  counterpart_tags: string[]
}

const listRows = query<{ appNo: number; keys: string }, Row>(
  'oracle.conversations',
  `select v.uid, v.with_id, h.updated_second, ${unreadOf('v')} as unread,
     (select count(*) from mentions n
      where n.app_no = :appNo and n.uid = v.uid and n.conversation = v.conversation
        and n.message_id > v.read_id and n.counts) as unread_mentions,
     case
       when v.kind = 'user' then v.created_second
       when v.cleared_id = 0 then h.created_second
       else coalesce((select id_second(m.id) from messages m
         where m.app_no = :appNo and m.conversation = v.conversation and m.id > v.cleared_id
           and m.shows
         order by m.id limit 1), h.updated_second) end as created_second,
     v.tags as view_tags, v.pinned_at as view_pinned_at,
     (select p.pinned_at from app_pins p
      where p.app_no = :appNo and p.kind = v.kind and p.id = v.with_id) as app_pinned_at,
     (select r.id from messages r
      where r.app_no = :appNo and r.conversation = v.conversation and r.id <= v.read_id
        and r.id > v.cleared_id
      order by r.id desc limit 1) as last_read_id,
     (select user_json(u) from users u where u.app_no = :appNo and u.uid = v.uid) as owner,
     case
       when v.kind = 'group' then group_json(g)
       when v.with_id = 'app_system' then system_json(:appNo)
       else user_json(o)
     end as counterpart, h.blocked_one or h.blocked_other as apart,
     v.scope, unix(v.joined_at) as joined_second,
     case when v.kind = 'group' then g.tags else o.tags end as counterpart_tags,
     (select b.created_at from blocks b
      where b.app_no = :appNo and b.uid = v.uid and b.blocked_uid = v.with_id) as blocked_by_me_at,
     (select b.created_at from blocks b
      where b.app_no = :appNo and b.uid = v.with_id and b.blocked_uid = v.uid) as has_blocked_me_at,
     ${MESSAGE_COLUMNS}
   from json_array_elements(:keys::json) with ordinality as listed (key, nth)
     join inbox v on v.app_no = :appNo and v.uid = listed.key ->> 'uid'
       and v.kind = listed.key ->> 'kind' and v.with_id = listed.key ->> 'withId'
     join conversations h on h.app_no = :appNo and h.no = v.conversation
     left join messages m on m.app_no = :appNo and m.id = h.shown_id and m.deleted_at is null
       and ${SENDER_IS_THERE}
     left join users o on v.kind = 'user' and o.app_no = :appNo and o.uid = v.with_id
     left join groups g on v.kind = 'group' and g.app_no = :appNo and g.guid = v.with_id
   order by listed.nth`,
)

/** The query of a list whose records have all their optional parts. */
export const ALL_PARTS =
  'includeBlockedUsers=true&perPage=1000&withTags=true&withUserAndGroupTags=true&withBlockedInfo=true'

interface Listed {
  uid?: string
  conversationType: ConversationKind
  conversationWith: { uid?: string; guid?: string }
}

/** Compares the records of a list with ALL_PARTS: of a user, or of the app. */
export async function assertConversations(
  { cell, no }: { cell: { db: Executor }; no: number },
  uid: string | undefined,
  listed: Listed[],
): Promise<void> {
  const keys = listed.map(({ conversationType: kind, conversationWith, ...view }) => ({
    uid: uid ?? view.uid ?? '',
    kind,
    withId: conversationWith.guid ?? conversationWith.uid ?? '',
  }))
  assert.deepEqual(listed, await byOracle(cell.db, no, keys, uid))
}

/** Records of views with tags and blocks: as their owner sees them, or as the app does, which sees several owners'. */
async function byOracle(
  db: Executor,
  appNo: number,
  keys: ViewKey[],
  viewer: string | undefined,
): Promise<object[]> {
  const views = await listRows.many(db, { appNo, keys: JSON.stringify(keys) })
  const records: object[] = []
  for (const view of views) records.push(await toRecord(db, appNo, view, viewer))
  return records
}

async function toRecord(db: Executor, appNo: number, view: Row, viewer: string | undefined) {
  const whole = JSON.parse(view.counterpart)
  const counterpart = viewer !== undefined && view.apart ? withoutPresence(whole) : whole
  const membership = {
    conversationId: printedId(view),
    ...{ hasJoined: true, scope: view.scope, joinedAt: view.joined_second },
  }
  const ofGroup = view.kind === 'group'
  const entities = new Map([
    [`user:${view.uid}`, JSON.parse(view.owner)],
    [
      `${view.kind}:${view.with_id}`,
      ofGroup && viewer !== undefined ? { ...counterpart, ...membership } : counterpart,
    ],
  ])
  const rows = view.id === null ? [] : [view as Row & MessageRow]
  const [lastMessage] = await toMessages(db, appNo, rows, { entities, viewer })
  return {
    ...(viewer === undefined && { uid: view.uid }),
    conversationId: printedId(view),
    conversationType: view.kind,
    unreadMessageCount: String(view.unread),
    unreadMentionsCount: view.unread_mentions,
    createdAt: view.created_second,
    updatedAt: view.updated_second,
    ...(lastMessage && { lastMessage }),
    ...(view.last_read_id !== null && { lastReadMessageId: String(view.last_read_id) }),
    ...(view.view_tags.length > 0 && { tags: view.view_tags }),
    ...pinOf(view),
    conversationWith: {
      ...counterpart,
      ...(ofGroup ? membership : { conversationId: printedId(view) }),
      ...(view.counterpart_tags?.length > 0 && { tags: view.counterpart_tags }),
      ...(!ofGroup && blockFields(view)),
    },
  }
}

function pinOf({ uid, view_pinned_at: own, app_pinned_at: apps }: Row) {
  if (apps) return { pinnedBy: SYSTEM_UID, pinnedAt: seconds(apps) }
  return own ? { pinnedBy: uid, pinnedAt: seconds(own) } : {}
}
