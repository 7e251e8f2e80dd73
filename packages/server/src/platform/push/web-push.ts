import { createPrivateKey, type KeyObject } from 'node:crypto'
import { FairSlots, isLight } from '../lanes/slots.ts'
import type { Answer } from '../net/outbound.ts'
import { ForbiddenTarget } from '../net/targets.ts'
import { encrypted, PLAINTEXT_BYTES, type SubscriptionKeys } from './encrypt.ts'
import { answered, type Post } from './http-calls.ts'
import { signedJwt } from './jwt.ts'
import type { PushLimits } from './limits.ts'
import {
  collapseIdOf,
  DELIVERED,
  gone,
  type Notification,
  type Outcome,
  refused,
  retry,
  retryAfterMs,
  TOO_LARGE,
} from './notification.ts'
import { fitted } from './payload.ts'

export interface WebPushCredentials {
  provider: 'web_push'
  /** The VAPID key pair in base64url, as browsers and generators write it: a point of 65 bytes and a number of 32. */
  publicKey: string
  privateKey: string
  /** How a push service reaches the operator: `mailto:` or `https:`. */
  subject: string
}

/** RFC 8292 allows tokens of at most a day. */
const TOKEN_SECONDS = 12 * 3_600
const TOKEN_USE_MS = 6 * 3_600_000
/** Browsers use a handful of push services. Devices choose the endpoint, so others may turn up. */
const ORIGINS = 1_000
/** Calls at the same time to one push service, so that one that hangs leaves room for the next. */
const CALLS_PER_ORIGIN = 64
const CALLS = 256
const TOPIC = /^[\w-]{1,32}$/

/** A push service, as far as this credential knows it. */
interface Service {
  no: number
  token: string
  signedAt: number
}

/** Web Push to browsers with one VAPID key. A device's token is its subscription as `JSON.stringify` writes it. */
export class WebPush {
  readonly #credentials: WebPushCredentials
  readonly #post: Post
  readonly #now: () => number
  readonly #key: KeyObject | undefined
  readonly #slots: FairSlots
  readonly #services = new Map<string, Service>()
  #numbers = 0

  constructor(
    credentials: WebPushCredentials,
    { post, limits, now }: { post: Post; limits: PushLimits; now: () => number },
  ) {
    this.#credentials = credentials
    this.#post = post
    this.#slots = new FairSlots({
      ...{ size: CALLS, queue: limits.waiting, patienceMs: limits.timeoutMs },
    })
    this.#now = now
    this.#key = vapidKeyOf(credentials)
  }

  async push(device: string, notification: Notification): Promise<Outcome> {
    const key = this.#key
    if (!key) return refused('the VAPID keys are not a P-256 key pair')
    const subscription = subscriptionOf(device)
    if (!subscription) return gone('the subscription is not valid')
    const text = fitted(notification.payload, PLAINTEXT_BYTES, notification.trim)?.json
    if (text === undefined) return refused(TOO_LARGE)
    const { endpoint, keys } = subscription
    const service = this.#serviceOf(endpoint.origin)
    const body = bodyOf(text, keys)
    if (!body) return gone('the key of the subscription is not valid')
    const headers = {
      authorization: `vapid t=${this.#tokenOf(service, endpoint.origin, key)}, k=${this.#credentials.publicKey}`,
      ...this.#headersOf(notification),
      'content-length': String(body.length),
    }
    const work = { app: service.no, weight: isLight, last: false, perApp: CALLS_PER_ORIGIN }
    const call = { url: endpoint.href, headers, body }
    try {
      const answer = await answered(() => this.#slots.run(work, () => this.#post(call)))
      return this.#outcomeOf(answer)
    } catch (error) {
      // The device chose the address.
      if (error instanceof ForbiddenTarget) return gone(error.message)
      throw error
    }
  }

  close(): void {}

  #headersOf({ collapseId, expiresAt, priority, kind }: Notification): Record<string, string> {
    return {
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: String(Math.max(0, Math.ceil((expiresAt - this.#now()) / 1000))),
      urgency: priority === 'high' && kind !== 'background' ? 'high' : 'normal',
      ...(collapseId !== undefined && { topic: collapseIdOf(collapseId, TOPIC) }),
    }
  }

  #outcomeOf({ status, headers }: Answer): Outcome {
    if (status >= 200 && status <= 299) return DELIVERED
    const reason = `status ${status}`
    if (status === 404 || status === 410) return gone(reason)
    if (status === 429 || status >= 500) {
      return retry(reason, retryAfterMs(headers['retry-after'], this.#now()))
    }
    return refused(reason)
  }

  #serviceOf(origin: string): Service {
    const known = this.#services.get(origin)
    if (known) return known
    const [oldest] = this.#services.keys()
    if (this.#services.size >= ORIGINS && oldest !== undefined) this.#services.delete(oldest)
    const service = { no: ++this.#numbers, token: '', signedAt: Number.NEGATIVE_INFINITY }
    this.#services.set(origin, service)
    return service
  }

  #tokenOf(service: Service, aud: string, key: KeyObject): string {
    const now = this.#now()
    if (now - service.signedAt >= TOKEN_USE_MS) {
      const exp = Math.floor(now / 1000) + TOKEN_SECONDS
      service.token = signedJwt(key, { aud, exp, sub: this.#credentials.subject })
      service.signedAt = now
    }
    return service.token
  }
}

function vapidKeyOf({ publicKey, privateKey }: WebPushCredentials): KeyObject | undefined {
  const point = Buffer.from(publicKey, 'base64url')
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) =>
    part.toString('base64url'),
  )
  if (point.length !== 65 || !x || !y) return undefined
  try {
    const key = { kty: 'EC', crv: 'P-256', x, y, d: privateKey }
    return createPrivateKey({ format: 'jwk', key })
  } catch {
    return undefined
  }
}

function subscriptionOf(device: string): { endpoint: URL; keys: SubscriptionKeys } | undefined {
  try {
    const { endpoint, keys } = JSON.parse(device)
    const [p256dh, auth] = [keys.p256dh, keys.auth].map((key) => Buffer.from(key, 'base64url'))
    if (p256dh?.length !== 65 || auth?.length !== 16) return undefined
    return { endpoint: new URL(endpoint), keys: { p256dh, auth } }
  } catch {
    return undefined
  }
}

/** Undefined if the subscription's key is not a point on the curve. */
function bodyOf(text: string, keys: SubscriptionKeys): Buffer | undefined {
  try {
    return encrypted(text, keys)
  } catch {
    return undefined
  }
}
