import type { WebhookRow } from './queries.ts'
import type { Webhook } from './schema.ts'

const seconds = (time: Date) => Math.floor(time.getTime() / 1000)

/** The record in answers and events. */
export const toWebhook = (row: WebhookRow): Webhook => ({
  id: row.id,
  name: row.name,
  webhookURL: row.url,
  useBasicAuth: row.use_basic_auth,
  ...(row.username !== null && { username: row.username }),
  enabled: row.enabled,
  retryOnFailure: row.retry_on_failure,
  triggers: row.triggers,
  createdAt: seconds(row.created_at),
  updatedAt: seconds(row.updated_at),
})
