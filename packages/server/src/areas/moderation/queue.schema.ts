import { FoundCondition, GroupRecord, MessageRecord, UserRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { IdCursor } from '../../platform/http/id-page.ts'
import { Id, Text, Timestamp } from '../../platform/http/schemas.ts'
import { Flag } from './flags.schema.ts'

export const ReviewItemParams = Type.Object({
  itemId: Type.String({
    pattern: '^[0-9]{1,16}$',
    description: 'Id of the item; for a message, the id of the message.',
  }),
})

const KINDS = ['blocked', 'flagged', 'user', 'group'] as const
export type ItemKind = (typeof KINDS)[number]

export const ReviewItemQuery = Type.Object({
  ...IdCursor('an item', 50),
  kind: Type.Optional(
    Type.Enum([...KINDS], {
      description: 'Only blocked or flagged messages, flagged users, or flagged groups.',
    }),
  ),
  searchKey: Type.Optional(Text(100, 'Only messages whose text contains this.')),
  from: Type.Optional(Timestamp('Only items from this time on, in Unix seconds.')),
  to: Type.Optional(Timestamp('Only items before this time, in Unix seconds.')),
  sender: Type.Optional(Id('Only messages of this user, or this flagged user.')),
  receiver: Type.Optional(Id('Only messages to this user or group, or this flagged group.')),
  ruleId: Type.Optional(Text(100, 'Only messages that this rule blocked.')),
})
export type ReviewItemQuery = Static<typeof ReviewItemQuery>

export const ReviewClaim = Type.Object(
  {
    moderator: Type.String(),
    until: Timestamp('Time until which nobody else can decide, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'ReviewClaim' },
)

export const ReviewItem = Type.Object(
  {
    id: Type.String(),
    kind: Type.Enum([...KINDS], {
      description: 'A blocked or flagged message, a flagged user, or a flagged group.',
    }),
    createdAt: Timestamp('When the message was sent, or the first flag, in Unix seconds.'),
    message: Type.Optional(MessageRecord),
    user: Type.Optional(UserRecord),
    group: Type.Optional(GroupRecord),
    ruleId: Type.Optional(Type.String()),
    ruleName: Type.Optional(Type.String()),
    revisionId: Type.Optional(Type.String()),
    condition: Type.Optional(FoundCondition),
    reason: Type.Optional(Type.String({ description: 'Why it was blocked if no rule did it.' })),
    flaggedBy: Type.Array(Flag, { description: 'Oldest first.' }),
    claim: Type.Optional(ReviewClaim),
  },
  { additionalProperties: false, 'x-component': 'ReviewItem' },
)
export type ReviewItem = Static<typeof ReviewItem>

export const ReviewItemInContext = Type.Object(
  {
    ...ReviewItem.properties,
    before: Type.Array(MessageRecord, {
      description: 'Up to five messages of the conversation before the message, oldest first.',
    }),
    after: Type.Array(MessageRecord, { description: 'Up to five after it.' }),
  },
  { additionalProperties: false, 'x-component': 'ReviewItemInContext' },
)
export type ReviewItemInContext = Static<typeof ReviewItemInContext>

const Moderator = Type.Optional(
  Type.String({
    'x-maxCharacters': 100,
    description:
      'Who decides, for calls with an API key; `app` by default. Operators have the name of their account.',
  }),
)

export const NewClaim = Type.Object({
  moderator: Moderator,
  seconds: Type.Integer({
    minimum: 0,
    maximum: 3_600,
    default: 300,
    description: 'How long nobody else can decide. 0 gives the item back.',
  }),
})
export type NewClaim = Static<typeof NewClaim>

export const ACTIONS = ['kick', 'mute', 'ban', 'deactivate'] as const

export const ReviewDecision = Type.Object({
  decision: Type.Enum(['approve', 'reject', 'delete'], {
    description:
      '`approve`: the message is shown, and flags are dropped. `reject`: a blocked message stays blocked, a flagged one is hidden; flags of a user or group were right. `delete`: the message is deleted.',
  }),
  actions: Type.Optional(
    Type.Array(
      Type.Object({
        does: Type.Enum([...ACTIONS]),
        until: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 9_999_999_999,
            description: 'When a mute or ban ends, in Unix seconds. Without it, it stays.',
          }),
        ),
        everywhere: Type.Optional(
          Type.Boolean({
            description:
              'Mutes or bans in the whole app, not only in the group of the message. Messages between two users have no group.',
          }),
        ),
      }),
      { maxItems: 4, description: 'What happens to the sender, or to the flagged user.' },
    ),
  ),
  reason: Type.Optional(
    Type.String({ 'x-maxCharacters': 500, description: 'The reason of a mute or ban.' }),
  ),
  note: Type.Optional(Text(1_000, 'A note for other moderators.')),
  moderator: Moderator,
})
export type ReviewDecision = Static<typeof ReviewDecision>

export const FigureQuery = Type.Object({
  from: Type.Optional(Timestamp('First second; 30 days ago by default.')),
  to: Type.Optional(Timestamp('The second after the last one; now by default.')),
})
export type FigureQuery = Static<typeof FigureQuery>

export const RuleFigure = Type.Object(
  {
    day: Type.String({ description: 'The day on which the messages were sent, in UTC.' }),
    ruleId: Type.Optional(Type.String({ description: 'Absent if no rule blocked them.' })),
    ruleName: Type.Optional(Type.String()),
    blocked: Type.Integer({ description: 'Messages that were blocked.' }),
    approved: Type.Integer({ description: 'Those that a moderator approved.' }),
    rejected: Type.Integer({ description: 'Those that a moderator rejected.' }),
  },
  { additionalProperties: false, 'x-component': 'RuleFigure' },
)
