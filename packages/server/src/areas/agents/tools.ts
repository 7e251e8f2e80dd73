/** The tools of an agent, as its runs use them. */
import { Ajv } from 'ajv'
import type { OfferedTool } from '../../core/models/prompt.ts'
import type { JobDeps } from '../../deps.ts'
import type { Definition } from './actions.ts'
import {
  type Arguments,
  BadArguments,
  requestOf,
  sendRequest,
  type ToolResult,
  type ValueOf,
} from './api-tools.ts'
import { API_TOOLS, FRONTEND_ACTIONS, MCP_SERVERS, schemaOf } from './blocks.actions.ts'
import { type BlockKind, type BlockRow, listNamed } from './blocks.queries.ts'
import type { NewApiTool, NewFrontendAction, NewMcpServer } from './blocks.schema.ts'
import { openSecrets } from './blocks.ts'
import { readHeaders } from './headers.ts'
import { McpSession } from './mcp.ts'
import { line, senderOf } from './prompt.ts'
import type { QuestionRow } from './runs.queries.ts'

export interface Tool {
  offer: OfferedTool
  /** What devices and operators know it by. */
  name: string
  /** What people see. */
  displayName: string
  /** Whether a call can be repeated if nobody knows what came of it. */
  idempotent: boolean
  /** What a person has to do before the call, or instead of it. */
  waitsFor: 'approval' | 'device' | undefined
  /** Throws `BadArguments`. */
  check(args: Arguments): void
  /** Throws `BadArguments` before anything is sent, `OutcomeUnknown`, or the reason of `signal`. */
  call(args: Arguments, call: { key: string; signal: AbortSignal }): Promise<ToolResult>
}

/** What the tools of a run may know. */
export interface ToolContext {
  job: JobDeps
  appNo: number
  question: QuestionRow
  variables: Map<string, string>
}

export interface Toolbox {
  /** The tools by the names that the model knows. */
  tools: Map<string, Tool>
  /** Ends the sessions with MCP servers. */
  close(): Promise<void>
}

export async function openToolbox(
  context: ToolContext,
  {
    apiTools,
    frontendActions,
    mcpServers,
  }: Pick<Definition, 'apiTools' | 'frontendActions' | 'mcpServers'>,
  signal: AbortSignal,
): Promise<Toolbox> {
  const sessions: McpSession[] = []
  const servers = await namedRows(context, MCP_SERVERS.kind, mcpServers)
  const tools = [
    ...(await namedRows(context, API_TOOLS.kind, apiTools)).map((row) => apiTool(context, row)),
    ...(await namedRows(context, FRONTEND_ACTIONS.kind, frontendActions)).map(frontendAction),
    ...(await Promise.all(servers.map((row) => mcpTools(context, row, sessions, signal)))).flat(),
  ]
  const byName = new Map<string, Tool>()
  // Of those with the same name, the first one counts.
  for (const tool of tools) if (!byName.has(tool.offer.name)) byName.set(tool.offer.name, tool)
  return {
    tools: byName,
    async close() {
      await Promise.all(sessions.map((session) => session.close()))
    },
  }
}

/** The tools of an MCP server, with its name before theirs. A server that doesn't answer has none for now. */
async function mcpTools(
  { job, appNo }: ToolContext,
  row: BlockRow,
  sessions: McpSession[],
  signal: AbortSignal,
): Promise<Tool[]> {
  const { outbound, config, log } = job.deps
  const { url, requiresApproval } = row.definition as Omit<NewMcpServer, 'slug'>
  const { headers } = openSecrets(job.deps, appNo, MCP_SERVERS.kind, row)
  const session = new McpSession(outbound, {
    ...{ url, headers: headers === undefined ? {} : lowered(readHeaders(headers)) },
    timeoutMs: config.agents.toolSeconds * 1_000,
  })
  sessions.push(session)
  const listed = await session.listTools(signal).catch((error: Error) => {
    signal.throwIfAborted()
    log.info({ app: appNo, server: row.slug, err: error.message }, 'MCP server left out')
    return []
  })
  return listed.map(({ name, title, description, parameters, idempotent }) => ({
    offer: { name: offeredName(`${row.slug}_${name}`), description, parameters },
    ...{ name: `${row.slug}_${name}`, displayName: title, idempotent },
    waitsFor: requiresApproval ? 'approval' : undefined,
    // The server does. Its schema could take us forever.
    check() {},
    call: (args, call) => session.callTool(name, args, call.signal),
  }))
}

const lowered = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

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
    ...{ name: slug, displayName: name, idempotent: false, waitsFor: 'device' },
    check: (args) => checkArguments(schema, args),
    call: () => Promise.reject(new Error('devices answer by themselves')),
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
