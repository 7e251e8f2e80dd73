import type { Scope } from '@loquat/protocol'
import type { StoredPermissions } from '../../core/access/rules.ts'
import { settingsAfter } from '../../core/access/twins.ts'
import type { Actor } from '../../core/actor.ts'
import { lockGroupHead } from '../../core/group-seen.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { ApiError, fail } from '../../platform/http/fail.ts'
import { announceRole, forgetRules, json } from '../roles/actions.ts'
import { listRoles, lockRoles } from '../roles/queries.ts'
import {
  findRules,
  findScopeRules,
  type RuleRow,
  updateRules,
  updateScopeRules,
} from './queries.ts'
import type { CurrentPermissions, PermissionChanges } from './schema.ts'
import { definitionOf, type PermissionType, readValue, valuesOf } from './values.ts'

export { type PermissionType, readValue }

type Given = PermissionChanges['permissions']

/** Changes the rules of a role. They hold everywhere within a second. */
export async function changeRules(
  deps: Deps,
  tx: Tx,
  { app: { no: appNo } }: Actor,
  role: string,
  change: (before: RuleRow) => Promise<Partial<RuleRow>> | Partial<RuleRow>,
): Promise<RuleRow> {
  await lockRoles.run(tx, { appNo })
  const before = await findRules.maybeOne(tx, { appNo, role })
  if (!before) throw fail('ERR_ROLE_NOT_FOUND', { role })
  const after = { ...before, ...(await change(before)) }
  const { permissions, restrictions } = after
  const row = await updateRules.one(tx, {
    ...{ appNo, role, permissions: json(permissions), restrictions: json(restrictions) },
    settings: json(settingsAfter(permissions, before.settings)),
  })
  await forgetRules(deps, tx, appNo)
  await announceRole(tx, appNo, 'role.updated', row)
  return after
}

/** Each permission on its own: an invalid one doesn't stop the others. */
export function updateRolePermissions(
  deps: Deps,
  actor: Actor,
  role: string,
  { permissions: given }: PermissionChanges,
) {
  return write(deps, actor, async (tx) => {
    let outcomes = {}
    const { permissions } = await changeRules(deps, tx, actor, role, async (before) => {
      const applied = await apply(tx, actor, 'role', before.permissions, given)
      outcomes = applied.outcomes
      return { permissions: applied.permissions }
    })
    return { ...outcomes, permissions: valuesOf(permissions) }
  })
}

/** The default of a permission holds again. */
export function deleteRolePermission(
  deps: Deps,
  actor: Actor,
  role: string,
  permission: string,
): Promise<CurrentPermissions> {
  checkKnown('role', permission)
  return write(deps, actor, async (tx) => {
    const { permissions } = await changeRules(deps, tx, actor, role, (before) => ({
      permissions: without(before.permissions, permission),
    }))
    return { permissions: valuesOf(permissions) }
  })
}

interface ScopeOfGroup {
  guid: string
  scope: Scope
}

/** The same for the members of a group with a scope. */
export function updateScopePermissions(
  deps: Deps,
  actor: Actor,
  of: ScopeOfGroup,
  { permissions: given }: PermissionChanges,
) {
  return write(deps, actor, async (tx) => {
    let outcomes = {}
    const permissions = await changeScopeRules(deps, tx, actor, of, async (before) => {
      const applied = await apply(tx, actor, 'scope', before, given)
      outcomes = applied.outcomes
      return applied.permissions
    })
    return { ...outcomes, permissions: valuesOf(permissions) }
  })
}

export function deleteScopePermission(
  deps: Deps,
  actor: Actor,
  of: ScopeOfGroup,
  permission: string,
): Promise<CurrentPermissions> {
  checkKnown('scope', permission)
  return write(deps, actor, async (tx) => {
    const permissions = await changeScopeRules(deps, tx, actor, of, (before) =>
      without(before, permission),
    )
    return { permissions: valuesOf(permissions) }
  })
}

/** The head is locked, as for every change of a group. */
async function changeScopeRules(
  deps: Deps,
  tx: Tx,
  { app: { no: appNo } }: Actor,
  { guid, scope }: ScopeOfGroup,
  change: (
    before: StoredPermissions | null,
  ) => Promise<StoredPermissions | null> | StoredPermissions | null,
): Promise<StoredPermissions | null> {
  await lockGroupHead.maybeOne(tx, { appNo, guid })
  const row = await findScopeRules.maybeOne(tx, { appNo, guid })
  if (!row) throw fail('ERR_GUID_NOT_FOUND', { guid })
  const after = await change(row.permissions?.[scope] ?? null)
  const { [scope]: _before, ...others } = row.permissions ?? {}
  const all = { ...others, ...(after && { [scope]: after }) }
  const permissions = Object.keys(all).length > 0 ? json(all) : null
  await updateScopeRules.run(tx, { appNo, guid, permissions })
  // Devices read the permissions of their groups again.
  await forgetRules(deps, tx, appNo)
  return after
}

function checkKnown(type: PermissionType, permission: string): void {
  if (!definitionOf(type, permission)) throw fail('ERR_PERMISSION_NOT_FOUND', { permission })
}

function without(before: StoredPermissions | null, permission: string): StoredPermissions | null {
  const { [permission]: _gone, ...rest } = before ?? {}
  return Object.keys(rest).length > 0 ? rest : null
}

/** Sets the given values as far as they are valid. */
async function apply(
  tx: Tx,
  { app: { no: appNo } }: Actor,
  type: PermissionType,
  before: StoredPermissions | null,
  given: Given,
) {
  const roles = type === 'role' ? await listRoles.many(tx, { appNo }) : []
  const known = new Set(roles.map(({ role }) => role))
  const permissions: StoredPermissions = { ...before }
  const now = seconds(new Date())
  const outcomes = Object.entries(given).map(([name, asked]) => {
    const value = readValue(type, name, asked, known)
    if (value instanceof ApiError) {
      const { code, message } = value
      return [name, { success: false, error: { code, message } }]
    }
    const createdAt = before?.[name]?.createdAt ?? now
    permissions[name] = { value, createdAt, updatedAt: now }
    return [name, { success: true, message: 'saved' }]
  })
  return {
    outcomes: Object.fromEntries(outcomes),
    permissions: Object.keys(permissions).length > 0 ? permissions : null,
  }
}
