/** What the answers of agents are worth. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Access } from '../../gate/plugin.ts'
import { Data, Id } from '../../platform/http/schemas.ts'
import { countHandovers } from './handovers.queries.ts'
import { countRatings } from './ratings.queries.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}

const FiguresQuery = Type.Object({
  agentUid: Type.Optional(Id('Only this agent. Without it, all agents of the app.')),
  days: Type.Integer({
    ...{ minimum: 1, maximum: 30, default: 30 },
    description: 'How many days, with today, in UTC.',
  }),
})

const RatedDay = Type.Object(
  {
    day: Type.String({ description: 'ISO date, in UTC.' }),
    agentUid: Type.String({ description: 'UID of the agent.' }),
    revision: Type.Integer({ description: 'The revision of the agent that answered.' }),
    up: Type.Integer({ description: 'How many users liked an answer.' }),
    down: Type.Integer({ description: "How many users didn't." }),
  },
  { additionalProperties: false },
)

const Seconds = (what: string) =>
  Type.Optional(
    Type.Number({ description: `How long half of the users waited at most until ${what}.` }),
  )

const HandedOverDay = Type.Object(
  {
    day: Type.String({ description: 'ISO date, in UTC.' }),
    agentUid: Type.String({ description: 'UID of the agent.' }),
    opened: Type.Integer({ description: 'How many conversations were handed to people.' }),
    taken: Type.Integer({ description: 'How many of them somebody took.' }),
    answered: Type.Integer({ description: 'In how many of them a person answered.' }),
    secondsToTake: Seconds('somebody took the conversation'),
    secondsToAnswer: Seconds('a person answered'),
  },
  { additionalProperties: false },
)

const AgentFigures = Type.Object(
  {
    ratings: Type.Array(RatedDay, {
      description:
        'By the day of the rating, agent and revision. Days without ratings are left out.',
    }),
    handovers: Type.Array(HandedOverDay, {
      description:
        'By the day on which they were handed over, and agent. Days without handovers are left out.',
    }),
  },
  { additionalProperties: false, 'x-component': 'AgentFigures' },
)

export const agentFigureRoutes = (): FastifyPluginAsyncTypebox => async (app) => {
  app.get(
    '/ai-agents/figures',
    {
      config: access,
      schema: {
        operationId: 'getAgentFigures',
        tags: ['agent_figures'],
        summary: 'Get figures of agents',
        description:
          'How users rated answers, by day and revision, and how long they waited for people.',
        querystring: FiguresQuery,
        response: { 200: Data(AgentFigures) },
      },
    },
    async ({ actor: { app: own }, query: { agentUid: agent = null, days } }) => {
      const asked = { appNo: own.no, agent, days }
      const rated = await countRatings.many(own.cell.db, asked)
      const ratings = rated.map(({ agent_uid: agentUid, revision, ...row }) => ({
        ...{ ...row, agentUid, revision: revision ?? 0 },
      }))
      const handed = await countHandovers.many(own.cell.db, asked)
      const handovers = handed.map(
        ({ agent_uid: agentUid, seconds_to_take, seconds_to_answer, ...row }) => ({
          ...{ ...row, agentUid },
          ...(seconds_to_take !== null && { secondsToTake: seconds_to_take }),
          ...(seconds_to_answer !== null && { secondsToAnswer: seconds_to_answer }),
        }),
      )
      return { data: { ratings, handovers } }
    },
  )
}
