import { UserRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import {
  Id,
  Metadata,
  Name,
  Nullable,
  PageQuery,
  Tags,
  Text,
  Unset,
  Url,
} from '../../platform/http/schemas.ts'
import { RoleId } from '../roles/schema.ts'

const METADATA_BYTES = 5_120

const fields = {
  name: Name(100, 'What others see.'),
  avatar: Url('Address of a picture.'),
  link: Url('Address of a profile page.'),
  role: RoleId,
  statusMessage: Text(255, 'A text about mood or state.'),
  metadata: Metadata(
    METADATA_BYTES,
    'Free data; what stands under `@private` other users never see.',
  ),
  tags: Tags('Labels, up to 25.'),
}

export const NewUser = Type.Object({
  uid: Id('Chosen by the caller; unique within the app, lowered, never changed.'),
  name: fields.name,
  avatar: Type.Optional(fields.avatar),
  link: Type.Optional(fields.link),
  role: Type.Optional(fields.role),
  statusMessage: Type.Optional(fields.statusMessage),
  metadata: Type.Optional(fields.metadata),
  tags: Type.Optional(fields.tags),
  withAuthToken: Type.Optional(
    Type.Boolean({ description: 'Put a new auth token into the answer.' }),
  ),
})
export type NewUser = Static<typeof NewUser>

const UNSETTABLE = ['avatar', 'link', 'metadata', 'statusMessage'] as const

export const UserChanges = Type.Object({
  name: Type.Optional(fields.name),
  avatar: Type.Optional(Nullable(fields.avatar)),
  link: Type.Optional(Nullable(fields.link)),
  role: Type.Optional(fields.role),
  statusMessage: Type.Optional(Nullable(fields.statusMessage)),
  metadata: Type.Optional(Nullable(fields.metadata)),
  tags: Type.Optional(fields.tags),
  unset: Type.Optional(Unset([...UNSETTABLE])),
})
export type UserChanges = Static<typeof UserChanges>

export const CreatedUser = Type.Object(
  {
    ...UserRecord.properties,
    authToken: Type.Optional(Type.String({ description: 'With `withAuthToken` only.' })),
  },
  { additionalProperties: false },
)
export type CreatedUser = Static<typeof CreatedUser>

export const UidParams = Type.Object({ uid: Id('The user.') })

const Uids = Type.Array(Id('A user.'), {
  maxItems: 100,
  description: 'Up to 100; unknown ones are skipped.',
})

export const Deactivation = Type.Object({ uidsToDeactivate: Uids })
export const Reactivation = Type.Object({ uidsToActivate: Uids })

export const DeactivatedUids = Type.Object(
  { deactivatedUids: Type.Array(Type.String()) },
  { additionalProperties: false },
)
export const NonDeactivatedUids = Type.Object(
  { nonDeactivatedUids: Type.Array(Type.String(), { description: 'Active after the call.' }) },
  { additionalProperties: false },
)

export const Removal = Nullable(
  Type.Object({
    permanent: Type.Optional(
      Type.Boolean({ description: 'Wipe the user; else it is deactivated.' }),
    ),
  }),
)

const Window = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }))
const List = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { maxItems: 100, description }))

export const UserListQuery = PageQuery({
  searchKey: Type.Optional(
    Type.String({ maxLength: 200, description: 'Text in the name, or the beginning of the uid.' }),
  ),
  searchIn: Type.Optional(
    Type.Array(Type.Enum(['name', 'uid']), { description: 'Fields to search; both unless given.' }),
  ),
  status: Type.Optional(
    Type.Array(Type.Enum(['available', 'online', 'offline']), { description: 'Presence.' }),
  ),
  count: Type.Optional(Type.Boolean({ description: 'Answer with the number of users alone.' })),
  role: Type.Optional(Type.String({ description: 'Only this role.' })),
  roles: List('Only these roles.'),
  withTags: Type.Optional(Type.Boolean({ description: 'Put `tags` into the records.' })),
  tags: List('Only users with any of these tags.'),
  onlyDeactivated: Type.Optional(Type.Boolean({ description: 'Deactivated users only.' })),
  withDeactivated: Type.Optional(Type.Boolean({ description: 'Deactivated users too.' })),
  'createdAt[from]': Window('Created at or after, in Unix seconds.'),
  'createdAt[to]': Window('Created at or before, in Unix seconds.'),
  'updatedAt[from]': Window('Changed at or after, in Unix seconds.'),
  'updatedAt[to]': Window('Changed at or before, in Unix seconds.'),
  uids: Type.Optional(
    Type.Array(Id('A user.'), { maxItems: 25, description: 'Only these users.' }),
  ),
  sortBy: Type.Optional(Type.Enum(['name'], { description: 'Order: by name, then uid.' })),
  sortOrder: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'Ascending unless given.' })),
  cursor: Type.Optional(
    Type.String({ description: 'From `meta.cursor.next` of the page before.' }),
  ),
})
export type UserListQuery = Static<typeof UserListQuery>

export const UserCount = Type.Object(
  {
    count: Type.Integer(),
    total_capped: Type.Optional(
      Type.Literal(true, {
        description: 'There can be more than `count` says: counting ended there.',
      }),
    ),
  },
  { additionalProperties: false },
)
