import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'
import type { Filter } from './filters.ts'
import type { Condition } from './rules.ts'

export type RuleRow = Omit<
  CellRows['moderation_rules'],
  'app_no' | 'filters' | 'conditions' | 'action'
> & { action: string[]; filters: Filter[]; conditions: Condition[] }

export const RULE_COLUMNS =
  'rule_id, revision, active, name, description, enabled, action, filters, conditions, created_at, updated_at'

export interface ListRow {
  list_id: string
  category: string
  entries: string[]
}

/** What an app checks: its rules that are enabled, sorted by id. */
export const listEnabledRules = query<{ appNo: number }, RuleRow>(
  'moderation.listEnabledRules',
  `select ${RULE_COLUMNS} from moderation_rules
   where app_no = :appNo and active and enabled order by rule_id`,
)

/** The lists that the app has stored, among these. */
export const listEntries = query<{ appNo: number; ids: string[] }, ListRow>(
  'moderation.listEntries',
  `select list_id, category, entries from keyword_lists
   where app_no = :appNo and list_id = any(:ids::text[])`,
)

export interface FactRow {
  side: 'sender' | 'receiver'
  name: string
  role: string | null
  type: string | null
  tags: string[]
  created_at: Date
}

const user = (side: string, uid: string) => `select '${side}' as side, name,
  case role when 'default' then role else shown_role(app_no, role) end as role, null as type, tags, created_at
  from users where app_no = :appNo and uid = ${uid}`

/** What filters ask about the two sides of a message, each by its primary key. */
export const listFacts = query<
  { appNo: number; sender: string; kind: string; receiver: string },
  FactRow
>(
  'moderation.listFacts',
  `${user('sender', ':sender')}
   union all ${user('receiver', ':receiver')} and :kind::text = 'user'
   union all select 'receiver', name, null, type, tags, created_at
   from groups where app_no = :appNo and guid = :receiver and :kind = 'group'`,
)
