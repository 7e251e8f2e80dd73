/** Two settings of a role are older than permissions and say the same. Every write keeps them in step. */
import type { RolePermission } from './definitions.ts'
import type { StoredPermissions } from './rules.ts'

export interface RoleSettings {
  listUsers?: 'all' | 'friendsOnly'
  sendMessagesTo?: 'all' | 'friendsOnly'
}

const TWINS: [keyof RoleSettings, RolePermission][] = [
  ['listUsers', 'listUsers.mode'],
  ['sendMessagesTo', 'sendMessage.mode'],
]

const entriesOf = (permissions: StoredPermissions) =>
  Object.keys(permissions).length > 0 ? permissions : null

/** The permissions of a role after its settings were replaced. */
export function permissionsAfter(
  settings: RoleSettings | null,
  before: StoredPermissions | null,
  now: number,
): StoredPermissions | null {
  const permissions = { ...before }
  for (const [setting, name] of TWINS) {
    const given = settings?.[setting]
    const value = given === 'friendsOnly' ? 'friends' : given
    if (value === undefined) delete permissions[name]
    else if (permissions[name]?.value !== value) {
      permissions[name] = { value, createdAt: permissions[name]?.createdAt ?? now, updatedAt: now }
    }
  }
  return entriesOf(permissions)
}

/** The settings of a role after its permissions were changed. */
export function settingsAfter(
  permissions: StoredPermissions | null,
  before: RoleSettings | null,
): RoleSettings | null {
  const settings = { ...before }
  for (const [setting, name] of TWINS) {
    const value = permissions?.[name]?.value
    if (value === undefined) delete settings[setting]
    else settings[setting] = value === 'friends' ? 'friendsOnly' : 'all'
  }
  return Object.keys(settings).length > 0 ? settings : null
}
