import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { triggers } from '@loquat/protocol'
import type { ServedApp } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { fail } from '../../platform/http/fail.ts'
import { Acknowledged, Data, Page, pageOf } from '../../platform/http/schemas.ts'
import {
  addWebhookTriggers,
  createWebhook,
  deleteWebhook,
  deleteWebhookTriggers,
  rotateWebhookSecret,
  updateWebhook,
} from './actions.ts'
import { findWebhook, listWebhooks, type WebhookRow } from './queries.ts'
import { toWebhook } from './record.ts'
import {
  CreatedWebhook,
  NewSecret,
  NewWebhook,
  Trigger,
  TriggerIds,
  TriggerListQuery,
  TriggerOutcomes,
  Webhook,
  WebhookChanges,
  WebhookListQuery,
  WebhookParams,
} from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['webhooks']

async function getWebhook({ no: appNo, cell }: ServedApp, id: string): Promise<WebhookRow> {
  const row = await findWebhook.maybeOne(cell.db, { appNo, id })
  if (!row) throw fail('ERR_WEBHOOK_NOT_FOUND', { id })
  return row
}

export const webhookRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/webhooks',
      {
        config: { ...access, errors: ['ERR_PLAN_QUOTA_RESTRICTION', 'ERR_WEBHOOK_ALREADY_EXISTS'] },
        schema: {
          operationId: 'createWebhook',
          tags,
          summary: 'Create a webhook',
          body: NewWebhook,
          response: { 200: Data(CreatedWebhook) },
        },
      },
      async ({ actor, body }) => ({ data: await createWebhook(deps, actor, body) }),
    )

    app.get(
      '/webhooks',
      {
        config: access,
        schema: {
          operationId: 'listWebhooks',
          tags,
          summary: 'List webhooks',
          querystring: WebhookListQuery,
          response: { 200: Page(Webhook) },
        },
      },
      async ({ actor, query }) => {
        const { no: appNo, cell } = actor.app
        const searchKey = query.searchKey ?? null
        return pageOf(query, await listWebhooks.many(cell.db, { appNo, searchKey }), toWebhook)
      },
    )

    app.get(
      '/webhooks/:webhookId',
      {
        config: { ...access, errors: ['ERR_WEBHOOK_NOT_FOUND'] },
        schema: {
          operationId: 'getWebhook',
          tags,
          summary: 'Get a webhook',
          params: WebhookParams,
          response: { 200: Data(Webhook) },
        },
      },
      async ({ actor, params }) => ({
        data: toWebhook(await getWebhook(actor.app, params.webhookId)),
      }),
    )

    app.put(
      '/webhooks/:webhookId',
      {
        config: { ...access, errors: ['ERR_WEBHOOK_NOT_FOUND'] },
        schema: {
          operationId: 'updateWebhook',
          tags,
          summary: 'Update a webhook',
          description:
            'If you change the URL or the credentials, failed deliveries are retried immediately.',
          params: WebhookParams,
          body: WebhookChanges,
          response: { 200: Data(Webhook) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await updateWebhook(deps, actor, params.webhookId, body),
      }),
    )

    app.delete(
      '/webhooks/:webhookId',
      {
        config: { ...access, errors: ['ERR_WEBHOOK_NOT_FOUND'] },
        schema: {
          operationId: 'deleteWebhook',
          tags,
          summary: 'Delete a webhook',
          params: WebhookParams,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params }) => ({ data: await deleteWebhook(deps, actor, params.webhookId) }),
    )

    app.get(
      '/webhook_triggers',
      {
        config: access,
        schema: {
          operationId: 'listKnownWebhookTriggers',
          tags,
          summary: 'List all triggers',
          querystring: TriggerListQuery,
          response: { 200: Page(Trigger) },
        },
      },
      async ({ query }) =>
        pageOf(query, [...triggers], ([id, { summary }]) => ({ id, description: summary })),
    )

    app.post(
      '/webhooks/:webhookId/triggers',
      {
        config: { ...access, errors: ['ERR_WEBHOOK_NOT_FOUND'] },
        schema: {
          operationId: 'addWebhookTriggers',
          tags,
          summary: 'Subscribe a webhook to triggers',
          params: WebhookParams,
          body: TriggerIds,
          response: { 200: TriggerOutcomes },
        },
      },
      async ({ actor, params, body }) => ({
        data: await addWebhookTriggers(deps, actor, params.webhookId, body),
      }),
    )

    app.get(
      '/webhooks/:webhookId/triggers',
      {
        config: { ...access, errors: ['ERR_WEBHOOK_NOT_FOUND'] },
        schema: {
          operationId: 'listWebhookTriggers',
          tags,
          summary: "List a webhook's triggers",
          params: WebhookParams,
          querystring: TriggerListQuery,
          response: { 200: Page(Trigger) },
        },
      },
      async ({ actor, params, query }) => {
        const row = await getWebhook(actor.app, params.webhookId)
        return pageOf(query, row.triggers, (id) => ({
          id,
          description: triggers.get(id)?.summary ?? '',
        }))
      },
    )

    app.delete(
      '/webhooks/:webhookId/triggers',
      {
        config: { ...access, errors: ['ERR_WEBHOOK_NOT_FOUND', 'ERR_TRIGGER_NOT_FOUND'] },
        schema: {
          operationId: 'deleteWebhookTriggers',
          tags,
          summary: 'Unsubscribe a webhook from triggers',
          params: WebhookParams,
          body: TriggerIds,
          response: { 200: Acknowledged },
        },
      },
      async ({ actor, params, body }) => ({
        data: await deleteWebhookTriggers(deps, actor, params.webhookId, body),
      }),
    )

    app.post(
      '/webhooks/:webhookId/secret',
      {
        config: { ...access, errors: ['ERR_WEBHOOK_NOT_FOUND'] },
        schema: {
          operationId: 'rotateWebhookSecret',
          tags,
          summary: 'Replace the secret of a webhook',
          description:
            'For one day, deliveries are signed with both the new and the previous secret.',
          params: WebhookParams,
          response: { 200: Data(NewSecret) },
        },
      },
      async ({ actor, params }) => ({
        data: await rotateWebhookSecret(deps, actor, params.webhookId),
      }),
    )
  }
