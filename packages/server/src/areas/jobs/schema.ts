import { type Static, Type } from 'typebox'
import { Timestamp } from '../../platform/http/schemas.ts'
import { AppParams } from '../apps/schema.ts'

export const JOB_STATES = [
  ...['blocked', 'waiting', 'ready', 'running', 'done', 'dead', 'cancelled'],
] as const
const State = Type.Enum([...JOB_STATES], {
  description:
    '`waiting`: until `runAt`. `blocked`: until an earlier job of its queue is over. `dead`: failed for good.',
})
const Name = Type.String({ maxLength: 100, description: 'What it does, such as `users.sweep`.' })

export const Job = Type.Object(
  {
    id: Type.String(),
    name: Name,
    state: State,
    cancelling: Type.Boolean({ description: 'Whether a running job was asked to stop.' }),
    input: Type.Unknown({ description: 'What it works on.' }),
    progress: Type.Optional(
      Type.Object(
        {
          done: Type.Integer(),
          total: Type.Optional(Type.Integer()),
        },
        { additionalProperties: false, description: 'How far it is, in units of its own.' },
      ),
    ),
    tries: Type.Integer({ description: 'Runs since it last made progress.' }),
    error: Type.Optional(Type.String({ description: 'Why its last failed run failed.' })),
    createdAt: Timestamp('Time of creation, in Unix seconds.'),
    runAt: Timestamp('When it is or was due, in Unix seconds.'),
    endedAt: Type.Optional(Timestamp('When it ended, in Unix seconds.')),
  },
  { additionalProperties: false, 'x-component': 'Job' },
)
export type Job = Static<typeof Job>

export const JobAnswer = Type.Object({ data: Job }, { additionalProperties: false })

export const JobList = Type.Object(
  {
    data: Type.Array(Job),
    meta: Type.Object(
      {
        next: Type.Optional(
          Type.Integer({
            description: 'Pass this as `before` to get the next page. Missing on the last page.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)

export const JobQuery = Type.Object({
  limit: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 100,
    description: 'Maximum number of records per page.',
  }),
  before: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Only jobs older than this one. Pass `meta.next` of the previous page.',
    }),
  ),
  state: Type.Optional(Type.Enum([...JOB_STATES], { description: 'Only jobs in this state.' })),
  name: Type.Optional(Type.String({ maxLength: 100, description: 'Only jobs with this name.' })),
})
export type JobQuery = Static<typeof JobQuery>

export const JobParams = Type.Object({
  ...AppParams.properties,
  jobId: Type.String({ maxLength: 16, description: 'Id of the job.' }),
})
