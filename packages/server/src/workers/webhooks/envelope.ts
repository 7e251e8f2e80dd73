import { type EventType, events, triggerDataOf } from '@loquat/protocol'
import type { Secrets } from '../../platform/secrets/secrets.ts'
import type { HeldWebhook, Sendable } from './queries.ts'
import { signatureOf } from './sign.ts'

/** A request that tells of an event. */
export interface Envelope {
  headers: Record<string, string>
  body: string
}

/** As far as it matters here; not every type has them. */
type Definition = { summary: string; trigger?: string; triggerData?: unknown }

/** The payload goes out as it stands in the log, but where the contract wants another shape. */
function dataOf(type: EventType, payload: string): string {
  const { triggerData }: Definition = events[type]
  return triggerData ? JSON.stringify(triggerDataOf(type, JSON.parse(payload))) : payload
}

/** One id for all tries of an event by a webhook: receivers tell repetitions by it. */
const idOf = ({ app_id, id }: HeldWebhook, { position }: Sendable) => `${app_id}_${id}_${position}`

/** What is sent of an event, signed at this moment. */
export function envelopeOf(
  webhook: HeldWebhook,
  region: string,
  event: Sendable,
  secrets: Secrets,
): Envelope {
  const type = event.type as EventType
  const { trigger }: Definition = events[type]
  const { app_id: appId, id: hookId, use_basic_auth, username, password_sealed } = webhook
  const rest = JSON.stringify({ appId, region, webhook: hookId }).slice(1)
  const body = `{"trigger":${JSON.stringify(trigger)},"data":${dataOf(type, event.payload)},${rest}`
  const id = idOf(webhook, event)
  const timestamp = Math.floor(Date.now() / 1000)
  const used = [webhook.secret_sealed, webhook.old_secret_sealed].filter(
    (sealed) => sealed !== null,
  )
  const keys = used.map((sealed) => secrets.open(sealed))
  const password = use_basic_auth && password_sealed ? secrets.open(password_sealed) : undefined
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
