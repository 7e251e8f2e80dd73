import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { ShortList, ShortListQuery, shortList } from '../../platform/http/short-list.ts'
import {
  createModelProvider,
  deleteModelProvider,
  getProviderRow,
  toModelProvider,
  updateModelProvider,
} from './actions.ts'
import { listProviderRows } from './queries.ts'
import {
  ModelProvider,
  ModelProviderChanges,
  ModelProviderParams,
  NewModelProvider,
} from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['model_providers']

export const modelRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/model-providers',
      {
        config: {
          ...access,
          errors: ['ERR_PLAN_QUOTA_RESTRICTION', 'ERR_MODEL_PROVIDER_NOT_FOUND'],
        },
        schema: {
          operationId: 'createModelProvider',
          tags,
          summary: 'Add a provider of models',
          description: 'Any service with an interface like that of OpenAI or Anthropic.',
          body: NewModelProvider,
          response: { 200: Data(ModelProvider) },
        },
      },
      async ({ actor, body }) => ({ data: await createModelProvider(deps, actor, body) }),
    )

    app.get(
      '/model-providers',
      {
        config: access,
        schema: {
          operationId: 'listModelProviders',
          tags,
          summary: 'List the providers of models',
          querystring: ShortListQuery,
          response: { 200: ShortList(ModelProvider) },
        },
      },
      async ({ actor: { app: own }, query }) => {
        const rows = await listProviderRows.many(own.cell.db, { appNo: own.no })
        return shortList(rows.map(toModelProvider), query)
      },
    )

    app.get(
      '/model-providers/:providerId',
      {
        config: { ...access, errors: ['ERR_MODEL_PROVIDER_NOT_FOUND'] },
        schema: {
          operationId: 'getModelProvider',
          tags,
          summary: 'Get a provider of models',
          params: ModelProviderParams,
          response: { 200: Data(ModelProvider) },
        },
      },
      async ({ actor: { app: own }, params }) => ({
        data: toModelProvider(await getProviderRow(own.cell.db, own.no, params.providerId)),
      }),
    )

    app.put(
      '/model-providers/:providerId',
      {
        config: { ...access, errors: ['ERR_MODEL_PROVIDER_NOT_FOUND'] },
        schema: {
          operationId: 'updateModelProvider',
          tags,
          summary: 'Change a provider of models',
          description:
            'What you leave out stays, but a new URL needs the key again. Null removes the key, a price or the fallback.',
          params: ModelProviderParams,
          body: ModelProviderChanges,
          response: { 200: Data(ModelProvider) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateModelProvider(deps, actor, params.providerId, body),
      }),
    )

    app.delete(
      '/model-providers/:providerId',
      {
        config: {
          ...access,
          errors: ['ERR_MODEL_PROVIDER_NOT_FOUND', 'ERR_MODEL_PROVIDER_IN_USE'],
        },
        schema: {
          operationId: 'deleteModelProvider',
          tags,
          summary: 'Delete a provider of models',
          params: ModelProviderParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({
        data: await deleteModelProvider(deps, actor, params.providerId),
      }),
    )
  }
