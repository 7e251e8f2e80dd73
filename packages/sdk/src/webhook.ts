/** A call of a webhook: docs/events.md tells which event has which trigger. */
export interface WebhookCall {
  /** The same for all tries of one event: remember it to handle each once. */
  id: string
  trigger: string
  data: Record<string, unknown>
  appId: string
  region: string
  webhook: string
}

export interface WebhookRequest {
  /** The webhook's secret, `whsec_…`; while it is being replaced, both. */
  secret: string | string[]
  headers: Headers | Record<string, string | string[] | undefined>
  /** The body as it came, not parsed and printed again. */
  body: string
  /** How old a call may be, in seconds; 300 unless given. */
  tolerance?: number
}

/** Why a call is not to be trusted. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/** The call, if one of the secrets signed it, and lately. Else it rejects with a WebhookError. */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookCall> {
  const { secret, headers, body, tolerance = 300 } = request
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
    headerOf(headers, `webhook-${name}`),
  )
  if (!id || !timestamp || !signature)
    throw new WebhookError('A header of the signature is missing.')
  const age = Math.abs(Date.now() / 1000 - Number(timestamp))
  if (!(age <= tolerance)) throw new WebhookError('The call is too old, or from the future.')
  const given = signature.split(' ').flatMap((part) => bytesOf(part.replace(/^v1,/, '')) ?? [])
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  for (const one of [secret].flat()) {
    const bytes = bytesOf(one.replace(/^whsec_/, ''))
    if (!bytes) throw new TypeError('The secret is none of a webhook.')
    const hmac = { name: 'HMAC', hash: 'SHA-256' }
    const key = await crypto.subtle.importKey('raw', bytes, hmac, false, ['verify'])
    // In constant time, by the platform.
    for (const tried of given) {
      if (await crypto.subtle.verify('HMAC', key, tried, signed)) return { id, ...JSON.parse(body) }
    }
  }
  throw new WebhookError('No secret made this signature.')
}

function headerOf(headers: WebhookRequest['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
