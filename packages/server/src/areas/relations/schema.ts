import { type Static, Type } from 'typebox'
import { Id, Outcome, PageQuery } from '../../platform/http/schemas.ts'

const AT_ONCE = 25

const Uids = (description: string) =>
  Type.Array(Id('A user.'), { minItems: 1, maxItems: AT_ONCE, description })

export const NewFriends = Type.Object({ accepted: Uids('New friends, up to 25.') })
export const FormerFriends = Type.Object({ friends: Uids('Friends to remove, up to 25.') })
export const BlockedUids = Type.Object({ blockedUids: Uids('Users, up to 25.') })

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
  Outcome(['ERR_UID_NOT_FOUND', 'ERR_CANNOT_BLOCK_SELF']),
)
export type Outcomes = Record<string, Static<typeof FriendOutcome>>

const searchKey = Type.Optional(
  Type.String({ maxLength: 200, description: 'Text in the name, or the beginning of the uid.' }),
)
const place = {
  affix: Type.Optional(
    Type.Enum(['append', 'prepend'], {
      description:
        'By time of the last change, not by name: users after `updatedAt`, or those before it.',
    }),
  ),
  updatedAt: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Cursor of `affix`, in Unix seconds.' }),
  ),
  id: Type.Optional(
    Id('Cursor of `affix`: the user of that second from whom to go; without it past all of them.'),
  ),
  cursor: Type.Optional(
    Type.String({ description: 'From `meta.cursor.next` of the page before.' }),
  ),
}
export const FriendListQuery = PageQuery({ searchKey, ...place })
export const BlockListQuery = PageQuery({
  searchKey,
  ...place,
  direction: Type.Optional(
    Type.Enum(['blockedByMe', 'hasBlockedMe', 'both'], {
      description: 'Whom the user blocks (so unless given), who blocks the user, or both.',
    }),
  ),
})
