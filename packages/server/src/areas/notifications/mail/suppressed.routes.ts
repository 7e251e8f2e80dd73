import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../../deps.ts'
import type { Access } from '../../../gate/plugin.ts'
import { IdPage } from '../../../platform/http/id-page.ts'
import { Acknowledged, Data } from '../../../platform/http/schemas.ts'
import { createSuppression, deleteSuppression, listSuppressions } from './suppressed.actions.ts'
import {
  NewSuppressed,
  SuppressedQuery,
  Suppression,
  SuppressionParams,
} from './suppressed.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['suppressions']

export const suppressedRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/notifications/v1/suppressions',
      {
        config: access,
        schema: {
          operationId: 'createSuppression',
          tags,
          summary: 'Send nothing more to an address',
          description: 'For people who unsubscribed elsewhere.',
          body: NewSuppressed,
          response: { 200: Data(Suppression) },
        },
      },
      async ({ actor, body }) => ({ data: await createSuppression(deps, actor, body) }),
    )

    app.get(
      '/notifications/v1/suppressions',
      {
        config: access,
        schema: {
          operationId: 'listSuppressions',
          tags,
          summary: 'List addresses that get no more emails or SMS',
          description:
            'Oldest first: addresses that don’t exist, and those whose owners complained or unsubscribed.',
          querystring: SuppressedQuery,
          response: { 200: IdPage(Suppression) },
        },
      },
      async ({ actor, query }) => listSuppressions(actor, query),
    )

    app.delete(
      '/notifications/v1/suppressions/:suppressionId',
      {
        config: { ...access, errors: ['ERR_SUPPRESSION_NOT_FOUND'] },
        schema: {
          operationId: 'deleteSuppression',
          tags,
          summary: 'Send to an address again',
          params: SuppressionParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({
        data: await deleteSuppression(deps, actor, params.suppressionId),
      }),
    )
  }
