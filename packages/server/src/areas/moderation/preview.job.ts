import { setTimeout as sleep } from 'node:timers/promises'
import { type Static, Type } from 'typebox'
import { BatchThread } from '../../core/moderation/batches.ts'
import { readRules } from '../../core/moderation/compiled.ts'
import { textsOf } from '../../core/moderation/content.ts'
import type { Rule, Texts } from '../../core/moderation/rules.ts'
import { defineJob } from '../../deps.ts'
import type { Executor } from '../../platform/db/query.ts'
import { type Effects, effectsOf, PREVIEWED } from './previews.effects.ts'
import {
  addToPreview,
  findEnds,
  findPreview,
  findVersion,
  listTexts,
  type PreviewRow,
  removeOldPreviews,
  resetPreview,
  type StoredSample,
  type TextRow,
} from './previews.queries.ts'
import { EFFECTS } from './previews.schema.ts'

/** Messages per statement and transaction. */
const CHUNK = 1_000
const SAMPLES = 20
/** The time for a whole preview, without its pauses. */
const MOST_MS = 30 * 60_000
/** A preview rests as long as it works, so that it takes at most half of a core and of a connection. */
const LONGEST_PAUSE_MS = 2_000

const Place = Type.Object({
  /** The version of the rules in force that the counts belong to. */
  version: Type.Union([Type.String(), Type.Null()]),
  /** The messages before this id are left. */
  before: Type.Integer(),
  /** How many more may be read. */
  left: Type.Integer(),
  spentMs: Type.Number(),
})
type Place = Static<typeof Place>

export const previewRuleJob = defineJob({
  name: 'moderation.preview',
  summary: 'Runs a rule of moderation over the history of an app.',
  input: Type.Object({}),
  checkpoint: Place,
  async run({ appNo, id, saved, checkpoint, progress, signal, context: { cell } }) {
    const { db } = cell
    const preview = await findPreview.maybeOne(db, { appNo, id })
    if (!preview) return
    const { moderation: version } = await findVersion.one(db, { appNo })
    let place = saved
    let samples = preview.samples
    if (!place || place.version !== version) {
      // Counts by different rules in force can't be added.
      place = await checkpoint(async (tx) => {
        await resetPreview.run(tx, { appNo, id })
        return { version, before: preview.before_id, left: preview.most, spentMs: 0 }
      })
      samples = []
    }
    const { rules, thread } = await prepare(db, appNo, preview)
    const ends = await findEnds.one(db, {
      ...{ appNo, after: preview.after_id, before: preview.before_id },
    })
    try {
      for (let size = CHUNK; ; ) {
        const startedAt = performance.now()
        const { before, left, spentMs } = place
        const limit = Math.min(size, left)
        const range = { appNo, after: preview.after_id, before, limit }
        const rows = await listTexts.many(db, { ...range, viewer: null, moderates: true })
        const messages = rows.map(messageOf)
        const hits = await thread.check(messages, signal)
        if (!hits && rows.length > 1) {
          size = Math.ceil(rows.length / 2)
          continue
        }
        size = Math.min(CHUNK, size * 2)
        const effects = await effectsOf(db, { appNo, rules, rows, hits: hits ?? [], preview })
        const added = withSamples(samples, effects)
        const spent = performance.now() - startedAt
        const next: Place = {
          ...{ version, before: rows.at(-1)?.id ?? before, left: left - rows.length },
          spentMs: spentMs + spent,
        }
        const complete = rows.length < limit
        const ended = complete || next.left === 0 || next.spentMs > MOST_MS
        const reached = ended ? 1 : progressOf(next, preview, ends)
        place = await checkpoint(async (tx) => {
          await addToPreview.run(tx, {
            ...{ appNo, id, ended, complete, progress: Math.floor(reached * 1_000) },
            checked: messages.filter((texts) => Object.keys(texts).length > 0).length,
            ...countsOf(effects),
            tooSlow: hits ? 0 : 1,
            samples: added === samples ? null : JSON.stringify(added),
          })
          return next
        })
        samples = added
        await progress(Math.floor(reached * 100), 100)
        if (ended) return
        await sleep(Math.min(spent, LONGEST_PAUSE_MS), undefined, { signal })
      }
    } finally {
      await thread.close()
    }
  },
})

/** The rules in force and the previewed one, and a thread that checks by all of them. */
async function prepare(db: Executor, appNo: number, { rule }: PreviewRow) {
  const { filters, conditions } = rule
  const previewed: Rule = {
    ...{ id: PREVIEWED, name: '', revision: 0, revisionId: '', action: [], filters, conditions },
  }
  const source = await readRules(db, { no: appNo, id: '' }, [previewed])
  return { rules: source.rules, thread: new BatchThread(source) }
}

const messageOf = ({ category, text, custom }: TextRow): Texts =>
  textsOf({ category, data: { text, ...custom } })

/** By the number of messages or by their time, whichever is further. */
function progressOf(
  { before, left }: Place,
  { most }: PreviewRow,
  { first, last }: { first: number | null; last: number | null },
): number {
  const byTime =
    first === null || last === null || last === first ? 0 : (last - before) / (last - first)
  // It is over only when it says so.
  return Math.min(Math.max(byTime, 1 - left / most, 0), 0.99)
}

const countsOf = (effects: Effects) => ({
  blocked: effects.filter(({ effect }) => effect !== 'noLongerBlocked').length,
  newlyBlocked: effects.filter(({ effect }) => effect === 'newlyBlocked').length,
  noLongerBlocked: effects.filter(({ effect }) => effect === 'noLongerBlocked').length,
})

/** The newest ones of each effect. The same list if nothing is new. */
function withSamples(samples: StoredSample[], effects: Effects): StoredSample[] {
  const missing = EFFECTS.flatMap((effect) => {
    const known = samples.filter((one) => one.effect === effect).length
    return effects.filter((one) => one.effect === effect).slice(0, Math.max(SAMPLES - known, 0))
  })
  return missing.length === 0 ? samples : [...samples, ...missing]
}

export const sweepPreviewsJob = defineJob({
  name: 'moderation.sweepPreviews',
  summary: 'Deletes previews of rules that expired.',
  input: Type.Object({}),
  schedule: { everySeconds: 3_600 },
  run: ({ context: { cell } }) => removeOldPreviews.run(cell.db, {}),
})
