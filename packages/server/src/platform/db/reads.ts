import pg from 'pg'
import type { Statement } from './query.ts'

/** What pg knows of a connection and its types leave out. */
interface Backend {
  host: string
  port: number
  ssl: boolean | object
  processID: number
  secretKey: number
}

interface CancelConnection extends pg.Connection {
  connect(port: number | string, host?: string): void
  requestSsl(): void
  cancel(processId: number, secretKey: number): void
}

/** How long a cancel request may take. */
const CANCEL_MS = 5_000

/** The URL of connections that can't write: what runs on them may be cancelled at any time. */
export function readOnlyUrl(url: string): string {
  const changed = new URL(url)
  const options = changed.searchParams.get('options') ?? ''
  changed.searchParams.set('options', `${options} -c default_transaction_read_only=on`.trim())
  return changed.href
}

/** Where statements get their connections. */
export interface Connector {
  take(): Promise<pg.PoolClient>
  query<R extends pg.QueryResultRow>(
    client: pg.PoolClient,
    statement: Statement,
  ): Promise<{ rows: R[] }>
  /** Gives it back; `broken` drops it. */
  give(client: pg.PoolClient, broken: Error | undefined): Promise<void> | void
}

/** Lends connections for reads to one request. If it ends early, what runs on them is cancelled. */
export class Reading implements Connector {
  readonly #pool: pg.Pool
  readonly #cancels = new Map<pg.PoolClient, Promise<boolean> | undefined>()
  ended: Error | undefined

  constructor(pool: pg.Pool) {
    this.#pool = pool
  }

  async take(): Promise<pg.PoolClient> {
    if (this.ended) throw this.ended
    const client = await this.#pool.connect()
    this.#cancels.set(client, undefined)
    return client
  }

  async query<R extends pg.QueryResultRow>(
    client: pg.PoolClient,
    statement: Statement,
  ): Promise<{ rows: R[] }> {
    if (this.ended) throw this.ended
    return client.query<R>(statement)
  }

  /** A cancel request that is under way must not hit the next user of the connection. */
  async give(client: pg.PoolClient, broken: Error | undefined): Promise<void> {
    const cancel = this.#cancels.get(client)
    this.#cancels.delete(client)
    const safe = !cancel || (await cancel)
    client.release(broken ?? !safe)
  }

  /** Cancels what runs, and fails it and all later statements with this error. */
  end(reason: Error): void {
    this.ended ??= reason
    for (const [client, cancel] of this.#cancels) {
      if (!cancel) this.#cancels.set(client, sendCancel(client as unknown as Backend))
    }
  }
}

/**
 * Asks the server to cancel what the connection runs. The server closes the connection of the request once it has
 * signalled: a statement that begins after that isn't hit. Returns whether it got that far.
 */
function sendCancel({ host, port, ssl, processID, secretKey }: Backend): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = new pg.Connection({ ssl } as pg.ConnectionConfig) as CancelConnection
    const cancel = () => connection.cancel(processID, secretKey)
    const end = (reached: boolean) => {
      clearTimeout(timer)
      connection.stream.destroy()
      resolve(reached)
    }
    const timer = setTimeout(() => end(false), CANCEL_MS)
    connection.on('error', () => end(false))
    connection.on('connect', () => (ssl ? connection.requestSsl() : cancel()))
    connection.on('sslconnect', cancel)
    connection.on('end', () => end(true))
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`)
    else connection.connect(port, host)
  })
}
