import { type Static, Type } from 'typebox'
import { Id, Milliseconds, Text } from '../../platform/http/schemas.ts'
import { Limit, NextPage } from './cursor.ts'
import { AgentRunParams } from './runs.schema.ts'

const Thumb = Type.Enum(['up', 'down'], { description: 'What the user thinks of the answer.' })
/** The ids of runs and ratings have the same form. */
const { runId: RunId } = AgentRunParams.properties

export const NewRating = Type.Object(
  {
    rating: Thumb,
    comment: Type.Optional(Text(1_000, 'Why. Without it, an earlier comment is removed.')),
  },
  { 'x-component': 'NewAgentRating' },
)
export type NewRating = Static<typeof NewRating>

export const AgentRating = Type.Object(
  {
    id: Type.String({ description: 'Id of the rating.' }),
    runId: Type.String({ description: 'Id of the run that answered.' }),
    agentUid: Type.String({ description: 'UID of the agent.' }),
    uid: Type.String({ description: 'UID of the user who rated the answer.' }),
    rating: Thumb,
    comment: Type.Optional(Type.String()),
    revision: Type.Optional(
      Type.Integer({ description: 'The revision of the agent that answered. Only for the app.' }),
    ),
    messageId: Type.Optional(
      Type.String({ description: 'Id of the message with the question. Only in lists.' }),
    ),
    answerId: Type.Optional(
      Type.String({ description: 'Id of the message with the answer. Only in lists.' }),
    ),
    question: Type.Optional(
      Type.String({
        description: 'Text of the question, unless it was deleted. Only in lists for the app.',
      }),
    ),
    answer: Type.Optional(
      Type.String({
        description: 'Text of the answer, unless it was deleted. Only in lists for the app.',
      }),
    ),
    createdAt: Milliseconds('When it was first rated, in Unix milliseconds.'),
    updatedAt: Milliseconds('When the rating last changed, in Unix milliseconds.'),
  },
  { additionalProperties: false, 'x-component': 'AgentRating' },
)
export type AgentRating = Static<typeof AgentRating>

export const RatingQuery = Type.Object({
  limit: Limit(20),
  before: Type.Optional(
    Type.String({
      ...RunId,
      description: 'Only ratings older than this one. Pass `meta.next` of the previous page.',
    }),
  ),
  agentUid: Type.Optional(Id('Only answers of this agent.')),
  uid: Type.Optional(Id('Only ratings of this user.')),
  rating: Type.Optional(Thumb),
  revision: Type.Optional(
    Type.Integer({
      ...{ minimum: 0, maximum: 2_147_483_647 },
      description: 'Only answers of this revision of an agent.',
    }),
  ),
  commented: Type.Optional(
    Type.Boolean({ description: 'Only ratings with a comment, or without one.' }),
  ),
  since: Type.Optional(Milliseconds('Only ratings from this time on, in Unix milliseconds.')),
  until: Type.Optional(Milliseconds('Only ratings before this time, in Unix milliseconds.')),
  runIds: Type.Optional(
    Type.Array(Type.String({ maxLength: 100, description: 'Id of a run.' }), {
      maxItems: 100,
      description: 'Only ratings of these runs. Unknown ones are skipped.',
    }),
  ),
})
export type RatingQuery = Static<typeof RatingQuery>

export const RatingList = NextPage(AgentRating, Type.String)
