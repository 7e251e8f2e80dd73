import { type Static, Type } from 'typebox'
import { Data, Outcome, Timestamp } from '../../platform/http/schemas.ts'
import { ROLES } from '../access/operator.ts'
import { Email } from '../operators/schema.ts'

export const Collaborator = Type.Object(
  {
    id: Type.Optional(
      Type.String({ description: 'The number of the account, once there is one.' }),
    ),
    name: Type.Optional(Type.String()),
    email: Type.String(),
    role: Type.Enum([...ROLES]),
    state: Type.Enum(['active', 'invited']),
    createdAt: Timestamp('When added or invited, in Unix seconds.'),
  },
  { additionalProperties: false },
)
export type Collaborator = Static<typeof Collaborator>

const Emails = (description: string) =>
  Type.Optional(
    Type.Array(Email('The address of an account, or of somebody to invite.'), {
      maxItems: 25,
      uniqueItems: true,
      description,
    }),
  )

export const CollaboratorChanges = Type.Object({
  admins: Emails('Those who become admins.'),
  moderators: Emails('Those who become moderators.'),
  developers: Emails('Those who become developers.'),
  collaboratorsToRemove: Emails('Those who have no part in the app any more.'),
})
export type CollaboratorChanges = Static<typeof CollaboratorChanges>

const Changed = Type.Object(
  {
    ...Outcome([
      ...(['ERR_ALREADY_AN_OWNER', 'ERR_SELF_ACTION_DENIED', 'ERR_NOT_A_COLLABORATOR'] as const),
      ...(['ERR_PLAN_QUOTA_RESTRICTION', 'ERR_SIGN_UP_CLOSED'] as const),
    ]).properties,
    invitation: Type.Optional(
      Type.String({
        description: 'The token to hand to somebody without an account. Shown now and never again.',
      }),
    ),
  },
  { additionalProperties: false },
)
const Group = Type.Record(Type.String(), Changed)

export const CollaboratorOutcomes = Type.Object(
  { admins: Group, moderators: Group, developers: Group, collaboratorsToRemove: Group },
  { additionalProperties: false },
)
export type CollaboratorOutcomes = Static<typeof CollaboratorOutcomes>
export type Changed = Static<typeof Changed>
export const ChangedCollaborators = Data(CollaboratorOutcomes)
