import { RULE_COLUMNS, type RuleRow } from '../../core/moderation/queries.ts'
import { query } from '../../platform/db/query.ts'

type OneRule = { appNo: number; id: string }

/** Serialises the changes of an app's rules and lists, so that counts and references are exact. */
export const lockModeration = query<{ appNo: number }>(
  'moderation.lock',
  'select from apps where app_no = :appNo for no key update',
)

export const updateVersion = query<{ appNo: number; version: string | null }>(
  'moderation.updateVersion',
  'update apps set moderation = :version where app_no = :appNo',
)

/** Sorted by id. An app has few, so all are read. */
export const listRuleRows = query<{ appNo: number }, RuleRow>(
  'moderation.listRules',
  `select ${RULE_COLUMNS} from moderation_rules where app_no = :appNo and active order by rule_id`,
)

export const findRule = query<OneRule, RuleRow>(
  'moderation.findRule',
  `select ${RULE_COLUMNS} from moderation_rules
   where app_no = :appNo and rule_id = :id and active`,
)

/** Newest first; older ones than these are removed. */
export const listRevisions = query<OneRule, RuleRow>(
  'moderation.listRevisions',
  `select ${RULE_COLUMNS} from moderation_rules
   where app_no = :appNo and rule_id = :id order by revision desc`,
)

export const insertRevision = query<
  OneRule & {
    revision: number
    name: string
    description: string | null
    enabled: boolean
    action: string[]
    filters: string
    conditions: string
    createdAt: Date | null
  },
  RuleRow
>(
  'moderation.insertRevision',
  `insert into moderation_rules (app_no, rule_id, revision, active, name, description, enabled,
     action, filters, conditions, created_at)
   values (:appNo, :id, :revision, true, :name, :description, :enabled, :action::text[],
     :filters::jsonb, :conditions::jsonb, coalesce(:createdAt::timestamptz, now()))
   returning ${RULE_COLUMNS}`,
)

export const retireRevision = query<OneRule>(
  'moderation.retireRevision',
  `update moderation_rules set active = false where app_no = :appNo and rule_id = :id and active`,
)

export const removeOldRevisions = query<OneRule & { before: number }>(
  'moderation.removeOldRevisions',
  `delete from moderation_rules
   where app_no = :appNo and rule_id = :id and revision < :before`,
)

export const removeRule = query<OneRule, RuleRow>(
  'moderation.removeRule',
  `with gone as (
     delete from moderation_rules where app_no = :appNo and rule_id = :id returning *
   )
   select ${RULE_COLUMNS} from gone where active`,
)
