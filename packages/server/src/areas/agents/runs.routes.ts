import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Data } from '../../platform/http/schemas.ts'
import {
  approveAgentRun,
  cancelAgentRun,
  continueAgentRun,
  getAgentRun,
  listAgentRuns,
  refuseAgentRun,
  retryAgentRun,
} from './runs.actions.ts'
import {
  AgentRun,
  AgentRunDetails,
  AgentRunList,
  AgentRunParams,
  AgentRunQuery,
  DeviceResult,
  WaitingCall,
} from './runs.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
  feature: { none: 'The contract has no operations for runs of agents.' },
}
/** Only the user who asked decides, so a key alone can't. */
const answering = {
  ...access,
  onBehalfOf: 'required' as const,
  errors: ['ERR_AGENT_RUN_NOT_FOUND' as const, 'ERR_AGENT_RUN_NOT_WAITING' as const],
}
const tags = ['agent_runs']
const RUNS = '/ai-agents/runs'
const FIRST = 'Only the user who asked can do this, once: the first device wins.'
const OWN = 'Users have the runs that answer their own questions.'

export const agentRunRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      RUNS,
      {
        config: access,
        schema: {
          operationId: 'listAgentRuns',
          tags,
          summary: 'List runs of agents, newest first',
          description: `A run answers one message. ${OWN}`,
          querystring: AgentRunQuery,
          response: { 200: AgentRunList },
        },
      },
      ({ actor, query }) => listAgentRuns(actor, query),
    )

    app.get(
      `${RUNS}/:runId`,
      {
        config: { ...access, errors: ['ERR_AGENT_RUN_NOT_FOUND'] },
        schema: {
          operationId: 'getAgentRun',
          tags,
          summary: 'Get a run with its steps',
          description: OWN,
          params: AgentRunParams,
          response: { 200: Data(AgentRunDetails) },
        },
      },
      async ({ actor, params }) => ({ data: await getAgentRun(actor, params.runId) }),
    )

    app.post(
      `${RUNS}/:runId/cancel`,
      {
        config: { ...access, errors: ['ERR_AGENT_RUN_NOT_FOUND', 'ERR_AGENT_RUN_OVER'] },
        schema: {
          operationId: 'cancelAgentRun',
          tags,
          summary: 'Cancel a run',
          description: OWN,
          params: AgentRunParams,
          response: { 200: Data(AgentRun) },
        },
      },
      async ({ actor, params }) => ({ data: await cancelAgentRun(deps, actor, params.runId) }),
    )

    app.post(
      `${RUNS}/:runId/retry`,
      {
        config: {
          ...access,
          errors: [
            ...(['ERR_AGENT_RUN_NOT_FOUND', 'ERR_AGENT_RUN_NOT_FAILED'] as const),
            'ERR_AGENT_TOO_MANY_RUNS',
          ],
        },
        schema: {
          operationId: 'retryAgentRun',
          tags,
          summary: 'Retry a run that failed or was cancelled',
          description: OWN,
          params: AgentRunParams,
          response: { 200: Data(AgentRun) },
        },
      },
      async ({ actor, params }) => ({ data: await retryAgentRun(deps, actor, params.runId) }),
    )

    app.post(
      `${RUNS}/:runId/approve`,
      {
        config: answering,
        schema: {
          operationId: 'approveAgentRun',
          tags,
          summary: 'Approve the call of a tool that a run waits for',
          description: FIRST,
          params: AgentRunParams,
          body: WaitingCall,
          response: { 200: Data(AgentRun) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await approveAgentRun(deps, actor, params.runId, body.toolCallId),
      }),
    )

    app.post(
      `${RUNS}/:runId/refuse`,
      {
        config: answering,
        schema: {
          operationId: 'refuseAgentRun',
          tags,
          summary: 'Refuse the call of a tool that a run waits for',
          description: `The run goes on: the model learns of it. ${FIRST}`,
          params: AgentRunParams,
          body: WaitingCall,
          response: { 200: Data(AgentRun) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await refuseAgentRun(deps, actor, params.runId, body.toolCallId),
      }),
    )

    app.post(
      `${RUNS}/:runId/continue`,
      {
        config: answering,
        schema: {
          operationId: 'continueAgentRun',
          tags,
          summary: 'Tell a run what came of a frontend action',
          description: FIRST,
          params: AgentRunParams,
          body: DeviceResult,
          response: { 200: Data(AgentRun) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await continueAgentRun(deps, actor, params.runId, body),
      }),
    )
  }
