/** How much of a text that is being written devices may see. */

import { moderate } from '../../core/moderation/moderate.ts'
import type { Verdict } from '../../core/moderation/verdict.ts'
import type { JobDeps } from '../../deps.ts'
import { findModeration } from './queries.ts'
import type { ActiveRun } from './run.ts'
import type { QuestionRow } from './runs.queries.ts'

/** How often the rules of moderation look at a text that is being written. */
const CHECK_MS = 500

/**
 * Shows devices the text so far, and returns what they were shown of it. With rules of moderation, these are only whole
 * words that they approve, and nothing more after a text that they don't approve, or that has to wait for a check.
 */
export function shower(
  { job, stream }: ActiveRun,
  question: QuestionRow,
  moderated: boolean,
): (text: string) => Promise<string> {
  const { appNo, context } = job
  let [shown, checkedAt, muted] = [0, 0, false]
  /** How much of a text may be shown now. */
  const approvedIn = async (text: string): Promise<number> => {
    if (!moderated) return text.length
    const now = performance.now()
    if (muted || now - checkedAt < CHECK_MS) return shown
    checkedAt = now
    const upto = lastWordIn(text, shown)
    if (upto === shown) return shown
    const verdict = await judge(context, appNo, question, { text: text.slice(0, upto) })
    muted = verdict !== undefined && verdict.status !== 'approved'
    return muted ? shown : upto
  }
  return async (text) => {
    const upto = await approvedIn(text)
    stream.add(text.slice(shown, upto))
    shown = upto
    return text.slice(0, shown)
  }
}

/** Where the last word of a text begins, which may go on; not before `from`. */
function lastWordIn(text: string, from: number): number {
  let at = text.length
  // A pattern that is bound to the end would look from every letter of a long word.
  while (at > from && !/\s/.test(text.charAt(at - 1))) at--
  return at
}

/** What the app's rules of moderation say about an answer. */
export async function judge(
  { cell }: JobDeps,
  appNo: number,
  { agent_uid: sender, guid, uid }: Pick<QuestionRow, 'agent_uid' | 'guid' | 'uid'>,
  data: { text: string },
): Promise<Verdict | undefined> {
  const { app_id: id, moderation } = await findModeration.one(cell.db, { appNo })
  const app = { cell, no: appNo, id }
  const kind = guid === null ? ('user' as const) : ('group' as const)
  const message = { sender, kind, receiver: guid ?? uid, data }
  // Rules about texts look at the categories that users write.
  return moderate(
    { app, moderation: moderation ?? undefined },
    { ...message, category: 'message', type: 'text' },
  )
}
