import { HELD_IS_SHOWN } from '../../core/visibility.ts'
import { query } from '../../platform/db/query.ts'
import type { ItemKind } from './queue.schema.ts'
import type { ReviewRow } from './reviews.queries.ts'

export interface ItemRow {
  id: number
  kind: ItemKind
}

type Range = { appNo: number; after: number; before: number; limit: number; kind: string | null }

/** Each part is one range of an index. */
const part = (select: string, from: string, id: string, order: string) => `
  (select ${select} from ${from} t where t.app_no = :appNo and t.${id} > :after and t.${id} < :before
   order by t.${id} ${order} limit :limit)`

/** A message that was hidden because of its flags is blocked, not flagged. */
const items = (order: string) => `
  select id, kind from (
    ${part(
      "t.message_id as id, 'blocked' as kind",
      '(select * from reviews where reviewed_at is null)',
      'message_id',
      order,
    )}
    union all
    ${part(
      "distinct t.message_id, 'flagged'",
      `(select * from flags f where not exists (select from reviews r
         where r.app_no = f.app_no and r.message_id = f.message_id and r.reviewed_at is null))`,
      'message_id',
      order,
    )}
    union all
    ${part('distinct t.item_id, t.kind', 'subject_flags', 'item_id', order)}
  ) item
  where :kind::text is null or kind = :kind
  order by id ${order} limit :limit`

export const listItemsUp = query<Range, ItemRow>('queue.listUp', items(''))
export const listItemsDown = query<Range, ItemRow>('queue.listDown', items('desc'))

export interface ItemFilter extends Record<string, unknown> {
  sender: string | null
  receiver: string | null
  ruleId: string | null
  searchKey: string | null
}

/** Those of these items that the filters match, by the message or by the flagged user or group. */
export const filterItems = query<
  ItemFilter & { appNo: number; ids: number[]; viewer: null; moderates: boolean },
  { id: number }
>(
  'queue.filter',
  `select i.id from unnest(:ids::bigint[]) as i (id)
     left join held_messages m on m.app_no = :appNo and m.id = i.id and ${HELD_IS_SHOWN}
     left join messages d on d.app_no = :appNo and d.id = i.id and m.id is null
     left join conversations h on h.app_no = :appNo and h.no = coalesce(m.conversation, d.conversation)
     left join reviews r on r.app_no = :appNo and r.message_id = i.id
     left join lateral (select f.kind, f.subject from subject_flags f
       where f.app_no = :appNo and f.item_id = i.id limit 1) s on h.no is null
   where (:sender::text is null or coalesce(m.sender, d.sender) = :sender
       or s.kind = 'user' and s.subject = :sender)
     and (:receiver::text is null or h.kind = 'group' and h.one = :receiver
       or h.kind = 'user' and :receiver in (h.one, h.other) and :receiver <> coalesce(m.sender, d.sender)
       or s.kind = 'group' and s.subject = :receiver)
     and (:ruleId::text is null or r.rule_id = :ruleId)
     and (:searchKey::text is null
       or strpos(lower(coalesce(m.data, d.data) ->> 'text'), lower(:searchKey)) > 0)`,
)

export const findItem = query<{ appNo: number; id: string }, ItemRow & { subject: string | null }>(
  'queue.find',
  `select message_id as id, 'blocked' as kind, null as subject from reviews
   where app_no = :appNo and message_id = :id and reviewed_at is null
   union all
   (select message_id, 'flagged', null from flags where app_no = :appNo and message_id = :id limit 1)
   union all
   (select item_id, kind, subject from subject_flags where app_no = :appNo and item_id = :id limit 1)
   limit 1`,
)

export const listReviewsOf = query<{ appNo: number; ids: number[] }, ReviewRow>(
  'queue.listReviews',
  `select r.message_id as id, r.* from reviews r
   where r.app_no = :appNo and r.message_id = any(:ids::bigint[]) and r.reviewed_at is null`,
)

/** The ids of up to five messages before and after one, in its conversation. */
export const listContext = query<
  { appNo: number; conversation: number; id: number },
  { id: number }
>(
  'queue.listContext',
  `(select id from messages where app_no = :appNo and conversation = :conversation and id < :id
    order by id desc limit 5)
   union all
   (select id from messages where app_no = :appNo and conversation = :conversation and id > :id
    order by id limit 5)`,
)

interface ClaimRow {
  item_id: number
  moderator: string
  until: Date
}

export const listClaims = query<{ appNo: number; ids: number[] }, ClaimRow>(
  'queue.listClaims',
  `select item_id, moderator, until from review_claims
   where app_no = :appNo and item_id = any(:ids::bigint[]) and until > now()`,
)

/** No row if another moderator's claim hasn't ended. */
export const upsertClaim = query<
  { appNo: number; id: number; moderator: string; seconds: number },
  ClaimRow
>(
  'queue.claim',
  `insert into review_claims as c (app_no, item_id, moderator, until)
   values (:appNo, :id, :moderator, clock_timestamp() + make_interval(secs => :seconds::int))
   on conflict (app_no, item_id) do update set moderator = excluded.moderator, until = excluded.until
   where c.until <= clock_timestamp() or c.moderator = excluded.moderator
   returning item_id, moderator, until`,
)

export const removeClaim = query<{ appNo: number; id: number }>(
  'queue.removeClaim',
  'delete from review_claims where app_no = :appNo and item_id = :id',
)

/** Where a message of the queue is from. Only its sender's uid and its conversation are read. */
export const findOrigin = query<
  { appNo: number; id: number; viewer: null; moderates: boolean },
  { sender: string; kind: string; one: string; conversation: number }
>(
  'queue.findOrigin',
  `select coalesce(m.sender, d.sender) as sender, h.kind, h.one, h.no as conversation
   from (select) one
     left join held_messages m on m.app_no = :appNo and m.id = :id and ${HELD_IS_SHOWN}
     left join messages d on d.app_no = :appNo and d.id = :id and m.id is null
     join conversations h on h.app_no = :appNo and h.no = coalesce(m.conversation, d.conversation)`,
)

/** What a moderator decided about a message, if it is still there. */
export const noteReview = query<{
  appNo: number
  id: number
  note: string | null
  moderator: string
}>(
  'queue.note',
  `update reviews set note = :note, reviewed_by = :moderator
   where app_no = :appNo and message_id = :id`,
)

/** By the day of the message. One range of the primary key. */
export const listFigures = query<
  { appNo: number; after: number; before: number },
  {
    day: string
    rule_id: string | null
    rule_name: string | null
    blocked: number
    approved: number
    rejected: number
  }
>(
  'queue.listFigures',
  `select to_char(to_timestamp(id_second(message_id)) at time zone 'UTC', 'YYYY-MM-DD') as day,
     rule_id, max(rule_name) as rule_name, count(*) as blocked,
     count(*) filter (where decision = 'approved') as approved,
     count(*) filter (where decision = 'rejected') as rejected
   from reviews where app_no = :appNo and message_id >= :after and message_id < :before
   group by day, rule_id order by day, rule_id nulls last`,
)
