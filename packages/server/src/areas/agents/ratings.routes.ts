import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { deleteAgentRating, listAgentRatings, setAgentRating } from './ratings.actions.ts'
import { AgentRating, NewRating, RatingList, RatingQuery } from './ratings.schema.ts'
import { AgentRunParams } from './runs.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'optional',
  rate: 'standard',
  feature: { none: 'The contract has no ratings of answers.' },
}
/** Only a user has an opinion, so a key alone can't rate. */
const rating = { ...access, onBehalfOf: 'required' as const }
const tags = ['agent_ratings']
const RATING = '/ai-agents/runs/:runId/rating'

export const agentRatingRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.put(
      RATING,
      {
        config: { ...rating, errors: ['ERR_AGENT_RUN_NOT_FOUND', 'ERR_AGENT_RUN_NOT_ANSWERED'] },
        schema: {
          operationId: 'setAgentRating',
          tags,
          summary: 'Rate an answer',
          description:
            'The user who asked can rate it, and in a group every member. It replaces the earlier rating of the user, with its comment.',
          params: AgentRunParams,
          body: NewRating,
          response: { 200: Data(AgentRating) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await setAgentRating(deps, actor, params.runId, body),
      }),
    )

    app.delete(
      RATING,
      {
        config: { ...rating, errors: ['ERR_AGENT_RATING_NOT_FOUND'] },
        schema: {
          operationId: 'deleteAgentRating',
          tags,
          summary: 'Remove the rating of an answer',
          params: AgentRunParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({
        data: await deleteAgentRating(deps, actor, params.runId),
      }),
    )

    app.get(
      '/ai-agents/ratings',
      {
        config: access,
        schema: {
          operationId: 'listAgentRatings',
          tags,
          summary: 'List ratings of answers, newest first',
          description:
            'The app gets them with question and answer, for evaluation. Users have their own ratings. They are kept as long as the run, for 30 days.',
          querystring: RatingQuery,
          response: { 200: RatingList },
        },
      },
      ({ actor, query }) => listAgentRatings(actor, query),
    )
  }
