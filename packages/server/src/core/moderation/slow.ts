/** Which conditions of the rules hold a message. */
import type { MessageContent } from './content.ts'
import { type Condition, type Rule, SLOW_CATEGORIES, type SlowCategory } from './rules.ts'

/** A condition that is still to be checked, as it was when the message was sent. */
export interface PendingCheck {
  ruleId: string
  revision: number
  /** The place of the condition in the rule, from 1. */
  condition: number
}

export type SlowCondition = Condition & { category: SlowCategory }

export const isSlow = (condition: Condition): condition is SlowCondition =>
  (SLOW_CATEGORIES as readonly string[]).includes(condition.category)

/** The conditions of a rule that have to wait for an answer about this message. */
export const slowChecksOf = ({ id, revision, conditions }: Rule, { operands }: MessageContent) =>
  conditions.flatMap((condition, n): PendingCheck[] =>
    isSlow(condition) && operands.has(condition.operand)
      ? [{ ruleId: id, revision, condition: n + 1 }]
      : [],
  )
