import { GROUP_TYPES, GroupRecord } from '@loquat/protocol'
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
} from '../../platform/http/schemas.ts'
import { PictureUrl } from '../files/schema.ts'
import { MemberLists, MemberOutcomes } from './members.schema.ts'

const METADATA_BYTES = 5_120

const fields = {
  name: Name(100, 'Display name.'),
  type: Type.Enum([...GROUP_TYPES], {
    description:
      'Who can join: every user (`public`), users who know the password (`password`), or only users who are added (`private`).',
  }),
  password: Type.String({
    maxLength: 100,
    description:
      'Password of a group of type `password`; ignored for other types. It is never returned.',
  }),
  icon: PictureUrl,
  description: Text(255, 'Description of the group.'),
  metadata: Metadata(METADATA_BYTES, 'Your own data, as an object.'),
  tags: Tags('Up to 25 tags.'),
}

export const NewGroup = Type.Object({
  guid: Id(
    "Id of your choice, unique within the app. Converted to lower case; it can't be changed later.",
  ),
  name: fields.name,
  type: Type.Optional(Type.Enum([...GROUP_TYPES], { ...fields.type, default: 'public' })),
  password: Type.Optional(fields.password),
  icon: Type.Optional(fields.icon),
  description: Type.Optional(fields.description),
  metadata: Type.Optional(fields.metadata),
  tags: Type.Optional(fields.tags),
  owner: Type.Optional(
    Id('UID of the owner. Default: the acting user, or the app if there is none.'),
  ),
  members: Type.Optional(MemberLists),
})
export type NewGroup = Static<typeof NewGroup>

export const GroupChanges = Type.Object({
  name: Type.Optional(fields.name),
  type: Type.Optional(fields.type),
  password: Type.Optional(fields.password),
  icon: Type.Optional(Nullable(fields.icon)),
  description: Type.Optional(Nullable(fields.description)),
  metadata: Type.Optional(Nullable(fields.metadata)),
  tags: Type.Optional(fields.tags),
  owner: Type.Optional(
    Id('UID of the new owner, who becomes an admin. Ignored with the header `onBehalfOf`.'),
  ),
  unset: Type.Optional(Unset(['icon', 'description', 'metadata'])),
})
export type GroupChanges = Static<typeof GroupChanges>

export const CreatedGroup = Type.Object(
  { ...GroupRecord.properties, members: Type.Optional(MemberOutcomes) },
  { additionalProperties: false, 'x-component': 'CreatedGroup' },
)
export type CreatedGroup = Static<typeof CreatedGroup>

export const GuidParams = Type.Object({ guid: Id('GUID of the group.') })

export const JoinRequest = Nullable(Type.Object({ password: Type.Optional(fields.password) }))
export const OwnerChange = Type.Object({ owner: Id('UID of the new owner, who becomes an admin.') })

const Seconds = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }))
const Size = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description }))

export const GroupListQuery = PageQuery({
  searchKey: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only groups whose name contains this text or whose guid starts with it.',
    }),
  ),
  searchIn: Type.Optional(
    Type.Array(Type.Enum(['name', 'guid']), {
      description: 'Fields to search. Default: both.',
    }),
  ),
  type: Type.Optional(Type.Enum([...GROUP_TYPES], { description: 'Only groups of this type.' })),
  types: Type.Optional(
    Type.Array(Type.Enum([...GROUP_TYPES]), { description: 'Only groups of these types.' }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 100,
      description: 'Only groups with any of these tags.',
    }),
  ),
  withTags: Type.Optional(
    Type.Boolean({ default: false, description: 'Include `tags` in the records.' }),
  ),
  hasJoined: Type.Optional(
    Type.Boolean({
      description:
        'Only groups that the acting user is a member of. Needs the header `onBehalfOf`.',
    }),
  ),
  guid: Type.Optional(Id('Only the group with this guid.')),
  guids: Type.Optional(
    Type.Array(Id('GUID of a group.'), { maxItems: 100, description: 'Only these groups.' }),
  ),
  'createdAt[from]': Seconds('Only records created at or after this time, in Unix seconds.'),
  'createdAt[to]': Seconds('Only records created at or before this time, in Unix seconds.'),
  'updatedAt[from]': Seconds(
    'Only groups updated after their creation, at or after this time, in Unix seconds.',
  ),
  'updatedAt[to]': Seconds(
    'Only groups updated after their creation, at or before this time, in Unix seconds.',
  ),
  'membersCount[gt]': Size('Only groups with more members than this.'),
  'membersCount[gte]': Size('Only groups with at least this many members.'),
  'membersCount[lt]': Size('Only groups with fewer members than this.'),
  'membersCount[lte]': Size('Only groups with at most this many members.'),
  'membersCount[eq]': Size('Only groups with exactly this many members.'),
  sortBy: Type.Optional(
    Type.Enum(['name', 'guid', 'createdAt'], {
      description:
        'Field to sort by. Default: the time of the last update. Groups with equal values are sorted by guid.',
    }),
  ),
  sortOrder: Type.Optional(
    Type.Enum(['asc', 'desc'], { description: 'Sort direction. Default: ascending.' }),
  ),
  affix: Type.Optional(
    Type.Enum(['append', 'prepend'], {
      description:
        'Whether to return groups updated after `updatedAt` (`append`) or before it (`prepend`). Ignored with `sortBy`.',
    }),
  ),
  updatedAt: Seconds('With `affix`: the time to start from, in Unix seconds.'),
  id: Type.Optional(
    Id(
      'With `affix`: the group within that second to start from. Without it, all groups of that second are skipped.',
    ),
  ),
  cursor: Type.Optional(Type.String({ description: '`meta.cursor.next` of the previous page.' })),
})
export type GroupListQuery = Static<typeof GroupListQuery>
