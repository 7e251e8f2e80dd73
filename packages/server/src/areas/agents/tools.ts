/** The tools of an agent, as its runs use them. */
import { hash } from 'node:crypto'
import { Ajv } from 'ajv'
import type { OfferedTool } from '../../core/models/prompt.ts'
import type { JobDeps } from '../../deps.ts'
import { findUnstorable } from '../../platform/http/unstorable.ts'
import type { Definition } from './actions.ts'
import {
  type Arguments,
  BadArguments,
  requestOf,
  sendRequest,
  type ToolResult,
  type ValueOf,
} from './api-tools.ts'
import {
  AGENT_TOOLS,
  API_TOOLS,
  FRONTEND_ACTIONS,
  MCP_SERVERS,
  NO_PARAMETERS,
  schemaOf,
} from './blocks.actions.ts'
import {
  type BlockKind,
  type BlockRow,
  findListed,
  listNamed,
  type NamedBlock,
  storeListed,
} from './blocks.queries.ts'
import type { NewAgentTool, NewApiTool, NewFrontendAction, NewMcpServer } from './blocks.schema.ts'
import { openSecrets } from './blocks.ts'
import type { ExternalDefinition } from './external.actions.ts'
import { lowered, readHeaders } from './headers.ts'
import { SEARCH_OFFER, searchForRun } from './knowledge/search.ts'
import { McpSession, type McpTool } from './mcp.ts'
import { line, senderOf } from './prompt.ts'
import type { QuestionRow } from './runs.queries.ts'
import { HAND_OVER, type ServiceTool } from './schema.ts'
import { callServiceTool, needsApproval, SERVICE_TOOLS } from './service-tools.ts'

/** How a tool is shown. */
export interface ShownTool {
  /** What devices and operators know it by. */
  name: string
  /** What people see. */
  displayName: string
  /** What people see while it runs. */
  executionText?: string
}

export interface Tool extends ShownTool {
  offer: OfferedTool
  /** Whether a call can be repeated if nobody knows what came of it. */
  idempotent: boolean
  /**
   * Whether it is offered in groups: it changes nothing, and doesn't tell everybody what only the user who asks may know. There
   * the model reads what all members write, and may obey them.
   */
  inGroups: boolean
  /** What a person has to do before the call, or instead of it. */
  waitsFor: 'approval' | 'device' | undefined
  /** Whether a call that succeeds ends the run, and hands the conversation to a person. */
  handsOver?: boolean
  /** Throws `BadArguments`. */
  check(args: Arguments): void
  /** Throws `BadArguments` before anything is sent, `OutcomeUnknown`, or the reason of `signal`. */
  call(args: Arguments, call: { key: string; signal: AbortSignal }): Promise<ToolResult>
}

/** What the tools of a run may know. */
export interface ToolContext {
  job: JobDeps
  appNo: number
  runId: string
  question: QuestionRow
  variables: Map<string, string>
  /** In a replay: when the run was started. The tools are offered, but nobody calls them. */
  replayed?: Date
}

export interface Toolbox {
  /** The tools by the names that the model knows. */
  tools: Map<string, Tool>
  /** Tools that an external agent calls by itself. */
  own: Map<string, ShownTool>
  /** Ends the sessions with MCP servers. */
  close(): Promise<void>
}

export async function openToolbox(
  context: ToolContext,
  {
    apiTools,
    frontendActions,
    mcpServers,
    serviceTools = [],
    sources,
  }: Pick<Definition, 'apiTools' | 'frontendActions' | 'mcpServers' | 'serviceTools'> & {
    sources: string[]
  },
  signal: AbortSignal,
): Promise<Toolbox> {
  const sessions: McpSession[] = []
  const servers = await namedRows(context, MCP_SERVERS.kind, mcpServers)
  const tools = [
    // First, so that what it finds can be trusted to be ours.
    ...(sources.length > 0 ? [knowledgeTool(context)] : []),
    ...(await namedRows(context, API_TOOLS.kind, apiTools)).map((row) => apiTool(context, row)),
    ...(await namedRows(context, FRONTEND_ACTIONS.kind, frontendActions)).map(frontendAction),
    ...(await Promise.all(servers.map((row) => mcpTools(context, row, sessions, signal)))).flat(),
    ...serviceTools.map((tool) => serviceTool(context, tool)),
  ].filter(({ inGroups }) => inGroups || !isInGroup(context))
  const byName = new Map<string, Tool>()
  // Of those with the same name, the first one counts.
  for (const tool of tools) if (!byName.has(tool.offer.name)) byName.set(tool.offer.name, tool)
  return {
    tools: byName,
    own: new Map(),
    async close() {
      await Promise.all(sessions.map((session) => session.close()))
    },
  }
}

const isInGroup = ({ question }: ToolContext) => question.guid !== null

/** The tools of an external agent. Those that it doesn't run by itself are actions of the user's device. */
export async function openActions(
  context: ToolContext,
  { tools = [], actions = [] }: Pick<ExternalDefinition, 'tools' | 'actions'>,
): Promise<Toolbox> {
  const rows = await namedRows(context, AGENT_TOOLS.kind, [...new Set([...actions, ...tools])])
  const all = rows.map(({ slug: name, definition }) => {
    const fields = definition as Omit<NewAgentTool, 'name'>
    const { displayName, executionText } = fields
    return { fields, shown: { name, displayName, executionText } }
  })
  const own = all.filter(({ fields }) => fields.doNotExecute)
  const devices = isInGroup(context) ? [] : all.filter(({ fields }) => !fields.doNotExecute)
  return {
    tools: new Map(
      devices.map(({ fields, shown }) => [shown.name, deviceTool(fields, shown)] as const),
    ),
    own: new Map(own.map(({ shown }) => [shown.name, shown])),
    async close() {},
  }
}

function deviceTool(
  { description = '', parameters = NO_PARAMETERS }: Omit<NewAgentTool, 'name'>,
  shown: ShownTool,
): Tool {
  return {
    ...{ ...shown, offer: { name: shown.name, description, parameters } },
    ...{ idempotent: false, inGroups: false, waitsFor: 'device' },
    // The device does: a schema of the app could take us forever.
    check() {},
    call: () => Promise.reject(new Error('devices answer by themselves')),
  }
}

/** The tools of an MCP server, with its name before theirs. A server that doesn't answer has none for now. */
async function mcpTools(
  context: ToolContext,
  row: NamedBlock,
  sessions: McpSession[],
  signal: AbortSignal,
): Promise<Tool[]> {
  const { job, appNo } = context
  if (context.replayed) {
    const kept = await findListed.maybeOne(job.cell.db, { appNo, slug: row.slug })
    const listed: McpTool[] = JSON.parse(kept?.listed ?? '[]')
    return listed.map((tool) => mcpTool(row, tool, neverCalled))
  }
  const { outbound, config, log } = job.deps
  const { url } = row.definition as Omit<NewMcpServer, 'slug'>
  const { headers } = openSecrets(job.deps, appNo, MCP_SERVERS.kind, row)
  const session = new McpSession(outbound, {
    ...{ url, headers: headers === undefined ? {} : lowered(readHeaders(headers)) },
    timeoutMs: config.agents.toolSeconds * 1_000,
  })
  sessions.push(session)
  const listed = await session.listTools(signal).catch((error: Error) => {
    signal.throwIfAborted()
    log.info({ app: appNo, server: row.slug, err: error.message }, 'MCP server left out')
    return undefined
  })
  if (!listed) return []
  await keepListed(context, row, JSON.stringify(listed))
  return listed.map((tool) =>
    mcpTool(row, tool, (args, call) => session.callTool(tool.name, args, call.signal)),
  )
}

async function keepListed({ job, appNo }: ToolContext, row: NamedBlock, listed: string) {
  const digest = hash('sha256', listed, 'base64url')
  if (digest === row.listed_digest) return
  const { url } = row.definition as Omit<NewMcpServer, 'slug'>
  await storeListed.run(job.cell.db, { appNo, slug: row.slug, url, listed, digest })
}

const neverCalled = () => Promise.reject(new Error('a replay calls no tool'))

function mcpTool(row: NamedBlock, tool: McpTool, call: Tool['call']): Tool {
  const { name, title, description, parameters, idempotent, readOnly } = tool
  const { requiresApproval } = row.definition as Omit<NewMcpServer, 'slug'>
  return {
    offer: { name: offeredName(`${row.slug}_${name}`), description, parameters },
    ...{ name: `${row.slug}_${name}`, displayName: title, idempotent, inGroups: readOnly, call },
    waitsFor: requiresApproval ? 'approval' : undefined,
    // The server does. Its schema could take us forever.
    check() {},
  }
}

async function namedRows({ job, appNo }: ToolContext, kind: BlockKind, slugs: string[] = []) {
  return slugs.length === 0 ? [] : listNamed.many(job.cell.db, { appNo, kind, slugs })
}

/** Providers accept only these characters. */
const offeredName = (name: string) => name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)

/** A function of the user's device. */
function frontendAction({ slug, definition }: BlockRow): Tool {
  const { name, description, parameters } = definition as Omit<NewFrontendAction, 'triggerFunction'>
  const schema = schemaOf(parameters)
  return {
    offer: { name: offeredName(slug), description, parameters: schema },
    ...{ name: slug, displayName: name, idempotent: false, inGroups: false, waitsFor: 'device' },
    check: (args) => checkArguments(schema, args),
    call: () => Promise.reject(new Error('devices answer by themselves')),
  }
}

/** Repeating a call changes nothing: messages of a call have one `muid`. */
function serviceTool(context: ToolContext, tool: ServiceTool): Tool {
  const { name } = tool
  const { displayName, description, parameters } = SERVICE_TOOLS[name]
  return {
    offer: { name, description, parameters },
    ...{ name, displayName, idempotent: true, inGroups: false, handsOver: name === HAND_OVER },
    waitsFor: needsApproval(tool) ? 'approval' : undefined,
    check(args) {
      // Requests of users are checked for it before they reach these operations. A handover leaves it out: a person must come.
      const unstorable = name === HAND_OVER ? undefined : findUnstorable(args)
      if (unstorable) throw new BadArguments(`${unstorable.field} ${unstorable.text}`)
      checkArguments(parameters, args)
    },
    call: (args, { key }) => callServiceTool(context, name, args, key),
  }
}

/** Searches what the agent knows. */
function knowledgeTool({ job, appNo, runId, question }: ToolContext): Tool {
  const { name, parameters } = SEARCH_OFFER
  return {
    offer: SEARCH_OFFER,
    ...{ name, displayName: 'Search the knowledge base' },
    ...{ idempotent: true, inGroups: true, waitsFor: undefined },
    check: (args) => checkArguments(parameters, args),
    async call({ query }, { signal }) {
      const asker = { appNo, agentUid: question.agent_uid, runId }
      return { ...(await searchForRun(job, asker, String(query), signal)), failed: false }
    },
  }
}

function apiTool(context: ToolContext, row: BlockRow): Tool {
  const { appNo, job } = context
  const { outbound, config } = job.deps
  const fields = row.definition as Omit<NewApiTool, 'slug'>
  const { name = row.slug, description, method } = fields
  const parameters = schemaOf(fields.parameters, fields.allowAdditionalProperties)
  return {
    offer: { name: row.slug, description, parameters },
    ...{ name: row.slug, displayName: name },
    inGroups: method === 'GET',
    waitsFor: fields.requiresApproval ? 'approval' : undefined,
    check: (args) => checkArguments(parameters, args),
    idempotent: method === 'GET' || fields.idempotent === true,
    call(args, { key, signal }) {
      const secrets = openSecrets(job.deps, appNo, API_TOOLS.kind, row)
      const request = requestOf(fields, secrets, args, valuesOf(context))
      const headers = { 'idempotency-key': key, ...request.headers }
      const timeoutMs = config.agents.toolSeconds * 1_000
      return sendRequest(outbound, { ...request, headers }, { timeoutMs, signal })
    },
  }
}

/** Who asks, the app's variables, and the fields of the asking user's metadata, in this order. */
function valuesOf({ question, variables }: ToolContext): ValueOf {
  const sender = senderOf(question)
  const metadata = question.metadata
  return (name) => {
    const field = name.replace(/^sender\./, '')
    if (Object.hasOwn(sender, field)) return sender[field]
    const known = variables.get(name)
    if (known !== undefined) return known
    const own = typeof metadata === 'object' && metadata !== null && Object.hasOwn(metadata, name)
    return own ? line((metadata as Arguments)[name]) : undefined
  }
}

/** The schema is one that we made, so checking takes no longer than reading. */
function checkArguments(schema: object, args: Arguments): void {
  // An instance of its own: Ajv keeps every schema that it has seen.
  const ajv = new Ajv({ strict: false, validateSchema: false, allErrors: true })
  if (!ajv.validate(schema, args)) {
    throw new BadArguments(`The arguments are wrong: ${ajv.errorsText(ajv.errors)}`)
  }
}
