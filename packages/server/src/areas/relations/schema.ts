import { type Static, Type } from 'typebox'
import { Id, Outcome, PageQuery } from '../../platform/http/schemas.ts'

const AT_ONCE = 25

const Uids = (description: string) =>
  Type.Array(Id('UID of a user.'), { minItems: 1, maxItems: AT_ONCE, description })

export const NewFriends = Type.Object({ accepted: Uids('UIDs of up to 25 new friends.') })
export const FormerFriends = Type.Object({ friends: Uids('UIDs of up to 25 friends to remove.') })
export const BlockedUids = Type.Object({ blockedUids: Uids('UIDs of up to 25 users.') })

const FriendOutcome = Outcome([
  'ERR_UID_NOT_FOUND',
  'ERR_ALREADY_FRIEND',
  'ERR_BLOCKED_SENDER',
  'ERR_CANNOT_FORM_SELF_RELATION',
  'ERR_PERMISSION_DENIED',
  'ERR_PLAN_QUOTA_RESTRICTION',
])
export const FriendOutcomes = Type.Object(
  { accepted: Type.Record(Type.String(), FriendOutcome) },
  { additionalProperties: false },
)
export const BlockOutcomes = Type.Record(
  Type.String(),
  Outcome(['ERR_UID_NOT_FOUND', 'ERR_CANNOT_BLOCK_SELF', 'ERR_PLAN_QUOTA_RESTRICTION']),
)
export type Outcomes = Record<string, Static<typeof FriendOutcome>>

const searchKey = Type.Optional(
  Type.String({
    maxLength: 200,
    description: 'Only users whose name contains this text or whose uid starts with it.',
  }),
)
const start = {
  affix: Type.Optional(
    Type.Enum(['append', 'prepend'], {
      description:
        'Sorts by the time of the last change instead of by name: users after `updatedAt` (`append`) or before it (`prepend`).',
    }),
  ),
  updatedAt: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'With `affix`: the time to start from, in Unix seconds.',
    }),
  ),
  id: Type.Optional(
    Id(
      'With `affix`: the user within that second to start from. Without it, all users of that second are skipped.',
    ),
  ),
  cursor: Type.Optional(Type.String({ description: '`meta.cursor.next` of the previous page.' })),
}
export const FriendListQuery = PageQuery({ searchKey, ...start })
export const BlockListQuery = PageQuery({
  searchKey,
  ...start,
  direction: Type.Optional(
    Type.Enum(['blockedByMe', 'hasBlockedMe', 'both'], {
      default: 'blockedByMe',
      description: 'Users blocked by the user (default), users who block the user, or both.',
    }),
  ),
})
