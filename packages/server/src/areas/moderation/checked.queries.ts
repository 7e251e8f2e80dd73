import { firstIdOf } from '../../core/ids.ts'
import type { MessageRow } from '../../core/message-rows.ts'
import { GROUP_IS_THERE, PARTIES_ARE_THERE } from '../../core/visibility.ts'
import { type Executor, query } from '../../platform/db/query.ts'
import { joinSql, runSql, Sql, sql } from '../../platform/db/sql.ts'
import type { CheckedQuery } from './checked.schema.ts'

type OneMessage = { appNo: number; id: string }

/** The columns of a message, and the conversation `h` that it would belong to. */
const COLUMNS = `
  m.id, m.sender, m.category, m.type, checked_data(m) as data, '{}'::text[] as tags, m.muid,
  m.edited_at as updated_at, m.edited_at, case when m.edited_at is not null then 'app_system' end as edited_by,
  null::timestamptz as deleted_at, null as deleted_by, null::timestamptz as pinned_at, null as pinned_by,
  false as reacted, false as saved, null::bigint as parent_id, null::bigint as quoted_id, h.kind, h.one, h.other,
  null::json as thread, null::timestamptz as delivered_at, null::timestamptz as read_at`
const CONVERSATION = `lateral (select m.kind,
    case m.kind when 'group' then m.receiver else least(m.sender, m.receiver) end as one,
    case m.kind when 'group' then '' else greatest(m.sender, m.receiver) end as other) h`

const THERE = `${PARTIES_ARE_THERE} and ${GROUP_IS_THERE}`

const raw = (text: string) => new Sql([text], [])
const isThere = (appNo: number) => {
  const texts = THERE.split(':appNo')
  return new Sql(texts, Array(texts.length - 1).fill(appNo))
}

/** Which of these users and groups there are. */
export const listParties = query<
  { appNo: number; uids: string[]; guids: string[] },
  { kind: 'user' | 'group'; id: string }
>(
  'checked.listParties',
  `select 'user' as kind, uid as id from users
   where app_no = :appNo and uid = any(:uids::text[]) and removed_at is null
   union all
   select 'group', guid from groups
   where app_no = :appNo and guid = any(:guids::text[]) and removed_at is null`,
)

/** Keeps a group from being deleted. */
export const holdGroup = query<{ appNo: number; guid: string }, { guid: string }>(
  'checked.holdGroup',
  `select guid from groups where app_no = :appNo and guid = :guid and removed_at is null for share`,
)

export interface NewChecked extends Record<string, unknown> {
  appNo: number
  sender: string
  kind: string
  receiver: string
  category: string
  type: string
  data: string
  muid: string | null
  status: string | null
  rule: string | null
}

/** No row if the sender has a message with this muid, or the id is taken. */
export const insertChecked = query<NewChecked, { id: number }>(
  'checked.insert',
  `insert into checked_messages (app_no, id, sender, kind, receiver, category, type, data, muid, status, rule)
   values (:appNo, tick(), :sender, :kind, :receiver, :category, :type, :data::jsonb, :muid, :status, :rule::jsonb)
   on conflict do nothing
   returning id`,
)

export const findByMuid = query<
  { appNo: number; sender: string; muid: string | null },
  { id: number }
>(
  'checked.findByMuid',
  'select id from checked_messages where app_no = :appNo and sender = :sender and muid = :muid',
)

const ONE = `select ${COLUMNS} from checked_messages m, ${CONVERSATION}
   where m.app_no = :appNo and m.id = :id and ${THERE}`

export const findChecked = query<OneMessage, MessageRow>('checked.find', ONE)

export const lockChecked = query<OneMessage, MessageRow>(
  'checked.lock',
  `${ONE} for no key update of m`,
)

export const updateChecked = query<
  OneMessage & { data: string; status: string | null; rule: string | null }
>(
  'checked.update',
  `update checked_messages
   set data = :data::jsonb, status = :status, rule = :rule::jsonb, edited_at = clock_timestamp()
   where app_no = :appNo and id = :id`,
)

export const removeChecked = query<OneMessage>(
  'checked.remove',
  'delete from checked_messages where app_no = :appNo and id = :id',
)

/** A page and one row more, in its direction. Every filter but category and type has an index. */
export function listChecked(
  db: Executor,
  appNo: number,
  query: CheckedQuery,
): Promise<MessageRow[]> {
  const { limit, affix, id, sentAt, sender, receiverUID, receiverGUID } = query
  const { category, type, moderationStatus } = query
  const down = affix === 'prepend'
  const cursor = id ?? (sentAt === undefined ? undefined : firstIdOf(down ? sentAt : sentAt + 1))
  const when = (given: unknown, condition: Sql) => (given === undefined ? [] : [condition])
  const conditions = [
    sql`m.app_no = ${appNo}`,
    // A time is the first id of its second, which still belongs to it.
    ...when(cursor, down ? sql`m.id < ${cursor}` : id ? sql`m.id > ${id}` : sql`m.id >= ${cursor}`),
    ...when(sender, sql`m.sender = ${sender}`),
    ...when(receiverUID, sql`m.kind = 'user' and m.receiver = ${receiverUID}`),
    ...when(receiverGUID, sql`m.kind = 'group' and m.receiver = ${receiverGUID}`),
    ...when(category, sql`m.category = ${category}`),
    ...when(type, sql`m.type = ${type}`),
    ...when(moderationStatus, sql`m.status = ${moderationStatus}`),
    isThere(appNo),
  ]
  return runSql<MessageRow>(
    db,
    'checked.list',
    sql`select ${raw(COLUMNS)} from checked_messages m, ${raw(CONVERSATION)}
        where ${joinSql(conditions, ' and ')}
        order by m.id ${raw(down ? 'desc' : '')} limit ${limit + 1}`,
  )
}
