import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { SanctionRecord } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { IdPage } from '../../platform/http/id-page.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { createSanction, deleteSanction, getSanction, listSanctions } from './sanctions.actions.ts'
import { NewSanction, SanctionParams, SanctionQuery } from './sanctions.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['sanctions']

export const sanctionRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/moderation/sanctions',
      {
        config: {
          ...access,
          errors: [
            'ERR_UID_NOT_FOUND',
            'ERR_GUID_NOT_FOUND',
            'ERR_NOT_A_MEMBER',
            'ERR_GROUP_NO_CLEARANCE',
          ],
        },
        schema: {
          operationId: 'createSanction',
          tags,
          summary: 'Mute or ban a user',
          description:
            'In the whole app, or in one group. A second sanction of the same kind replaces the end and the reason of the first.',
          body: NewSanction,
          response: { 200: Data(SanctionRecord) },
        },
      },
      async ({ actor, body }) => ({ data: await createSanction(deps, actor, body) }),
    )

    app.get(
      '/moderation/sanctions',
      {
        config: access,
        schema: {
          operationId: 'listSanctions',
          tags,
          summary: 'List sanctions',
          description: 'Oldest first, without those that have ended.',
          querystring: SanctionQuery,
          response: { 200: IdPage(SanctionRecord) },
        },
      },
      async ({ actor, query }) => listSanctions(actor, query),
    )

    app.get(
      '/moderation/sanctions/:sanctionId',
      {
        config: { ...access, errors: ['ERR_SANCTION_NOT_FOUND'] },
        schema: {
          operationId: 'getSanction',
          tags,
          summary: 'Get a sanction',
          params: SanctionParams,
          response: { 200: Data(SanctionRecord) },
        },
      },
      async ({ actor, params }) => ({ data: await getSanction(actor, params.sanctionId) }),
    )

    app.delete(
      '/moderation/sanctions/:sanctionId',
      {
        config: { ...access, errors: ['ERR_SANCTION_NOT_FOUND'] },
        schema: {
          operationId: 'deleteSanction',
          tags,
          summary: 'Lift a sanction',
          params: SanctionParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({
        data: await deleteSanction(deps, actor, params.sanctionId),
      }),
    )
  }
