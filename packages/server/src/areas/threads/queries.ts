/**
 * Threads by their newest reply. The app's threads are a range of one index. A user's threads are
 * those of each group, by an index, and those recorded for the user; both are merged into one order
 * and cut before anything else is read.
 */

import { IS_SHOWN, type MessageLimits } from '../../core/access/visible.ts'
import { MESSAGE_COLUMNS, type MessageRow } from '../../core/message-rows.ts'
import { GROUP_IS_THERE, PARTIES_ARE_THERE, SENDER_IS_THERE } from '../../core/visibility.ts'
import { query } from '../../platform/db/query.ts'
import type { Range } from '../history/queries.ts'

type Replies = Range & MessageLimits & { parent: number }

export const listRepliesUp = query<Replies, MessageRow>('threads.listRepliesUp', repliesOf('m.id'))
export const listRepliesDown = query<Replies, MessageRow>(
  'threads.listRepliesDown',
  repliesOf('m.id desc'),
)

function repliesOf(order: string): string {
  return `
   select ${MESSAGE_COLUMNS}
   from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
   where m.app_no = :appNo and m.parent_id = :parent and m.id > :after and m.id <= :upto
     and ${SENDER_IS_THERE} and ${IS_SHOWN}
   order by ${order} limit :limit`
}

export type ThreadRow = MessageRow & {
  updated_second: number
  /** Leaves out threads of users and groups that are removed but not yet swept. */
  there: boolean
  unread_replies: number | null
  unread_mentions: number | null
}

export interface ThreadParams extends Record<string, unknown> {
  appNo: number
  uid: string | null
  second: number
  id: number
  limit: number
  countReplies: boolean
  countMentions: boolean
}

interface Direction {
  compare: string
  order: string
}
const OLDER: Direction = { compare: '<', order: 'updated_second desc, parent_id desc' }
const NEWER: Direction = { compare: '>', order: 'updated_second, parent_id' }

const beyond = ({ compare }: Direction) =>
  `(t.updated_second, t.parent_id) ${compare} (:second::bigint, :id::bigint)`

const ofApp = (direction: Direction) => `
  select t.parent_id from threads t where t.app_no = :appNo and ${beyond(direction)}
  order by ${direction.order} limit :limit`

/** The next threads of a group `i`, by the index alone. */
const ofGroup = (direction: Direction, limit: string) => `
  select t.updated_second, t.parent_id from threads t
  where t.app_no = :appNo and t.conversation = i.conversation and ${beyond(direction)}
    and t.parent_id > i.cleared_id
  order by ${direction.order} limit ${limit}`

/**
 * A page of n threads needs at most n groups: the n groups whose next thread comes first in the list.
 */
const ofUser = (direction: Direction) => `
  select * from (
    select t.* from (
      select i.conversation, i.cleared_id, next.updated_second, next.parent_id
      from (
        select conversation, cleared_id from inbox
        where app_no = :appNo and uid = :uid and kind = 'group' and scope is not null
      ) i cross join lateral (${ofGroup(direction, '1')}) next
      order by ${direction.order} limit :limit
    ) i cross join lateral (${ofGroup(direction, ':limit')}) t
    union all
    ${noted(direction, 'u.direct')}
  ) t order by ${direction.order} limit :limit`

/** Threads recorded for the user, in conversations that the user is part of. */
const noted = (direction: Direction, which: string) => `
    select t.updated_second, t.parent_id from thread_users u
      join threads t on t.app_no = :appNo and t.parent_id = u.parent_id
      join inbox i on i.app_no = :appNo and i.conversation = u.conversation and i.uid = :uid
    where u.app_no = :appNo and u.uid = :uid and ${which} and ${beyond(direction)}
      and (u.direct or i.scope is not null) and t.parent_id > i.cleared_id`

const ofParticipant = (direction: Direction) => `
  select * from (${noted(direction, '(u.wrote or u.follows)')}) t
  order by ${direction.order} limit :limit`

/** The unread replies and mentions of a thread. */
const UNREAD_REPLIES = `case when :countReplies::boolean then (
  select count(*) from messages r
  where r.app_no = :appNo and r.parent_id = m.id and r.id > i.read_id and r.sender <> :uid
    and r.deleted_at is null and not r.silent) end`
const UNREAD_MENTIONS = `case when :countMentions::boolean then (
  select count(*) from mentions n
  where n.app_no = :appNo and n.uid = :uid and n.conversation = m.conversation
    and n.message_id > i.read_id and n.parent_id = m.id and n.counts) end`

/**
 * PostgreSQL expects few elements in an array; for a page of unknown size it would read whole
 * tables.
 */
const shown = (page: string, order: string) => `
  select ${MESSAGE_COLUMNS}, t.updated_second,
    (${PARTIES_ARE_THERE}) and ${GROUP_IS_THERE} and m.id > h.purged_id as there,
    ${UNREAD_REPLIES} as unread_replies, ${UNREAD_MENTIONS} as unread_mentions
  from messages m
    join threads t on t.app_no = :appNo and t.parent_id = m.id
    join conversations h on h.app_no = :appNo and h.no = m.conversation
    left join inbox i on i.app_no = :appNo and i.conversation = m.conversation and i.uid = :uid
  where m.app_no = :appNo and m.id = any (array(select parent_id from (${page}) page))
  order by ${order}`

const list = (name: string, page: (direction: Direction) => string) => ({
  older: query<ThreadParams, ThreadRow>(
    `threads.${name}Older`,
    shown(page(OLDER), 't.updated_second desc, t.parent_id desc'),
  ),
  newer: query<ThreadParams, ThreadRow>(
    `threads.${name}Newer`,
    shown(page(NEWER), 't.updated_second, t.parent_id'),
  ),
})

export const threadsOfApp = list('listAll', ofApp)
export const threadsOfUser = list('list', ofUser)
export const threadsOfParticipant = list('listNoted', ofParticipant)

/** No row if the user already followed it. */
export const insertFollower = query<
  { appNo: number; uid: string; parent: number; conversation: number; direct: boolean },
  { uid: string }
>(
  'threads.insertFollower',
  `insert into thread_users as t (app_no, uid, parent_id, conversation, direct, wrote, follows)
   values (:appNo, :uid, :parent, :conversation, :direct, false, true)
   on conflict (app_no, uid, parent_id) do update set follows = true where not t.follows
   returning uid`,
)

/** No row if the user didn't follow it. */
export const removeFollower = query<
  { appNo: number; uid: string; parent: number },
  { uid: string }
>(
  'threads.removeFollower',
  `update thread_users set follows = false
   where app_no = :appNo and uid = :uid and parent_id = :parent and follows
   returning uid`,
)
