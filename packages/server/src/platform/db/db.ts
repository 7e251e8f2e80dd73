import { setTimeout as sleep } from 'node:timers/promises'
import type { Histogram } from '@opentelemetry/api'
import pg from 'pg'
import type { Logger } from '../log/log.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { Executor, Statement } from './query.ts'
import { type Connector, Reading, readOnlyUrl } from './reads.ts'

/** An open transaction. */
export interface Tx extends Executor {
  /** Set by `announce`: the sequencer has work once this transaction commits. */
  announced: boolean
  /** Set by `enqueue`: runners have work once this transaction commits. */
  enqueued: boolean
  /** Runs `then` after the commit. It must not throw. */
  afterCommit(then: () => void): void
}

/** A pool of connections to one database. */
export interface Db extends Executor {
  /**
   * Runs `work` in one transaction. After a serialization failure, deadlock or timeout, or if it drew a key that
   * exists, it runs again, so it must be repeatable: only SQL, no network calls.
   */
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Runs one statement that is a transaction of its own and announces events, such as a function call. Retries it
   * like `tx`. `enqueues`: it also enqueues jobs.
   */
  call<T>(work: (db: Executor) => Promise<T>, enqueues?: boolean): Promise<T>
  /** The database for one request that reads. */
  reading(): ReadingDb
  connections(): Connections
  close(): Promise<void>
}

/** A database whose connections can't write. */
export interface ReadingDb {
  db: Db
  /** Cancels the statements that run, and fails them and all later ones with this error. */
  end(reason: Error): void
}

/** The busy and idle connections of a pool, and the requests that wait for a connection. */
export interface Connections {
  busy: number
  idle: number
  waiting: number
}

export interface DbOptions {
  url: string
  /** The database's name in metrics and logs: a cell's id, or `directory`. */
  label: string
  poolSize: number
  /** The most connections for requests that read, in addition. */
  readPoolSize?: number
  /** The timeout of a statement, and of the wait for a connection. */
  timeoutMs: number
  log: Logger
  /** Records the seconds of each statement, by name. */
  timings: Histogram
  tracing: Tracing
  /** A unique constraint whose keys the database draws: a transaction that drew an existing key runs again. */
  drawnKey?: string
  /** Called after the commit of a transaction that announced an event. */
  onAnnounced?: () => void
  /** Called after the commit of a transaction that enqueued a job. */
  onEnqueued?: () => void
}

/** A connection in use. */
interface Used {
  readonly client: pg.PoolClient
  /** Why nobody may use it again. */
  broken: Error | undefined
}

const TX_TRIES = 6
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
/** PostgreSQL ended a transaction that was idle for too long because this process was suspended. */
const IDLE_TIMEOUT = '25P03'
const RETRYABLE = new Set([SERIALIZATION_FAILURE, DEADLOCK, IDLE_TIMEOUT])
const UNIQUE_VIOLATION = '23505'
const LOCK_TIMEOUT = '55P03'
/** Once more than three times, the keys don't collide by chance. */
const DRAW_TRIES = 4

/** PostgreSQL's error code, if the error has one. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

/** Whether a statement gave up because of its lock_timeout. */
export const isLockTimeout = (error: unknown): boolean => sqlState(error) === LOCK_TIMEOUT

const nameOf = ({ name, label = name }: Statement) => label

/** The settings of all our connections, pooled or single. */
export function connectionConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'loquat',
    types: { getTypeParser },
    // For a server that hangs. A server that is down rejects connections at once.
    connectionTimeoutMillis: 10_000,
    // A process that hangs in a transaction must not keep its locks.
    idle_in_transaction_session_timeout: 10_000,
    statement_timeout: 30_000,
    keepAlive: true,
  }
}

/** Reads bigint as number, because ours stay below 2^53, and date as text, because it has no time zone. */
const getTypeParser: typeof pg.types.getTypeParser = (oid: number, format?: unknown) => {
  if (oid === pg.types.builtins.TIMESTAMPTZ) return toDate
  if (oid === TEXT_ARRAY) return toTexts
  if (oid === pg.types.builtins.INT8) return Number
  if (oid === pg.types.builtins.DATE) return String
  return pg.types.getTypeParser(oid, format as Parameters<typeof pg.types.getTypeParser>[1])
}

const TEXT_ARRAY: number = 1009
const parseTexts = pg.types.getTypeParser(
  TEXT_ARRAY as Parameters<typeof pg.types.getTypeParser>[0],
)

/** Most arrays are empty and need no parser. */
const toTexts = (text: string): string[] => (text === '{}' ? [] : parseTexts(text))

const parseAnyDate = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)

/** Parses `2026-03-01 09:30:00.123456+00` in a third of the time of pg's parser, which handles all other forms. */
function toDate(text: string): Date {
  if (!text.endsWith('+00') || text[10] !== ' ') return parseAnyDate(text)
  return new Date(`${text.slice(0, 10)}T${text.slice(11, -3).slice(0, 12)}Z`)
}

export function openDb(options: DbOptions): Db {
  const {
    url,
    label,
    poolSize,
    readPoolSize = poolSize,
    timeoutMs,
    log,
    timings,
    tracing,
    drawnKey,
    onAnnounced,
    onEnqueued,
  } = options
  const pool = openPool(url, poolSize)
  const readPool = openPool(readOnlyUrl(url), readPoolSize)
  const pools = [pool, readPool]

  function openPool(connectionString: string, max: number): pg.Pool {
    const opened = new pg.Pool({
      ...connectionConfig(connectionString),
      connectionTimeoutMillis: timeoutMs,
      // PostgreSQL cancels a slow statement first, so that the connection stays usable. If the server hangs, we give
      // up a second later and drop the connection.
      statement_timeout: timeoutMs,
      query_timeout: timeoutMs + 1_000,
      max,
      // A new connection plans every statement again: a list then takes tens of milliseconds longer.
      idleTimeoutMillis: 600_000,
    })
    // The pool listens while a connection is idle, and we while it is used. A server that shuts down can say so between the
    // two, in the same packet in which it accepts the connection. Without a listener, that would end the process.
    opened.on('connect', (client) => client.on('error', () => {}))
    // The pool drops a connection that breaks while idle, and the next user gets another one.
    opened.on('error', (error) => {
      // While the pool closes, the server may close connections first.
      if (!opened.ending) log.warn({ db: label, err: error }, 'idle connection lost')
    })
    return opened
  }

  async function timed<R>(statement: Statement, run: () => Promise<R>): Promise<R> {
    const started = performance.now()
    try {
      return await tracing.statement(nameOf(statement), run)
    } finally {
      const seconds = (performance.now() - started) / 1000
      timings.record(seconds, { statement: nameOf(statement), db: label })
    }
  }

  const lent: Connector = {
    take: () => pool.connect(),
    query: (client, statement) => client.query(statement),
    give: (client, broken) => client.release(broken),
  }

  /**
   * Runs `work` on a connection, and keeps the connection unless it broke. `pool.query` would close it after every
   * error, so each refused statement would cost a new connection that plans all its statements again.
   */
  async function withConnection<T>(
    connector: Connector,
    work: (used: Used) => Promise<T>,
  ): Promise<T> {
    const client = await connector.take()
    const used: Used = { client, broken: undefined }
    const onLost = (error: Error) => {
      // Keep the first error, which has the cause. The next one only says that the connection ended.
      used.broken ??= error
    }
    client.on('error', onLost)
    try {
      return await work(used)
    } catch (error) {
      if (isUnusableAfter(error)) onLost(error as Error)
      throw error
    } finally {
      client.off('error', onLost)
      await connector.give(client, used.broken)
    }
  }

  async function attempt<T>(connector: Connector, work: (tx: Tx) => Promise<T>): Promise<T> {
    const followers: (() => void)[] = []
    const { tx, result } = await withConnection(connector, async (used) => {
      const { client } = used
      const tx: Tx = {
        announced: false,
        enqueued: false,
        afterCommit: (then) => followers.push(then),
        query: (statement) => timed(statement, () => connector.query(client, statement)),
      }
      try {
        await client.query('begin')
        const result = await work(tx)
        await client.query('commit')
        return { tx, result }
      } catch (error) {
        const wasIdle = sqlState(used.broken) === IDLE_TIMEOUT
        // Closing the connection also rolls back.
        if (!isUnusableAfter(error))
          await client.query('rollback').catch((failure: Error) => {
            used.broken ??= failure
          })
        throw wasIdle ? used.broken : error
      }
    })
    // The transaction is committed, so errors from here on must not fail it.
    if (tx.enqueued && onEnqueued) followers.unshift(onEnqueued)
    if (tx.announced && onAnnounced) followers.unshift(onAnnounced)
    for (const then of followers) {
      try {
        then()
      } catch (error) {
        log.error({ db: label, err: error }, 'a callback failed after a commit')
      }
    }
    return result
  }

  /** Runs one statement outside a transaction. */
  const queryOn =
    (connector: Connector): Executor['query'] =>
    (statement) =>
      timed(statement, () =>
        withConnection(connector, ({ client }) => connector.query(client, statement)),
      )

  /** How often a transaction with this error runs. */
  function triesAfter(error: unknown): number {
    if (!(error instanceof pg.DatabaseError)) return 1
    if (error.code === UNIQUE_VIOLATION) return error.constraint === drawnKey ? DRAW_TRIES : 1
    return RETRYABLE.has(error.code ?? '') ? TX_TRIES : 1
  }

  /** Retries after errors that are likely to go away. Nothing was committed in that case. */
  async function withRetries<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await work()
      } catch (error) {
        if (tries >= triesAfter(error)) throw error
        const state = sqlState(error)
        log.debug({ db: label, state, tries }, 'retrying a transaction')
        // A random delay keeps competing transactions from colliding again.
        await sleep(Math.random() * 5 * 2 ** tries)
      }
    }
  }

  const direct: Executor = { query: queryOn(lent) }
  const sum = (count: (pool: pg.Pool) => number) =>
    pools.reduce((all, opened) => all + count(opened), 0)
  const db: Db = {
    ...direct,
    tx: (work) => withRetries(() => attempt(lent, work)),
    async call(work, enqueues = false) {
      const result = await withRetries(() => work(direct))
      onAnnounced?.()
      if (enqueues) onEnqueued?.()
      return result
    },
    reading() {
      const reading = new Reading(readPool)
      const orEnded = (error: unknown) => {
        throw reading.ended ?? error
      }
      const readOn = queryOn(reading)
      const query: Executor['query'] = <R extends pg.QueryResultRow>(statement: Statement) =>
        readOn<R>(statement).catch(orEnded)
      const tx: Db['tx'] = (work) => withRetries(() => attempt(reading, work)).catch(orEnded)
      return { db: { ...db, query, tx }, end: (reason) => reading.end(reason) }
    },
    connections: () => ({
      busy: sum(({ totalCount, idleCount }) => totalCount - idleCount),
      idle: sum(({ idleCount }) => idleCount),
      waiting: sum(({ waitingCount }) => waitingCount),
    }),
    async close() {
      await Promise.all(pools.map((opened) => opened.end()))
    },
  }
  return db
}

const CONNECTION_FAULT = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'],
])
/**
 * Shutdown, startup, no resources, read-only after a failover, a cancelled or timed-out statement, a conflict that all
 * retries met, or a clock that is wrong (`check_clock` in db/cell/functions/send.sql).
 */
const SERVER_AWAY = /^(57P0[1-5]|57014|53\d{3}|08\w{3}|25P03|25006|40001|40P01|LQ006)$/
const DRIVER_AWAY =
  /^(timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Query read timeout|Cannot use a pool after calling end)/

/** Whether the database couldn't be reached, as opposed to an error in a statement. */
export function isDatabaseDown(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined ? isConnectionLost(error) : SERVER_AWAY.test(state)
}

/** PostgreSQL ended the connection, or the driver lost it or gave up on it. */
const CUT_OFF = /^(57P0[125]|08\w{3}|ECONNRESET|EPIPE|ETIMEDOUT)$/
const DRIVER_CUT_OFF =
  /^(Connection terminated|Client has encountered a connection error|Query read timeout)/

/** Whether a statement may have been committed although it failed: its connection broke after it was sent. */
export function isOutcomeUnknown(error: unknown): boolean {
  const { code = '', message = '' } = error as Partial<NodeJS.ErrnoException>
  return CUT_OFF.test(code) || DRIVER_CUT_OFF.test(message)
}

/**
 * Whether PostgreSQL rejected the statement for what it does, so that nothing of it is stored and a part of it may
 * succeed. Not so after a lost connection, whose outcome is unknown, nor after a timeout.
 */
export function isRejected(error: unknown): boolean {
  const state = sqlState(error)
  if (state === undefined) return false
  return state === DEADLOCK || state === SERIALIZATION_FAILURE || !SERVER_AWAY.test(state)
}

/**
 * The server ended the session, is read-only since a failover, or has no resources; or the connection keeps a
 * statement that no longer fits its tables.
 */
const UNUSABLE = /^(57P0\d|08\w{3}|53\w{3}|25P03|25006|0A000|26000|XX\w{3})$/

/** Whether a connection must not be used again after this error. */
function isUnusableAfter(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined ? isConnectionLost(error) : UNUSABLE.test(state)
}

/** Whether the connection failed, not a statement. Its state is then unknown. */
function isConnectionLost(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionLost)
  const { code, message = '' } = error as Partial<NodeJS.ErrnoException>
  return (code !== undefined && CONNECTION_FAULT.has(code)) || DRIVER_AWAY.test(message)
}
