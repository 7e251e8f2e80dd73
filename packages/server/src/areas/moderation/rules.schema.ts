import { type Static, Type } from 'typebox'
import { GROUP_OPERANDS, OPERATORS, USER_OPERANDS } from '../../core/moderation/filters.ts'
import {
  OPERANDS as CONTENT_OPERANDS,
  FAILURE_OUTCOMES,
  FAST_CATEGORIES,
  SLOW_CATEGORIES,
} from '../../core/moderation/rules.ts'
import { Id, Name, Text, Timestamp } from '../../platform/http/schemas.ts'

/** Actions of a rule. The message is blocked in any case. */
export const ACTIONS = [
  'blockMessage',
  'kickUser',
  'banUser',
  'blockUser',
  'deactivateUser',
] as const

/** Spellings that requests may use; the second one of each pair is stored. */
export const SPELLINGS: Readonly<Record<string, string>> = {
  'not equals': 'notEquals',
  'not in': 'notIn',
}

/** The most bytes of a request with a rule, which has words of its own. */
export const RULE_BYTES = 262_144

const OPERANDS = [...new Set([...USER_OPERANDS, ...GROUP_OPERANDS])]
export const LONGEST_VALUE = 100

const Scalar = Type.Union([
  Type.String({ minLength: 1, maxLength: LONGEST_VALUE }),
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
])

const filter = {
  type: Type.Enum(['sender', 'receiver']),
  entity: Type.Enum(['user', 'group'], { description: 'A sender is always a user.' }),
  operand: Type.Enum(OPERANDS),
}

const NewFilter = Type.Object(
  {
    ...filter,
    operator: Type.Enum([...OPERATORS, ...Object.keys(SPELLINGS)]),
    value: Type.Union([Scalar, Type.Array(Scalar, { minItems: 1, maxItems: 100 })], {
      description: 'One value or a list. Times are Unix seconds.',
    }),
  },
  { 'x-component': 'NewRuleFilter' },
)

const FilterRecord = Type.Object(
  { ...filter, operator: Type.Enum([...OPERATORS]), value: Type.Array(Scalar) },
  { additionalProperties: false, 'x-component': 'RuleFilter' },
)

/** An entry of a list or of a condition. */
export const Entry = Type.String({ minLength: 1, maxLength: LONGEST_VALUE })
/** What a condition itself contains: sentences and prompts are longer than words. */
const Value = Type.String({ minLength: 1, maxLength: 1_000 })
/** The most words or patterns in a condition itself. */
const VALUES = 100

const condition = {
  operand: Type.Enum([...CONTENT_OPERANDS], {
    description:
      '`text`: the text or caption of a message. `custom`: all texts in the data of a custom or interactive message. `image` and `video`: attachments, of slow conditions only.',
  }),
  operator: Type.Enum(['contains', 'equals']),
  category: Type.Enum([...FAST_CATEGORIES, ...SLOW_CATEGORIES], {
    description:
      '`word` and `pattern`: whole words, or regular expressions in the syntax of RE2; case never matters. The others are slow: the message is `pending` until another service has answered. `custom-api` asks your own check, `toxicity` a classifier, `prompt` a chat model, and `sentence-similarity` compares the meaning with that of sentences.',
  }),
}

const similarityValue = Type.Number({
  minimum: 0,
  maximum: 1,
  description: 'Of `sentence-similarity`: how alike is a hit. Default: 0.8.',
})

const onFailure = Type.Enum([...FAILURE_OUTCOMES], {
  description:
    'Of slow conditions: what becomes of the message if the check fails. Default: as the settings of checks say.',
})

export const NewCondition = Type.Object(
  {
    entity: Type.Optional(Type.Literal('message')),
    operand: Type.Optional(condition.operand),
    operator: Type.Optional(condition.operator),
    category: condition.category,
    isKeywordReferencePresent: Type.Optional(
      Type.Boolean({ description: 'Whether `value` names keyword lists.' }),
    ),
    isKeywordsReferencePresent: Type.Optional(
      Type.Boolean({ description: 'The same: answers spell it this way.' }),
    ),
    value: Type.Optional(
      Type.Union([Value, Type.Array(Value, { minItems: 1, maxItems: VALUES })], {
        description:
          'Words, patterns or ids of keyword lists; any of them is a hit. Of `toxicity`: formulas such as `insult_greaterThan_80`. Of `sentence-similarity`: sentences or ids of lists. Of `prompt`: what a message must not be. `custom-api` has none.',
      }),
    ),
    similarityValue: Type.Optional(similarityValue),
    onFailure: Type.Optional(onFailure),
  },
  { 'x-component': 'NewRuleCondition' },
)
export type NewCondition = Static<typeof NewCondition>
export type NewFilter = Static<typeof NewFilter>

const ConditionRecord = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'Place of the condition in the rule.' }),
    entity: Type.Literal('message'),
    ...condition,
    isKeywordsReferencePresent: Type.Boolean(),
    isMediaPresent: Type.Boolean(),
    value: Type.Array(Type.String()),
    similarityValue: Type.Optional(similarityValue),
    onFailure: Type.Optional(onFailure),
    message: Type.String({ description: 'The condition in words.' }),
  },
  { additionalProperties: false, 'x-component': 'RuleCondition' },
)

const fields = {
  name: Name(100, 'Display name.'),
  description: Text(255, 'What the rule is for.'),
  enabled: Type.Boolean({ description: 'Whether messages are checked. Default: false.' }),
  action: Type.Array(Type.Enum([...ACTIONS]), {
    uniqueItems: true,
    description: 'What happens on a hit. `blockMessage` is always part of it.',
  }),
  filters: Type.Array(NewFilter, {
    maxItems: 100,
    description: 'Whom the rule concerns: all of them must match. At most 10.',
  }),
  conditions: Type.Array(NewCondition, {
    minItems: 1,
    maxItems: 100,
    description: 'What is a hit: any of them. At most 10.',
  }),
}

export const RuleRecord = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.Optional(Type.String()),
    enabled: Type.Boolean(),
    action: Type.Array(Type.Enum([...ACTIONS])),
    filters: Type.Array(FilterRecord),
    conditions: Type.Array(ConditionRecord),
    active: Type.Boolean({ description: 'Whether this is the last revision.' }),
    default: Type.Optional(Type.Literal(true, { description: 'The rule comes with the service.' })),
    revisionId: Type.String({ description: 'Ends with a number that grows with each change.' }),
    createdAt: Timestamp('Time when the rule was created, in Unix seconds; 0 for the service.'),
    updatedAt: Timestamp('Time of this revision, in Unix seconds.'),
  },
  { additionalProperties: false, 'x-component': 'ModerationRule' },
)
export type RuleRecord = Static<typeof RuleRecord>

export const NewRule = Type.Object(
  {
    id: Id("Id of your choice. Converted to lower case; it can't be changed later."),
    name: fields.name,
    description: Type.Optional(fields.description),
    enabled: Type.Optional(fields.enabled),
    action: Type.Optional(fields.action),
    filters: Type.Optional(fields.filters),
    conditions: fields.conditions,
  },
  { 'x-component': 'NewModerationRule' },
)
export type NewRule = Static<typeof NewRule>

export const RuleChanges = Type.Object({
  id: Type.Optional(Id('The id of the rule; it is not changed.')),
  name: Type.Optional(fields.name),
  description: Type.Optional(fields.description),
  enabled: Type.Optional(fields.enabled),
  action: Type.Optional(fields.action),
  filters: Type.Optional(fields.filters),
  conditions: Type.Optional(fields.conditions),
})
export type RuleChanges = Static<typeof RuleChanges>

export const RuleParams = Type.Object({ ruleId: Id('Id of the rule.') })

export const RuleTest = Type.Object({
  text: Type.String({ minLength: 1, maxLength: 10_000, description: 'The text to check.' }),
  rule: Type.Optional(
    Type.Object(
      { conditions: fields.conditions },
      { description: 'Conditions that need not be saved. Absent: all rules that are enabled.' },
    ),
  ),
})
export type RuleTest = Static<typeof RuleTest>

export const RuleTestResult = Type.Object(
  {
    hits: Type.Array(
      Type.Object(
        {
          ruleId: Type.Optional(Type.String()),
          condition: Type.Integer({ description: 'Place of the condition in its rule, from 1.' }),
          text: Type.String({ description: 'What was found, as rules read it.' }),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false, 'x-component': 'RuleTestResult' },
)
