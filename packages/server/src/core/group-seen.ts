import type { CellRows } from '../../db/rows.gen.ts'
import { query } from '../platform/db/query.ts'
import type { StoredPermissions } from './access/rules.ts'
import type { Membership } from './group-record.ts'
import { GROUP_COLUMNS, type GroupRow } from './group-rows.ts'
import { BAN_IS_IN_FORCE } from './visibility.ts'

type OneGroup = { appNo: number; guid: string }

/** A group with the viewer's membership, and the permissions of its scope if they bind the viewer. */
export type GroupSeen = GroupRow &
  Membership & { banned: boolean; scope_rules: StoredPermissions | null }

export const findGroupSeen = query<OneGroup & { viewer: string }, GroupSeen>(
  'groups.findSeen',
  `select ${GROUP_COLUMNS}, i.scope, i.joined_at,
     scope_rules(g.permissions, g.owner, i.scope, :viewer) as scope_rules,
     exists (select from bans b
       where b.app_no = :appNo and b.guid = :guid and b.uid = :viewer and ${BAN_IS_IN_FORCE}) as banned
   from groups g
   left join inbox i on i.app_no = :appNo and i.uid = :viewer and i.kind = 'group'
     and i.with_id = :guid and i.scope is not null
   where g.app_no = :appNo and g.guid = :guid and g.removed_at is null`,
)

/**
 * Every change of a group or its members locks the head. Read the group's state in a later
 * statement, because this one may have waited for another change.
 */
export const lockGroupHead = query<
  OneGroup,
  Pick<CellRows['conversations'], 'no' | 'shown_id' | 'hidden'>
>(
  'groups.lockHead',
  `select no, shown_id, hidden from conversations
   where app_no = :appNo and kind = 'group' and one = :guid and other = ''
   for no key update`,
)
