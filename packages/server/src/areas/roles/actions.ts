import { randomUUID } from 'node:crypto'
import type { EventType, RoleRecord } from '@loquat/protocol'
import { permissionsAfter } from '../../core/access/twins.ts'
import type { Actor } from '../../core/actor.ts'
import { refuseIf } from '../../core/policy.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { RULES } from '../../platform/cells/revocations.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { isEmpty, readUnset } from '../../platform/http/changes.ts'
import { fail } from '../../platform/http/fail.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { refuseDelete } from './policy.ts'
import {
  countRoles,
  insertRole,
  lockRole,
  lockRoles,
  markRoleRemoved,
  type RoleRow,
  sweepRole,
  updateRoleRow,
} from './queries.ts'
import type { NewRole, RoleChanges } from './schema.ts'
import { sweepRoleJob } from './sweep.job.ts'

export const ROLES_PER_APP = 25
/** Users moved in the action's own transaction; the sweep moves the rest. */
const SWEEP_AT_ONCE = 1_000

/** The record in answers. */
export function toRole(row: RoleRow): RoleRecord {
  return {
    role: row.role,
    name: row.name,
    createdAt: seconds(row.created_at),
    ...(row.description !== null && { description: row.description }),
    ...(row.metadata !== null && { metadata: row.metadata }),
    ...(row.settings !== null && { settings: row.settings }),
    ...(row.updated_at !== null && { updatedAt: seconds(row.updated_at) }),
  }
}

export const json = (value: object | null | undefined) => (value ? JSON.stringify(value) : null)

export function createRole(deps: Deps, actor: Actor, given: NewRole): Promise<RoleRecord> {
  const appNo = actor.app.no
  const { role, name, description = null } = given
  const permissions = json(permissionsAfter(given.settings ?? null, null, seconds(new Date())))
  const data = { metadata: json(given.metadata), settings: json(given.settings), permissions }
  return write(deps, actor, async (tx) => {
    await lockRoles.run(tx, { appNo })
    const row = await insertRole.maybeOne(tx, { appNo, role, name, description, ...data })
    if (!row) throw fail('ERR_ROLE_ALREADY_EXISTS', { role })
    const { count } = await countRoles.one(tx, { appNo })
    if (count > ROLES_PER_APP) {
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: ROLES_PER_APP, what: 'roles per app' })
    }
    await forgetRules(deps, tx, appNo)
    return announceRole(tx, appNo, 'role.created', row)
  })
}

export function updateRole(
  deps: Deps,
  actor: Actor,
  role: string,
  changes: RoleChanges,
): Promise<RoleRecord> {
  const appNo = actor.app.no
  const unset = readUnset(changes)
  const { name = null, description = null } = changes
  const data = { metadata: json(changes.metadata), settings: json(changes.settings) }
  return write(deps, actor, async (tx) => {
    await lockRoles.run(tx, { appNo })
    const before = await lockRole.maybeOne(tx, { appNo, role })
    if (!before) throw fail('ERR_ROLE_NOT_FOUND', { role })
    if (isEmpty(changes)) return toRole(before)
    const settings = unset.includes('settings') ? null : (changes.settings ?? before.settings)
    const permissions = json(permissionsAfter(settings, before.permissions, seconds(new Date())))
    const change = { appNo, role, name, description, ...data, permissions, unset }
    const row = await updateRoleRow.one(tx, change)
    await forgetRules(deps, tx, appNo)
    return announceRole(tx, appNo, 'role.updated', row)
  })
}

/** The role is gone at once; its users have `default` from now on. */
export function deleteRole(deps: Deps, actor: Actor, role: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    await lockRoles.run(tx, { appNo })
    const row = await lockRole.maybeOne(tx, { appNo, role })
    if (!row) throw fail('ERR_ROLE_NOT_FOUND', { role })
    refuseIf(refuseDelete(row))
    await markRoleRemoved.run(tx, { appNo, role })
    const { gone } = await sweepRole.one(tx, { appNo, role, limit: SWEEP_AT_ONCE })
    if (!gone) await enqueue(tx, appNo, sweepRoleJob, { role })
    await forgetRules(deps, tx, appNo)
    await announceRole(tx, appNo, 'role.deleted', row)
    return { success: true as const, message: `Role ${role} deleted.` }
  })
}

type RoleEvent = Extract<EventType, `role.${string}`>

/**
 * Every process reads the rules of the app again, within a second. The id tells changes apart: gateways read the roles
 * of all connected users, and see each change in the log for half a minute.
 */
export const forgetRules = ({ revocations }: Pick<Deps, 'revocations'>, tx: Tx, appNo: number) =>
  revocations.revoke(tx, { appNo, kind: 'app' }, `${RULES}${randomUUID()}`)

export async function announceRole(tx: Tx, appNo: number, type: RoleEvent, row: RoleRow) {
  const role = toRole(row)
  await announce(tx, { appNo, type, key: `role:${row.role}`, payload: { role } })
  return role
}
