import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { ShortList, ShortListQuery, shortList } from '../../platform/http/short-list.ts'
import {
  createFlagReason,
  deleteFlagReason,
  getFlagReason,
  listFlagReasons,
  updateFlagReason,
} from './reasons.actions.ts'
import {
  FlagReasonChanges,
  FlagReasonParams,
  FlagReasonRecord,
  NewFlagReason,
} from './reasons.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['flag_reasons']

export const reasonRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/moderation/reasons',
      {
        config: { ...access, errors: ['ERR_PLAN_QUOTA_RESTRICTION'] },
        schema: {
          operationId: 'createFlagReason',
          tags,
          summary: 'Create a reason',
          body: NewFlagReason,
          response: { 200: Data(FlagReasonRecord) },
        },
      },
      async ({ actor, body }) => ({ data: await createFlagReason(deps, actor, body) }),
    )

    app.get(
      '/moderation/reasons',
      {
        config: access,
        schema: {
          operationId: 'listFlagReasons',
          tags,
          summary: 'List reasons',
          description: 'Your own reasons by id, then those that come with the service.',
          querystring: ShortListQuery,
          response: { 200: ShortList(FlagReasonRecord) },
        },
      },
      async ({ actor, query }) => shortList(await listFlagReasons(actor.app), query),
    )

    app.get(
      '/moderation/reasons/:id',
      {
        config: { ...access, errors: ['ERR_REASON_NOT_FOUND'] },
        schema: {
          operationId: 'getFlagReason',
          tags,
          summary: 'Get a reason',
          params: FlagReasonParams,
          response: { 200: Data(FlagReasonRecord) },
        },
      },
      async ({ actor: { app: own }, params: { id } }) => ({
        data: await getFlagReason(own.cell.db, own.no, id),
      }),
    )

    app.put(
      '/moderation/reasons/:id',
      {
        config: { ...access, errors: ['ERR_REASON_NOT_FOUND'] },
        schema: {
          operationId: 'updateFlagReason',
          tags,
          summary: 'Change a reason',
          params: FlagReasonParams,
          body: FlagReasonChanges,
          response: { 200: Data(FlagReasonRecord) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateFlagReason(deps, actor, params.id, body),
      }),
    )

    app.delete(
      '/moderation/reasons/:id',
      {
        config: { ...access, errors: ['ERR_REASON_NOT_FOUND'] },
        schema: {
          operationId: 'deleteFlagReason',
          tags,
          summary: 'Delete a reason',
          params: FlagReasonParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteFlagReason(deps, actor, params.id) }),
    )
  }
