import { setTimeout as sleep } from 'node:timers/promises'
import type { Histogram } from '@opentelemetry/api'
import pg from 'pg'
import type { Logger } from '../log/log.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { Executor, Statement } from './query.ts'

/** A transaction under way. */
export interface Tx extends Executor {
  /** Set by `announce`: there is work for the sequencer once this commits. */
  announced: boolean
  /** Runs something once this has committed; it must not fail. */
  afterCommit(then: () => void): void
}

/** A pool of connections to one database. */
export interface Db extends Executor {
  /**
   * Runs `work` in one transaction. Serialization failures, deadlocks and waits run it again, so it
   * must be repeatable: SQL only, nothing sent anywhere.
   */
  tx<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * Runs one statement that is a whole transaction by itself, and announces events: a call of a
   * function. Runs it again as `tx` does.
   */
  call<T>(work: (db: Executor) => Promise<T>): Promise<T>
  connections(): Connections
  close(): Promise<void>
}

/** How many connections a pool has in use and idle, and how many requests wait for one. */
export interface Connections {
  busy: number
  idle: number
  waiting: number
}

export interface DbOptions {
  url: string
  /** Tells this database from others in metrics and logs: a cell's id, or `directory`. */
  label: string
  poolSize: number
  /** How long a statement of the pool, or the wait for a connection, may take. */
  timeoutMs: number
  log: Logger
  /** Takes the seconds of each statement, by name. */
  timings: Histogram
  tracing: Tracing
  /** Called after the commit of a transaction that announced an event. */
  onAnnounced?: () => void
}

const TX_TRIES = 6
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'
/** PostgreSQL ended a transaction that waited too long for its next statement: this process stood still. */
const KEPT_WAITING = '25P03'
const PASSING = new Set([SERIALIZATION_FAILURE, DEADLOCK, KEPT_WAITING])

/** PostgreSQL's error code, where the error has one. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}

const nameOf = ({ name, label = name }: Statement) => label

/** How every connection of ours behaves, pooled or single. */
export function connectionConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'loquat',
    types: { getTypeParser },
    // A server that is down refuses at once; this is for one that hangs.
    connectionTimeoutMillis: 10_000,
    // A process that hangs between two statements must not keep its locks.
    idle_in_transaction_session_timeout: 10_000,
    statement_timeout: 30_000,
    keepAlive: true,
  }
}

/** bigint as number, all of ours stay below 2^53; date as it is written, it has no time zone. */
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

/** Most are empty: no need of a parser. */
const toTexts = (text: string): string[] => (text === '{}' ? [] : parseTexts(text))

const parseAnyDate = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)

/** `2026-03-01 09:30:00.123456+00`: a third of the time of pg's own parser, which takes whatever else there is. */
function toDate(text: string): Date {
  if (!text.endsWith('+00') || text[10] !== ' ') return parseAnyDate(text)
  return new Date(`${text.slice(0, 10)}T${text.slice(11, -3).slice(0, 12)}Z`)
}

export function openDb(options: DbOptions): Db {
  const { url, label, poolSize, timeoutMs, log, timings, tracing, onAnnounced } = options
  const pool = new pg.Pool({
    ...connectionConfig(url),
    connectionTimeoutMillis: timeoutMs,
    // PostgreSQL gives up a statement first, so that its connection stays of use. A server that hangs
    // says nothing at all: then we give up, and the connection goes.
    statement_timeout: timeoutMs,
    query_timeout: timeoutMs + 1_000,
    max: poolSize,
    idleTimeoutMillis: 30_000,
  })
  // A pooled connection that breaks while idle is dropped by the pool; the next user gets another.
  pool.on('error', (error) => {
    // A pool says that it has ended while its connections still do: the server may go first.
    if (!pool.ending) log.warn({ db: label, err: error }, 'idle connection lost')
  })

  async function timed<R>(statement: Statement, run: () => Promise<R>): Promise<R> {
    const started = performance.now()
    try {
      return await tracing.statement(nameOf(statement), run)
    } finally {
      const seconds = (performance.now() - started) / 1000
      timings.record(seconds, { statement: nameOf(statement), db: label })
    }
  }

  async function attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    let broken: Error | undefined
    // The pool listens only while a connection is idle: a loss under way would end the process.
    const onLost = (error: Error) => {
      // The first tells why; that the connection ended follows.
      broken ??= error
    }
    client.on('error', onLost)
    const followers: (() => void)[] = []
    const tx: Tx = {
      announced: false,
      afterCommit: (then) => followers.push(then),
      query: (statement) => timed(statement, () => client.query(statement)),
    }
    let result: T
    try {
      await client.query('begin')
      result = await work(tx)
      await client.query('commit')
    } catch (error) {
      const keptWaiting = sqlState(broken) === KEPT_WAITING
      // Closing the connection rolls back as well, and needs no answer.
      if (isConnectionLost(error)) broken ??= error as Error
      else await client.query('rollback').catch(onLost)
      throw keptWaiting ? broken : error
    } finally {
      client.off('error', onLost)
      client.release(broken)
    }
    // It is committed: whatever fails from here on is no failure of the transaction.
    if (tx.announced && onAnnounced) followers.unshift(onAnnounced)
    for (const then of followers) {
      try {
        then()
      } catch (error) {
        log.error({ db: label, err: error }, 'failed after a commit')
      }
    }
    return result
  }

  /** What passes is tried again: nothing of it was committed. */
  async function persist<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await work()
      } catch (error) {
        const state = sqlState(error)
        if (!PASSING.has(state ?? '') || tries === TX_TRIES) throw error
        log.debug({ db: label, state, tries }, 'transaction runs again')
        // Rivals that met once should not meet again in step.
        await sleep(Math.random() * 5 * 2 ** tries)
      }
    }
  }

  const direct: Executor = {
    query: (statement) => timed(statement, () => pool.query(statement)),
  }
  return {
    ...direct,
    tx: (work) => persist(() => attempt(work)),
    async call(work) {
      const result = await persist(() => work(direct))
      onAnnounced?.()
      return result
    },
    connections: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: () => pool.end(),
  }
}

const CONNECTION_FAULT = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN'],
])
/**
 * Shutdown, start-up, no resources left, read-only after a failover, a cancelled or timed out
 * statement, or a conflict that did not end.
 */
const SERVER_AWAY = /^(57P0[1-5]|57014|53\d{3}|08\w{3}|25P03|25006|40001|40P01)$/
const DRIVER_AWAY =
  /^(timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|Query read timeout|Cannot use a pool after calling end)/

/** Whether the database was out of reach, rather than asked something wrong. */
export function isDatabaseDown(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined ? isConnectionLost(error) : SERVER_AWAY.test(state)
}

/** Whether the driver failed, not a statement: what the connection is up to is not known. */
function isConnectionLost(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isConnectionLost)
  const { code, message = '' } = error as Partial<NodeJS.ErrnoException>
  return (code !== undefined && CONNECTION_FAULT.has(code)) || DRIVER_AWAY.test(message)
}
