import { GROUP_TYPES } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Id } from '../../platform/http/schemas.ts'

export const Question = Type.Object({
  uid: Id('UID of the user.'),
  action: Type.String({
    maxLength: 100,
    description: 'The operationId of an operation that users can call, such as `sendMessage`.',
  }),
  guid: Type.Optional(Id('GUID of the group in which the user acts.')),
  receiver: Type.Optional(
    Id('UID of the other user: the receiver of a message, the member, or the user in a list.'),
  ),
  groupType: Type.Optional(
    Type.Enum([...GROUP_TYPES], { description: 'The type of the group that the user creates.' }),
  ),
  several: Type.Optional(
    Type.Boolean({ description: 'Whether the user adds several members at once.' }),
  ),
  message: Type.Optional(
    Type.Object(
      {
        category: Type.Optional(Type.String({ maxLength: 100 })),
        type: Type.Optional(Type.String({ maxLength: 100 })),
        mimeTypes: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 100 })),
        reply: Type.Optional(Type.Boolean({ description: 'Whether it is a reply in a thread.' })),
      },
      { description: 'The message that the user sends, or that a list would show.' },
    ),
  ),
})
export type Question = Static<typeof Question>

const Step = Type.Object(
  {
    layer: Type.Enum(['restriction', 'role', 'scope', 'built-in'], {
      description:
        "What the rule belongs to: the role's restricted features, the role's permissions, the permissions of the scope in the group, or the built-in rules.",
    }),
    rule: Type.String({
      description: 'The feature, the permission or the error of a built-in rule.',
    }),
    value: Type.Union([Type.String(), Type.Array(Type.String())]),
    explicit: Type.Boolean({
      description: 'Whether somebody set the value. Otherwise it is the default.',
    }),
    allows: Type.Boolean(),
  },
  { additionalProperties: false, 'x-component': 'RuleApplied' },
)

export const Explanation = Type.Object(
  {
    allowed: Type.Boolean(),
    role: Type.String({ description: "The user's role." }),
    scope: Type.Optional(Type.String({ description: "The user's scope in the group." })),
    decidedBy: Type.Optional(Step),
    chain: Type.Array(Step, {
      description:
        'All rules about the action, in the order in which they decide. The first one that denies it decides.',
    }),
  },
  { additionalProperties: false, 'x-component': 'Explanation' },
)
export type Explanation = Static<typeof Explanation>
