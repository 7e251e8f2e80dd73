import {
  type Feature,
  isFeature,
  type PermissionValue,
  type RolePermission,
} from './definitions.ts'

/** A permission with an explicit value, as roles and groups store it. Times are Unix seconds. */
export interface StoredPermission {
  value: PermissionValue
  createdAt: number
  updatedAt: number
}

export type StoredPermissions = Record<string, StoredPermission>

/** A role of an app, as far as it has rules. */
export interface RoleRules {
  role: string
  settings: { listUsers?: string; sendMessagesTo?: string } | null
  permissions: StoredPermissions | null
  restrictions: Record<string, number> | null
}

/** The rules that bind the users of a role. Only values that limit something are there. */
export interface RolePolicy {
  role: string
  restricted: ReadonlySet<Feature>
  permissions: Readonly<Partial<Record<RolePermission, PermissionValue>>>
}

/** By role. Roles without rules have no entry. */
export type AppRules = ReadonlyMap<string, RolePolicy>

const NO_RULES: AppRules = new Map()

/** Compiles the rules of an app. */
export function compileRules(rows: RoleRules[]): AppRules {
  const policies = rows.map(compile).filter(({ restricted, permissions }) => {
    return restricted.size > 0 || Object.keys(permissions).length > 0
  })
  return policies.length === 0 ? NO_RULES : new Map(policies.map((policy) => [policy.role, policy]))
}

/** The older settings say the same as two of the permissions: if they differ, the stricter one applies. */
function compile({ role, settings, permissions, restrictions }: RoleRules): RolePolicy {
  const limits: Partial<Record<string, PermissionValue>> = {}
  for (const [name, { value }] of Object.entries(permissions ?? {})) {
    if (isLimit(value)) limits[name] = value
  }
  if (settings?.listUsers === 'friendsOnly') limits['listUsers.mode'] = 'friends'
  if (settings?.sendMessagesTo === 'friendsOnly') limits['sendMessage.mode'] = 'friends'
  const restricted = Object.keys(restrictions ?? {}).filter(isFeature)
  return { role, restricted: new Set(restricted), permissions: limits }
}

/** `allow`, `all` and lists without entries are what holds anyway. */
const isLimit = (value: PermissionValue) =>
  typeof value === 'string' ? value !== 'allow' && value !== 'all' : value.length > 0

/** A list of a role's permissions that limits something. */
export function listIn(
  policy: RolePolicy | undefined,
  name: RolePermission,
): readonly string[] | undefined {
  const value = policy?.permissions[name]
  return typeof value === 'object' ? value : undefined
}
