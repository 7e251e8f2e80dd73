import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Data } from '../../platform/http/schemas.ts'
import { UidParams } from '../users/schema.ts'
import { createErasure, findErasureOfUser } from './actions.ts'
import { Erasure, NewErasure } from './schema.ts'

/** Not for users: a stolen token must not destroy an account, and apps decide which requests they have to grant. */
const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'core',
}
const tags = ['erasures']

export const erasureRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/users/:uid/erasure',
      {
        config: { ...access, errors: ['ERR_UID_NOT_FOUND'] },
        schema: {
          operationId: 'createErasure',
          tags,
          summary: 'Erase a user',
          description:
            "Erases a user's personal data everywhere, in the background. It can't be undone or cancelled. While it is running, a second request returns the same erasure. Create no other user with this uid before it is done.",
          params: UidParams,
          body: NewErasure,
          response: { 200: Data(Erasure) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await createErasure(deps, actor, params.uid, body),
      }),
    )

    app.get(
      '/users/:uid/erasure',
      {
        config: { ...access, rate: 'standard', errors: ['ERR_ERASURE_NOT_FOUND'] },
        schema: {
          operationId: 'getErasure',
          tags,
          summary: "Get a user's erasure with its receipt",
          description: 'The last one of this uid, also after the user is gone.',
          params: UidParams,
          response: { 200: Data(Erasure) },
        },
      },
      async ({ actor, params }) => ({ data: await findErasureOfUser(deps, actor, params.uid) }),
    )
  }
