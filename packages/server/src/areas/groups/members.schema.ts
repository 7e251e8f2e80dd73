import { MemberActionRecord, SCOPES, UserRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Id, PageQuery, Timestamp } from '../../platform/http/schemas.ts'

const Uids = (description: string) =>
  Type.Optional(Type.Array(Id('UID of a user.'), { maxItems: 25, description }))

export const MemberLists = Type.Object(
  {
    admins: Uids('UIDs of users to add as admins.'),
    moderators: Uids('UIDs of users to add as moderators.'),
    participants: Uids('UIDs of users to add as participants.'),
    usersToBan: Uids('UIDs of users to ban.'),
  },
  { description: 'Up to 25 users in total. If a user is in several lists, the first one counts.' },
)
export type MemberLists = Static<typeof MemberLists>

const CODES = [
  ...['ERR_UID_NOT_FOUND', 'ERR_ALREADY_JOINED', 'ERR_BANNED_GROUPMEMBER', 'ERR_NO_VACANCY'],
  ...['ERR_PLAN_QUOTA_RESTRICTION', 'ERR_ALREADY_BANNED', 'ERR_GROUP_NO_CLEARANCE'],
  ...['ERR_GROUP_NO_SELF_ACTION', 'ERR_GROUP_NO_MODERATOR_SCOPE', 'ERR_FEATURE_RESTRICTED'],
]

const MemberOutcome = Type.Object(
  {
    success: Type.Boolean(),
    data: Type.Optional(MemberActionRecord),
    error: Type.Optional(
      Type.Object(
        { code: Type.String({ enum: CODES }), message: Type.String() },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false, 'x-component': 'MemberOutcome' },
)
export type MemberOutcome = Static<typeof MemberOutcome>

const Outcomes = Type.Optional(Type.Record(Type.String(), MemberOutcome))

export const MemberOutcomes = Type.Object(
  {
    admins: Outcomes,
    moderators: Outcomes,
    participants: Outcomes,
    usersToBan: Outcomes,
  },
  {
    additionalProperties: false,
    'x-component': 'MemberOutcomes',
    description: 'The result for each uid, in the same lists as in the request.',
  },
)
export type MemberOutcomes = Static<typeof MemberOutcomes>

export const MemberParams = Type.Object({
  guid: Id('GUID of the group.'),
  uid: Id('UID of the user.'),
})

const Scope = Type.Enum([...SCOPES])
const joinedAt = Timestamp('Time when the user joined, in Unix seconds.')

export const ScopeChange = Type.Object({
  scope: Type.Enum([...SCOPES], { default: 'participant', description: 'The new scope.' }),
})

export const MemberScope = Type.Object(
  { guid: Type.String(), uid: Type.String(), scope: Scope, joinedAt },
  { additionalProperties: false },
)
export type MemberScope = Static<typeof MemberScope>

export const MemberRecord = Type.Object(
  { ...UserRecord.properties, scope: Scope, joinedAt },
  { additionalProperties: false, 'x-component': 'Member' },
)
export type MemberRecord = Static<typeof MemberRecord>

export const BannedRecord = Type.Object(
  {
    ...UserRecord.properties,
    scope: Type.Optional(
      Type.Enum([...SCOPES], { description: "The user's scope before the ban." }),
    ),
    joinedAt: Type.Optional(joinedAt),
    isBanned: Type.Literal(true),
    bannedAt: Timestamp('Time of the ban, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'BannedUser' },
)
export type BannedRecord = Static<typeof BannedRecord>

const cursor = Type.Optional(
  Type.String({ description: '`meta.cursor.next` of the previous page.' }),
)

export const MemberListQuery = PageQuery({
  status: Type.Optional(
    Type.Enum(['available', 'online', 'offline'], {
      description: 'Presence. `online` means the same as `available`.',
    }),
  ),
  scopes: Type.Optional(Type.Array(Scope, { description: 'Only members with these scopes.' })),
  cursor,
})
export type MemberListQuery = Static<typeof MemberListQuery>

export const BanListQuery = PageQuery({
  searchKey: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only users whose name contains this text or whose uid starts with it.',
    }),
  ),
  cursor,
})
export type BanListQuery = Static<typeof BanListQuery>
