import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { ServedApp } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import type { Access } from '../../gate/plugin.ts'
import { fail } from '../../platform/http/fail.ts'
import { Data } from '../../platform/http/schemas.ts'
import { replayWebhookEvents } from './deliveries.actions.ts'
import {
  type DeadLetterRow,
  type DeliveryRow,
  listDeadLetters,
  listDeliveries,
  listFailedDeliveries,
} from './deliveries.queries.ts'
import {
  type DeadLetter,
  DeadLetterList,
  DeadLetterListQuery,
  type Delivery,
  DeliveryList,
  DeliveryListQuery,
  Replay,
  Replayed,
} from './deliveries.schema.ts'
import { findWebhook } from './queries.ts'
import { WebhookParams } from './schema.ts'

const access: Access = {
  scope: 'fullAccess',
  users: false,
  onBehalfOf: 'ignored',
  rate: 'standard',
}
const tags = ['webhooks']
const seconds = (time: Date) => Math.floor(time.getTime() / 1000)

export const deliveryRoutes =
  (deps: Deps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/webhooks/:webhookId/deliveries',
      {
        config: { ...access, errors: ['ERR_WEBHOOK_NOT_FOUND'] },
        schema: {
          operationId: 'listWebhookDeliveries',
          tags,
          summary: "List a webhook's delivery attempts, newest first",
          description: 'Attempts are kept for seven days.',
          params: WebhookParams,
          querystring: DeliveryListQuery,
          response: { 200: DeliveryList },
        },
      },
      async ({ actor, params, query }) => {
        const { limit, before = Number.MAX_SAFE_INTEGER, failed } = query
        const list = failed ? listFailedDeliveries : listDeliveries
        const webhook = await webhookOf(actor.app, params.webhookId)
        const rows = await list.many(actor.app.cell.db, { ...webhook, before, limit: limit + 1 })
        return pageOf(rows, limit, toDelivery, ({ id }) => id)
      },
    )

    app.get(
      '/webhooks/:webhookId/dead_letters',
      {
        config: { ...access, errors: ['ERR_WEBHOOK_NOT_FOUND'] },
        schema: {
          operationId: 'listWebhookDeadLetters',
          tags,
          summary: "List a webhook's dead letters",
          description:
            'Returns events whose delivery was given up in the last 30 days, sorted by position.',
          params: WebhookParams,
          querystring: DeadLetterListQuery,
          response: { 200: DeadLetterList },
        },
      },
      async ({ actor, params, query: { limit, after = 0 } }) => {
        const webhook = await webhookOf(actor.app, params.webhookId)
        const page = { ...webhook, after, limit: limit + 1 }
        const rows = await listDeadLetters.many(actor.app.cell.db, page)
        return pageOf(rows, limit, toDeadLetter, ({ position }) => position)
      },
    )

    app.post(
      '/webhooks/:webhookId/replays',
      {
        config: {
          ...access,
          errors: ['ERR_WEBHOOK_NOT_FOUND', 'ERR_POSITION_TOO_OLD', 'ERR_POSITION_LOST'],
        },
        schema: {
          operationId: 'replayWebhookEvents',
          tags,
          summary: 'Replay events',
          description: 'Delivers one event or a range of events again.',
          params: WebhookParams,
          body: Replay,
          response: { 200: Data(Replayed) },
        },
      },
      async ({ actor, params, body }) => ({
        data: await replayWebhookEvents(deps, actor, params.webhookId, body),
      }),
    )
  }

async function webhookOf({ no: appNo, cell }: ServedApp, id: string) {
  const row = await findWebhook.maybeOne(cell.db, { appNo, id })
  if (!row) throw fail('ERR_WEBHOOK_NOT_FOUND', { id })
  return { appNo, no: row.no }
}

/** One extra row shows whether there is another page. */
function pageOf<R, T>(rows: R[], limit: number, show: (row: R) => T, keyOf: (row: R) => number) {
  const shown = rows.slice(0, limit)
  const last = rows.length > limit ? shown.at(-1) : undefined
  return { data: shown.map(show), meta: last === undefined ? {} : { next: keyOf(last) } }
}

const toDelivery = (row: DeliveryRow): Delivery => ({
  id: String(row.id),
  position: row.position,
  type: row.type,
  try: row.try,
  success: row.status !== null && row.status >= 200 && row.status <= 299,
  ...(row.status !== null && { status: row.status }),
  ...(row.error !== null && { error: row.error }),
  durationMs: row.duration_ms,
  ...(row.answer !== null && { answer: row.answer }),
  at: seconds(row.at),
})

const toDeadLetter = ({ position, upto, type, reason, at }: DeadLetterRow): DeadLetter => ({
  position,
  count: upto - position + 1,
  ...(type !== null && { type }),
  reason,
  at: seconds(at),
})
