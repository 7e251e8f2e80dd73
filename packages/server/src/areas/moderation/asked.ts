/** The conditions that services are asked about, and what their answers mean. */
import type { ServedApp } from '../../core/actor.ts'
import { revisionId, withDefault } from '../../core/moderation/compiled.ts'
import { isSlow } from '../../core/moderation/slow.ts'
import type { Verdict } from '../../core/moderation/verdict.ts'
import type { Deps } from '../../deps.ts'
import type { Executor } from '../../platform/db/query.ts'
import { listCheckedRules, type PendingRow, readCheckSettings } from './checks.queries.ts'
import { askServices } from './checks.run.ts'
import type { Asked, CheckHit, Subject } from './engine.ts'

/** The conditions to check. Those of rules that were deleted meanwhile are left out. */
export async function readAsked(
  db: Executor,
  appNo: number,
  { app_id, checks }: Pick<PendingRow, 'app_id' | 'checks'>,
): Promise<Asked[]> {
  const rows = await listCheckedRules.many(db, { appNo, checks: JSON.stringify(checks) })
  return checks.flatMap(({ ruleId, revision, condition: place }) => {
    const row = rows.find((one) => one.rule_id === ruleId && one.revision === revision)
    if (!row) return []
    const { name, action: actions, conditions } = withDefault(row)
    const condition = conditions[place - 1]
    if (!condition || !isSlow(condition)) return []
    const rule = { id: ruleId, name, revisionId: revisionId(app_id, ruleId, revision), actions }
    return [{ rule, place, condition }]
  })
}

export function verdictOf({ asked: { rule, place }, text }: CheckHit) {
  const { actions, ...named } = rule
  return { status: 'disapproved' as const, rule: named, condition: place, text, actions }
}

type Decided = Exclude<Verdict, { status: 'pending' }>

/** Asks at once about a message that is only checked. There is one attempt: a failure ends as the settings say. */
export async function decideNow(
  deps: Pick<Deps, 'outbound' | 'models' | 'secrets' | 'files'>,
  { id: appId, no: appNo, cell: { db } }: ServedApp,
  message: Subject['message'],
  verdict: Verdict | undefined,
): Promise<Decided | undefined> {
  if (verdict?.status !== 'pending') return verdict
  const settings = await readCheckSettings(db, appNo)
  const asked = await readAsked(db, appNo, { app_id: appId, checks: verdict.checks })
  const { signal } = new AbortController()
  const subject = { appNo, appId, conversation: undefined, message }
  const { hit, failures, outcome } = await askServices(
    { deps, db, settings, signal },
    subject,
    asked,
  )
  if (hit) return verdictOf(hit)
  const [failure] = failures
  if (!failure || outcome === 'approved') return { status: 'approved' }
  const { rule, condition } = failure.context
  return { status: outcome, rule, condition, text: failure.errorMessage, actions: [] }
}
