import { contentOf, type PushAnswer } from './call.ts'
import { GoogleToken, type ServiceAccount } from './google-token.ts'
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
import type { SessionPool } from './session-pool.ts'

export interface FcmCredentials extends ServiceAccount {
  provider: 'fcm'
  projectId: string
}

const PAYLOAD_BYTES = 4_096
/** Google refuses notifications that would live longer. */
const LONGEST_SECONDS = 28 * 24 * 3_600
/** What Google asks for if it answers 429 without `Retry-After`. */
const QUOTA_MS = 60_000
const APNS_ID = /^[\x21-\x7e]{1,64}$/
const TOPIC = /^[\w-]{1,32}$/

/** Firebase Cloud Messaging with one service account. */
export class Fcm {
  readonly #path: string
  readonly #pool: SessionPool
  readonly #token: GoogleToken
  readonly #now: () => number

  constructor(
    credentials: FcmCredentials,
    { pool, tokens, now }: { pool: SessionPool; tokens: SessionPool; now: () => number },
  ) {
    this.#path = `/v1/projects/${encodeURIComponent(credentials.projectId)}/messages:send`
    this.#pool = pool
    this.#token = new GoogleToken(credentials, tokens, now)
    this.#now = now
  }

  async push(device: string, notification: Notification): Promise<Outcome> {
    const fitting = fitted(notification.payload, PAYLOAD_BYTES, notification.trim)
    if (!fitting) return refused(TOO_LARGE)
    const pending = this.#token.get()
    // Without await if there is a token: calls keep their order.
    const token = typeof pending === 'string' ? pending : await pending
    if (typeof token !== 'string') return token
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ message: this.#complete(device, fitting.payload, notification) })
    const answer = await this.#pool.post({ path: this.#path, headers, body })
    return answer.status === 200 ? DELIVERED : this.#faultOf(answer, token)
  }

  close(): void {
    this.#pool.close()
  }

  /** Adds the token, and how long, how urgently and in whose place each platform shows it. */
  // biome-ignore lint/suspicious/noExplicitAny: the payload has Google's form
  #complete(token: string, payload: any, { collapseId, expiresAt, priority, kind }: Notification) {
    const seconds = Math.ceil((expiresAt - this.#now()) / 1000)
    const ttl = Math.min(Math.max(seconds, 1), LONGEST_SECONDS)
    const high = priority === 'high' && kind !== 'background'
    const { android, apns, webpush, ...rest } = payload
    const shown = payload.notification || android?.notification
    const tag = shown &&
      collapseId && { notification: { tag: collapseId, ...android?.notification } }
    return {
      ...rest,
      token,
      android: {
        ...android,
        ...{ ttl: `${ttl}s`, priority: high ? 'HIGH' : 'NORMAL' },
        ...(collapseId && { collapse_key: collapseId }),
        ...tag,
      },
      apns: {
        ...apns,
        headers: {
          'apns-expiration': String(Math.ceil(expiresAt / 1000)),
          'apns-priority': high ? '10' : '5',
          ...(collapseId && { 'apns-collapse-id': collapseIdOf(collapseId, APNS_ID) }),
          ...apns?.headers,
        },
      },
      webpush: {
        ...webpush,
        headers: {
          ...{ TTL: String(ttl), Urgency: high ? 'high' : 'normal' },
          ...(collapseId && { Topic: collapseIdOf(collapseId, TOPIC) }),
          ...webpush?.headers,
        },
      },
    }
  }

  #faultOf({ status, headers, body }: PushAnswer, token: string): Outcome {
    const { error = {} } = contentOf(body)
    const details: Detail[] = Array.isArray(error.details) ? error.details : []
    const code = details.map(({ errorCode }) => errorCode).find(Boolean)
    const reason = String(code ?? error.status ?? `status ${status}`)
    if (code === 'UNREGISTERED') return gone(reason)
    if (status === 400 && details.some(isAboutToken)) return gone(reason)
    if (status === 401 && code === undefined && this.#token.reject(token)) return retry(reason)
    const afterMs = retryAfterMs(headers['retry-after'], this.#now())
    if (status === 429) return retry(reason, afterMs ?? QUOTA_MS)
    return status >= 500 ? retry(reason, afterMs) : refused(reason)
  }
}

interface Detail {
  errorCode?: string
  fieldViolations?: { field?: string }[]
}

const isAboutToken = ({ fieldViolations }: Detail) =>
  Array.isArray(fieldViolations) && fieldViolations.some(({ field }) => field === 'message.token')
