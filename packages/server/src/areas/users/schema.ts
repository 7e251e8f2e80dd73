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
import { PictureUrl } from '../files/schema.ts'
import { RoleId } from '../roles/schema.ts'

const METADATA_BYTES = 5_120

const fields = {
  name: Name(100, 'Display name.'),
  avatar: PictureUrl,
  link: Url('URL of a profile page.'),
  role: RoleId,
  statusMessage: Text(255, "The user's status message."),
  metadata: Metadata(
    METADATA_BYTES,
    'Your own data, as an object. Other users never see the value of `@private`.',
  ),
  tags: Tags('Up to 25 tags.'),
}

export const NewUser = Type.Object({
  uid: Id(
    "Id of your choice, unique within the app. Converted to lower case; it can't be changed later.",
  ),
  name: fields.name,
  avatar: Type.Optional(fields.avatar),
  link: Type.Optional(fields.link),
  role: Type.Optional(Type.String({ ...fields.role, default: 'default' })),
  statusMessage: Type.Optional(fields.statusMessage),
  metadata: Type.Optional(fields.metadata),
  tags: Type.Optional(fields.tags),
  withAuthToken: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Whether to create an auth token and return it with the user.',
    }),
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
    authToken: Type.Optional(Type.String({ description: 'Only with `withAuthToken`.' })),
  },
  { additionalProperties: false, 'x-component': 'CreatedUser' },
)
export type CreatedUser = Static<typeof CreatedUser>

export const UidParams = Type.Object({ uid: Id('UID of the user.') })

const Uids = Type.Array(Id('UID of a user.'), {
  maxItems: 100,
  description: 'Up to 100 uids. Unknown ones are skipped.',
})

export const Deactivation = Type.Object({ uidsToDeactivate: Uids })
export const Reactivation = Type.Object({ uidsToActivate: Uids })

export const DeactivatedUids = Type.Object(
  { deactivatedUids: Type.Array(Type.String()) },
  { additionalProperties: false },
)
export const NonDeactivatedUids = Type.Object(
  {
    nonDeactivatedUids: Type.Array(Type.String(), {
      description: 'UIDs of users who are active after the call.',
    }),
  },
  { additionalProperties: false },
)

export const Removal = Nullable(
  Type.Object({
    permanent: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether to delete the user permanently. Otherwise the user is only deactivated.',
      }),
    ),
  }),
)

const Flag = (description: string) => Type.Optional(Type.Boolean({ default: false, description }))
const Window = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }))
const List = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { maxItems: 100, description }))

export const UserListQuery = PageQuery({
  searchKey: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only users whose name contains this text or whose uid starts with it.',
    }),
  ),
  searchIn: Type.Optional(
    Type.Array(Type.Enum(['name', 'uid']), { description: 'Fields to search. Default: both.' }),
  ),
  status: Type.Optional(
    Type.Array(Type.Enum(['available', 'online', 'offline']), {
      description: 'Presence. `online` means the same as `available`.',
    }),
  ),
  count: Flag('Return only the number of users.'),
  role: Type.Optional(Type.String({ description: 'Only users with this role.' })),
  roles: List('Only users with any of these roles.'),
  withTags: Flag('Include `tags` in the records.'),
  tags: List('Only users with any of these tags.'),
  onlyDeactivated: Flag('Only deactivated users.'),
  withDeactivated: Flag('Include deactivated users.'),
  'createdAt[from]': Window('Only records created at or after this time, in Unix seconds.'),
  'createdAt[to]': Window('Only records created at or before this time, in Unix seconds.'),
  'updatedAt[from]': Window('Only records updated at or after this time, in Unix seconds.'),
  'updatedAt[to]': Window('Only records updated at or before this time, in Unix seconds.'),
  uids: Type.Optional(
    Type.Array(Id('UID of a user.'), { maxItems: 25, description: 'Only these users.' }),
  ),
  sortBy: Type.Optional(
    Type.Enum(['name'], { description: 'Field to sort by: the name, then the uid.' }),
  ),
  sortOrder: Type.Optional(
    Type.Enum(['asc', 'desc'], { description: 'Sort direction. Default: ascending.' }),
  ),
  cursor: Type.Optional(Type.String({ description: '`meta.cursor.next` of the previous page.' })),
})
export type UserListQuery = Static<typeof UserListQuery>

export const UserCount = Type.Object(
  {
    count: Type.Integer(),
    total_capped: Type.Optional(
      Type.Literal(true, {
        description: 'Present if counting stopped at `count`: there may be more users.',
      }),
    ),
  },
  { additionalProperties: false, 'x-component': 'UserCount' },
)
