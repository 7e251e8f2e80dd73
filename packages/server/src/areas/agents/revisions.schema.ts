import { type Static, Type } from 'typebox'
import { Milliseconds } from '../../platform/http/schemas.ts'
import { Limit, NextPage } from './cursor.ts'
import { ExternalAgentChanges } from './external.schema.ts'
import { AgentChanges, AgentParams } from './schema.ts'

export const LAST_REVISION = 2_147_483_647

const No = Type.Integer({
  minimum: 1,
  maximum: LAST_REVISION,
  description: 'Number of the revision: 1, 2, 3 … of the agent.',
})

const revision = {
  no: No,
  agentUid: Type.String({ description: 'UID of the agent.' }),
  changed: Type.Array(Type.String(), {
    description:
      'Names of the fields that differ from the revision before. Empty for the first one.',
  }),
  operator: Type.Optional(
    Type.String({ description: 'Email address of the operator who made the change.' }),
  ),
  apiKey: Type.Optional(
    Type.String({ description: 'Name of the API key that was used, unless it was an operator.' }),
  ),
  restores: Type.Optional(
    Type.Integer({ description: 'The revision whose content this one has again.' }),
  ),
  createdAt: Milliseconds('Time of the change, in Unix milliseconds.'),
}

export const AgentRevision = Type.Object(revision, {
  additionalProperties: false,
  'x-component': 'AgentRevision',
})
export type AgentRevision = Static<typeof AgentRevision>

const built = Type.Omit(AgentChanges, ['icon', 'isActive']).properties
const external = Type.Omit(ExternalAgentChanges, ['icon', 'isActive', 'suggestions']).properties
const integrationMeta = Type.Omit(external.integrationMeta, ['headers']).properties

/** What is kept of an agent: neither its picture, nor whether it is active, nor anything secret. */
const Content = Type.Object(
  {
    ...external,
    ...built,
    integrationMeta: Type.Optional(
      Type.Object(integrationMeta, {
        additionalProperties: false,
        description: 'External agents: where it runs. Headers are secret, and not kept.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'The fields of the agent, as in the request that creates one.',
  },
)
export type Content = Static<typeof Content>

export const AgentRevisionDetails = Type.Object(
  { ...revision, content: Content },
  { additionalProperties: false, 'x-component': 'AgentRevisionDetails' },
)
export type AgentRevisionDetails = Static<typeof AgentRevisionDetails>

export const RestoredRevision = Type.Object(
  {
    ...revision,
    leftOut: Type.Array(
      Type.Object(
        {
          field: Type.String({ description: 'Field of the agent, such as `apiTools`.' }),
          name: Type.String({ description: 'Name of the part.' }),
        },
        { additionalProperties: false },
      ),
      { description: 'Parts that were deleted since. The agent does without them.' },
    ),
  },
  { additionalProperties: false, 'x-component': 'RestoredRevision' },
)
export type RestoredRevision = Static<typeof RestoredRevision>

export const AgentRevisionParams = Type.Object({ ...AgentParams.properties, no: No })

export const AgentRevisionQuery = Type.Object({
  limit: Limit(20),
  before: Type.Optional(
    Type.Integer({
      ...{ minimum: 1, maximum: LAST_REVISION },
      description: 'Only revisions before this one. Pass `meta.next` of the previous page.',
    }),
  ),
})
export type AgentRevisionQuery = Static<typeof AgentRevisionQuery>

export const AgentRevisionList = NextPage(AgentRevision, Type.Integer)
