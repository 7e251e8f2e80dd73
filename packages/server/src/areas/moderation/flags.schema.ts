import { MessageRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { IdCursor } from '../../platform/http/id-page.ts'
import { Text, Timestamp } from '../../platform/http/schemas.ts'

export const NewFlag = Type.Object({
  reasonId: Type.String({ minLength: 1, maxLength: 100, description: 'Id of a reason.' }),
  remark: Type.Optional(Text(1_000, 'Anything that the user adds.')),
})
export type NewFlag = Static<typeof NewFlag>

export const FlagQuery = Type.Object(IdCursor('a message', 50))
export type FlagQuery = Static<typeof FlagQuery>

export const FlagDecision = Type.Object({
  status: Type.Enum(['approved', 'disapproved'], {
    description: '`approved` drops the flags. `disapproved` hides the message from everyone.',
  }),
})
export type FlagDecision = Static<typeof FlagDecision>

export const Flag = Type.Object(
  {
    uid: Type.String(),
    name: Type.Optional(Type.String({ description: 'Absent if the user was deleted.' })),
    avatar: Type.Optional(Type.String()),
    role: Type.Optional(Type.String()),
    reasonId: Type.String(),
    reasonName: Type.Optional(Type.String({ description: 'Absent if the reason was deleted.' })),
    description: Type.Optional(Type.String({ description: 'Description of the reason.' })),
    remark: Type.Optional(Type.String()),
    flaggedAt: Timestamp('Time when the user flagged the message, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'Flag' },
)

export const FlaggedMessage = Type.Object(
  {
    ...MessageRecord.properties,
    appId: Type.String(),
    flaggedCount: Type.Integer({ description: 'How many users flag the message.' }),
    flaggedBy: Type.Array(Flag, { description: 'Oldest first.' }),
  },
  { additionalProperties: false, 'x-component': 'FlaggedMessage' },
)
export type FlaggedMessage = Static<typeof FlaggedMessage>
