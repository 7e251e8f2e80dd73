import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { ServedApp } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import {
  AGENT_TOOLS,
  API_TOOLS,
  createAgentTool,
  createAgentVariable,
  createApiTool,
  createFrontendAction,
  createMcpServer,
  deleteAgentTool,
  deleteAgentVariable,
  deleteApiTool,
  deleteFrontendAction,
  deleteMcpServer,
  FRONTEND_ACTIONS,
  MCP_SERVERS,
  replaceAgentTool,
  toAgentTool,
  toAgentVariable,
  toApiTool,
  toFrontendAction,
  toMcpServer,
  updateAgentVariable,
  updateApiTool,
  updateFrontendAction,
  updateMcpServer,
  VARIABLES,
} from './blocks.actions.ts'
import { listBlocks } from './blocks.queries.ts'
import {
  AgentTool,
  AgentVariable,
  AgentVariableChanges,
  ApiTool,
  ApiToolChanges,
  ApiToolPage,
  BlockParams,
  BlockQuery,
  FrontendAction,
  FrontendActionChanges,
  FrontendActionPage,
  McpServer,
  McpServerChanges,
  McpServerPage,
  NewAgentTool,
  NewAgentVariable,
  NewApiTool,
  NewFrontendAction,
  NewMcpServer,
  ToolParams,
} from './blocks.schema.ts'
import { BLOCKS_PER_KIND, type Block, type BlockSpec, getBlock, toBlock } from './blocks.ts'
import { pageOf, rangeOf } from './cursor.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const creating = { ...access, errors: ['ERR_PLAN_QUOTA_RESTRICTION'] as const }
const finding = { ...access, errors: ['ERR_TOOL_NOT_FOUND'] as const }
const BUILDER = '/ai-agents/agent-builder'

export const agentBlockRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const page = async <T>(
      own: ServedApp,
      spec: BlockSpec,
      query: Parameters<typeof rangeOf>[0],
      show: (block: Block) => T,
    ) => {
      const wanted = { appNo: own.no, kind: spec.kind, ...rangeOf(query) }
      const rows = await listBlocks.many(own.cell.db, wanted)
      return pageOf(rows, query, (row) => show(toBlock(deps, own, spec, row)))
    }
    const all = async <T>(own: ServedApp, spec: BlockSpec, show: (block: Block) => T) => {
      const query = { limit: BLOCKS_PER_KIND, affix: 'append' as const }
      return { data: (await page(own, spec, query, show)).data }
    }

    app.post(
      `${BUILDER}/api-tools`,
      {
        config: creating,
        schema: {
          operationId: 'createApiTool',
          tags: ['api_tools'],
          summary: 'Create an API tool',
          body: NewApiTool,
          response: { 200: Data(ApiTool) },
        },
      },
      async ({ actor, body }) => ({ data: await createApiTool(deps, actor, body) }),
    )
    app.get(
      `${BUILDER}/api-tools`,
      {
        config: access,
        schema: {
          operationId: 'listApiTools',
          tags: ['api_tools'],
          summary: 'List API tools, newest first',
          querystring: BlockQuery,
          response: { 200: ApiToolPage },
        },
      },
      async ({ actor, query }) => page(actor.app, API_TOOLS, query, toApiTool),
    )
    app.get(
      `${BUILDER}/api-tools/:id`,
      {
        config: finding,
        schema: {
          operationId: 'getApiTool',
          tags: ['api_tools'],
          summary: 'Get an API tool',
          params: BlockParams,
          response: { 200: Data(ApiTool) },
        },
      },
      async ({ actor, params }) => ({
        data: toApiTool(await getBlock(deps, actor.app, API_TOOLS, params.id)),
      }),
    )
    app.patch(
      `${BUILDER}/api-tools/:id`,
      {
        config: finding,
        schema: {
          operationId: 'updateApiTool',
          tags: ['api_tools'],
          summary: 'Change an API tool',
          params: BlockParams,
          body: ApiToolChanges,
          response: { 200: Data(ApiTool) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateApiTool(deps, actor, params.id, body),
      }),
    )
    app.delete(
      `${BUILDER}/api-tools/:id`,
      {
        config: finding,
        schema: {
          operationId: 'deleteApiTool',
          tags: ['api_tools'],
          summary: 'Delete an API tool',
          description: 'Agents that use it go on without it.',
          params: BlockParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteApiTool(deps, actor, params.id) }),
    )

    app.post(
      `${BUILDER}/frontend-actions`,
      {
        config: creating,
        schema: {
          operationId: 'createFrontendAction',
          tags: ['frontend_actions'],
          summary: 'Create a frontend action',
          body: NewFrontendAction,
          response: { 200: Data(FrontendAction) },
        },
      },
      async ({ actor, body }) => ({ data: await createFrontendAction(deps, actor, body) }),
    )
    app.get(
      `${BUILDER}/frontend-actions`,
      {
        config: access,
        schema: {
          operationId: 'listFrontendActions',
          tags: ['frontend_actions'],
          summary: 'List frontend actions, newest first',
          querystring: BlockQuery,
          response: { 200: FrontendActionPage },
        },
      },
      async ({ actor, query }) => page(actor.app, FRONTEND_ACTIONS, query, toFrontendAction),
    )
    app.get(
      `${BUILDER}/frontend-actions/:id`,
      {
        config: finding,
        schema: {
          operationId: 'getFrontendAction',
          tags: ['frontend_actions'],
          summary: 'Get a frontend action',
          params: BlockParams,
          response: { 200: Data(FrontendAction) },
        },
      },
      async ({ actor, params }) => ({
        data: toFrontendAction(await getBlock(deps, actor.app, FRONTEND_ACTIONS, params.id)),
      }),
    )
    app.patch(
      `${BUILDER}/frontend-actions/:id`,
      {
        config: finding,
        schema: {
          operationId: 'updateFrontendAction',
          tags: ['frontend_actions'],
          summary: 'Change a frontend action',
          params: BlockParams,
          body: FrontendActionChanges,
          response: { 200: Data(FrontendAction) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateFrontendAction(deps, actor, params.id, body),
      }),
    )
    app.delete(
      `${BUILDER}/frontend-actions/:id`,
      {
        config: finding,
        schema: {
          operationId: 'deleteFrontendAction',
          tags: ['frontend_actions'],
          summary: 'Delete a frontend action',
          description: 'Agents that use it go on without it.',
          params: BlockParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteFrontendAction(deps, actor, params.id) }),
    )

    app.post(
      `${BUILDER}/mcp-servers`,
      {
        config: creating,
        schema: {
          operationId: 'createMcpServer',
          tags: ['mcp_servers'],
          summary: 'Add an MCP server',
          body: NewMcpServer,
          response: { 200: Data(McpServer) },
        },
      },
      async ({ actor, body }) => ({ data: await createMcpServer(deps, actor, body) }),
    )
    app.get(
      `${BUILDER}/mcp-servers`,
      {
        config: access,
        schema: {
          operationId: 'listMcpServers',
          tags: ['mcp_servers'],
          summary: 'List MCP servers, newest first',
          querystring: BlockQuery,
          response: { 200: McpServerPage },
        },
      },
      async ({ actor, query }) => page(actor.app, MCP_SERVERS, query, toMcpServer),
    )
    app.get(
      `${BUILDER}/mcp-servers/:id`,
      {
        config: finding,
        schema: {
          operationId: 'getMcpServer',
          tags: ['mcp_servers'],
          summary: 'Get an MCP server',
          params: BlockParams,
          response: { 200: Data(McpServer) },
        },
      },
      async ({ actor, params }) => ({
        data: toMcpServer(await getBlock(deps, actor.app, MCP_SERVERS, params.id)),
      }),
    )
    app.patch(
      `${BUILDER}/mcp-servers/:id`,
      {
        config: finding,
        schema: {
          operationId: 'updateMcpServer',
          tags: ['mcp_servers'],
          summary: 'Change an MCP server',
          params: BlockParams,
          body: McpServerChanges,
          response: { 200: Data(McpServer) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateMcpServer(deps, actor, params.id, body),
      }),
    )
    app.delete(
      `${BUILDER}/mcp-servers/:id`,
      {
        config: finding,
        schema: {
          operationId: 'deleteMcpServer',
          tags: ['mcp_servers'],
          summary: 'Delete an MCP server',
          description: 'Agents that use it go on without it.',
          params: BlockParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteMcpServer(deps, actor, params.id) }),
    )

    app.post(
      `${BUILDER}/agents/variables/custom`,
      {
        config: creating,
        schema: {
          operationId: 'createAgentVariable',
          tags: ['agent_variables'],
          summary: 'Create a variable',
          body: NewAgentVariable,
          response: { 200: Data(AgentVariable) },
        },
      },
      async ({ actor, body }) => ({ data: await createAgentVariable(deps, actor, body) }),
    )
    app.get(
      `${BUILDER}/agents/variables/custom`,
      {
        config: access,
        schema: {
          operationId: 'listAgentVariables',
          tags: ['agent_variables'],
          summary: 'List variables, newest first',
          response: { 200: Data(Type.Array(AgentVariable)) },
        },
      },
      async ({ actor }) => all(actor.app, VARIABLES, toAgentVariable),
    )
    app.patch(
      `${BUILDER}/agents/variables/custom/:id`,
      {
        config: finding,
        schema: {
          operationId: 'updateAgentVariable',
          tags: ['agent_variables'],
          summary: 'Change a variable',
          params: BlockParams,
          body: AgentVariableChanges,
          response: { 200: Data(AgentVariable) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateAgentVariable(deps, actor, params.id, body),
      }),
    )
    app.delete(
      `${BUILDER}/agents/variables/custom/:id`,
      {
        config: finding,
        schema: {
          operationId: 'deleteAgentVariable',
          tags: ['agent_variables'],
          summary: 'Delete a variable',
          description: 'Instructions that name it keep the name as text.',
          params: BlockParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({
        data: await deleteAgentVariable(deps, actor, params.id),
      }),
    )

    app.post(
      '/ai-agents/tools',
      {
        config: creating,
        schema: {
          operationId: 'createAgentTool',
          tags: ['agent_tools'],
          summary: 'Create a tool',
          body: NewAgentTool,
          response: { 200: Data(AgentTool) },
        },
      },
      async ({ actor, body }) => ({ data: await createAgentTool(deps, actor, body) }),
    )
    app.get(
      '/ai-agents/tools',
      {
        config: access,
        schema: {
          operationId: 'listAgentTools',
          tags: ['agent_tools'],
          summary: 'List tools, newest first',
          response: { 200: Data(Type.Array(AgentTool)) },
        },
      },
      async ({ actor }) => all(actor.app, AGENT_TOOLS, toAgentTool),
    )
    app.get(
      '/ai-agents/tools/:name',
      {
        config: finding,
        schema: {
          operationId: 'getAgentTool',
          tags: ['agent_tools'],
          summary: 'Get a tool',
          params: ToolParams,
          response: { 200: Data(AgentTool) },
        },
      },
      async ({ actor, params }) => ({
        data: toAgentTool(await getBlock(deps, actor.app, AGENT_TOOLS, params.name)),
      }),
    )
    app.put(
      '/ai-agents/tools/:name',
      {
        config: finding,
        schema: {
          operationId: 'replaceAgentTool',
          tags: ['agent_tools'],
          summary: 'Replace a tool',
          params: ToolParams,
          body: NewAgentTool,
          response: { 200: Data(AgentTool) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await replaceAgentTool(deps, actor, params.name, body),
      }),
    )
    app.delete(
      '/ai-agents/tools/:name',
      {
        config: finding,
        schema: {
          operationId: 'deleteAgentTool',
          tags: ['agent_tools'],
          summary: 'Delete a tool',
          description: 'Agents that use it go on without it.',
          params: ToolParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteAgentTool(deps, actor, params.name) }),
    )
  }
