import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import { Data } from '../../platform/http/schemas.ts'
import { AppParams } from '../apps/schema.ts'
import { getStorage } from './actions.ts'
import { Storage } from './schema.ts'

export const storageRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/apps/:appId/storage',
      {
        config: { manage: 'data', errors: ['AUTH_ERR_INVALID_APPID'] },
        schema: {
          operationId: 'getStorage',
          tags: ['storage'],
          summary: "Get what an app's files take, and the state of the store",
          params: AppParams,
          response: { 200: Data(Storage) },
        },
      },
      async (request) => ({ data: await getStorage(deps, request) }),
    )
  }
