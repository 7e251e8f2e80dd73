import type pg from 'pg'

/** One run of the command: what it adds is told apart from all that is there by its mark. */
export interface Run {
  appNo: number
  /** Part of every id, random: a second run meets no id of the first. */
  mark: string
  startedAt: Date
}

/** How many of a kind are wanted, and how they are laid out. */
export interface Wish {
  wanted: number
  /** Members of each group. */
  members?: number
  /** Conversations of two that the messages go to, beside the groups. */
  conversations?: number
}

/** What goes in one transaction, with its totals: once it is committed, all that it concerns is right. */
export interface Batch {
  /** Returns how many of the kind it added. */
  add(tx: pg.Client): Promise<number>
}

/** Something an app can be filled with. */
export interface Kind {
  /** Its word in flags and progress: `users`. */
  name: string
  /** The tables to be tidied after, so that plans and lists are those of a settled database. */
  tables: readonly string[]
  /** Reads what it builds on, and lays out its batches; they are made one by one, as they are taken. */
  plan(client: pg.Client, run: Run, wish: Wish): Promise<Iterable<Batch>>
}
