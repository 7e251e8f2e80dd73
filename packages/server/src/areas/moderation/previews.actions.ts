import type { MessageRecord } from '@loquat/protocol'
import { type Actor, isModerator } from '../../core/actor.ts'
import { firstIdOf } from '../../core/ids.ts'
import { asSeenBy, toMessages } from '../../core/message-record.ts'
import { listReferred } from '../../core/message-rows.ts'
import { withDefault } from '../../core/moderation/compiled.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { cancelJob } from '../jobs/queries.ts'
import { previewRuleJob } from './preview.job.ts'
import {
  findPreview,
  insertPreview,
  KEPT_SECONDS,
  listPreviews,
  type PreviewedRule,
  type PreviewRow,
  removeOlderPreviews,
  removePreview,
  type StoredSample,
} from './previews.queries.ts'
import { LIMIT, type NewRulePreview, type RulePreview } from './previews.schema.ts'
import { listHeld } from './reviews.queries.ts'
import { contentOf, getRuleRow } from './rules.actions.ts'
import { lockModeration } from './rules.queries.ts'

/** After all other jobs of the app. */
const PRIORITY = -10
/** Previews of an app that are kept. */
export const KEPT = 20

/** Starts a preview. An app has one at a time. */
export function createRulePreview(
  deps: Deps,
  actor: Actor,
  given: NewRulePreview,
): Promise<RulePreview> {
  const { no: appNo } = actor.app
  const { from, limit = LIMIT, to = seconds(new Date()) } = given
  if (from !== undefined && from > to) throw badRequest({ from: ['from is after to'] })
  return write(deps, actor, async (tx) => {
    await lockModeration.run(tx, { appNo })
    const running = (await listPreviews.many(tx, { appNo, limit: KEPT })).find(isUnderWay)
    if (running) throw fail('ERR_PREVIEW_RUNNING', { previewId: String(running.id) })
    const rule = await ruleOf(tx, actor, given)
    const id = await enqueue(tx, appNo, previewRuleJob, {}, { priority: PRIORITY })
    await insertPreview.run(tx, {
      ...{ appNo, id, rule: JSON.stringify(rule), from: from ?? null, to, limit },
      ...{ after: firstIdOf(from ?? 0) - 1, before: firstIdOf(to + 1) },
    })
    await removeOlderPreviews.run(tx, { appNo, kept: KEPT })
    return readPreview(tx, actor, String(id))
  })
}

/** The saved rule, or the given content in its place. */
async function ruleOf(tx: Tx, actor: Actor, { rule }: NewRulePreview): Promise<PreviewedRule> {
  const { id, name = '', filters, conditions } = rule
  if (!conditions) {
    if (id === undefined) throw badRequest({ rule: ['rule needs conditions, or the id of a rule'] })
    const saved = withDefault(await getRuleRow(tx, actor.app.no, id))
    return { id, filters: saved.filters, conditions: saved.conditions }
  }
  const content = await contentOf(tx, actor, { name, conditions, ...(filters && { filters }) })
  return {
    id: id ?? null,
    filters: JSON.parse(content.filters),
    conditions: JSON.parse(content.conditions),
  }
}

const UNDER_WAY: Record<string, 'waiting' | 'running'> = {
  ...{ ready: 'waiting', waiting: 'waiting', blocked: 'waiting', running: 'running' },
}

const isUnderWay = ({ ended_at, job }: PreviewRow) =>
  ended_at === null && UNDER_WAY[job ?? ''] !== undefined

function stateOf({ ended_at, job }: PreviewRow): RulePreview['state'] {
  if (ended_at) return 'done'
  // A job that is gone was cancelled long ago.
  return UNDER_WAY[job ?? ''] ?? (job === 'dead' ? 'failed' : 'cancelled')
}

const toPreview = (row: PreviewRow): RulePreview => ({
  id: String(row.id),
  ...(row.rule.id !== null && { ruleId: row.rule.id }),
  state: stateOf(row),
  progress: row.progress / 1_000,
  ...(row.from_second !== null && { from: row.from_second }),
  ...{ to: row.to_second, limit: row.most, checked: row.checked, blocked: row.blocked },
  ...{ newlyBlocked: row.newly_blocked, noLongerBlocked: row.no_longer_blocked },
  ...{ tooSlow: row.too_slow, complete: row.complete },
  createdAt: seconds(row.created_at),
  ...(row.ended_at && { endedAt: seconds(row.ended_at) }),
  expiresAt: seconds(row.created_at) + KEPT_SECONDS,
})

export async function listRulePreviews({ app }: Actor): Promise<RulePreview[]> {
  const rows = await listPreviews.many(app.cell.db, { appNo: app.no, limit: KEPT })
  return rows.map(toPreview)
}

export async function readPreview(
  db: Executor,
  actor: Actor,
  previewId: string,
): Promise<RulePreview> {
  const row = await getPreview(db, actor, previewId)
  const samples = await samplesOf(db, actor, row.samples)
  return { ...toPreview(row), samples }
}

async function getPreview(db: Executor, { app }: Actor, previewId: string): Promise<PreviewRow> {
  const row = await findPreview.maybeOne(db, { appNo: app.no, id: Number(previewId) })
  if (!row) throw fail('ERR_PREVIEW_NOT_FOUND', { previewId })
  return row
}

/** The sampled messages as they are now. Those that were deleted since are left out. */
async function samplesOf(db: Executor, actor: Actor, stored: StoredSample[]) {
  const appNo = actor.app.no
  const ids = stored.map(({ id }) => id)
  if (ids.length === 0) return []
  const found = [
    ...(await listReferred.many(db, { appNo, ids })).filter((row) => !row.deleted_at),
    ...(await listHeld.many(db, { appNo, ids, viewer: null, moderates: isModerator(actor) })),
  ]
  const records = await toMessages(db, appNo, found, asSeenBy(actor))
  const messages = new Map<number, MessageRecord>(
    records.map((record) => [Number(record.id), record]),
  )
  const newest = stored.toSorted((one, other) => other.id - one.id)
  return newest.flatMap(({ id, effect, condition, found: text }) => {
    const message = messages.get(id)
    return message
      ? [
          {
            effect,
            ...(condition !== null && { condition }),
            ...(text !== null && { found: text }),
            message,
          },
        ]
      : []
  })
}

/** Stops a preview. What it has found so far stays. One that is over stays as it is. */
export function cancelRulePreview(
  deps: Deps,
  actor: Actor,
  previewId: string,
): Promise<RulePreview> {
  return write(deps, actor, async (tx) => {
    const row = await getPreview(tx, actor, previewId)
    await stop(tx, actor, row)
    return readPreview(tx, actor, previewId)
  })
}

export function deleteRulePreview(deps: Deps, actor: Actor, previewId: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const row = await getPreview(tx, actor, previewId)
    await stop(tx, actor, row)
    await removePreview.run(tx, { appNo, id: row.id })
    return { success: true as const, message: `Preview ${previewId} deleted.` }
  })
}

async function stop(tx: Tx, { app }: Actor, { id }: PreviewRow): Promise<void> {
  await cancelJob.one(tx, { appNo: app.no, id })
  // Wakes the worker that runs it.
  tx.enqueued = true
}
