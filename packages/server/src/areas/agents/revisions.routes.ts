import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Data } from '../../platform/http/schemas.ts'
import { getAgentRevision, listAgentRevisions, restoreAgentRevision } from './revisions.actions.ts'
import {
  AgentRevisionDetails,
  AgentRevisionList,
  AgentRevisionParams,
  AgentRevisionQuery,
  RestoredRevision,
} from './revisions.schema.ts'
import { AgentParams } from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['agent_revisions']
const REVISIONS = '/ai-agents/revisions/:uid'

export const agentRevisionRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      REVISIONS,
      {
        config: { ...access, errors: ['ERR_AGENT_NOT_FOUND'] },
        schema: {
          operationId: 'listAgentRevisions',
          tags,
          summary: 'List revisions of an agent, newest first',
          description:
            'Each change of an agent makes a revision, but for its picture and whether it is active. The newest 200 are kept.',
          params: AgentParams,
          querystring: AgentRevisionQuery,
          response: { 200: AgentRevisionList },
        },
      },
      ({ actor, params, query }) => listAgentRevisions(actor, params.uid, query),
    )

    app.get(
      `${REVISIONS}/:no`,
      {
        config: { ...access, errors: ['ERR_AGENT_NOT_FOUND', 'ERR_AGENT_REVISION_NOT_FOUND'] },
        schema: {
          operationId: 'getAgentRevision',
          tags,
          summary: 'Get a revision of an agent',
          params: AgentRevisionParams,
          response: { 200: Data(AgentRevisionDetails) },
        },
      },
      async ({ actor, params }) => ({ data: await getAgentRevision(actor, params.uid, params.no) }),
    )

    app.post(
      `${REVISIONS}/:no/restore`,
      {
        config: {
          ...access,
          errors: [
            ...(['ERR_AGENT_NOT_FOUND', 'ERR_AGENT_REVISION_NOT_FOUND'] as const),
            ...(['ERR_MODEL_PROVIDER_NOT_FOUND', 'ERR_UID_NOT_FOUND'] as const),
          ],
        },
        schema: {
          operationId: 'restoreAgentRevision',
          tags,
          summary: 'Restore a revision of an agent',
          description:
            'Makes a new revision with the old content, unless the agent has it already. Parts that were deleted since are left out. If the provider of the model was deleted, nothing changes.',
          params: AgentRevisionParams,
          response: { 200: Data(RestoredRevision) },
        },
      },
      async ({ actor, params }) => ({
        data: await restoreAgentRevision(deps, actor, params.uid, params.no),
      }),
    )
  }
