import { setTimeout as sleep } from 'node:timers/promises'
import {
  connect,
  type NatsConnection,
  type NodeConnectionOptions,
  type Subscription,
} from '@nats-io/transport-node'
import type { Logger } from '../log/log.ts'
import { brokerTls } from '../net/tls.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { Received, Signer, Verifier } from './signature.ts'

/**
 * Messages between processes. They may be lost at any time, so everything that must arrive is also read from
 * PostgreSQL. Messages that no process of this installation signed are dropped.
 */
export interface Bus {
  publish(subject: string, data?: string): void
  /** Returns a function that ends the subscription. */
  subscribe(subject: string, listener: (data: string) => void): () => void
  close(): Promise<void>
}

export interface BusOptions {
  url: string
  /** See `TlsRules`. */
  caFile: string
  /** Separates installations that share a NATS cluster. */
  prefix: string
  secrets: Secrets
  log: Logger
}

const RETRY_MS = 500
/** A flood of forged messages must not become a flood of log entries. */
const WARN_MS = 60_000

/** Returns at once. Connects in the background, and reconnects after every loss. */
export function openBus({ url, caFile, prefix, secrets, log }: BusOptions): Bus {
  const wanted = new Map<number, { subject: string; listener: (data: string) => void }>()
  const active = new Map<number, { subscription: Subscription; verifier: Verifier }>()
  const received = new Received()
  let connection: NatsConnection | undefined
  let connected = false
  const closing = new AbortController()
  let nextId = 0
  const keys = secrets.keys('bus')
  const signer = new Signer(keys[0])
  let warnedAt = Number.NEGATIVE_INFINITY

  /** What was dropped is read from PostgreSQL, like what was lost. */
  function warn(subject: string, reason: string, error?: unknown) {
    if (performance.now() - warnedAt < WARN_MS) return
    warnedAt = performance.now()
    log.warn({ subject, err: error }, `dropped a NATS message: ${reason}`)
  }

  const { protocol, host, username, password } = new URL(url)
  const tls = brokerTls(url, caFile)
  const options = {
    servers: `${protocol}//${host}`,
    // The client ignores the protocol. Only this option makes it refuse a server without TLS.
    ...(tls as NodeConnectionOptions),
    // Without TLS, send the password to no other server of the cluster.
    ignoreClusterUpdates: !tls.tls,
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    name: 'loquat',
    maxReconnectAttempts: -1,
    reconnectTimeWait: RETRY_MS,
    // Otherwise the client gives up after two rejections, even if the password is fixed later.
    ignoreAuthErrorAbort: true,
  }
  const started = start()

  /** Retries until the first connection succeeds. The client's own retries can't be cancelled. */
  async function start() {
    for (let tries = 1; !closing.signal.aborted && !connection; tries++) {
      try {
        const opened = await connect(options)
        if (closing.signal.aborted) return opened.close()
        connection = opened
      } catch (error) {
        if (tries === 1)
          log.error({ err: error }, "can't reach NATS; real-time delivery falls back to polling")
        await sleep(RETRY_MS, undefined, { signal: closing.signal }).catch(() => {})
      }
    }
    if (!connection) return
    connected = true
    for (const [id] of wanted) activate(id)
    void watch(connection)
  }

  async function watch(opened: NatsConnection) {
    for await (const { type } of opened.status()) {
      if (type === 'disconnect') connected = false
      if (type === 'reconnect') connected = true
      if (type === 'disconnect' || type === 'reconnect') log.warn(`NATS: ${type}`)
    }
  }

  function activate(id: number) {
    const entry = wanted.get(id)
    if (!entry || !connection) return
    const subject = `${prefix}.${entry.subject}`
    const verifier = new Verifier(keys, subject, received.stampsOf(subject))
    const callback = (error: Error | null, { data }: { data: Uint8Array }) => {
      if (error) return
      const verdict = verifier.open(data)
      if (!('text' in verdict)) return warn(subject, verdict.refused)
      try {
        entry.listener(verdict.text)
      } catch (error) {
        // The client would stop reading, and every subscription of the process would end without a sign.
        warn(subject, 'its listener failed', error)
      }
    }
    try {
      active.set(id, { subscription: connection.subscribe(subject, { callback }), verifier })
    } catch (error) {
      log.warn({ err: error }, "couldn't subscribe to NATS; falling back to polling")
    }
  }

  return {
    publish(subject, data = '') {
      // While disconnected, the client would queue messages without limit. Our readers poll anyway.
      if (!connected || connection?.isClosed()) return
      const full = `${prefix}.${subject}`
      connection?.publish(full, signer.sign(full, data))
    },
    subscribe(subject, listener) {
      const id = nextId++
      wanted.set(id, { subject, listener })
      activate(id)
      return () => {
        wanted.delete(id)
        const ended = active.get(id)
        if (!ended) return
        ended.subscription.unsubscribe()
        active.delete(id)
        received.keep(`${prefix}.${subject}`, ended.verifier.stamps)
      }
    },
    async close() {
      closing.abort()
      if (connection) await connection.close()
      else await Promise.race([started, new Promise((resolve) => setTimeout(resolve, RETRY_MS))])
    },
  }
}

/**
 * Throttles `act`: the returned function runs it at once, but at most every `ms`. Calls in between cause one more
 * run at the end. A thousand wake-ups per second then cost the bus no more than two hundred.
 */
export function throttle(ms: number, act: () => void): () => void {
  let [pausing, missed] = [false, false]
  const run = () => {
    ;[pausing, missed] = [true, false]
    act()
    setTimeout(() => {
      pausing = false
      if (missed) run()
    }, ms).unref()
  }
  return () => {
    if (pausing) missed = true
    else run()
  }
}
