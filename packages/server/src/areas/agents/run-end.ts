/** The end of a run that has an answer. */
import type { ChatEnd } from '../../core/models/prompt.ts'
import { insertMessage } from '../messages/queries.ts'
import { citedIn } from './knowledge/search.ts'
import { type ActiveRun, inStep } from './run.ts'
import {
  endRun,
  findQuestion,
  type QuestionRow,
  type Settled,
  settleCall,
  storeAnswer,
} from './runs.queries.ts'
import type { EndReason } from './runs.schema.ts'
import { judge } from './shown-text.ts'

const GONE = 'question_deleted'

/** Sends the answer and ends the run in one transaction, so there is never more than one. */
export async function finish(
  { job, stream }: ActiveRun,
  {
    question,
    settled,
    text,
    end,
  }: { question: QuestionRow; settled: Settled; text: string; end: ChatEnd },
): Promise<void> {
  const { appNo, input, context } = job
  const { runId } = input
  const { agent_uid: sender, guid, uid, thread_id: thread } = question
  const kind = guid === null ? 'user' : 'group'
  const sources = await citedIn(context.cell.db, { appNo, agentUid: sender, runId }, text)
  const data = {
    ...{ text, runId, threadId: String(thread) },
    ...(sources.length > 0 && { metadata: { sources } }),
  }
  const refused =
    text === '' ? (end.finish === 'filtered' ? 'filtered' : 'empty_answer') : undefined
  const verdict = refused ? undefined : await judge(context, appNo, question, data)
  const reason = refused ?? (verdict?.status === 'disapproved' ? 'disapproved' : undefined)
  if (reason) {
    await inStep(job, async (tx) => {
      await endRun.run(tx, { appNo, runId, state: 'failed', reason, error: null })
      await settleCall.run(tx, settled)
    })
    stream.failed(reason)
    return
  }
  const held = verdict?.status === 'pending'
  const judged = verdict?.status === 'approved' ? { moderation: { status: 'approved' } } : {}
  const ended: EndReason = held ? 'held' : end.finish === 'stop' ? 'answered' : 'cut_short'
  const sent = await inStep(job, async (tx) => {
    // It may have been deleted, or its sender removed, while the model wrote.
    if (!(await findQuestion.maybeOne(tx, { appNo, runId }))) {
      const gone = { state: 'cancelled', reason: GONE, error: null }
      await endRun.run(tx, { appNo, runId, ...gone })
      await settleCall.run(tx, settled)
      return GONE
    }
    const over = { appNo, runId, state: 'finished', reason: ended, error: null }
    if (!(await endRun.maybeOne(tx, over))) return undefined
    tx.announced = true
    tx.enqueued = held
    const { message_id: answerId } = await insertMessage.one(tx, {
      ...{ appNo, kind, sender, receiver: guid ?? uid, category: 'agentic', type: 'assistant' },
      ...{ data: JSON.stringify({ ...data, ...judged }), tags: [], muid: runId, target: '' },
      ...{ credential: Buffer.alloc(0), key: null, requestHash: null, clock: Date.now() },
      ...{ parent: String(thread), quoted: null, mentions: null, shows: true, files: null },
      verdict: held ? JSON.stringify(verdict) : null,
    })
    await storeAnswer.run(tx, { appNo, runId, answerId })
    // Last, because other calls of the app wait for its sum.
    await settleCall.run(tx, settled)
    return answerId
  })
  if (sent === GONE) stream.failed(GONE)
  else stream.finished(held ? undefined : sent)
}
