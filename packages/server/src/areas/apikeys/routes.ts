import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { fail } from '../../platform/http/fail.ts'
import { Acknowledged, Data, Page, pageOf } from '../../platform/http/schemas.ts'
import { createApiKey, deleteApiKey, toApiKey, updateApiKey } from './actions.ts'
import { findApiKey, listApiKeys } from './queries.ts'
import { ApiKey, ApiKeyChanges, ApiKeyListQuery, ApiKeyParams, NewApiKey } from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['api_keys']

export const apiKeyRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/apikeys',
      {
        config: { ...access, errors: ['ERR_PLAN_QUOTA_RESTRICTION'] },
        schema: {
          operationId: 'createApiKey',
          tags,
          summary: 'Create an API key',
          body: NewApiKey,
          response: { 200: Data(ApiKey) },
        },
      },
      async ({ actor, body }) => ({ data: await createApiKey(deps, actor, body) }),
    )

    app.get(
      '/apikeys',
      {
        config: access,
        schema: {
          operationId: 'listApiKeys',
          tags,
          summary: 'List API keys',
          querystring: ApiKeyListQuery,
          response: { 200: Page(ApiKey) },
        },
      },
      async ({ actor, query }) => {
        const { scope = null, searchKey = null } = query
        const { no: appNo, cell } = actor.app
        const rows = await listApiKeys.many(cell.db, { appNo, scope, searchKey })
        return pageOf(query, rows, (row) => toApiKey(deps.secrets, row))
      },
    )

    app.get(
      '/apikeys/:apiKey',
      {
        config: { ...access, errors: ['ERR_APIKEY_NOT_FOUND'] },
        schema: {
          operationId: 'getApiKey',
          tags,
          summary: 'Get an API key',
          params: ApiKeyParams,
          response: { 200: Data(ApiKey) },
        },
      },
      async ({ actor, params }) => {
        const { no: appNo, cell } = actor.app
        const keyHash = deps.secrets.hash(params.apiKey)
        const row = await findApiKey.maybeOne(cell.db, { appNo, keyHash })
        if (!row) throw fail('ERR_APIKEY_NOT_FOUND')
        return { data: toApiKey(deps.secrets, row) }
      },
    )

    app.put(
      '/apikeys/:apiKey',
      {
        config: { ...access, errors: ['ERR_APIKEY_NOT_FOUND', 'ERR_APIKEY_NO_SELF_ACTION'] },
        schema: {
          operationId: 'updateApiKey',
          tags,
          summary: 'Update an API key',
          params: ApiKeyParams,
          body: ApiKeyChanges,
          response: { 200: Data(ApiKey) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateApiKey(deps, actor, params.apiKey, body),
      }),
    )

    app.delete(
      '/apikeys/:apiKey',
      {
        config: { ...access, errors: ['ERR_APIKEY_NOT_FOUND', 'ERR_APIKEY_NO_SELF_ACTION'] },
        schema: {
          operationId: 'deleteApiKey',
          tags,
          summary: 'Delete an API key',
          params: ApiKeyParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteApiKey(deps, actor, params.apiKey) }),
    )
  }
