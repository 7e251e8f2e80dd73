import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Deps } from '../../../deps.ts'
import type { Access } from '../../../gate/plugin.ts'
import { Limiter } from '../../../platform/cache/limiter.ts'
import { Data } from '../../../platform/http/schemas.ts'
import { SettingsChanges } from '../settings.schema.ts'
import { previewNotificationSettings, testEmailProvider, testSmsProvider } from './tests.actions.ts'
import { EmailPreview, MailTestOutcome, NewMailTest } from './tests.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tested: Access & { errors: ('ERR_UID_NOT_FOUND' | 'ERR_PROVIDER_NOT_FOUND')[] } = {
  ...access,
  errors: ['ERR_UID_NOT_FOUND', 'ERR_PROVIDER_NOT_FOUND'],
}
const description = 'At once, past all preferences, through the provider that is in use.'

export const mailTestRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const limiter = new Limiter(deps.cache)

    app.post(
      '/notifications/email/v1/providers/test',
      {
        config: tested,
        schema: {
          operationId: 'testEmailProvider',
          tags: ['email_providers'],
          summary: 'Send a test email to a user',
          description,
          body: NewMailTest,
          response: { 200: Data(MailTestOutcome) },
        },
      },
      async ({ actor, body }) => ({ data: await testEmailProvider(deps, limiter, actor, body) }),
    )

    app.post(
      '/notifications/sms/v1/providers/test',
      {
        config: tested,
        schema: {
          operationId: 'testSmsProvider',
          tags: ['sms_providers'],
          summary: 'Send a test SMS to a user',
          description,
          body: NewMailTest,
          response: { 200: Data(MailTestOutcome) },
        },
      },
      async ({ actor, body }) => ({ data: await testSmsProvider(deps, limiter, actor, body) }),
    )

    app.post(
      '/notifications/v1/settings/preview',
      {
        config: access,
        schema: {
          operationId: 'previewNotificationSettings',
          tags: ['notification_settings'],
          summary: 'Preview an email with other settings',
          description: 'Shows a sample with these changes, without storing them.',
          body: SettingsChanges,
          response: { 200: Data(EmailPreview) },
        },
      },
      async ({ actor, body }) => ({ data: await previewNotificationSettings(actor, body) }),
    )
  }
