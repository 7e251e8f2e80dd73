import {
  isRolePermission,
  isScopePermission,
  type Permission,
  type PermissionValue,
  rolePermissions,
  scopePermissions,
} from '../../core/access/definitions.ts'
import type { StoredPermissions } from '../../core/access/rules.ts'
import { seconds } from '../../core/time.ts'
import { type ApiError, badRequest, fail } from '../../platform/http/fail.ts'
import type { PermissionRecord } from './schema.ts'

export type PermissionType = 'role' | 'scope'

const ENTRIES = 100
const CHARACTERS = 100

/** The definition of a permission, if there is one with this name. */
export function definitionOf(type: PermissionType, name: string): Permission | undefined {
  if (type === 'role') return isRolePermission(name) ? rolePermissions[name] : undefined
  return isScopePermission(name) ? scopePermissions[name] : undefined
}

/** All permissions with their values. `since` is when the defaults began to hold. */
export function recordsOf(
  type: PermissionType,
  stored: StoredPermissions | null,
  since: Date,
): PermissionRecord[] {
  const table: Record<string, Permission> = type === 'role' ? rolePermissions : scopePermissions
  return Object.entries(table).map(([id, { availableValues, defaultValue, ...texts }]) => {
    const { value = null, createdAt, updatedAt } = stored?.[id] ?? {}
    return {
      ...{ id, type, ...texts, value: shown(value), defaultValue: shown(defaultValue) },
      ...(availableValues && { availableValues: [...availableValues] }),
      createdAt: createdAt ?? seconds(since),
      updatedAt: updatedAt ?? seconds(since),
    }
  })
}

const shown = <T extends PermissionValue | null>(value: T) =>
  (typeof value === 'object' && value !== null ? [...value] : value) as T extends null
    ? string | string[] | null
    : string | string[]

/** The explicit values by name. */
export const valuesOf = (stored: StoredPermissions | null): Record<string, string | string[]> =>
  Object.fromEntries(
    Object.entries(stored ?? {}).map(([name, { value }]) => [
      name,
      typeof value === 'string' ? value : [...value],
    ]),
  )

/** A value that a permission can have, or why it can't have it. */
export function readValue(
  type: PermissionType,
  name: string,
  given: unknown,
  roles: ReadonlySet<string>,
): PermissionValue | ApiError {
  const definition = definitionOf(type, name)
  if (!definition) return fail('ERR_PERMISSION_NOT_FOUND', { permission: name.slice(0, 100) })
  const { dataType, availableValues } = definition
  const wrong = (reason: string) => badRequest({ [name]: [reason] }, `${name} ${reason}.`)
  const oneOf = `must be one of ${availableValues?.join(', ')}`
  if (dataType === 'string') {
    return typeof given === 'string' && availableValues?.includes(given) ? given : wrong(oneOf)
  }
  const list = given === null ? [] : typeof given === 'string' ? [given] : given
  if (!Array.isArray(list) || list.length > ENTRIES) {
    return wrong(`must be a list of up to ${ENTRIES} texts`)
  }
  const isText = (entry: unknown): entry is string =>
    typeof entry === 'string' && entry.length > 0 && entry.length <= CHARACTERS
  if (!list.every(isText)) return wrong(`must contain texts of 1 to ${CHARACTERS} characters`)
  if (availableValues && !list.every((entry) => availableValues.includes(entry))) {
    return wrong(`may only contain ${availableValues.join(', ')}`)
  }
  if (dataType !== 'rolesStringArray') return [...new Set(list)]
  const wanted = [...new Set(list.map((entry) => entry.toLowerCase()))]
  const unknown = wanted.find((role) => !roles.has(role))
  return unknown === undefined ? wanted : fail('ERR_ROLE_NOT_FOUND', { role: unknown })
}
