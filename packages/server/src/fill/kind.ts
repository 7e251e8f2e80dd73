import type pg from 'pg'

/** One run of the command: what it adds is told apart from all that is there by its mark. */
export interface Run {
  appNo: number
  /** Part of every id, random: a second run meets no id of the first. */
  mark: string
  startedAt: Date
}

/** How many of a kind are wanted, and which of them a chunk adds: from `first` on. */
export interface Chunk {
  wanted: number
  first: number
  count: number
}

/** Something an app can be filled with. */
export interface Kind {
  /** Its word in flags and progress: `users`. */
  name: string
  /** Rows that go in one transaction, their totals with them. */
  chunk: number
  /** The tables to be tidied after, so that plans and lists are those of a settled database. */
  tables: readonly string[]
  add(tx: pg.Client, run: Run, chunk: Chunk): Promise<void>
}
