import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import { badRequest } from '../../platform/http/fail.ts'
import type {
  AgentTool,
  AgentVariable,
  AgentVariableChanges,
  ApiTool,
  ApiToolChanges,
  FrontendAction,
  FrontendActionChanges,
  McpServer,
  McpServerChanges,
  NewAgentTool,
  NewAgentVariable,
  NewApiTool,
  NewFrontendAction,
  NewMcpServer,
  Parameters,
} from './blocks.schema.ts'
import { type Block, type BlockSpec, changeBlock, createBlock, dropBlock } from './blocks.ts'

export const NO_PARAMETERS = { type: 'object', properties: {} }

/** Parameters of an API tool or a frontend action as a JSON schema. */
export const schemaOf = (parameters: Parameters = [], more = false) => ({
  type: 'object',
  properties: Object.fromEntries(
    parameters.map(({ key, type, description }) => [
      key,
      { type, ...(description !== undefined && { description }) },
    ]),
  ),
  required: parameters.filter(({ required }) => required).map(({ key }) => key),
  additionalProperties: more,
})

const times = ({ createdAt, updatedAt }: Block) => ({
  createdAt: createdAt.getTime(),
  updatedAt: updatedAt.getTime(),
})
const isoTimes = ({ createdAt, updatedAt }: Block) => ({
  createdAt: createdAt.toISOString(),
  updatedAt: updatedAt.toISOString(),
})

// API tools.

export const API_TOOLS: BlockSpec = {
  kind: 'apiTool',
  what: 'API tools',
  usedBy: ['apiTools'],
  urlField: 'endpoint',
  check({ enableBasicAuth, basicAuthUsername }, { basicAuthPassword }) {
    if (enableBasicAuth && (!basicAuthUsername || basicAuthPassword === undefined)) {
      throw badRequest({ enableBasicAuth: ['needs a user name and a password'] })
    }
  },
}

export function toApiTool(block: Block): ApiTool {
  const { slug, common, secrets } = block
  const fields = block.fields as Omit<NewApiTool, 'slug'>
  const { description, parameters, allowAdditionalProperties } = fields
  return {
    ...{ slug, ...fields, ...common },
    hasBasicAuthPassword: secrets.basicAuthPassword !== undefined,
    hasHeaders: secrets.headers !== undefined,
    tool: { name: slug, description, parameters: schemaOf(parameters, allowAdditionalProperties) },
    ...times(block),
  }
}

export const createApiTool = async (deps: Deps, actor: Actor, { slug, ...given }: NewApiTool) =>
  createBlock(deps, actor, API_TOOLS, { slug, given, show: toApiTool })

export const updateApiTool = async (deps: Deps, actor: Actor, id: string, given: ApiToolChanges) =>
  changeBlock(deps, actor, API_TOOLS, { id, given, show: toApiTool })

export const deleteApiTool = (deps: Deps, actor: Actor, id: string) =>
  dropBlock(deps, actor, API_TOOLS, id)

// Frontend actions.

export const FRONTEND_ACTIONS: BlockSpec = {
  kind: 'frontendAction',
  what: 'frontend actions',
  usedBy: ['frontendActions'],
}

export function toFrontendAction(block: Block): FrontendAction {
  const { slug: triggerFunction, common } = block
  const fields = block.fields as Omit<NewFrontendAction, 'triggerFunction'>
  const { description, parameters } = fields
  return {
    ...{ triggerFunction, ...fields, ...common },
    tool: { name: triggerFunction, description, parameters: schemaOf(parameters) },
    ...times(block),
  }
}

export async function createFrontendAction(deps: Deps, actor: Actor, action: NewFrontendAction) {
  const { triggerFunction: slug, ...given } = action
  return createBlock(deps, actor, FRONTEND_ACTIONS, { slug, given, show: toFrontendAction })
}

export const updateFrontendAction = async (
  deps: Deps,
  actor: Actor,
  id: string,
  given: FrontendActionChanges,
) => changeBlock(deps, actor, FRONTEND_ACTIONS, { id, given, show: toFrontendAction })

export const deleteFrontendAction = (deps: Deps, actor: Actor, id: string) =>
  dropBlock(deps, actor, FRONTEND_ACTIONS, id)

// MCP servers.

export const MCP_SERVERS: BlockSpec = {
  kind: 'mcpServer',
  what: 'MCP servers',
  usedBy: ['mcpServers'],
  urlField: 'url',
}

export function toMcpServer(block: Block): McpServer {
  const { slug, common, secrets } = block
  const fields = block.fields as Omit<NewMcpServer, 'slug' | 'headers'>
  const { description = '' } = fields
  return {
    ...{ slug, ...fields, ...common },
    hasHeaders: secrets.headers !== undefined,
    tool: { name: slug, description, parameters: NO_PARAMETERS },
    ...times(block),
  }
}

export const createMcpServer = async (deps: Deps, actor: Actor, { slug, ...given }: NewMcpServer) =>
  createBlock(deps, actor, MCP_SERVERS, { slug, given, show: toMcpServer })

export const updateMcpServer = async (
  deps: Deps,
  actor: Actor,
  id: string,
  given: McpServerChanges,
) => changeBlock(deps, actor, MCP_SERVERS, { id, given, show: toMcpServer })

export const deleteMcpServer = (deps: Deps, actor: Actor, id: string) =>
  dropBlock(deps, actor, MCP_SERVERS, id)

// Tools of external agents.

export const AGENT_TOOLS: BlockSpec = {
  kind: 'tool',
  what: 'tools',
  usedBy: ['tools', 'actions'],
  check({ doNotExecute, description, parameters }) {
    if (doNotExecute) return
    if (!description) throw badRequest({ description: ['is required unless doNotExecute is true'] })
    if (!parameters) throw badRequest({ parameters: ['is required unless doNotExecute is true'] })
  },
}

export function toAgentTool(block: Block): AgentTool {
  const { slug: name, common } = block
  const fields = block.fields as Omit<NewAgentTool, 'name'>
  const { displayName, executionText, doNotExecute = false, description = '' } = fields
  const { parameters = NO_PARAMETERS } = fields
  return {
    ...{ ...common, name, type: doNotExecute ? 'tool' : 'action' },
    ...{ displayName, executionText, doNotExecute },
    tool: { name, description, parameters },
    ...isoTimes(block),
  }
}

export const createAgentTool = async (deps: Deps, actor: Actor, { name, ...given }: NewAgentTool) =>
  createBlock(deps, actor, AGENT_TOOLS, { slug: name, given, show: toAgentTool })

/** The name can't change: agents refer to it. */
export async function replaceAgentTool(deps: Deps, actor: Actor, id: string, tool: NewAgentTool) {
  const { name, ...given } = tool
  if (name !== id) throw badRequest({ name: ["can't be changed"] })
  return changeBlock(deps, actor, AGENT_TOOLS, { id, given, replaces: true, show: toAgentTool })
}

export const deleteAgentTool = (deps: Deps, actor: Actor, name: string) =>
  dropBlock(deps, actor, AGENT_TOOLS, name)

// Variables.

export const VARIABLES: BlockSpec = {
  kind: 'variable',
  what: 'variables',
  usedBy: [],
  check({ sourceType, sourcePath, constantValue }) {
    if (sourceType === 'constant' && constantValue === undefined) {
      throw badRequest({ constantValue: ['is required for a constant'] })
    }
    if (sourceType !== 'constant' && !sourcePath) {
      throw badRequest({ sourcePath: ['is required for metadata'] })
    }
  },
}

export const toAgentVariable = (block: Block): AgentVariable => ({
  ...block.common,
  name: block.slug,
  ...(block.fields as Omit<NewAgentVariable, 'name'>),
  category: 'custom',
  ...times(block),
})

export const createAgentVariable = async (
  deps: Deps,
  actor: Actor,
  { name, ...given }: NewAgentVariable,
) => createBlock(deps, actor, VARIABLES, { slug: name, given, show: toAgentVariable })

export const updateAgentVariable = async (
  deps: Deps,
  actor: Actor,
  id: string,
  given: AgentVariableChanges,
) => changeBlock(deps, actor, VARIABLES, { id, given, show: toAgentVariable })

export const deleteAgentVariable = (deps: Deps, actor: Actor, id: string) =>
  dropBlock(deps, actor, VARIABLES, id)
