import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Data } from '../../platform/http/schemas.ts'
import { getAgentReplay, listAgentReplays, startAgentReplay } from './replays.actions.ts'
import { AgentReplay, AgentReplayDetails, AgentReplayParams, NewReplay } from './replays.schema.ts'
import { AgentRunParams } from './runs.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['agent_replays']
const REPLAYS = '/ai-agents/runs/:runId/replays'

export const agentReplayRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      REPLAYS,
      {
        config: {
          ...access,
          errors: [
            ...(['ERR_AGENT_RUN_NOT_FOUND', 'ERR_AGENT_RUN_NOT_OVER'] as const),
            ...(['ERR_AGENT_NOT_FOUND', 'ERR_AGENT_REVISION_NOT_FOUND'] as const),
            'ERR_MODEL_PROVIDER_NOT_FOUND',
          ],
        },
        schema: {
          operationId: 'startAgentReplay',
          tags,
          summary: 'Play a run again',
          description:
            'A replay never calls a tool and sends nothing into the conversation. Only a live one calls the model, which costs the budget of the app. It stops at a call of a tool that the run did not make. The newest 50 of a run are kept, as long as the run.',
          params: AgentRunParams,
          body: NewReplay,
          response: { 200: Data(AgentReplay) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await startAgentReplay(deps, actor, params.runId, body),
      }),
    )

    app.get(
      REPLAYS,
      {
        config: { ...access, errors: ['ERR_AGENT_RUN_NOT_FOUND'] },
        schema: {
          operationId: 'listAgentReplays',
          tags,
          summary: 'List replays of a run, newest first',
          params: AgentRunParams,
          response: { 200: Data(Type.Array(AgentReplay)) },
        },
      },
      async ({ actor, params }) => ({ data: await listAgentReplays(actor, params.runId) }),
    )

    app.get(
      `${REPLAYS}/:replayId`,
      {
        config: { ...access, errors: ['ERR_AGENT_RUN_NOT_FOUND', 'ERR_AGENT_REPLAY_NOT_FOUND'] },
        schema: {
          operationId: 'getAgentReplay',
          tags,
          summary: 'Get a replay with its steps and its difference from the run',
          params: AgentReplayParams,
          response: { 200: Data(AgentReplayDetails) },
        },
      },
      async ({ actor, params }) => ({
        data: await getAgentReplay(actor, params.runId, params.replayId),
      }),
    )
  }
