import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { ManageAccess } from '../../gate/manage.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { Shown } from './schema.ts'
import { confirmTotp, deleteTotp, renewTotpCodes, startTotp } from './totp.actions.ts'

const tags = ['totp']
const own: ManageAccess = { manage: 'account', sessionOnly: true }
const guarded = ['ERR_WRONG_PASSWORD', 'ERR_TOO_MANY_ATTEMPTS'] as const

const Started = Type.Object(
  {
    secret: Type.String({ description: 'The secret in base 32, to type into an authenticator.' }),
    url: Type.String({ description: '`otpauth://…` URL, to show as a QR code.' }),
  },
  { additionalProperties: false },
)

const Codes = Type.Object(
  {
    recoveryCodes: Type.Array(Type.String(), {
      description: 'Each code works once, instead of a one-time code. They are shown only now.',
    }),
  },
  { additionalProperties: false },
)

export const totpRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/totp',
      {
        config: { ...own, errors: [...guarded, 'ERR_TOTP_ALREADY_ON'] },
        schema: {
          operationId: 'startTotp',
          tags,
          summary: 'Set up two-factor authentication',
          description: 'Returns a new secret. Nothing changes until you confirm it with a code.',
          body: Shown,
          response: { 200: Data(Started) },
        },
      },
      async (request) => ({ data: await startTotp(deps, request, request.body.password) }),
    )

    app.post(
      '/totp/confirm',
      {
        config: { ...own, errors: ['ERR_WRONG_CODE', 'ERR_TOO_MANY_ATTEMPTS'] },
        schema: {
          operationId: 'confirmTotp',
          tags,
          summary: 'Turn on two-factor authentication',
          description: 'Confirms the new secret with a code. All your other sessions end.',
          body: Type.Object({
            code: Type.String({ maxLength: 20, description: 'One-time code.' }),
          }),
          response: { 200: Data(Codes) },
        },
      },
      async (request) => ({ data: await confirmTotp(deps, request, request.body.code) }),
    )

    app.post(
      '/totp/recovery_codes',
      {
        config: { ...own, errors: [...guarded, 'ERR_TOTP_OFF'] },
        schema: {
          operationId: 'renewTotpCodes',
          tags,
          summary: 'Replace the recovery codes',
          description: 'The previous recovery codes stop working immediately.',
          body: Shown,
          response: { 200: Data(Codes) },
        },
      },
      async (request) => ({ data: await renewTotpCodes(deps, request, request.body.password) }),
    )

    app.delete(
      '/totp',
      {
        config: { ...own, errors: [...guarded, 'ERR_TOTP_OFF'] },
        schema: {
          operationId: 'deleteTotp',
          tags,
          summary: 'Turn off two-factor authentication',
          body: Shown,
          response: { 200: Acknowledged },
        },
      },
      async (request) => ({ data: await deleteTotp(deps, request, request.body.password) }),
    )
  }
