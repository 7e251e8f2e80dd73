/** The body of a webhook call, with its id. docs/events.md lists the trigger of each event. */
export interface WebhookCall {
  /** The same for all attempts to deliver an event. Store it to handle each event once. */
  id: string
  trigger: string
  data: Record<string, unknown>
  appId: string
  region: string
  webhook: string
  /** Of triggers about a session: whether it rang (`call`) or not (`meet`). */
  type?: 'call' | 'meet'
}

export interface WebhookRequest {
  /** The webhook's secret, `whsec_…`. While you replace it, pass the old and the new one. */
  secret: string | string[]
  headers: Headers | Record<string, string | string[] | undefined>
  /** The raw body, exactly as you received it. */
  body: string
  /** The maximum age of a call in seconds. Defaults to 300. */
  tolerance?: number
}

/** The call can't be trusted. */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

/** Verifies a webhook call and returns it. Rejects with a `WebhookError` if the signature is wrong or too old. */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookCall> {
  const { secret, headers, body, tolerance = 300 } = request
  const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map((name) =>
    headerOf(headers, `webhook-${name}`),
  )
  if (!id || !timestamp || !signature)
    throw new WebhookError(
      'A webhook-id, webhook-timestamp or webhook-signature header is missing.',
    )
  const age = Math.abs(Date.now() / 1000 - Number(timestamp))
  if (!(age <= tolerance))
    throw new WebhookError('The timestamp of the call is too old or in the future.')
  const given = signature.split(' ').flatMap((part) => bytesOf(part.replace(/^v1,/, '')) ?? [])
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  for (const one of [secret].flat()) {
    const bytes = bytesOf(one.replace(/^whsec_/, ''))
    if (!bytes) throw new TypeError('The secret is not a webhook secret.')
    const hmac = { name: 'HMAC', hash: 'SHA-256' }
    const key = await crypto.subtle.importKey('raw', bytes, hmac, false, ['verify'])
    // The platform compares in constant time.
    for (const tried of given) {
      if (await crypto.subtle.verify('HMAC', key, tried, signed)) return { id, ...JSON.parse(body) }
    }
  }
  throw new WebhookError('The signature does not match any of the secrets.')
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
