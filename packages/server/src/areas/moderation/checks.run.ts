/** Asks other services about a message, and says what they found. */
import type { CheckFailure, CheckFault } from '@loquat/protocol'
import type { FailureOutcome, SlowCategory } from '../../core/moderation/rules.ts'
import { CallFailed } from '../../platform/net/json-call.ts'
import type { CheckSettingsRow } from './checks.queries.ts'
import { askClassifier } from './classifier.check.ts'
import { askCustom } from './custom.check.ts'
import {
  type Asked,
  type Asking,
  type CheckHit,
  type Engine,
  NotConfigured,
  type Subject,
} from './engine.ts'
import { askPrompt } from './prompt.check.ts'
import { askSimilarity } from './similarity.check.ts'

const ENGINES: Record<SlowCategory, Engine> = {
  'custom-api': askCustom,
  toxicity: askClassifier,
  'sentence-similarity': askSimilarity,
  prompt: askPrompt,
}

export interface Found {
  hit: CheckHit | undefined
  failures: CheckFailure[]
  /** What becomes of the message if there is no hit, and no time to ask again. */
  outcome: FailureOutcome
}

/** Asks all services at the same time. A hit decides, even if another service failed. */
export async function askServices(
  asking: Asking,
  subject: Subject,
  conditions: Asked[],
): Promise<Found> {
  const groups = Map.groupBy(conditions, ({ condition }) => condition.category)
  const answers = await Promise.all(
    [...groups].map(async ([category, asked]) => {
      try {
        const [first, ...rest] = asked
        return { hit: first && (await ENGINES[category](asking, subject, [first, ...rest])) }
      } catch (error) {
        asking.signal.throwIfAborted()
        if (!(error instanceof CallFailed || error instanceof NotConfigured)) throw error
        return { asked, failure: toFailure(error, asking.settings, category, asked) }
      }
    }),
  )
  const [hit] = conditions.flatMap((one) =>
    answers.flatMap((it) => (it.hit?.asked === one ? it.hit : [])),
  )
  const failed = answers.flatMap((it) => it.asked ?? [])
  return {
    hit,
    failures: answers.flatMap((it) => it.failure ?? []),
    outcome: failureOutcome(asking.settings, failed),
  }
}

/** A condition that wants its message blocked decides over others. */
export const failureOutcome = (
  { on_failure }: CheckSettingsRow,
  failed: Asked[],
): FailureOutcome =>
  failed.every(({ condition }) => (condition.onFailure ?? on_failure) === 'approved')
    ? failed.length > 0
      ? 'approved'
      : (on_failure as FailureOutcome)
    : 'disapproved'

function toFailure(
  error: CallFailed | NotConfigured,
  { timeout_ms, on_failure, context_messages, url }: CheckSettingsRow,
  category: SlowCategory,
  asked: Asked[],
): CheckFailure {
  const { rule, place } = asked[0] as Asked
  const { id, name, revisionId } = rule
  const called = error instanceof CallFailed ? error : undefined
  return {
    timeoutMs: timeout_ms,
    failedAt: Math.floor(Date.now() / 1_000),
    category: called?.category ?? 'not_configured',
    errorMessage: error.message,
    ...(called?.status !== undefined && { httpStatus: called.status }),
    ...(called?.body !== undefined && {
      responseBody: called.body,
      responseBodyTruncated: called.truncated,
    }),
    context: {
      engine: category,
      setting: { onFailure: on_failure, contextMessages: context_messages },
      rule: { id, name, revisionId },
      condition: place,
      request: { ...(category === 'custom-api' && url !== null && { url }) },
    },
  }
}

/** What the person who tests a check sees of its failure. */
export const faultOf = ({ context: _context, failedAt: _at, ...fault }: CheckFailure): CheckFault =>
  fault
