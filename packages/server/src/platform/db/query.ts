import type { QueryResultRow } from 'pg'

/** A pool, a transaction or a single connection. */
export interface Executor {
  query<R extends QueryResultRow>(statement: Statement): Promise<{ rows: R[] }>
}

export interface Statement {
  /** The name of the prepared statement. Empty: not prepared. */
  name: string
  /** The name in metrics, for statements without a name. */
  label?: string
  text: string
  values: unknown[]
}

export interface Query<P, R> {
  readonly name: string
  readonly text: string
  /** Every row. */
  many(db: Executor, params: P): Promise<R[]>
  /** The first row, or undefined. */
  maybeOne(db: Executor, params: P): Promise<R | undefined>
  /** The first row. Throws if there is none, which is a bug. */
  one(db: Executor, params: P): Promise<R>
  /** Runs the statement for its effect, and ignores its rows. */
  run(db: Executor, params: P): Promise<void>
}

/** The kinds of databases. */
export type Schema = 'directory' | 'cell'

/** All statements of the program, with the names of their parameters, so that tests can check them. */
export const statements = new Map<string, { text: string; schema: Schema; params: string[] }>()

type Params = Record<string, unknown>

/** Declares a statement for cells, when its module is loaded. */
export const query = <P extends Params, R extends QueryResultRow = never>(
  name: string,
  source: string,
) => declare<P, R>('cell', name, source)

/** Declares a statement for the directory, when its module is loaded. */
export const directoryQuery = <P extends Params, R extends QueryResultRow = never>(
  name: string,
  source: string,
) => declare<P, R>('directory', name, source)

/**
 * `:param` becomes `$n`. The name lets PostgreSQL keep the prepared statement for the life of the connection. Colons
 * in quoted text are not recognized, so don't use them.
 */
function declare<P extends Params, R extends QueryResultRow>(
  schema: Schema,
  name: string,
  source: string,
): Query<P, R> {
  if (statements.has(name)) throw new Error(`statement ${name} is declared twice`)
  const order: string[] = []
  const text = source.replace(/(?<!:):([a-zA-Z]\w*)/g, (_, key: string) => {
    const known = order.indexOf(key)
    return `$${known >= 0 ? known + 1 : order.push(key)}`
  })
  statements.set(name, { text, schema, params: order })

  const many = async (db: Executor, params: P) =>
    (await db.query<R>({ name, text, values: order.map((key) => params[key]) })).rows
  const maybeOne = async (db: Executor, params: P) => (await many(db, params))[0]
  const one = async (db: Executor, params: P) => {
    const row = await maybeOne(db, params)
    if (row === undefined) throw new Error(`${name} returned no row`)
    return row
  }
  const run = async (db: Executor, params: P) => {
    await many(db, params)
  }
  return { name, text, many, maybeOne, one, run }
}
