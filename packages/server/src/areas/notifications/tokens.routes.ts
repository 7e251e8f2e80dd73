import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { NO_FEATURE } from './schema.ts'
import {
  listTokens,
  registerPushToken,
  toPushTokens,
  unregisterPushToken,
  unregisterSessionPushTokens,
} from './tokens.actions.ts'
import {
  NewPushToken,
  OfSession,
  PushTokenParams,
  PushTokens,
  TokenDeleteQuery,
  TokenListQuery,
} from './tokens.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: true,
  onBehalfOf: 'ignored',
  rate: 'standard',
  feature: NO_FEATURE,
}
const tags = ['push_tokens']
const SESSION = ['ERR_AUTH_TOKEN_NOT_FOUND'] as const

export const pushTokenRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/notifications/push/v1/tokens',
      {
        config: { ...access, errors: [...SESSION, 'ERR_UID_NOT_FOUND', 'ERR_PROVIDER_NOT_FOUND'] },
        schema: {
          operationId: 'registerPushToken',
          tags,
          summary: 'Register a device for push',
          description:
            'The push token belongs to a session and ends with its auth token. If it is known, it moves to this session.',
          body: NewPushToken,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, body }) => ({ data: await registerPushToken(deps, actor, body) }),
    )

    app.get(
      '/notifications/push/v1/tokens',
      {
        config: { ...access, errors: SESSION },
        schema: {
          operationId: 'listPushTokens',
          tags,
          summary: 'List push tokens',
          querystring: TokenListQuery,
          response: { 200: Data(PushTokens) },
        },
      },
      async ({ actor, query }) => ({
        data: toPushTokens(deps, actor, await listTokens(actor.app.cell.db, deps, actor, query)),
      }),
    )

    app.delete(
      '/notifications/push/v1/tokens',
      {
        config: { ...access, errors: SESSION },
        schema: {
          operationId: 'unregisterSessionPushTokens',
          tags,
          summary: 'Unregister the push tokens of a session',
          description: 'Returns what was removed.',
          querystring: TokenDeleteQuery,
          body: OfSession,
          response: { 200: Data(PushTokens) },
        },
      },
      async ({ actor, query: { all }, body }) => ({
        data: await unregisterSessionPushTokens(deps, actor, { authToken: body?.authToken, all }),
      }),
    )

    app.delete(
      '/notifications/push/v1/tokens/:pushToken',
      {
        config: { ...access, errors: [...SESSION, 'ERR_TOKEN_NOT_FOUND'] },
        schema: {
          operationId: 'unregisterPushToken',
          tags,
          summary: 'Unregister one push token',
          description: 'Returns what was removed.',
          params: PushTokenParams,
          body: OfSession,
          response: { 200: Data(PushTokens) },
        },
      },
      async ({ actor, params: { pushToken }, body }) => ({
        data: await unregisterPushToken(deps, actor, pushToken, body?.authToken),
      }),
    )
  }
