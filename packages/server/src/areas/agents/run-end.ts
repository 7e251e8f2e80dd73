/** The end of a run that has an answer. */
import type { Verdict } from '../../core/moderation/verdict.ts'
import type { Tx } from '../../platform/db/db.ts'
import { insertMessage } from '../messages/queries.ts'
import { cleaned } from './answer-text.ts'
import { announceHandover } from './handovers.actions.ts'
import { insertHandover, lockHandedOver } from './handovers.queries.ts'
import { citedIn } from './knowledge/search.ts'
import { type ActiveRun, type Answered, Ended, endOf, inStep } from './run.ts'
import {
  endRun,
  findQuestion,
  listShownCalls,
  type QuestionRow,
  settleCall,
  storeAnswer,
} from './runs.queries.ts'
import type { EndReason } from './runs.schema.ts'
import { judge } from './shown-text.ts'
import type { LastWords } from './tool-calls.ts'

const GONE = 'question_deleted'

/** Sends the answer and ends the run, also if nobody gets the answer: what the model wrote is known, and so is what it cost. */
export async function finish(run: ActiveRun, answered: Answered): Promise<void> {
  const { job, stream } = run
  try {
    await finishAnswered(run, answered)
  } catch (error) {
    const ended = endOf(error)
    if (!ended) throw error
    const { state, reason, detail } = ended
    const over = { appNo: job.appNo, runId: job.input.runId, state, reason, error: detail }
    // At once: a worker that found only the settled call would ask the model again.
    await inStep(job, async (tx) => {
      await endRun.run(tx, over)
      await settleCall.run(tx, answered.settled)
    })
    stream.failed(reason)
  }
}

/** In one transaction, so there is never more than one answer. */
async function finishAnswered(
  run: ActiveRun,
  { question, settled, text, end }: Answered,
): Promise<void> {
  const { job, stream } = run
  const { appNo, input, context } = job
  const { runId } = input
  const { agent_uid: sender, guid, thread_id: thread } = question
  const sources = await citedIn(context.cell.db, { appNo, agentUid: sender, runId }, text)
  const metadata = { ...(sources.length > 0 && { sources }), ...(await toolsOf(run, question)) }
  const data = {
    ...{ text, runId, threadId: String(thread) },
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
  if (text === '') {
    throw new Ended('failed', end.finish === 'filtered' ? 'filtered' : 'empty_answer')
  }
  const verdict = await judge(context, appNo, question, data)
  if (verdict?.status === 'disapproved') throw new Ended('failed', 'disapproved')
  const held = verdict?.status === 'pending'
  const ended: EndReason = held ? 'held' : end.finish === 'stop' ? 'answered' : 'cut_short'
  const sent = await inStep(job, async (tx) => {
    // It may have been deleted, or its sender removed, while the model wrote.
    if (!(await findQuestion.maybeOne(tx, { appNo, runId }))) throw new Ended('cancelled', GONE)
    const over = { appNo, runId, state: 'finished', reason: ended, error: null }
    if (!(await endRun.maybeOne(tx, over))) return undefined
    if (guid === null) await refuseHandedOver(tx, appNo, question)
    const answerId = await sendAnswer(tx, { appNo, runId, question, data, verdict })
    // Last, because other calls of the app wait for its sum.
    await settleCall.run(tx, settled)
    return answerId
  })
  stream.finished(held ? undefined : sent)
}

/**
 * The agent has called its tool: sends its last words, ends the run and hands the conversation over, in one transaction. A person
 * is asked also if nobody may read these words.
 */
export async function finishHandedOver(
  run: ActiveRun,
  question: QuestionRow,
  { message, reason }: LastWords,
): Promise<void> {
  const { job, stream } = run
  const { appNo, input, context } = job
  const { runId } = input
  const { agent_uid: agentUid, uid, conversation, thread_id: thread } = question
  const metadata = await toolsOf(run, question)
  const data = { text: cleaned(message), runId, threadId: String(thread), metadata }
  const verdict = await judge(context, appNo, question, data)
  const silent = data.text === '' || verdict?.status === 'disapproved'
  const sent = await inStep(job, async (tx) => {
    if (!(await findQuestion.maybeOne(tx, { appNo, runId }))) throw new Ended('cancelled', GONE)
    const over = { appNo, runId, state: 'finished', reason: 'handed_over', error: null }
    if (!(await endRun.maybeOne(tx, over))) return undefined
    await refuseHandedOver(tx, appNo, question)
    const answerId = silent
      ? undefined
      : await sendAnswer(tx, { appNo, runId, question, data, verdict })
    const row = await insertHandover.one(tx, {
      ...{ appNo, agentUid, uid, conversation, openedBy: 'agent' },
      reason: cleaned(reason ?? '') || null,
    })
    await announceHandover(tx, appNo, 'agent.handover.opened', row)
    return answerId
  })
  stream.finished(verdict?.status === 'pending' ? undefined : sent)
}

/**
 * What the agent has called, so that clients can show it without reading the run. Only the user who asked may know: in a
 * group, all members read the answer.
 */
async function toolsOf({ job, ownCalls = new Map() }: ActiveRun, { guid }: QuestionRow) {
  if (guid !== null) return {}
  const { appNo, input, context } = job
  const called = await listShownCalls.many(context.cell.db, { appNo, runId: input.runId })
  const own = [...ownCalls].map(([id, name]) => ({ id, name }))
  const tools = [
    ...called.map(({ id, name, failed }) => ({ id, name, ...(failed && { failed }) })),
    ...own,
  ]
  return tools.length > 0 ? { tools } : {}
}

/** Somebody may have handed the conversation over while the model wrote, and not have seen this run. */
async function refuseHandedOver(tx: Tx, appNo: number, question: QuestionRow): Promise<void> {
  const { agent_uid: agentUid, uid, conversation } = question
  const { handed } = await lockHandedOver.one(tx, { appNo, agentUid, uid, conversation })
  if (handed) throw new Ended('cancelled', 'handed_over')
}

interface Answer {
  appNo: number
  runId: string
  question: QuestionRow
  data: { text: string; threadId: string }
  verdict: Verdict | undefined
}

/** Returns the id of the message. */
async function sendAnswer(
  tx: Tx,
  { appNo, runId, question, data, verdict }: Answer,
): Promise<number> {
  const { agent_uid: sender, guid, uid } = question
  const kind = guid === null ? 'user' : 'group'
  const held = verdict?.status === 'pending'
  const judged = verdict?.status === 'approved' ? { moderation: { status: 'approved' } } : {}
  tx.announced = true
  tx.enqueued = held
  const { message_id: answerId } = await insertMessage.one(tx, {
    ...{ appNo, kind, sender, receiver: guid ?? uid, category: 'agentic', type: 'assistant' },
    ...{ data: JSON.stringify({ ...data, ...judged }), tags: [], muid: runId, target: '' },
    ...{ credential: Buffer.alloc(0), key: null, requestHash: null, clock: Date.now() },
    ...{ parent: data.threadId, quoted: null, mentions: null, shows: true, files: null },
    verdict: held ? JSON.stringify(verdict) : null,
  })
  await storeAnswer.run(tx, { appNo, runId, answerId })
  return answerId
}
