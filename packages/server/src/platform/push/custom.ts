import type { Answer } from '../net/outbound.ts'
import { ForbiddenTarget } from '../net/targets.ts'
import type { Post } from './http-calls.ts'
import {
  DELIVERED,
  type Notification,
  type Outcome,
  refused,
  retry,
  retryAfterMs,
} from './notification.ts'

/** A server of the app that sends notifications itself. */
export interface CustomCredentials {
  provider: 'custom'
  url: string
  /** For Basic authentication. */
  login?: { username: string; password: string }
}

/** Passes notifications on to an app's own server. The payload says who they are for. */
export class Custom {
  readonly #url: string
  readonly #headers: Record<string, string>
  readonly #post: Post
  readonly #now: () => number

  constructor({ url, login }: CustomCredentials, post: Post, now: () => number) {
    this.#url = url
    const credentials = login && Buffer.from(`${login.username}:${login.password}`)
    this.#headers = {
      'content-type': 'application/json',
      'user-agent': 'Loquat',
      ...(credentials && { authorization: `Basic ${credentials.toString('base64')}` }),
    }
    this.#post = post
    this.#now = now
  }

  async push(_device: string, { payload }: Notification): Promise<Outcome> {
    const body = JSON.stringify(payload)
    const headers = { ...this.#headers, 'content-length': String(Buffer.byteLength(body)) }
    try {
      const answer = await this.#post({ url: this.#url, headers, body })
      return this.#outcomeOf(answer)
    } catch (error) {
      if (error instanceof ForbiddenTarget) return refused(error.message)
      throw error
    }
  }

  close(): void {}

  #outcomeOf({ status, headers }: Answer): Outcome {
    if (status >= 200 && status <= 299) return DELIVERED
    const reason = `status ${status}`
    return status === 408 || status === 429 || status >= 500
      ? retry(reason, retryAfterMs(headers['retry-after'], this.#now()))
      : refused(reason)
  }
}
