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
import { API_TOOLS, schemaOf } from './blocks.actions.ts'
import { type BlockRow, listNamed } from './blocks.queries.ts'
import type { NewApiTool } from './blocks.schema.ts'
import { openSecrets } from './blocks.ts'
import { line, senderOf } from './prompt.ts'
import type { QuestionRow } from './runs.queries.ts'

export interface Tool {
  offer: OfferedTool
  /** What people see. */
  displayName: string
  /** Whether a call can be repeated if nobody knows what came of it. */
  idempotent: boolean
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

/** The tools by the names that the model knows. */
export async function readTools(
  context: ToolContext,
  { apiTools = [] }: Pick<Definition, 'apiTools'>,
): Promise<Map<string, Tool>> {
  const { job, appNo } = context
  const { kind } = API_TOOLS
  const rows =
    apiTools.length > 0 ? await listNamed.many(job.cell.db, { appNo, kind, slugs: apiTools }) : []
  const tools = rows.map((row) => apiTool(context, row))
  return new Map(tools.map((tool) => [tool.offer.name, tool]))
}

function apiTool(context: ToolContext, row: BlockRow): Tool {
  const { appNo, job } = context
  const { outbound, config } = job.deps
  const fields = row.definition as Omit<NewApiTool, 'slug'>
  const { name = row.slug, description, method } = fields
  const parameters = schemaOf(fields.parameters, fields.allowAdditionalProperties)
  return {
    offer: { name: row.slug, description, parameters },
    displayName: name,
    idempotent: method === 'GET' || fields.idempotent === true,
    call(args, { key, signal }) {
      checkArguments(parameters, args)
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
