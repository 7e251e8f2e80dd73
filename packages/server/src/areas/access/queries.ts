import type { RoleRules, StoredPermissions } from '../../core/access/rules.ts'
import type { RoleSettings } from '../../core/access/twins.ts'
import { BAN_IS_IN_FORCE } from '../../core/visibility.ts'
import { query } from '../../platform/db/query.ts'
import { COLUMNS, type RoleRow } from '../roles/queries.ts'

type OneRole = { appNo: number; role: string }
type OneGroup = { appNo: number; guid: string }

/** The rules of a role. */
export interface RuleRow {
  created_at: Date
  settings: RoleSettings | null
  permissions: StoredPermissions | null
  /** Restricted features, with the second since when. */
  restrictions: Record<string, number> | null
}

export const findRules = query<OneRole, RuleRow>(
  'access.findRules',
  `select created_at, settings, permissions, restrictions from roles
   where app_no = :appNo and role = :role and removed_at is null`,
)

/** Writes to roles lock the app's row first, so nobody changes them meanwhile. */
export const updateRules = query<
  OneRole & {
    settings: string | null
    permissions: string | null
    restrictions: string | null
  },
  RoleRow
>(
  'access.updateRules',
  `update roles set settings = :settings::jsonb, permissions = :permissions::jsonb,
     restrictions = :restrictions::jsonb, updated_at = now()
   where app_no = :appNo and role = :role
   returning ${COLUMNS}`,
)

/** The permissions of the scopes of a group, by scope. */
export interface ScopeRuleRow {
  created_at: Date
  permissions: Partial<Record<string, StoredPermissions>> | null
}

export const findScopeRules = query<OneGroup, ScopeRuleRow>(
  'access.findScopeRules',
  `select created_at, permissions from groups
   where app_no = :appNo and guid = :guid and removed_at is null`,
)

export const updateScopeRules = query<OneGroup & { permissions: string | null }>(
  'access.updateScopeRules',
  `update groups set permissions = :permissions::jsonb where app_no = :appNo and guid = :guid`,
)

/** What rules can be about. The columns of the group and of the other user are null if none is named. */
export interface FactRow {
  role: string
  rules: RoleRules[] | null
  other_role: string | null
  friend: boolean
  group_type: string | null
  scope: string | null
  scope_rules: StoredPermissions | null
  owner: boolean
  banned: boolean
  other_scope: string | null
  other_owner: boolean
  other_banned: boolean
  /** The scope of the other user before a ban. */
  other_former: string | null
}

const shownRole = (user: string) =>
  `case ${user}.role when 'default' then 'default' else shown_role(:appNo, ${user}.role) end`

/** With the rules of all roles of the app, so that an explanation is never older than they are. */
export const findFacts = query<
  { appNo: number; uid: string; guid: string | null; receiver: string | null },
  FactRow
>(
  'access.findFacts',
  `select ${shownRole('u')} as role, (
     select json_agg(json_build_object('role', r.role, 'settings', r.settings,
       'permissions', r.permissions, 'restrictions', r.restrictions))
     from roles r where r.app_no = :appNo and r.removed_at is null) as rules,
     case when o.uid is not null then ${shownRole('o')} end as other_role,
     exists (select from friends f
       where f.app_no = :appNo and f.uid = :uid and f.friend_uid = o.uid) as friend,
     g.type as group_type, i.scope, scope_rules(g.permissions, g.owner, i.scope, :uid) as scope_rules,
     coalesce(g.owner = :uid, false) as owner,
     exists (select from bans b
       where b.app_no = :appNo and b.guid = g.guid and b.uid = :uid and ${BAN_IS_IN_FORCE}) as banned,
     n.scope as other_scope, coalesce(g.owner = o.uid, false) as other_owner,
     e.uid is not null as other_banned, e.scope as other_former
   from users u
     left join users o on o.app_no = :appNo and o.uid = :receiver::text
       and o.deactivated_at is null and o.removed_at is null
     left join groups g on g.app_no = :appNo and g.guid = :guid::text and g.removed_at is null
     left join inbox i on i.app_no = :appNo and i.uid = :uid and i.kind = 'group'
       and i.with_id = g.guid and i.scope is not null
     left join inbox n on n.app_no = :appNo and n.uid = o.uid and n.kind = 'group'
       and n.with_id = g.guid and n.scope is not null
     left join bans e on e.app_no = :appNo and e.guid = g.guid and e.uid = o.uid
       and (e.until is null or e.until > now())
   where u.app_no = :appNo and u.uid = :uid and u.deactivated_at is null and u.removed_at is null`,
)
