import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { fail } from '../../platform/http/fail.ts'
import { Acknowledged, Data, Page, pageOf } from '../../platform/http/schemas.ts'
import { findUser } from './queries.ts'
import { UidParams } from './schema.ts'
import {
  createAuthToken,
  deleteAuthToken,
  flushAuthTokens,
  getToken,
  toAuthToken,
  updateAuthToken,
} from './tokens.actions.ts'
import { listTokens } from './tokens.queries.ts'
import { AuthToken, NewAuthToken, TokenListQuery, TokenParams, TokenUse } from './tokens.schema.ts'

/** API keys of either scope: `authOnly` keys exist for this. */
const access: Access = {
  scope: 'authOnly',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['auth_tokens']
const ofToken = [
  'ERR_UID_NOT_FOUND',
  'ERR_AUTH_TOKEN_NOT_FOUND',
  'ERR_AUTHTOKEN_NOT_ACCESSIBLE',
] as const

export const authTokenRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/users/:uid/auth_tokens',
      {
        config: { ...access, rate: 'core', errors: ['ERR_UID_NOT_FOUND', 'ERR_USER_BANNED'] },
        schema: {
          operationId: 'createAuthToken',
          tags,
          summary: 'Create an auth token',
          params: UidParams,
          body: NewAuthToken,
          response: { 200: Data(AuthToken) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await createAuthToken(deps, actor, params.uid, body?.force ?? false),
      }),
    )

    app.get(
      '/users/:uid/auth_tokens',
      {
        config: { ...access, errors: ['ERR_UID_NOT_FOUND'] },
        schema: {
          operationId: 'listAuthTokens',
          tags,
          summary: "List a user's auth tokens",
          params: UidParams,
          querystring: TokenListQuery,
          response: { 200: Page(AuthToken) },
        },
      },
      async ({ actor, params: { uid }, query }) => {
        const { no: appNo, cell } = actor.app
        if (!(await findUser.maybeOne(cell.db, { appNo, uid })))
          throw fail('ERR_UID_NOT_FOUND', { uid })
        const rows = await listTokens.many(cell.db, { appNo, uid })
        return pageOf(query, rows, (row) => toAuthToken(deps, row))
      },
    )

    app.delete(
      '/users/:uid/auth_tokens',
      {
        config: { ...access, errors: ['ERR_UID_NOT_FOUND'] },
        schema: {
          operationId: 'flushAuthTokens',
          tags,
          summary: 'Revoke all auth tokens of a user',
          params: UidParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await flushAuthTokens(deps, actor, params.uid) }),
    )

    app.get(
      '/users/:uid/auth_tokens/:authToken',
      {
        config: { ...access, errors: ofToken },
        schema: {
          operationId: 'getAuthToken',
          tags,
          summary: 'Get an auth token',
          params: TokenParams,
          response: { 200: Data(AuthToken) },
        },
      },
      async ({ actor, params }) => {
        const { no: appNo, cell } = actor.app
        return { data: toAuthToken(deps, await getToken(cell.db, deps, appNo, params)) }
      },
    )

    app.put(
      '/users/:uid/auth_tokens/:authToken',
      {
        config: { ...access, errors: [...ofToken, 'ERR_AUTHTOKEN_UNAVAILABLE'] },
        schema: {
          operationId: 'updateAuthToken',
          tags,
          summary: 'Register the device of an auth token',
          params: TokenParams,
          body: TokenUse,
          response: { 200: Data(AuthToken) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateAuthToken(deps, actor, params, body),
      }),
    )

    app.delete(
      '/users/:uid/auth_tokens/:authToken',
      {
        config: { ...access, errors: ofToken },
        schema: {
          operationId: 'deleteAuthToken',
          tags,
          summary: 'Revoke an auth token',
          params: TokenParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteAuthToken(deps, actor, params) }),
    )
  }
