import type { CellRows } from '../../../db/rows.gen.ts'
import type { Filter } from '../../core/moderation/filters.ts'
import type { Condition } from '../../core/moderation/rules.ts'
import { HELD_IS_SHOWN } from '../../core/visibility.ts'
import { query } from '../../platform/db/query.ts'
import type { EFFECTS } from './previews.schema.ts'

type OnePreview = { appNo: number; id: number }

/** The rule of a preview as it is stored. */
export interface PreviewedRule {
  id: string | null
  filters: Filter[]
  conditions: Condition[]
}

export interface StoredSample {
  id: number
  effect: (typeof EFFECTS)[number]
  condition: number | null
  found: string | null
}

export type PreviewRow = Omit<CellRows['rule_previews'], 'app_no' | 'rule' | 'samples'> & {
  rule: PreviewedRule
  samples: StoredSample[]
  /** The state of its job; null if that is gone. */
  job: string | null
}

/** How long a preview is kept. */
export const KEPT_SECONDS = 7 * 86_400
const ROWS = `
  select p.*, (select j.state from jobs j where j.app_no = p.app_no and j.id = p.id) as job
  from rule_previews p
  where p.app_no = :appNo and p.created_at > now() - make_interval(secs => ${KEPT_SECONDS})`

export const findPreview = query<OnePreview, PreviewRow>('previews.find', `${ROWS} and p.id = :id`)

/** Newest first. */
export const listPreviews = query<{ appNo: number; limit: number }, PreviewRow>(
  'previews.list',
  `${ROWS} order by p.id desc limit :limit`,
)

export const insertPreview = query<
  OnePreview & {
    rule: string
    after: number
    before: number
    from: number | null
    to: number
    limit: number
  }
>(
  'previews.insert',
  `insert into rule_previews (app_no, id, rule, after_id, before_id, from_second, to_second, most)
   values (:appNo, :id, :rule::jsonb, :after, :before, :from, :to, :limit)`,
)

/** Only the newest ones stay. */
export const removeOlderPreviews = query<{ appNo: number; kept: number }>(
  'previews.removeOlder',
  `delete from rule_previews where app_no = :appNo and id < (
     select id from rule_previews where app_no = :appNo order by id desc offset :kept limit 1)`,
)

export const removePreview = query<OnePreview, { id: number }>(
  'previews.remove',
  'delete from rule_previews where app_no = :appNo and id = :id returning id',
)

export const removeOldPreviews = query(
  'previews.removeOld',
  `delete from rule_previews where created_at < now() - make_interval(secs => ${KEPT_SECONDS})`,
)

/** Starts it from the beginning. */
export const resetPreview = query<OnePreview>(
  'previews.reset',
  `update rule_previews set checked = 0, blocked = 0, newly_blocked = 0, no_longer_blocked = 0,
     too_slow = 0, progress = 0, samples = '[]'
   where app_no = :appNo and id = :id`,
)

/** Adds what a chunk of messages has shown. Null keeps the samples. */
export const addToPreview = query<
  OnePreview & {
    checked: number
    blocked: number
    newlyBlocked: number
    noLongerBlocked: number
    tooSlow: number
    progress: number
    samples: string | null
    ended: boolean
    complete: boolean
  }
>(
  'previews.add',
  `update rule_previews set checked = checked + :checked, blocked = blocked + :blocked,
     newly_blocked = newly_blocked + :newlyBlocked, no_longer_blocked = no_longer_blocked + :noLongerBlocked,
     too_slow = too_slow + :tooSlow, progress = :progress, samples = coalesce(:samples::jsonb, samples),
     complete = :complete, ended_at = case when :ended::boolean then clock_timestamp() end
   where app_no = :appNo and id = :id`,
)

/** The version of the rules in force. */
export const findVersion = query<{ appNo: number }, { moderation: string | null }>(
  'previews.findVersion',
  'select moderation from apps where app_no = :appNo',
)

/** The first and the last message between two ids, for the progress. */
export const findEnds = query<
  { appNo: number; after: number; before: number },
  { first: number | null; last: number | null }
>(
  'previews.findEnds',
  `select (select min(id) from messages where app_no = :appNo and id > :after and id < :before) as first,
     (select max(id) from messages where app_no = :appNo and id > :after and id < :before) as last`,
)

/** What rules ask about a message. The texts are null if there is nothing to check. */
export interface TextRow {
  id: number
  sender: string
  category: string
  kind: 'user' | 'group'
  receiver: string
  text: string | null
  custom: Record<string, unknown> | null
}

/** The texts of one table's messages. Those that have none are read too, so that a chunk has a fixed size. */
const texts = (table: string, there: string, more = '') => `(
  select m.id, m.sender, m.category, h.kind,
    case when h.kind = 'group' or h.one <> m.sender then h.one else h.other end as receiver,
    case when ${there} then m.data ->> 'text' end as text,
    case when m.category <> 'message' and ${there} then jsonb_build_object(
      'customData', m.data -> 'customData', 'interactiveData', m.data -> 'interactiveData') end as custom
  from ${table} m join conversations h on h.app_no = m.app_no and h.no = m.conversation
  where m.app_no = :appNo and m.id > :after and m.id < :before ${more}
  order by m.id desc limit :limit)`

/** A chunk of the history, newest first: both tables by their primary keys. Disapproved messages are part of it. */
export const listTexts = query<
  {
    appNo: number
    after: number
    before: number
    limit: number
    viewer: string | null
    moderates: boolean
  },
  TextRow
>(
  'previews.listTexts',
  `select * from (
     ${texts('messages', `m.category <> 'action' and m.deleted_at is null and m.id > h.purged_id`)}
     union all
     ${texts('held_messages', 'm.id > h.purged_id', `and ${HELD_IS_SHOWN}`)}) both_tables
   order by id desc limit :limit`,
)

/** What filters ask about users and groups, as they are now. */
export const listManyFacts = query<
  { appNo: number; uids: string[]; guids: string[] },
  {
    kind: 'user' | 'group'
    id: string
    name: string
    role: string | null
    type: string | null
    tags: string[]
    created_at: Date
  }
>(
  'previews.listFacts',
  `select 'user' as kind, uid as id, name,
     case role when 'default' then role else shown_role(app_no, role) end as role, null as type, tags, created_at
   from users where app_no = :appNo and uid = any(:uids::text[])
   union all
   select 'group', guid, name, null, type, tags, created_at
   from groups where app_no = :appNo and guid = any(:guids::text[])`,
)
