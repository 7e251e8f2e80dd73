import { ByName, SCOPES } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { DATA_TYPES } from '../../core/access/definitions.ts'
import { Id, Outcome, PageQuery, Timestamp } from '../../platform/http/schemas.ts'
import { RoleId, RoleParams } from '../roles/schema.ts'

const Value = Type.Union([Type.String(), Type.Array(Type.String())])

export const PermissionRecord = Type.Object(
  {
    id: Type.String({ description: 'Name of the permission.' }),
    type: Type.Enum(['role', 'scope']),
    title: Type.String(),
    description: Type.String({ description: 'What the permission controls.' }),
    dataType: Type.Enum([...DATA_TYPES]),
    availableValues: Type.Optional(
      Type.Array(Type.String(), { description: 'The words that a value can have.' }),
    ),
    defaultValue: Value,
    value: Type.Union([Type.String(), Type.Array(Type.String()), Type.Null()], {
      description: 'The explicit value, or null if the default holds.',
    }),
    createdAt: Timestamp('Time when the value was first set, in Unix seconds.'),
    updatedAt: Timestamp('Time of the last change, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'Permission' },
)
export type PermissionRecord = Static<typeof PermissionRecord>

export const PermissionListQuery = PageQuery({})

const Permissions = ByName(Value, {
  'x-component': 'PermissionValues',
  description: 'All explicit values by name. Permissions that are not listed have their default.',
})

export const CurrentPermissions = Type.Object(
  { permissions: Permissions },
  { additionalProperties: false },
)
export type CurrentPermissions = Static<typeof CurrentPermissions>

export const PermissionChanges = Type.Object({
  permissions: ByName(Type.Unknown(), {
    minProperties: 1,
    maxProperties: 100,
    description:
      'Values by name. A list may be a single text. Permissions that are not named keep their values.',
  }),
})
export type PermissionChanges = Static<typeof PermissionChanges>

export const PermissionOutcomes = Type.Object(
  { permissions: Permissions },
  {
    additionalProperties: Outcome([
      'ERR_PERMISSION_NOT_FOUND',
      'ERR_BAD_REQUEST',
      'ERR_ROLE_NOT_FOUND',
    ]),
    description: 'The result for each permission by its name, and all explicit values.',
  },
)

const permission = Type.String({ maxLength: 100, description: 'Name of the permission.' })
const scope = Type.Enum([...SCOPES], { description: 'Scope of the members.' })

export const RolePermissionParams = Type.Object({ role: RoleId, permission })
export const ScopeParams = Type.Object({ guid: Id('GUID of the group.'), scope })
export const ScopePermissionParams = Type.Object({ ...ScopeParams.properties, permission })
export { RoleParams }
