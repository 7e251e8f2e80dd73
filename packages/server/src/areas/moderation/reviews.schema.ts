import { FoundCondition, MessageRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { IdCursor } from '../../platform/http/id-page.ts'
import { Id, Timestamp } from '../../platform/http/schemas.ts'
import { MessageParams } from '../messages/schema.ts'

export const ReviewQuery = Type.Object({
  ...IdCursor('a message', 50),
  sender: Type.Optional(Id('Only messages of this user.')),
  ruleId: Type.Optional(
    Type.String({ maxLength: 100, description: 'Only messages that this rule blocked.' }),
  ),
})
export type ReviewQuery = Static<typeof ReviewQuery>

export const BlockedParams = Type.Object({ messageId: MessageParams.properties.id })

export const Decision = Type.Object({
  status: Type.Enum(['approved', 'rejected'], {
    description: '`approved` delivers the message. `rejected` confirms that it stays blocked.',
  }),
  reviewed: Type.Optional(
    Type.Boolean({
      description: 'Accepted for compatibility: a decision always counts as a review.',
    }),
  ),
})
export type Decision = Static<typeof Decision>

export const BlockedMessage = Type.Object(
  {
    ruleId: Type.Optional(Type.String({ description: 'Absent if no rule blocked the message.' })),
    ruleName: Type.Optional(Type.String()),
    revisionId: Type.Optional(Type.String({ description: 'Revision of the rule.' })),
    condition: FoundCondition,
    reason: Type.Optional(Type.String({ description: 'Why it was blocked if no rule did it.' })),
    message: MessageRecord,
    action: Type.Array(Type.String(), { description: 'Actions of the rule.' }),
    createdAt: Timestamp('Time when it was blocked, in Unix seconds.'),
    updatedAt: Timestamp('Time of the last change, in Unix seconds.'),
    blockedAt: Timestamp('Time when it was blocked, in Unix seconds.'),
    appId: Type.Optional(Type.String({ description: 'In the list of reviewed messages.' })),
    decision: Type.Optional(
      Type.Enum(['approved', 'rejected'], { description: 'What a moderator decided.' }),
    ),
    reviewedAt: Type.Optional(Timestamp('Time of that decision, in Unix seconds.')),
  },
  { additionalProperties: false, 'x-component': 'BlockedMessage' },
)
export type BlockedMessage = Static<typeof BlockedMessage>
