import type pg from 'pg'

/** One run of the command. */
export interface Run {
  appNo: number
  /** A random part of every id, so that two runs never create the same id. */
  mark: string
  startedAt: Date
  /** When the first conversations began, as a distance of ids. Default: a year ago. */
  spread?: number
}

/** How many rows to add, and how to distribute them. */
export interface FillRequest {
  wanted: number
  /** Members of each group. */
  members?: number
  /** New 1:1 conversations for the messages, in addition to groups. */
  conversations?: number
}

/** The rows of one transaction with their totals, so that the data is consistent after each commit. */
export interface Batch {
  /** Returns how many rows of the kind it added. */
  add(tx: pg.Client): Promise<number>
}

/** A kind of data that an app can be filled with. */
export interface Kind {
  /** Its name in flags and progress, such as `users`. */
  name: string
  /** The tables to vacuum afterwards, so that measurements start with settled tables. */
  tables: readonly string[]
  /** Reads the data it depends on, and returns the batches, which are generated one by one. */
  plan(client: pg.Client, run: Run, request: FillRequest): Promise<Iterable<Batch>>
}
