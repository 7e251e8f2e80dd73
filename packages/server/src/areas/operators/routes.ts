import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import { IdempotencyKey } from '../../gate/headers.ts'
import { operatorWrite } from '../../gate/operator-write.ts'
import { Data } from '../../platform/http/schemas.ts'
import { acceptInvitation, createOperator, toOperator, updateOperator } from './actions.ts'
import { getOperator } from './queries.ts'
import { NewOperator, Operator, OperatorChanges } from './schema.ts'

const tags = ['operators']

const Accepted = Type.Object(
  { appId: Type.String(), role: Type.String() },
  { additionalProperties: false },
)

export const operatorRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/operators',
      {
        config: {
          manage: 'public',
          errors: [
            ...(['ERR_SIGN_UP_CLOSED', 'ERR_EMAIL_ALREADY_EXISTS'] as const),
            ...(['ERR_INVITATION_NOT_FOUND', 'ERR_TOO_MANY_ATTEMPTS'] as const),
            'ERR_IDEMPOTENCY_KEY_REUSED',
          ],
        },
        schema: {
          operationId: 'createOperator',
          tags,
          summary: 'Sign up',
          headers: Type.Object({ 'Idempotency-Key': Type.Optional(IdempotencyKey) }),
          body: NewOperator,
          response: { 200: Data(Operator) },
        },
      },
      async (request) => ({ data: await createOperator(deps, request, request.body) }),
    )

    app.get(
      '/operator',
      {
        config: { manage: 'account' },
        schema: {
          operationId: 'getOperator',
          tags,
          summary: 'Get your account',
          response: { 200: Data(Operator) },
        },
      },
      async ({ operator }) => ({
        data: toOperator(await getOperator.one(deps.directory.db, { operatorNo: operator.no })),
      }),
    )

    app.put(
      '/operator',
      {
        config: {
          manage: 'account',
          sessionOnly: true,
          errors: ['ERR_WRONG_PASSWORD', 'ERR_TOO_MANY_ATTEMPTS'],
        },
        schema: {
          operationId: 'updateOperator',
          tags,
          summary: 'Update your account',
          description:
            'A new password ends all your other sessions. Your keys continue to work unless `endKeys` is true; set it if somebody else may have known the password.',
          body: OperatorChanges,
          response: { 200: Data(Operator) },
        },
      },
      async (request) => ({ data: await updateOperator(deps, request, request.body) }),
    )

    app.post(
      '/invitations/accept',
      {
        config: { manage: 'account', sessionOnly: true, errors: ['ERR_INVITATION_NOT_FOUND'] },
        schema: {
          operationId: 'acceptInvitation',
          tags: ['invitations'],
          summary: 'Accept an invitation to an app',
          body: Type.Object({
            invitation: Type.String({ maxLength: 100, description: 'Token of the invitation.' }),
          }),
          response: { 200: Data(Accepted) },
        },
      },
      async (request) => ({
        data: await operatorWrite(deps, request, (tx) =>
          acceptInvitation(deps, tx, request.operator, request.body.invitation),
        ),
      }),
    )
  }
