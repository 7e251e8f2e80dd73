import { hash } from 'node:crypto'
import type { Histogram } from '@opentelemetry/api'
import type { Metrics } from '../metrics/metrics.ts'
import type { Outbound } from '../net/outbound.ts'
import type { Targets } from '../net/targets.ts'
import { type Outcome, refused, retry } from '../push/notification.ts'
import type { Email, MailCredentials } from './email.ts'
import { MAIL_LIMITS, type MailLimits } from './limits.ts'
import { NoAnswer } from './no-answer.ts'
import { Sendgrid } from './sendgrid.ts'
import { Smtp } from './smtp.ts'

export interface MailOptions {
  sendgridUrl: string
  targets: Targets
  outbound: Outbound
  metrics: Metrics
  limits?: MailLimits
  /** The time in milliseconds, for tests. */
  now?: () => number
}

/** A provider with one credential. */
interface Channel {
  /** May fail with `NoAnswer`. */
  send(email: Email): Promise<Outcome>
  close(): void
}

interface Opened {
  channel: Channel
  usedAt: number
  /** How often in a row it didn't answer. */
  failures: number
  /** Until then, nobody waits for it again. */
  pausedUntil: number
}

/** Longer than the longest pause. */
const UNUSED_MS = 1_200_000
const LONGEST_PAUSE_MS = 600_000
const ADDRESS = /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/

/** Sends emails through the providers of apps. */
export class Mail {
  readonly #options: Required<MailOptions>
  readonly #timings: Histogram
  /** By the hash of all credentials. */
  readonly #channels = new Map<string, Opened>()

  constructor(options: MailOptions) {
    this.#options = { limits: MAIL_LIMITS, now: Date.now, ...options }
    this.#timings = options.metrics.times(
      'loquat_mail_seconds',
      'Time to hand an email to its provider, by provider and outcome: delivered, gone, retry or refused.',
    )
  }

  /** Never throws for anything that the provider, the credentials or the address cause. */
  async send(credentials: MailCredentials, email: Email): Promise<Outcome> {
    const startedAt = performance.now()
    const outcome = await this.#tryToSend(credentials, email)
    const seconds = (performance.now() - startedAt) / 1000
    this.#timings.record(seconds, { provider: credentials.provider, outcome: outcome.outcome })
    return outcome
  }

  close(): void {
    for (const { channel } of this.#channels.values()) channel.close()
    this.#channels.clear()
  }

  async #tryToSend(credentials: MailCredentials, email: Email): Promise<Outcome> {
    const { limits, now } = this.#options
    if (!ADDRESS.test(email.to.address)) return { outcome: 'gone', reason: 'not an address' }
    if (!ADDRESS.test(email.from.address)) return refused('the sender is not an address')
    const key = hash('sha256', JSON.stringify(credentials))
    const opened = this.#open(key, credentials)
    const pauseMs = opened.pausedUntil - now()
    if (pauseMs > 0) return retry('the server did not answer before', pauseMs)
    const { channel } = opened
    try {
      const outcome = await channel.send(email)
      if (channel === opened.channel) {
        opened.failures = 0
        opened.pausedUntil = 0
      }
      return outcome
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error
      // Another email has found out and closed the channel: this is the same failure, not one more.
      if (channel !== opened.channel) {
        return retry(error.message, Math.max(opened.pausedUntil - now(), 0))
      }
      // Its connections may be stuck: the next email gets new ones.
      channel.close()
      opened.channel = this.#newChannel(credentials)
      const waitMs = Math.min(limits.pauseMs * 2 ** opened.failures, LONGEST_PAUSE_MS)
      opened.failures++
      opened.pausedUntil = now() + waitMs
      return retry(error.message, waitMs)
    }
  }

  #open(key: string, credentials: MailCredentials): Opened {
    const usedAt = this.#options.now()
    const known = this.#channels.get(key)
    if (known) {
      known.usedAt = usedAt
      return known
    }
    for (const [other, { channel, usedAt: last }] of this.#channels) {
      if (last >= usedAt - UNUSED_MS) continue
      channel.close()
      this.#channels.delete(other)
    }
    const opened = { channel: this.#newChannel(credentials), usedAt, failures: 0, pausedUntil: 0 }
    this.#channels.set(key, opened)
    return opened
  }

  #newChannel(credentials: MailCredentials): Channel {
    const { targets, outbound, sendgridUrl: url, limits, now } = this.#options
    return credentials.provider === 'smtp'
      ? new Smtp(credentials, targets, limits)
      : new Sendgrid(credentials, { outbound, url, limits, now })
  }
}
