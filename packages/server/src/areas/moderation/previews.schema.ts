import { MessageRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Id, Timestamp } from '../../platform/http/schemas.ts'
import { NewRule } from './rules.schema.ts'

/** The most messages that a preview looks at. */
const MOST = 1_000_000
export const LIMIT = 100_000
const { name, filters, conditions } = NewRule.properties

export const NewRulePreview = Type.Object(
  {
    rule: Type.Object(
      {
        id: Type.Optional(
          Id(
            'Id of a rule. Without `conditions`, the saved rule is run; with them, they stand for it.',
          ),
        ),
        name: Type.Optional(name),
        filters,
        conditions: Type.Optional(conditions),
      },
      { description: 'A rule, saved or not. Without `id`, it is one more rule.' },
    ),
    from: Type.Optional(Timestamp('Only messages sent at or after this time, in Unix seconds.')),
    to: Type.Optional(Timestamp('Only messages sent at or before this time. Default: now.')),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MOST,
        default: LIMIT,
        description: 'How many messages to look at, the newest first.',
      }),
    ),
  },
  { 'x-component': 'NewRulePreview' },
)
export type NewRulePreview = Static<typeof NewRulePreview>

export const EFFECTS = ['newlyBlocked', 'stillBlocked', 'noLongerBlocked'] as const

const Sample = Type.Object(
  {
    effect: Type.Enum([...EFFECTS], {
      description:
        '`newlyBlocked`: no rule in force blocks it. `stillBlocked`: one does. `noLongerBlocked`: only the rule that this one replaces did.',
    }),
    condition: Type.Optional(
      Type.Integer({ description: 'Place of the condition that applied, from 1.' }),
    ),
    found: Type.Optional(Type.String({ description: 'What it found, as rules read it.' })),
    message: MessageRecord,
  },
  { additionalProperties: false, 'x-component': 'RulePreviewSample' },
)

export const RulePreview = Type.Object(
  {
    id: Type.String(),
    ruleId: Type.Optional(Type.String({ description: 'The rule that it is about, if saved.' })),
    state: Type.Enum(['waiting', 'running', 'done', 'cancelled', 'failed']),
    progress: Type.Number({ minimum: 0, maximum: 1, description: 'How far it is.' }),
    from: Type.Optional(Timestamp('As requested.')),
    to: Timestamp('As requested, or the time of the request.'),
    limit: Type.Integer(),
    checked: Type.Integer({ description: 'Messages that were checked so far.' }),
    blocked: Type.Integer({ description: 'How many of them the rule would have blocked.' }),
    newlyBlocked: Type.Integer({ description: 'How many of those no rule in force blocks.' }),
    noLongerBlocked: Type.Integer({
      description: 'Messages that only the rule in force that this one replaces blocks.',
    }),
    tooSlow: Type.Integer({
      description: 'Messages that take so long to check that they would not have been sent.',
    }),
    complete: Type.Boolean({
      description: 'Whether all messages of the time were checked. False if a limit came first.',
    }),
    samples: Type.Optional(
      Type.Array(Sample, {
        description: 'Up to 20 messages of each effect, the newest first. Absent in lists.',
      }),
    ),
    createdAt: Timestamp('Time of the request, in Unix seconds.'),
    endedAt: Type.Optional(Timestamp('Time when it was done, in Unix seconds.')),
    expiresAt: Timestamp('Time when it is deleted, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'RulePreview' },
)
export type RulePreview = Static<typeof RulePreview>

export const PreviewParams = Type.Object({
  previewId: Type.String({ pattern: '^[0-9]{1,16}$', description: 'Id of the preview.' }),
})
