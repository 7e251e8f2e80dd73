/** What a run is about: the question, the agent as it is now, its model and its tools. */
import type { ChatPrompt, ProviderKind } from '../../core/models/prompt.ts'
import { findProvider } from '../models/queries.ts'
import type { Definition } from './actions.ts'
import { fillInstruction, readTurns, readVariables } from './prompt.ts'
import { findAgent, findModeration } from './queries.ts'
import { type AgentJob, Ended } from './run.ts'
import { findQuestion, type QuestionRow } from './runs.queries.ts'
import { DEFAULT_MODEL } from './schema.ts'
import { openToolbox, type Toolbox } from './tools.ts'

const DEFAULT_TOKENS = 1_024

export interface Asked {
  question: QuestionRow
  providerId: string
  url: string
  key: string | undefined
  /** For a million tokens. */
  prices: { input: number; output: number } | undefined
  /** The prompt of the first call. */
  prompt: ChatPrompt
  toolbox: Toolbox
  /** Whether the app has rules of moderation. */
  moderated: boolean
}

/** Throws `Ended` if there is nobody to answer, or nothing to answer with. */
export async function readAsked(
  { appNo, input, context }: AgentJob,
  signal: AbortSignal,
): Promise<Asked> {
  const { deps, cell } = context
  const { db } = cell
  const question = await findQuestion.maybeOne(db, { appNo, runId: input.runId })
  if (!question) throw new Ended('cancelled', 'question_deleted')
  const agent = await findAgent.maybeOne(db, { appNo, kind: 'built', uid: question.agent_uid })
  if (!agent?.active) throw new Ended('failed', 'agent_inactive')
  const definition = agent.definition as Definition
  const { providerId, model = DEFAULT_MODEL, modelMetaData, instruction } = definition
  const provider =
    providerId === undefined
      ? undefined
      : await findProvider.maybeOne(db, { appNo, id: providerId })
  if (!provider) throw new Ended('failed', 'not_configured', 'The agent has no model provider.')
  const { provider_id: id, key_sealed: sealed, input_price: read, output_price: written } = provider
  const variables = await readVariables(db, appNo, question)
  const { moderation } = await findModeration.one(db, { appNo })
  const turns = await readTurns(db, appNo, question)
  // Last, because somebody has to close it.
  const known = { job: context, appNo, question, variables }
  const toolbox = await openToolbox(known, definition, signal)
  return {
    ...{ question, providerId: id, url: provider.url, toolbox, moderated: moderation !== null },
    key: sealed ? deps.secrets.open(['model_providers.key', appNo, id], sealed) : undefined,
    prices: read !== null && written !== null ? { input: read, output: written } : undefined,
    prompt: {
      ...{ kind: provider.kind as ProviderKind, model },
      system: fillInstruction(instruction, question, variables),
      turns,
      tools: [...toolbox.tools.values()].map(({ offer }) => offer),
      maxTokens: modelMetaData?.maxTokens ?? DEFAULT_TOKENS,
      temperature: modelMetaData?.temperature,
    },
  }
}
