import { type ActiveRun, inStep } from '../run.ts'
import type { QuestionRow } from '../runs.queries.ts'
import { storeFirstSearch } from './queries.ts'
import { FIRST_CALL, SEARCH_TOOL, searchForRun } from './search.ts'

/** Searches for the question before the model is asked. The model reads it as if it had called the tool. */
export async function searchFirst(
  { job, signal }: ActiveRun,
  question: QuestionRow,
): Promise<void> {
  const { appNo, input, context } = job
  const { runId } = input
  const asker = { appNo, agentUid: question.agent_uid, runId }
  const { text: result, note } = await searchForRun(context, asker, question.text, signal)
  const written = JSON.stringify({ query: question.text.slice(0, 500).toWellFormed() })
  await inStep(job, (tx) =>
    storeFirstSearch.run(tx, {
      ...{ appNo, runId, tool: SEARCH_TOOL, callId: FIRST_CALL, arguments: written, result },
      error: note ?? null,
    }),
  )
}
