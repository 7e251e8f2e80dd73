import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type TSchema, Type } from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { Limiter } from '../../platform/cache/limiter.ts'
import { Acknowledged, Data } from '../../platform/http/schemas.ts'
import { mailUrl } from './mail/content.ts'
import { signLink } from './mail/tokens.ts'
import {
  testApnsProvider,
  testCustomPushProvider,
  testFcmProvider,
  testWebPushProvider,
} from './provider-tests.actions.ts'
import { NewTest, TestOutcomes } from './provider-tests.schema.ts'
import {
  createApnsProvider,
  createCustomEmailProvider,
  createCustomPushProvider,
  createCustomSmsProvider,
  createFcmProvider,
  createSendgridProvider,
  createSmtpProvider,
  createTwilioProvider,
  createWebPushProvider,
  deleteApnsProvider,
  deleteCustomEmailProvider,
  deleteCustomPushProvider,
  deleteCustomSmsProvider,
  deleteFcmProvider,
  deleteSendgridProvider,
  deleteSmtpProvider,
  deleteTwilioProvider,
  deleteWebPushProvider,
  type Fields,
  kinds,
  type ProviderKind,
  readProvider,
  readProviders,
  setDefaultApnsProvider,
  setDefaultFcmProvider,
  setDefaultWebPushProvider,
  updateApnsProvider,
  updateCustomEmailProvider,
  updateCustomPushProvider,
  updateCustomSmsProvider,
  updateFcmProvider,
  updateSendgridProvider,
  updateSmtpProvider,
  updateTwilioProvider,
  updateWebPushProvider,
} from './providers.actions.ts'
import {
  ApnsProviders,
  CustomEmailChanges,
  CustomEmailProvider,
  CustomPushChanges,
  CustomPushProvider,
  CustomSmsChanges,
  CustomSmsProvider,
  FcmProviders,
  NewApnsProvider,
  NewCustomEmail,
  NewCustomPush,
  NewCustomSms,
  NewFcmProvider,
  NewSendgrid,
  NewSmtp,
  NewTwilio,
  NewWebPushProvider,
  ProviderParams,
  SendgridChanges,
  SendgridProvider,
  SmtpChanges,
  SmtpProvider,
  TwilioChanges,
  TwilioProvider,
  WebPushProviders,
} from './providers.schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}

/** An app can have several providers of each of these kinds. */
const several = [
  {
    ...{ name: 'Fcm', title: 'FCM provider', path: '/notifications/push/v1/providers/fcm' },
    ...{ kind: kinds.fcm, body: NewFcmProvider, shown: FcmProviders, showsCreated: false },
    ...{ create: createFcmProvider, update: updateFcmProvider },
    ...{ remove: deleteFcmProvider, setDefault: setDefaultFcmProvider },
    test: testFcmProvider,
  },
  {
    ...{ name: 'Apns', title: 'APNs provider', path: '/notifications/push/v1/providers/apns' },
    ...{ kind: kinds.apns, body: NewApnsProvider, shown: ApnsProviders, showsCreated: true },
    ...{ create: createApnsProvider, update: updateApnsProvider },
    ...{ remove: deleteApnsProvider, setDefault: setDefaultApnsProvider },
    test: testApnsProvider,
  },
  {
    ...{ name: 'WebPush', title: 'Web Push provider' },
    ...{ path: '/notifications/push/v1/providers/web_push', kind: kinds.webPush },
    ...{ body: NewWebPushProvider, shown: WebPushProviders, showsCreated: true },
    ...{ create: createWebPushProvider, update: updateWebPushProvider },
    ...{ remove: deleteWebPushProvider, setDefault: setDefaultWebPushProvider },
    test: testWebPushProvider,
  },
]

/** An app has at most one provider of each of these kinds. */
const single = [
  {
    ...{ name: 'CustomPush', title: 'custom push provider', tag: 'push_providers' },
    ...{ path: '/notifications/push/v1/providers/custom', kind: kinds.customPush },
    ...{ body: NewCustomPush, changes: CustomPushChanges, shown: CustomPushProvider },
    ...{ create: createCustomPushProvider, update: updateCustomPushProvider },
    remove: deleteCustomPushProvider,
  },
  {
    ...{ name: 'Twilio', title: 'Twilio provider', tag: 'sms_providers' },
    ...{ path: '/notifications/sms/v1/providers/twilio', kind: kinds.twilio },
    ...{ body: NewTwilio, changes: TwilioChanges, shown: TwilioProvider },
    ...{ create: createTwilioProvider, update: updateTwilioProvider },
    remove: deleteTwilioProvider,
  },
  {
    ...{ name: 'CustomSms', title: 'custom SMS provider', tag: 'sms_providers' },
    ...{ path: '/notifications/sms/v1/providers/custom', kind: kinds.customSms },
    ...{ body: NewCustomSms, changes: CustomSmsChanges, shown: CustomSmsProvider },
    ...{ create: createCustomSmsProvider, update: updateCustomSmsProvider },
    remove: deleteCustomSmsProvider,
  },
  {
    ...{ name: 'Sendgrid', title: 'SendGrid provider', tag: 'email_providers' },
    ...{ path: '/notifications/email/v1/providers/sendgrid', kind: kinds.sendgrid },
    ...{ body: NewSendgrid, changes: SendgridChanges, shown: SendgridProvider },
    ...{ create: createSendgridProvider, update: updateSendgridProvider },
    remove: deleteSendgridProvider,
  },
  {
    ...{ name: 'Smtp', title: 'SMTP provider', tag: 'email_providers' },
    ...{ path: '/notifications/email/v1/providers/smtp', kind: kinds.smtp },
    ...{ body: NewSmtp, changes: SmtpChanges, shown: SmtpProvider },
    ...{ create: createSmtpProvider, update: updateSmtpProvider },
    remove: deleteSmtpProvider,
  },
  {
    ...{ name: 'CustomEmail', title: 'custom email provider', tag: 'email_providers' },
    ...{ path: '/notifications/email/v1/providers/custom', kind: kinds.customEmail },
    ...{ body: NewCustomEmail, changes: CustomEmailChanges, shown: CustomEmailProvider },
    ...{ create: createCustomEmailProvider, update: updateCustomEmailProvider },
    remove: deleteCustomEmailProvider,
  },
]

/** What all operations that send a test have in common. They wait for a provider, so they hold no slot of the cell. */
const testing = (title: string) => ({
  config: {
    ...access,
    queued: true,
    errors: ['ERR_PROVIDER_NOT_FOUND', 'ERR_UID_NOT_FOUND'] as const,
  },
  schema: {
    tags: ['push_providers'],
    summary: `Send a test notification through ${title}`,
    description:
      'Sent at once, past all preferences, to up to ten devices of a user. An app may send 20 tests per minute.',
    body: NewTest,
    response: { 200: Data(TestOutcomes) },
  },
})

const NOT_FOUND = { ...access, errors: ['ERR_PROVIDER_NOT_FOUND'] as const }

/** In the contract, a custom push provider is the only element of a list. */
const isListed = (path: string) => path.includes('/push/')
const Shown = (path: string, record: TSchema) =>
  isListed(path)
    ? Type.Object({ pushProviders: Type.Array(record) }, { additionalProperties: false })
    : record
const show = (path: string, fields: Fields) =>
  isListed(path) ? { pushProviders: [fields] } : fields

/** Where SendGrid delivers answers to emails, and what became of emails. */
const withWebhooks = (deps: Deps, appId: string, kind: ProviderKind, fields: Fields): Fields =>
  kind.kind === 'sendgrid' && fields.allowEmailReplies === true
    ? {
        ...fields,
        repliesWebhook: mailUrl(deps, `inbound/${signLink(deps.secrets, 'inbound', [appId])}`),
        eventsWebhook: mailUrl(deps, `events/${signLink(deps.secrets, 'events', [appId])}`),
      }
    : fields

export const providerRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const limiter = new Limiter(deps.cache)

    for (const { name, title, path, kind, body, shown, showsCreated, ...actions } of several) {
      const tags = ['push_providers']
      const article = /^[AF]/.test(title) ? 'an' : 'a'

      app.get(
        path,
        {
          config: access,
          schema: {
            operationId: `list${name}Providers`,
            tags,
            summary: `List ${title}s`,
            response: { 200: Data(shown as TSchema) },
          },
        },
        async ({ actor: { app: own } }) => ({
          data: { pushProviders: await readProviders(own.cell.db, deps, own.no, kind) },
        }),
      )

      app.post(
        path,
        {
          config: {
            ...access,
            errors: ['ERR_PROVIDER_ALREADY_EXISTS', 'ERR_PLAN_QUOTA_RESTRICTION'],
          },
          schema: {
            operationId: `create${name}Provider`,
            tags,
            summary: `Add ${article} ${title}`,
            description: 'The first one becomes the default.',
            body: body as TSchema,
            response: { 200: showsCreated ? Data(shown as TSchema) : Acknowledged },
          },
        },
        async ({ actor, body: given }) => {
          const made = await actions.create(deps, actor, given as { providerId: string })
          return { data: showsCreated ? made : { success: true, message: 'Provider added.' } }
        },
      )

      app.put(
        path,
        {
          config: NOT_FOUND,
          schema: {
            operationId: `update${name}Provider`,
            tags,
            summary: `Replace the ${title} that the body names`,
            body: body as TSchema,
            response: { 200: Acknowledged },
          },
        },
        async ({ actor, body: given }) => ({
          data: await actions.update(deps, actor, given as { providerId: string }),
        }),
      )

      app.delete(
        `${path}/:providerId`,
        {
          config: NOT_FOUND,
          schema: {
            operationId: `delete${name}Provider`,
            tags,
            summary: `Delete ${article} ${title}`,
            description: 'The default one can be deleted only as the last one.',
            params: ProviderParams,
            response: { 200: Acknowledged },
          },
        },
        async ({ actor, params }) => ({
          data: await actions.remove(deps, actor, params.providerId),
        }),
      )

      app.put(
        `${path}/default/:providerId`,
        {
          config: NOT_FOUND,
          schema: {
            operationId: `setDefault${name}Provider`,
            tags,
            summary: `Make ${article} ${title} the default`,
            params: ProviderParams,
            response: { 200: Acknowledged },
          },
        },
        async ({ actor, params }) => ({
          data: await actions.setDefault(deps, actor, params.providerId),
        }),
      )

      const { config, schema } = testing(`${article} ${title}`)
      app.post(
        `${path}/test/:providerId`,
        {
          config,
          schema: { operationId: `test${name}Provider`, ...schema, params: ProviderParams },
        },
        async ({ actor, params, body: given }) => ({
          data: await actions.test(deps, actor, { limiter, ...params }, given),
        }),
      )
    }

    const { config, schema } = testing('the custom push provider')
    app.post(
      '/notifications/push/v1/providers/custom/test',
      { config, schema: { operationId: 'testCustomPushProvider', ...schema } },
      async ({ actor, body }) => ({
        data: await testCustomPushProvider(deps, actor, { limiter }, body),
      }),
    )

    for (const { name, title, tag, path, kind, body, changes, shown, ...actions } of single) {
      const tags = [tag]
      const answer = { 200: Data(Shown(path, shown)) }

      app.get(
        path,
        {
          config: NOT_FOUND,
          schema: {
            operationId: `get${name}Provider`,
            tags,
            summary: `Get the ${title}`,
            response: answer,
          },
        },
        async ({ actor: { app: own } }) => ({
          data: show(
            path,
            withWebhooks(deps, own.id, kind, await readProvider(own.cell.db, deps, own.no, kind)),
          ),
        }),
      )

      app.post(
        path,
        {
          config: access,
          schema: {
            operationId: `create${name}Provider`,
            tags,
            summary: `Store the ${title}`,
            description: 'It replaces the one before.',
            body: body as TSchema,
            response: answer,
          },
        },
        async ({ actor, body: given }) => ({
          data: show(
            path,
            withWebhooks(
              deps,
              actor.app.id,
              kind,
              await actions.create(deps, actor, given as Fields),
            ),
          ),
        }),
      )

      app.put(
        path,
        {
          config: NOT_FOUND,
          schema: {
            operationId: `update${name}Provider`,
            tags,
            summary: `Change the ${title}`,
            description: 'Fields that you leave out keep their values.',
            body: changes as TSchema,
            response: answer,
          },
        },
        async ({ actor, body: given }) => ({
          data: show(
            path,
            withWebhooks(
              deps,
              actor.app.id,
              kind,
              await actions.update(deps, actor, given as Fields),
            ),
          ),
        }),
      )

      app.delete(
        path,
        {
          config: NOT_FOUND,
          schema: {
            operationId: `delete${name}Provider`,
            tags,
            summary: `Delete the ${title}`,
            response: { 200: Acknowledged },
          },
        },
        async ({ actor }) => ({ data: await actions.remove(deps, actor) }),
      )
    }
  }
