import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { ManageAccess } from '../../gate/manage.ts'
import { Acknowledged, Data, Name, Page, PageQuery, pageOf } from '../../platform/http/schemas.ts'
import { createKey, deleteKey, Key, KeyWithSecret, rotateKey, toKey } from './keys.actions.ts'
import { listKeys } from './keys.queries.ts'
import { Shown } from './schema.ts'

const tags = ['keys']
const own: ManageAccess = { manage: 'account', sessionOnly: true }

const guarded = ['ERR_WRONG_PASSWORD', 'ERR_TOO_MANY_ATTEMPTS'] as const

const KeyParams = Type.Object({
  key: Type.String({ maxLength: 100, description: 'Value of the key.' }),
})

export const operatorKeyRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/keys',
      {
        config: { ...own, errors: [...guarded, 'ERR_PLAN_QUOTA_RESTRICTION'] },
        schema: {
          operationId: 'createKey',
          tags,
          summary: 'Create a key and secret for scripts',
          body: Type.Object({ name: Name(100, 'What the key is for.'), ...Shown.properties }),
          response: { 200: Data(KeyWithSecret) },
        },
      },
      async (request) => ({ data: await createKey(deps, request, request.body) }),
    )

    app.get(
      '/keys',
      {
        config: own,
        schema: {
          operationId: 'listKeys',
          tags,
          summary: 'List your keys',
          querystring: PageQuery({}),
          response: { 200: Page(Key) },
        },
      },
      async ({ operator, query }) =>
        pageOf(query, await listKeys.many(deps.directory.db, { operatorNo: operator.no }), toKey),
    )

    app.post(
      '/keys/:key/secret',
      {
        config: { ...own, errors: [...guarded, 'ERR_KEY_NOT_FOUND'] },
        schema: {
          operationId: 'rotateKey',
          tags,
          summary: 'Replace the secret of a key',
          description: 'The previous secret stops working immediately.',
          params: KeyParams,
          body: Shown,
          response: { 200: Data(KeyWithSecret) },
        },
      },
      async (request) => ({
        data: await rotateKey(deps, request, request.params.key, request.body.password),
      }),
    )

    app.delete(
      '/keys/:key',
      {
        config: { ...own, errors: ['ERR_KEY_NOT_FOUND'] },
        schema: {
          operationId: 'deleteKey',
          tags,
          summary: 'Delete a key',
          params: KeyParams,
          response: { 200: Acknowledged },
        },
      },
      async (request) => ({ data: await deleteKey(deps, request, request.params.key) }),
    )
  }
