import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { getWebPushKey } from './providers.actions.ts'
import { WebPushKey } from './providers.schema.ts'
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

    app.get(
      '/notifications/push/v1/web_push/key',
      {
        config: { ...access, errors: ['ERR_PROVIDER_NOT_FOUND'] },
        schema: {
          operationId: 'getWebPushKey',
          tags: ['web_push_keys'],
          summary: 'Get the key that browsers subscribe with',
          description:
            'Pass `publicKey` to `pushManager.subscribe` as `applicationServerKey`, and register the subscription with `providerId`.',
          response: { 200: Data(WebPushKey) },
        },
      },
      async ({ actor: { app: own } }) => ({ data: await getWebPushKey(own.cell.db, own.no) }),
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
        config: { ...access, longParams: true, errors: [...SESSION, 'ERR_TOKEN_NOT_FOUND'] },
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
