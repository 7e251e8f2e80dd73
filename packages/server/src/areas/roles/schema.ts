import { type Static, Type } from 'typebox'
import {
  Id,
  Metadata,
  Name,
  Nullable,
  PageQuery,
  Text,
  Unset,
} from '../../platform/http/schemas.ts'

const METADATA_BYTES = 5_120

const Choice = (description: string) =>
  Type.Optional(Type.Enum(['all', 'friendsOnly'], { description }))

const fields = {
  name: Name(100, 'Display name.'),
  description: Text(255, 'What the role is for.'),
  metadata: Metadata(METADATA_BYTES, 'Your own data, as an object.'),
  settings: Type.Object(
    {
      listUsers: Choice('Which users a user with this role may list.'),
      sendMessagesTo: Choice('Which users a user with this role may send messages to.'),
    },
    { additionalProperties: false },
  ),
}

export const NewRole = Type.Object({
  role: Id(
    "Id of your choice, unique within the app. Converted to lower case; it can't be changed later.",
  ),
  name: fields.name,
  description: Type.Optional(fields.description),
  metadata: Type.Optional(fields.metadata),
  settings: Type.Optional(fields.settings),
})
export type NewRole = Static<typeof NewRole>

export const RoleChanges = Type.Object({
  name: Type.Optional(fields.name),
  description: Type.Optional(Nullable(fields.description)),
  metadata: Type.Optional(Nullable(fields.metadata)),
  settings: Type.Optional(Nullable(fields.settings)),
  unset: Type.Optional(Unset(['settings', 'description', 'metadata'])),
})
export type RoleChanges = Static<typeof RoleChanges>

/** A custom or built-in role. */
export const RoleId = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^@?[A-Za-z0-9_-]*$',
  'x-lower': true,
  description: 'Id of an existing role.',
})

export const RoleParams = Type.Object({ role: RoleId })
export const RoleListQuery = PageQuery({})
