import type { KeyObject } from 'node:crypto'
import { contentOf, type PushRequest } from './call.ts'
import { privateKeyOf, signedJwt } from './jwt.ts'
import { type Outcome, refused, retry, retryAfterMs } from './notification.ts'
import type { SessionPool } from './session-pool.ts'

/** A service account's key, as Google's JSON file contains it. */
export interface ServiceAccount {
  clientEmail: string
  privateKey: string
  privateKeyId: string
}

/** The address in every service account. A tenant's own value isn't used: it could lead anywhere. */
const AUDIENCE = 'https://oauth2.googleapis.com/token'
const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const GRANT_SECONDS = 3_600

/** A token is replaced this long before it expires. */
const EARLY_MS = 5 * 60_000
/** Google is asked again after a refusal, but not for every notification. */
const REFUSED_MS = 60_000
/** A token that Google rejects so soon won't be replaced by a better one. */
const YOUNG_MS = 60_000

interface Token {
  text: string
  receivedAt: number
  expiresAt: number
}

/** The access token of a service account. */
export class GoogleToken {
  readonly #account: ServiceAccount
  readonly #pool: SessionPool
  readonly #now: () => number
  #token: Token | undefined
  /** All callers wait for the same answer. */
  #request: Promise<string | Outcome> | undefined
  #refusal: { outcome: Outcome; until: number } | undefined

  constructor(account: ServiceAccount, pool: SessionPool, now: () => number) {
    this.#account = account
    this.#pool = pool
    this.#now = now
  }

  /** The token, or why there is none. */
  get(): string | Promise<string | Outcome> {
    const now = this.#now()
    if (this.#token && now < this.#token.expiresAt - EARLY_MS) return this.#token.text
    if (this.#refusal && now < this.#refusal.until) return Promise.resolve(this.#refusal.outcome)
    this.#request ??= this.#fetch().finally(() => {
      this.#request = undefined
    })
    return this.#request
  }

  /** Google has rejected this token. Returns whether another one may help. */
  reject(text: string): boolean {
    if (this.#token?.text !== text) return true
    if (this.#now() - this.#token.receivedAt < YOUNG_MS) return false
    this.#token = undefined
    return true
  }

  async #fetch(): Promise<string | Outcome> {
    const key = privateKeyOf(this.#account.privateKey, 'RSA')
    if (!key) return refused('the private key is not an RSA key')
    const { status, headers, body } = await this.#pool.post(this.#grant(key))
    const now = this.#now()
    const { access_token: text, expires_in: seconds, error } = contentOf(body)
    if (status === 200 && typeof text === 'string' && text !== '') {
      this.#token = { text, receivedAt: now, expiresAt: now + (Number(seconds) || 0) * 1000 }
      return text
    }
    const reason = `Google refused the service account: ${error ?? `status ${status}`}`
    if (status === 429 || status >= 500)
      return retry(reason, retryAfterMs(headers['retry-after'], now))
    const outcome = refused(reason)
    this.#refusal = { outcome, until: now + REFUSED_MS }
    return outcome
  }

  #grant(key: KeyObject): PushRequest {
    const { clientEmail, privateKeyId } = this.#account
    const iat = Math.floor(this.#now() / 1000)
    const claims = { iss: clientEmail, scope: SCOPE, aud: AUDIENCE, iat, exp: iat + GRANT_SECONDS }
    const assertion = signedJwt(key, claims, { kid: privateKeyId })
    const body = String(new URLSearchParams({ grant_type: GRANT_TYPE, assertion }))
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    return { path: '/token', headers, body }
  }
}
