import { type EventType, events, triggerDataOf } from '@loquat/protocol'
import { signatureOf } from '../../platform/net/sign.ts'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import type { ActiveWebhook, OutgoingEvent } from './queries.ts'

/** The headers and body of a webhook call. */
export interface WebhookRequest {
  headers: Record<string, string>
  body: string
}

/** The parts of an event's definition that matter here. */
type Definition = { summary: string; trigger?: string; triggerData?: unknown; session?: string }

/** The payload is sent as the log stores it, unless webhooks use another shape for this type. */
function dataOf(type: EventType, payload: string): string {
  const { triggerData }: Definition = events[type]
  return triggerData ? JSON.stringify(triggerDataOf(type, JSON.parse(payload))) : payload
}

/** The same id for all attempts, so that receivers can recognize repetitions. */
const idOf = ({ app_id, id }: ActiveWebhook, { position }: OutgoingEvent) =>
  `${app_id}_${id}_${position}`

/** Builds the request for an event, signed with the current time. */
export function requestFor(
  webhook: ActiveWebhook,
  region: string,
  event: OutgoingEvent,
  secrets: Secrets,
): WebhookRequest {
  const type = event.type as EventType
  const { trigger, session }: Definition = events[type]
  const { app_no: appNo, app_id: appId, id: hookId, use_basic_auth, username } = webhook
  const envelope = { appId, region, webhook: hookId, ...(session && { type: session }) }
  const rest = JSON.stringify(envelope).slice(1)
  const body = `{"trigger":${JSON.stringify(trigger)},"data":${dataOf(type, event.payload)},${rest}`
  const id = idOf(webhook, event)
  const timestamp = Math.floor(Date.now() / 1000)
  const sealed = [webhook.secret_sealed, webhook.old_secret_sealed].filter((one) => one !== null)
  const keys = sealed.map((one) => secrets.open(['webhooks.secret', appNo, hookId], one))
  const passwordSealed = use_basic_auth ? webhook.password_sealed : null
  const password =
    passwordSealed && secrets.open(['webhooks.password', appNo, hookId], passwordSealed)
  const credentials = Buffer.from(`${username}:${password}`).toString('base64')
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': 'Loquat',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf(keys, { id, timestamp, body }),
      ...(password !== undefined && { authorization: `Basic ${credentials}` }),
    },
  }
}
