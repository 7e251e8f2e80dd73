import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { Deps } from '../../deps.ts'
import type { ManageAccess } from '../../gate/manage.ts'
import { isSecure, SESSION_COOKIE } from '../../gate/operators.ts'
import { writeCookie } from '../../platform/http/cookies.ts'
import { fail } from '../../platform/http/fail.ts'
import { Acknowledged, Data, Page, PageQuery, pageOf } from '../../platform/http/schemas.ts'
import { toOperator } from './actions.ts'
import { DEVICE_COOKIE, newDevice } from './attempts.ts'
import { getOperator } from './queries.ts'
import {
  createSession,
  deleteSession,
  endOtherSessions,
  endSession,
  SESSION_DAYS,
  toSession,
} from './sessions.actions.ts'
import { listSessions } from './sessions.queries.ts'
import { Session, SessionParams, SignedIn, SignIn } from './sessions.schema.ts'

const tags = ['sessions']
const own: ManageAccess = { manage: 'account', sessionOnly: true }
const DAY = 86_400
/** How long a device stays known after the last sign-in. */
const DEVICE_DAYS = 180

export const sessionRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const secure = isSecure(deps)
    const deviceCookie = (account: string) =>
      writeCookie(DEVICE_COOKIE, newDevice(deps, account), { secure, seconds: DEVICE_DAYS * DAY })
    const setCookie = (reply: FastifyReply, token: string, seconds: number) =>
      reply.header('set-cookie', writeCookie(SESSION_COOKIE, token, { secure, seconds }))

    app.post(
      '/sessions',
      {
        config: {
          manage: 'public',
          errors: [
            ...(['AUTH_ERR_INVALID_CREDENTIALS', 'AUTH_ERR_TOTP_REQUIRED'] as const),
            'ERR_TOO_MANY_ATTEMPTS',
          ],
        },
        schema: {
          operationId: 'createSession',
          tags,
          summary: 'Sign in',
          description:
            "The response sets the cookie of a new session, and one by which this device is known: attempts from others then don't count against it.",
          body: SignIn,
          response: { 200: Data(SignedIn) },
        },
      },
      async (request, reply) => {
        const { token, ...data } = await createSession(deps, request, request.body)
        setCookie(reply, token, SESSION_DAYS * DAY)
        // Added to the first one.
        reply.header('set-cookie', deviceCookie(data.operator.email))
        return { data }
      },
    )

    app.get(
      '/session',
      {
        config: own,
        schema: {
          operationId: 'getSession',
          tags,
          summary: 'Get your session and account',
          response: { 200: Data(SignedIn) },
        },
      },
      async ({ operator: { no: operatorNo, sessionId } }) => {
        const rows = await listSessions.many(deps.directory.db, { operatorNo })
        const row = rows.find(({ session_id }) => session_id === sessionId)
        if (!row) throw fail('AUTH_ERR_INVALID_CREDENTIALS')
        const operator = toOperator(await getOperator.one(deps.directory.db, { operatorNo }))
        return { data: { operator, session: toSession(row, sessionId) } }
      },
    )

    app.delete(
      '/session',
      {
        config: { ...own, errors: ['ERR_SESSION_NOT_FOUND'] },
        schema: {
          operationId: 'endSession',
          tags,
          summary: 'Sign out',
          response: { 200: Acknowledged },
        },
      },
      async (request, reply) => {
        const data = await endSession(deps, request)
        setCookie(reply, '', 0)
        return { data }
      },
    )

    app.get(
      '/sessions',
      {
        config: own,
        schema: {
          operationId: 'listSessions',
          tags,
          summary: 'List your sessions',
          querystring: PageQuery({}),
          response: { 200: Page(Session) },
        },
      },
      async ({ operator: { no: operatorNo, sessionId }, query }) => {
        const rows = await listSessions.many(deps.directory.db, { operatorNo })
        return pageOf(query, rows, (row) => toSession(row, sessionId))
      },
    )

    app.delete(
      '/sessions/:sessionId',
      {
        config: { ...own, errors: ['ERR_SESSION_NOT_FOUND'] },
        schema: {
          operationId: 'deleteSession',
          tags,
          summary: 'End one of your sessions',
          params: SessionParams,
          response: { 200: Acknowledged },
        },
      },
      async (request) => ({ data: await deleteSession(deps, request, request.params.sessionId) }),
    )

    app.delete(
      '/sessions',
      {
        config: own,
        schema: {
          operationId: 'endOtherSessions',
          tags,
          summary: 'End all your other sessions',
          response: { 200: Acknowledged },
        },
      },
      async (request) => ({ data: await endOtherSessions(deps, request) }),
    )
  }
