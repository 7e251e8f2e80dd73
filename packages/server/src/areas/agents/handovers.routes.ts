import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Data } from '../../platform/http/schemas.ts'
import { BLOCK_ERRORS } from '../messages/errors.ts'
import {
  answerAgentHandover,
  closeAgentHandover,
  createAgentHandover,
  getAgentHandover,
  listAgentHandovers,
  takeAgentHandover,
} from './handovers.actions.ts'
import {
  AgentHandover,
  AnsweredHandover,
  HandoverAnswer,
  HandoverList,
  HandoverParams,
  HandoverQuery,
  NewHandover,
  TakeRequest,
} from './handovers.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
  feature: { none: 'The contract has no handovers to people.' },
}
/** Users can't answer in the name of an agent. */
const answering: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['agent_handovers']
const HANDOVERS = '/ai-agents/handovers'
const NOT_FOUND = 'ERR_AGENT_HANDOVER_NOT_FOUND' as const
const TAKEN = 'ERR_AGENT_HANDOVER_TAKEN' as const
const CLOSED = 'ERR_AGENT_HANDOVER_CLOSED' as const
const OWN = 'Users have those of their own conversations.'

export const agentHandoverRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      HANDOVERS,
      {
        config: { ...access, errors: ['ERR_AGENT_NOT_FOUND', 'ERR_UID_NOT_FOUND'] },
        schema: {
          operationId: 'createAgentHandover',
          tags,
          summary: 'Hand a conversation with an agent to a person',
          description:
            'The agent stops, and is silent until the conversation is handed back. If a handover is open already, you get that one. Users who ask again within a minute after they took the conversation back get the same one.',
          body: NewHandover,
          response: { 200: Data(AgentHandover) },
        },
      },
      async ({ actor, body }) => ({ data: await createAgentHandover(deps, actor, body) }),
    )

    app.get(
      HANDOVERS,
      {
        config: access,
        schema: {
          operationId: 'listAgentHandovers',
          tags,
          summary: 'List handovers',
          description: `Newest first by default. ${OWN} They are kept for 30 days after they were closed.`,
          querystring: HandoverQuery,
          response: { 200: HandoverList },
        },
      },
      ({ actor, query }) => listAgentHandovers(actor, query),
    )

    app.get(
      `${HANDOVERS}/:handoverId`,
      {
        config: { ...access, errors: [NOT_FOUND] },
        schema: {
          operationId: 'getAgentHandover',
          tags,
          summary: 'Get a handover',
          description: OWN,
          params: HandoverParams,
          response: { 200: Data(AgentHandover) },
        },
      },
      async ({ actor, params }) => ({ data: await getAgentHandover(actor, params.handoverId) }),
    )

    app.post(
      `${HANDOVERS}/:handoverId/take`,
      {
        config: { ...answering, errors: [NOT_FOUND, TAKEN, CLOSED] },
        schema: {
          operationId: 'takeAgentHandover',
          tags,
          summary: 'Take a conversation that was handed over',
          description:
            'The first operator wins; `details.takenBy` tells the others who that is. They can take it over `from` that person, who can no longer answer then. All API keys of an app count as one person.',
          params: HandoverParams,
          body: TakeRequest,
          response: { 200: Data(AgentHandover) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await takeAgentHandover(deps, actor, params.handoverId, body),
      }),
    )

    app.post(
      `${HANDOVERS}/:handoverId/answer`,
      {
        config: {
          ...answering,
          errors: [
            ...([NOT_FOUND, TAKEN, CLOSED, 'ERR_AGENT_HANDOVER_NOT_TAKEN'] as const),
            ...(['ERR_UID_NOT_FOUND', 'ERR_PERMISSION_DENIED', ...BLOCK_ERRORS] as const),
          ],
        },
        schema: {
          operationId: 'answerAgentHandover',
          tags,
          summary: 'Answer as the agent',
          description:
            'Only for the person who has taken the handover. The user gets a text message from the agent, with `answeredByPerson` in its metadata.',
          params: HandoverParams,
          body: HandoverAnswer,
          response: { 200: Data(AnsweredHandover) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await answerAgentHandover(deps, actor, params.handoverId, body),
      }),
    )

    app.post(
      `${HANDOVERS}/:handoverId/close`,
      {
        config: { ...access, errors: [NOT_FOUND, TAKEN] },
        schema: {
          operationId: 'closeAgentHandover',
          tags,
          summary: 'Hand a conversation back to its agent',
          description:
            'The agent answers what the user writes from then on. Users can do this while nobody has taken the handover. If it is closed already, nothing changes.',
          params: HandoverParams,
          response: { 200: Data(AgentHandover) },
        },
      },
      async ({ actor, params }) => ({
        data: await closeAgentHandover(deps, actor, params.handoverId),
      }),
    )
  }
