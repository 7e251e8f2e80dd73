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
  Url,
} from '../../platform/http/schemas.ts'
import { MemberLists, MemberOutcomes } from './members.schema.ts'

const METADATA_BYTES = 5_120

const fields = {
  name: Name(100, 'What others see.'),
  type: Type.Enum([...GROUP_TYPES], {
    description: 'Who can join: everyone, those who are added, or those who know the password.',
  }),
  password: Type.String({
    maxLength: 100,
    description: 'Of groups of the type `password`; kept for no other. Never shown.',
  }),
  icon: Url('Address of a picture.'),
  description: Text(255, 'What the group is about.'),
  metadata: Metadata(METADATA_BYTES, 'Free data.'),
  tags: Tags('Labels, up to 25.'),
}

export const NewGroup = Type.Object({
  guid: Id('Chosen by the caller; unique within the app, lowered, never changed.'),
  name: fields.name,
  type: Type.Optional(fields.type),
  password: Type.Optional(fields.password),
  icon: Type.Optional(fields.icon),
  description: Type.Optional(fields.description),
  metadata: Type.Optional(fields.metadata),
  tags: Type.Optional(fields.tags),
  owner: Type.Optional(Id('The owner; the acting user, else the app, unless given.')),
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
    Id('The new owner, who becomes an admin; ignored with the header onBehalfOf.'),
  ),
  unset: Type.Optional(Unset(['icon', 'description', 'metadata'])),
})
export type GroupChanges = Static<typeof GroupChanges>

export const CreatedGroup = Type.Object(
  { ...GroupRecord.properties, members: Type.Optional(MemberOutcomes) },
  { additionalProperties: false },
)
export type CreatedGroup = Static<typeof CreatedGroup>

export const GuidParams = Type.Object({ guid: Id('The group.') })

export const JoinRequest = Nullable(Type.Object({ password: Type.Optional(fields.password) }))
export const OwnerChange = Type.Object({ owner: Id('The new owner, who becomes an admin.') })

const Seconds = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }))
const Size = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, description }))

export const GroupListQuery = PageQuery({
  searchKey: Type.Optional(
    Type.String({ maxLength: 200, description: 'Text in the name, or the beginning of the guid.' }),
  ),
  searchIn: Type.Optional(
    Type.Array(Type.Enum(['name', 'guid']), {
      description: 'Fields to search; both unless given.',
    }),
  ),
  type: Type.Optional(Type.Enum([...GROUP_TYPES], { description: 'Only this type.' })),
  types: Type.Optional(
    Type.Array(Type.Enum([...GROUP_TYPES]), { description: 'Only these types.' }),
  ),
  tags: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: 100,
      description: 'Only groups with any of these tags.',
    }),
  ),
  withTags: Type.Optional(Type.Boolean({ description: 'Put `tags` into the records.' })),
  hasJoined: Type.Optional(
    Type.Boolean({ description: 'Only groups of the acting user; needs the header onBehalfOf.' }),
  ),
  guid: Type.Optional(Id('Only this group.')),
  guids: Type.Optional(
    Type.Array(Id('A group.'), { maxItems: 100, description: 'Only these groups.' }),
  ),
  'createdAt[from]': Seconds('Created at or after, in Unix seconds.'),
  'createdAt[to]': Seconds('Created at or before, in Unix seconds.'),
  'updatedAt[from]': Seconds('Changed since creation, at or after, in Unix seconds.'),
  'updatedAt[to]': Seconds('Changed since creation, at or before, in Unix seconds.'),
  'membersCount[gt]': Size('More members than this.'),
  'membersCount[gte]': Size('This many members, or more.'),
  'membersCount[lt]': Size('Fewer members than this.'),
  'membersCount[lte]': Size('This many members, or fewer.'),
  'membersCount[eq]': Size('Exactly this many members.'),
  sortBy: Type.Optional(
    Type.Enum(['name', 'guid', 'createdAt'], {
      description: 'Order; by the time of the last change unless given. Then the guid decides.',
    }),
  ),
  sortOrder: Type.Optional(Type.Enum(['asc', 'desc'], { description: 'Ascending unless given.' })),
  affix: Type.Optional(
    Type.Enum(['append', 'prepend'], {
      description: 'Groups after `updatedAt`, or those before it. Without effect beside `sortBy`.',
    }),
  ),
  updatedAt: Seconds('For `affix`: the second from which to go, in Unix seconds.'),
  id: Type.Optional(
    Id('For `affix`: the group of that second from which to go; without it past all of them.'),
  ),
  cursor: Type.Optional(
    Type.String({ description: 'From `meta.cursor.next` of the page before.' }),
  ),
})
export type GroupListQuery = Static<typeof GroupListQuery>
