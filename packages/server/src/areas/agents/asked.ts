/** What a run is about: the question, the agent as it was when the run was started, its model or its server, and its tools. */
import type { AnswererKind, ChatPrompt, ProviderKind } from '../../core/models/prompt.ts'
import type { JobDeps } from '../../deps.ts'
import { findProvider } from '../models/queries.ts'
import type { Definition } from './actions.ts'
import type { ExternalDefinition } from './external.actions.ts'
import { lowered } from './headers.ts'
import { SEARCH_TOOL } from './knowledge/search.ts'
import { fillInstruction, readTurns, readVariables, senderOf } from './prompt.ts'
import { findAnswerer, findAnyAgent, findModeration } from './queries.ts'
import { findRevision } from './revisions.queries.ts'
import { type AgentJob, Ended } from './run.ts'
import { findQuestion, type QuestionRow } from './runs.queries.ts'
import { DEFAULT_MODEL } from './schema.ts'
import { openActions, openToolbox, type Toolbox, type ToolContext } from './tools.ts'

const DEFAULT_TOKENS = 1_024

type AnsweringAgent = Awaited<ReturnType<typeof findAnswerer.one>>
/** What a built agent answers with. */
type BuiltAgent = Pick<AnsweringAgent, 'used' | 'sources'>

/** Who can be asked: a model of a provider, or an external agent. */
export interface Answerer {
  providerId: string | null
  url: string
  key: string | undefined
  /** For a million tokens. */
  prices: { input: number; output: number } | undefined
  kind: AnswererKind
  model: string
}

/** What an agent is asked with. */
interface Setup {
  kind: 'model_call' | 'agent_call'
  /** In the order in which they are asked, until one answers. */
  answerers: [Answerer, ...Answerer[]]
  /** Of an external agent. */
  headers: Record<string, string> | undefined
  /** Whether a call can be repeated that was cut off. External agents may have done something. */
  idempotent: boolean
  /** The prompt of the first call. */
  prompt: Omit<ChatPrompt, 'kind' | 'model'>
  toolbox: Toolbox
}

export interface Asked extends Setup {
  question: QuestionRow
  /** Whether the app has rules of moderation. */
  moderated: boolean
  /** Whether the agent has sources of knowledge. */
  searches: boolean
}

/** Throws `Ended` if there is nobody to answer, or nothing to answer with. */
export async function readAsked(
  { appNo, input, context }: AgentJob,
  signal: AbortSignal,
): Promise<Asked> {
  const { db } = context.cell
  const { runId } = input
  const question = await findQuestion.maybeOne(db, { appNo, runId })
  if (!question) throw new Ended('cancelled', 'question_deleted')
  if (question.handed_over) throw new Ended('cancelled', 'handed_over')
  // Sending the answer would be refused, after everything was paid for and every tool was called.
  if (question.agent_left) throw new Ended('failed', 'not_deliverable', 'ERR_GROUP_NOT_JOINED')
  const agent = await findAnswerer.maybeOne(db, { appNo, runId })
  if (!agent?.active) throw new Ended('failed', 'agent_inactive')
  const { moderation } = await findModeration.one(db, { appNo })
  const variables = await readVariables(db, appNo, question)
  const known = { job: context, appNo, runId, question, variables }
  const setup =
    agent.kind === 'external'
      ? await readExternal(known, agent, runId)
      : await readBuilt(known, agent, signal)
  const searches = setup.toolbox.tools.has(SEARCH_TOOL) && agent.sources.length > 0
  return { ...setup, question, searches, moderated: moderation !== null }
}

/** What is replayed, and with which agent. */
export interface Replayed {
  runId: string
  startedAt: Date
  revision: number | null
  changes: Partial<Definition>
}

/**
 * The same for a replay: the agent as it was in a revision, with changes, and the thread as it was when the run was
 * started, without what was deleted since. An agent that somebody has paused can be replayed.
 */
export async function readReplayed(
  job: JobDeps,
  appNo: number,
  { runId, startedAt, revision, changes }: Replayed,
  signal: AbortSignal,
): Promise<Asked> {
  const { db } = job.cell
  const question = await findQuestion.maybeOne(db, { appNo, runId })
  if (!question) throw new Ended('failed', 'question_deleted')
  const { agent_uid: uid } = question
  const agent = await findAnyAgent.maybeOne(db, { appNo, uid })
  if (agent?.kind !== 'built') throw new Ended('failed', 'agent_inactive')
  const kept =
    revision === null ? undefined : await findRevision.maybeOne(db, { appNo, uid, no: revision })
  const used = { ...((kept?.content ?? agent.definition) as Definition), ...changes }
  const variables = await readVariables(db, appNo, question)
  const known = { job, appNo, runId, question, variables, replayed: startedAt }
  const setup = await readBuilt(known, { used, sources: agent.sources }, signal)
  return { ...setup, question, searches: agent.sources.length > 0, moderated: false }
}

async function readBuilt(
  known: ToolContext,
  agent: BuiltAgent,
  signal: AbortSignal,
): Promise<Setup> {
  const { job, appNo, question, variables, replayed } = known
  const definition = agent.used as Definition
  const { providerId, model = DEFAULT_MODEL, modelMetaData, instruction } = definition
  const [first, ...fallbacks] = await readProviders(known, providerId, model)
  if (!first) throw new Ended('failed', 'not_configured', 'The agent has no model provider.')
  const turns = await readTurns(job.cell.db, appNo, question, replayed)
  // Last, because somebody has to close it.
  const toolbox = await openToolbox(known, { ...definition, sources: agent.sources }, signal)
  return {
    ...{ kind: 'model_call', answerers: [first, ...fallbacks], idempotent: true },
    ...{ headers: undefined, toolbox },
    prompt: {
      system: fillInstruction(instruction, question, variables),
      turns,
      tools: [...toolbox.tools.values()].map(({ offer }) => offer),
      maxTokens: modelMetaData?.maxTokens ?? DEFAULT_TOKENS,
      temperature: modelMetaData?.temperature,
    },
  }
}

/** A provider, and those that are asked if it can't answer. */
async function readProviders(
  { job, appNo }: ToolContext,
  providerId: string | undefined,
  model: string,
): Promise<Answerer[]> {
  const { deps, cell } = job
  const answerers: Answerer[] = []
  let next = providerId
  while (next !== undefined && !answerers.some((known) => known.providerId === next)) {
    const row = await findProvider.maybeOne(cell.db, { appNo, id: next })
    if (!row) break
    const { provider_id: id, key_sealed: sealed, input_price: read, output_price: written } = row
    answerers.push({
      ...{ providerId: id, url: row.url, kind: row.kind as ProviderKind, model },
      key: sealed ? deps.secrets.open(['model_providers.key', appNo, id], sealed) : undefined,
      prices: read !== null && written !== null ? { input: read, output: written } : undefined,
    })
    next = row.fallback_id ?? undefined
    model = row.fallback_model ?? model
  }
  return answerers
}

/** Actions of devices are offered to an external agent. Its other tools are its own; only their names are known here. */
async function readExternal(
  known: ToolContext,
  agent: AnsweringAgent,
  runId: string,
): Promise<Setup> {
  const { job, appNo, question, variables } = known
  const { uid } = agent
  const definition = agent.used as ExternalDefinition
  const { baseUrl: url, agentId, idempotent = false } = definition.integrationMeta
  // The headers are those of the agent's URL now. If it has another one since, that server must not learn them.
  const sealed = agent.url === url ? agent.headers_sealed : null
  const toolbox = await openActions(known, definition)
  const free = { providerId: null, key: undefined, prices: undefined }
  return {
    ...{ kind: 'agent_call', answerers: [{ ...free, url, kind: 'ag-ui', model: '' }] },
    ...{ idempotent, toolbox },
    headers: sealed
      ? lowered(JSON.parse(job.deps.secrets.open(['agents.headers', appNo, uid], sealed)))
      : undefined,
    prompt: {
      ...{ maxTokens: 0, temperature: undefined },
      system: fillInstruction(definition.instruction, question, variables),
      turns: await readTurns(job.cell.db, appNo, question),
      tools: [...toolbox.tools.values()].map(({ offer }) => offer),
      run: {
        ...{ runId, threadId: String(question.thread_id) },
        context: [{ description: 'The user who asks', value: JSON.stringify(senderOf(question)) }],
        forwardedProps: agentId === undefined ? {} : { agentId },
      },
    },
  }
}
