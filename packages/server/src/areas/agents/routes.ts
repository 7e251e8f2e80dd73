import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { PICTURE_ERRORS } from '../files/pictures.actions.ts'
import {
  addAgentMcpServers,
  createAgent,
  deleteAgent,
  getAgentRow,
  toAgent,
  updateAgent,
} from './actions.ts'
import { pageOf, rangeOf } from './cursor.ts'
import {
  createExternalAgent,
  deleteExternalAgent,
  toExternalAgent,
  updateExternalAgent,
} from './external.actions.ts'
import {
  ExternalAgent,
  ExternalAgentChanges,
  ExternalAgentParams,
  NewExternalAgent,
} from './external.schema.ts'
import { listAgentRows } from './queries.ts'
import {
  AddedServers,
  Agent,
  AgentChanges,
  AgentListQuery,
  AgentPage,
  AgentParams,
  NewAgent,
} from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['agents']
const BUILDER = '/ai-agents/agent-builder/agents'
const EVERY = 1_000

export const agentRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      BUILDER,
      {
        config: {
          ...access,
          errors: [
            ...(['ERR_TOOL_NOT_FOUND', 'ERR_MODEL_PROVIDER_NOT_FOUND'] as const),
            ...(['ERR_PLAN_QUOTA_RESTRICTION', ...PICTURE_ERRORS] as const),
          ],
        },
        schema: {
          operationId: 'createAgent',
          tags,
          summary: 'Create an agent',
          description: 'The agent is also a user, with the role `@agentic`.',
          body: NewAgent,
          response: { 200: Data(Agent) },
        },
      },
      async ({ actor, body }) => ({ data: await createAgent(deps, actor, body) }),
    )

    app.get(
      BUILDER,
      {
        config: access,
        schema: {
          operationId: 'listAgents',
          tags,
          summary: 'List agents, newest first',
          querystring: AgentListQuery,
          response: { 200: AgentPage },
        },
      },
      async ({ actor: { app: own }, query }) => {
        const search = query.search?.toLowerCase() || null
        const wanted = { appNo: own.no, kind: 'built' as const, search, ...rangeOf(query) }
        const rows = await listAgentRows.many(own.cell.db, wanted)
        return pageOf(rows, query, (row) => toAgent(own, row))
      },
    )

    app.get(
      `${BUILDER}/:uid`,
      {
        config: { ...access, errors: ['ERR_AGENT_NOT_FOUND'] },
        schema: {
          operationId: 'getAgent',
          tags,
          summary: 'Get an agent',
          params: AgentParams,
          response: { 200: Data(Agent) },
        },
      },
      async ({ actor: { app: own }, params }) => ({
        data: toAgent(own, await getAgentRow(own.cell.db, own.no, params.uid)),
      }),
    )

    app.patch(
      `${BUILDER}/:uid`,
      {
        config: {
          ...access,
          errors: [
            ...(['ERR_AGENT_NOT_FOUND', 'ERR_TOOL_NOT_FOUND', 'ERR_UID_NOT_FOUND'] as const),
            ...(['ERR_MODEL_PROVIDER_NOT_FOUND', ...PICTURE_ERRORS] as const),
          ],
        },
        schema: {
          operationId: 'updateAgent',
          tags,
          summary: 'Change an agent',
          description: 'Fields that you leave out stay.',
          params: AgentParams,
          body: AgentChanges,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateAgent(deps, actor, params.uid, body),
      }),
    )

    app.delete(
      `${BUILDER}/:uid`,
      {
        config: { ...access, errors: ['ERR_AGENT_NOT_FOUND'] },
        schema: {
          operationId: 'deleteAgent',
          tags,
          summary: 'Delete an agent',
          description: 'Its user is deactivated, and conversations with it stay.',
          params: AgentParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteAgent(deps, actor, params.uid) }),
    )

    app.patch(
      `${BUILDER}/:uid/mcp/add`,
      {
        config: {
          ...access,
          errors: ['ERR_AGENT_NOT_FOUND', 'ERR_TOOL_NOT_FOUND', 'ERR_TOOL_ALREADY_ADDED'],
        },
        schema: {
          operationId: 'addAgentMcpServers',
          tags,
          summary: 'Attach MCP servers',
          params: AgentParams,
          body: AddedServers,
          response: { 200: Data(Agent) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await addAgentMcpServers(deps, actor, params.uid, body.mcps),
      }),
    )

    app.post(
      '/ai-agents/agents',
      {
        config: {
          ...access,
          errors: ['ERR_TOOL_NOT_FOUND', 'ERR_PLAN_QUOTA_RESTRICTION', ...PICTURE_ERRORS],
        },
        schema: {
          operationId: 'createExternalAgent',
          tags: ['external_agents'],
          summary: 'Add an agent that runs elsewhere',
          description: 'The agent is also a user, with the role `@agentic`.',
          body: NewExternalAgent,
          response: { 200: Data(ExternalAgent) },
        },
      },
      async ({ actor, body }) => ({ data: await createExternalAgent(deps, actor, body) }),
    )

    app.get(
      '/ai-agents/agents',
      {
        config: access,
        schema: {
          operationId: 'listExternalAgents',
          tags: ['external_agents'],
          summary: 'List agents that run elsewhere, newest first',
          response: { 200: Data(Type.Array(ExternalAgent)) },
        },
      },
      async ({ actor: { app: own } }) => {
        const all = { newer: false, after: null, before: null, limit: EVERY, search: null }
        const wanted = { appNo: own.no, kind: 'external' as const, ...all }
        const rows = await listAgentRows.many(own.cell.db, wanted)
        return { data: rows.map((row) => toExternalAgent(own, row)) }
      },
    )

    app.patch(
      '/ai-agents/agents/:id',
      {
        config: {
          ...access,
          errors: [
            ...(['ERR_AGENT_NOT_FOUND', 'ERR_TOOL_NOT_FOUND', 'ERR_UID_NOT_FOUND'] as const),
            ...PICTURE_ERRORS,
          ],
        },
        schema: {
          operationId: 'updateExternalAgent',
          tags: ['external_agents'],
          summary: 'Change an agent that runs elsewhere',
          description: 'Fields that you leave out stay.',
          params: ExternalAgentParams,
          body: ExternalAgentChanges,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateExternalAgent(deps, actor, params.id, body),
      }),
    )

    app.delete(
      '/ai-agents/agents/:id',
      {
        config: { ...access, errors: ['ERR_AGENT_NOT_FOUND'] },
        schema: {
          operationId: 'deleteExternalAgent',
          tags: ['external_agents'],
          summary: 'Delete an agent that runs elsewhere',
          description: 'Its user is deactivated, and conversations with it stay.',
          params: ExternalAgentParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteExternalAgent(deps, actor, params.id) }),
    )
  }
