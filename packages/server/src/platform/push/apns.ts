import { contentOf, type PushAnswer } from './call.ts'
import { privateKeyOf, signedJwt } from './jwt.ts'
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

export interface ApnsCredentials {
  provider: 'apns'
  teamId: string
  keyId: string
  /** The private key, as Apple's .p8 file contains it. */
  p8Key: string
  bundleId: string
  /** Whether tokens are of apps from the App Store, not of development builds. */
  production: boolean
}

/** Apple refuses tokens older than an hour, and new ones more often than every 20 minutes. */
const TOKEN_MS = 50 * 60_000
const YOUNGEST_TOKEN_MS = 20 * 60_000
const PAYLOAD_BYTES = 4_096
const VOIP_PAYLOAD_BYTES = 5_120
const COLLAPSE_ID = /^[\x21-\x7e]{1,64}$/

const PRIORITIES = { high: '10', normal: '5' }

/** Errors with status 400 that mean that the device token will never work. */
const TOKEN_FAULTS = new Set(['BadDeviceToken', 'DeviceTokenNotForTopic', 'MissingDeviceToken'])

/** Apple's push service with one credential. */
export class Apns {
  readonly #credentials: ApnsCredentials
  readonly #pool: SessionPool
  readonly #now: () => number
  #token = { jwt: '', signedAt: Number.NEGATIVE_INFINITY }

  constructor(credentials: ApnsCredentials, pool: SessionPool, now: () => number) {
    this.#credentials = credentials
    this.#pool = pool
    this.#now = now
  }

  async push(device: string, notification: Notification): Promise<Outcome> {
    const { kind, payload, trim } = notification
    const { bundleId } = this.#credentials
    // Both are sent as parts of the request's head.
    if (!/^[\da-f]+$/i.test(device)) return gone('BadDeviceToken')
    if (!/^[\w.-]+$/.test(bundleId)) return refused('BadTopic')
    const limit = kind === 'voip' ? VOIP_PAYLOAD_BYTES : PAYLOAD_BYTES
    const body = fitted(payload, limit, trim)?.json
    if (body === undefined) return refused(TOO_LARGE)
    const jwt = this.#currentToken()
    if (jwt === undefined) return refused('InvalidProviderToken')
    const headers = { ...this.#headersOf(notification), authorization: `bearer ${jwt}` }
    const answer = await this.#pool.post({ path: `/3/device/${device}`, headers, body })
    return answer.status === 200 ? DELIVERED : this.#faultOf(answer, jwt)
  }

  close(): void {
    this.#pool.close()
  }

  #headersOf({ kind, collapseId, expiresAt, priority }: Notification): Record<string, string> {
    const { bundleId } = this.#credentials
    return {
      'apns-topic': kind === 'voip' ? `${bundleId}.voip` : bundleId,
      'apns-push-type': kind,
      // Apple refuses background notifications that ask to be shown at once.
      'apns-priority': kind === 'background' ? PRIORITIES.normal : PRIORITIES[priority],
      'apns-expiration': String(Math.ceil(expiresAt / 1000)),
      ...(collapseId !== undefined && {
        'apns-collapse-id': collapseIdOf(collapseId, COLLAPSE_ID),
      }),
    }
  }

  /** Undefined if the key can't sign. */
  #currentToken(): string | undefined {
    const now = this.#now()
    if (now - this.#token.signedAt >= TOKEN_MS) {
      const { teamId, keyId, p8Key } = this.#credentials
      const key = privateKeyOf(p8Key, 'P-256')
      if (!key) return undefined
      const claims = { iss: teamId, iat: Math.floor(now / 1000) }
      this.#token = { jwt: signedJwt(key, claims, { kid: keyId }), signedAt: now }
    }
    return this.#token.jwt
  }

  #faultOf({ status, headers, body }: PushAnswer, jwt: string): Outcome {
    const { reason = `status ${status}`, timestamp } = contentOf(body)
    if (status === 410) {
      return { outcome: 'gone', reason, ...(timestamp !== undefined && { since: timestamp }) }
    }
    if (status === 400 && TOKEN_FAULTS.has(reason)) return gone(reason)
    const expired = reason === 'ExpiredProviderToken'
    if (expired) this.#replaceToken(jwt)
    if (status === 429 || status >= 500 || expired) {
      return retry(reason, retryAfterMs(headers['retry-after'], this.#now()))
    }
    return refused(reason)
  }

  /** Apple's clock says that it is too old. Many calls may have used it, so only the first one replaces it. */
  #replaceToken(jwt: string): void {
    const { jwt: current, signedAt } = this.#token
    if (jwt !== current || this.#now() - signedAt < YOUNGEST_TOKEN_MS) return
    this.#token.signedAt = Number.NEGATIVE_INFINITY
  }
}
