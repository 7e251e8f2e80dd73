import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type NatsConnection, type Subscription } from '@nats-io/transport-node'
import type { Logger } from '../log/log.ts'

/**
 * Live messages between processes. What goes through here may be lost at any time: everything
 * that must arrive is read from PostgreSQL as well.
 */
export interface Bus {
  publish(subject: string, data?: string): void
  /** Returns a function that ends the subscription. */
  subscribe(subject: string, listener: (data: string) => void): () => void
  close(): Promise<void>
}

export interface BusOptions {
  url: string
  /** Keeps installations that share a NATS cluster apart. */
  prefix: string
  log: Logger
}

const RETRY_MS = 500

/** Usable at once: connects in the background, and again after every loss. */
export function openBus({ url, prefix, log }: BusOptions): Bus {
  const wanted = new Map<number, { subject: string; listener: (data: string) => void }>()
  const active = new Map<number, Subscription>()
  let connection: NatsConnection | undefined
  let connected = false
  const closing = new AbortController()
  let nextId = 0

  const { protocol, host, username, password } = new URL(url)
  const options = {
    servers: `${protocol}//${host}`,
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
    name: 'loquat',
    maxReconnectAttempts: -1,
    reconnectTimeWait: RETRY_MS,
    // Else the client gives up for good after two refusals, while somebody mends the password.
    ignoreAuthErrorAbort: true,
  }
  const started = start()

  /** Tries by itself until the first connection: the client's own way to do so can't be ended. */
  async function start() {
    for (let tries = 1; !closing.signal.aborted && !connection; tries++) {
      try {
        const opened = await connect(options)
        if (closing.signal.aborted) return opened.close()
        connection = opened
      } catch (error) {
        if (tries === 1) log.error({ err: error }, 'no NATS: live delivery falls back to polling')
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
    const callback = (error: Error | null, received: { string(): string }) => {
      if (!error) entry.listener(received.string())
    }
    try {
      active.set(id, connection.subscribe(`${prefix}.${entry.subject}`, { callback }))
    } catch (error) {
      log.warn({ err: error }, 'NATS takes no subscription: whoever listens polls')
    }
  }

  return {
    publish(subject, data = '') {
      // While disconnected the client would queue without end; our readers poll anyway.
      if (connected && !connection?.isClosed()) connection?.publish(`${prefix}.${subject}`, data)
    },
    subscribe(subject, listener) {
      const id = nextId++
      wanted.set(id, { subject, listener })
      activate(id)
      return () => {
        wanted.delete(id)
        active.get(id)?.unsubscribe()
        active.delete(id)
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
 * What the function returned does when it is called, at once but at most every `ms`; a call in between
 * is made up for at the end. So a thousand wakes a second cost the bus as little as two hundred.
 */
export function atMostEvery(ms: number, act: () => void): () => void {
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
