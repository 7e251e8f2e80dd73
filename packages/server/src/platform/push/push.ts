import { hash } from 'node:crypto'
import type { Histogram } from '@opentelemetry/api'
import type { Metrics } from '../metrics/metrics.ts'
import { Outbound } from '../net/outbound.ts'
import type { Targets } from '../net/targets.ts'
import { Apns, type ApnsCredentials } from './apns.ts'
import { Unanswered } from './call.ts'
import { Custom, type CustomCredentials } from './custom.ts'
import { Fcm, type FcmCredentials } from './fcm.ts'
import { HttpCalls } from './http-calls.ts'
import { PUSH_LIMITS, type PushLimits } from './limits.ts'
import { type Notification, type Outcome, refused, retry } from './notification.ts'
import { type SessionPool, Sessions } from './session-pool.ts'
import { WebPush, type WebPushCredentials } from './web-push.ts'

/** Where Apple and Google are, for tests and proxies. */
export interface PushAddresses {
  apnsUrl: string
  apnsSandboxUrl: string
  fcmUrl: string
  googleTokenUrl: string
}

export interface PushOptions {
  addresses: PushAddresses
  /** Decides which addresses of devices and apps it may call. */
  targets: Targets
  metrics: Metrics
  limits?: PushLimits
  /** The time in milliseconds, for tests. */
  now?: () => number
}

export type PushCredentials =
  | ApnsCredentials
  | FcmCredentials
  | WebPushCredentials
  | CustomCredentials

/** A provider with one credential. Its `push` may fail with `Unanswered`. */
interface Channel {
  push(device: string, notification: Notification): Promise<Outcome>
  close(): void
}

/** Apple wants a token to be used for a while, so a provider that pauses keeps its own. */
const UNUSED_MS = 3_600_000

/** Sends notifications to devices through the providers of apps. */
export class Push {
  readonly #addresses: PushAddresses
  readonly #limits: PushLimits
  readonly #now: () => number
  readonly #sessions: Sessions
  /** For the tokens of all service accounts: each needs a call per hour. */
  readonly #googleTokens: SessionPool
  readonly #calls: HttpCalls
  readonly #timings: Histogram
  /** By the hash of all credentials: an app that only knows the names of another one's key gets its own channel. */
  readonly #channels = new Map<string, { channel: Channel; usedAt: number }>()
  /** The hashes of credentials that were used before: one object often sends thousands. */
  readonly #keys = new WeakMap<PushCredentials, string>()

  constructor(options: PushOptions) {
    const { addresses, targets, metrics, now = Date.now, limits = PUSH_LIMITS } = options
    this.#addresses = addresses
    this.#limits = limits
    this.#now = now
    this.#sessions = new Sessions(limits)
    this.#googleTokens = this.#sessions.newPool(addresses.googleTokenUrl)
    this.#calls = new HttpCalls(new Outbound(targets), limits)
    this.#timings = metrics.times(
      'loquat_push_seconds',
      'Time to send a notification to a device, by provider and outcome: delivered, gone, retry or refused.',
    )
    metrics.gauge('loquat_push_sessions', 'HTTP/2 connections to push providers.', () => [
      [this.#sessions.open],
    ])
    metrics.gauge(
      'loquat_push_waiting',
      'Notifications that wait for a connection to their provider.',
      () => [[this.#sessions.waiting]],
    )
  }

  /** Never throws for anything that the provider, the credentials or the device cause. */
  async push(
    credentials: PushCredentials,
    device: string,
    notification: Notification,
  ): Promise<Outcome> {
    const { provider } = credentials
    const startedAt = performance.now()
    const outcome = await this.#tryToPush(credentials, device, notification)
    const seconds = (performance.now() - startedAt) / 1000
    this.#timings.record(seconds, { provider, outcome: outcome.outcome })
    return outcome
  }

  close(): void {
    for (const { channel } of this.#channels.values()) channel.close()
    this.#channels.clear()
    this.#sessions.close()
    this.#calls.close()
  }

  async #tryToPush(
    credentials: PushCredentials,
    device: string,
    notification: Notification,
  ): Promise<Outcome> {
    if (notification.expiresAt <= this.#now()) return refused('expired')
    try {
      return await this.#channelOf(credentials).push(device, notification)
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      return retry(error.message)
    }
  }

  #channelOf(credentials: PushCredentials): Channel {
    const key = this.#keys.get(credentials) ?? hash('sha256', JSON.stringify(credentials))
    this.#keys.set(credentials, key)
    const known = this.#channels.get(key)
    const usedAt = this.#now()
    if (known) {
      known.usedAt = usedAt
      return known.channel
    }
    this.#closeUnused(usedAt - UNUSED_MS)
    const channel = this.#open(credentials)
    this.#channels.set(key, { channel, usedAt })
    return channel
  }

  #open(credentials: PushCredentials): Channel {
    const { apnsUrl, apnsSandboxUrl, fcmUrl } = this.#addresses
    const { timeoutMs, customTimeoutMs } = this.#limits
    const now = this.#now
    switch (credentials.provider) {
      case 'apns': {
        const pool = this.#sessions.newPool(credentials.production ? apnsUrl : apnsSandboxUrl)
        return new Apns(credentials, pool, now)
      }
      case 'fcm': {
        const pool = this.#sessions.newPool(fcmUrl)
        return new Fcm(credentials, { pool, tokens: this.#googleTokens, now })
      }
      case 'web_push':
        return new WebPush(credentials, {
          post: this.#calls.newLane(timeoutMs),
          limits: this.#limits,
          now,
        })
      case 'custom':
        return new Custom(credentials, this.#calls.newLane(customTimeoutMs), now)
    }
  }

  #closeUnused(since: number): void {
    for (const [key, { channel, usedAt }] of this.#channels) {
      if (usedAt >= since) continue
      channel.close()
      this.#channels.delete(key)
    }
  }
}
