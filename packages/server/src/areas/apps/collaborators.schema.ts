import { type Static, Type } from 'typebox'
import { ROLES } from '../../gate/operator.ts'
import { Data, Outcome, Timestamp } from '../../platform/http/schemas.ts'
import { Email } from '../operators/schema.ts'

export const Collaborator = Type.Object(
  {
    id: Type.Optional(
      Type.String({
        description: "Number of the operator's account; missing while the invitation is open.",
      }),
    ),
    name: Type.Optional(Type.String()),
    email: Type.String(),
    role: Type.Enum([...ROLES]),
    state: Type.Enum(['active', 'invited']),
    createdAt: Timestamp('Time when they were added or invited, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'Collaborator' },
)
export type Collaborator = Static<typeof Collaborator>

const Emails = (description: string) =>
  Type.Optional(
    Type.Array(Email('Email address of an operator, or of a person to invite.'), {
      maxItems: 25,
      uniqueItems: true,
      description,
    }),
  )

export const CollaboratorChanges = Type.Object({
  admins: Emails('People to make admins.'),
  moderators: Emails('People to make moderators.'),
  developers: Emails('People to make developers.'),
  collaboratorsToRemove: Emails('People to remove from the app.'),
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
        description:
          'Invitation token for a person without an account. It is shown only once; hand it over yourself.',
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
