import type { Places } from '../../platform/secrets/secrets.ts'

/**
 * What happens to an app's rows when the app moves to another cell. replicated: they are copied while the app is in
 * use, and complete at the switch; until then, the app's own row in the new cell says that it is archived. drained: what
 * they describe ends before the switch, and none are left. rebuilt: the new cell makes them again from other tables.
 * stays: they are about this database, not about an app.
 */
export type Move = 'replicated' | 'drained' | 'rebuilt' | 'stays'

/** The parts of an app's export. */
export type Part =
  | 'settings'
  | 'roles'
  | 'users'
  | 'friends'
  | 'blocks'
  | 'groups'
  | 'bans'
  | 'conversations'
  | 'messages'
  | 'threads'
  | 'interactions'
  | 'reactions'
  | 'saves'
  | 'files'
  | 'receipts'
  | 'webhooks'
  | 'usage'

/**
 * What the erasure of a user does with rows that name the user or have personal data (areas/erasures/). deleted: they go. changed:
 * they stay, without the user. tombstone: they keep their place, and nothing else. kept: they stay as they are, and why.
 */
export type Erasure = 'deleted' | 'changed' | 'tombstone' | { kept: string }

/** What a table is for everything that handles tables without knowing them. Lists of columns are separated by spaces. */
export interface Table {
  moves: Move
  /** The part of an export that shows it. Absent: it is derived from others, temporary or secret. */
  exported?: Part
  /** Columns that name a person: a user's uid, an operator's number, an email address. Some name groups too. */
  people?: string
  /** Columns with what people wrote, and what is known about them. */
  personal?: string
  /** What happens to these when a user is erased. Every table with such columns says it. */
  erased?: Erasure
  /** Encrypted columns, each with its place. They may contain personal data too. */
  sealed?: { [column: string]: keyof Places }
  /** Columns with hashes of secrets and requests. */
  hashed?: string
  /** All other columns. */
  plain?: string
  /** What the service may do with its rows. */
  service:
    | typeof ALL
    | typeof ADD_REMOVE
    | typeof ADD_CHANGE
    | typeof ADD
    | typeof CHANGE
    | typeof READ
  /** The columns that the audit role may read; `*` for all. Never sealed or hashed ones. */
  audit?: string
}

export const ALL = 'select, insert, update, delete'
export const ADD_REMOVE = 'select, insert, delete'
export const ADD_CHANGE = 'select, insert, update'
export const ADD = 'select, insert'
export const CHANGE = 'select, update'
export const READ = 'select'

const listed = (columns = '') => columns.split(' ').filter(Boolean)

/** All columns of a table, in the order of its declaration. */
export const columnsOf = ({ people, personal, sealed = {}, hashed, plain }: Table): string[] => [
  ...listed(people),
  ...listed(personal),
  ...Object.keys(sealed),
  ...listed(hashed),
  ...listed(plain),
]

/** The columns that can hold personal data. */
export const personalColumnsOf = ({ people, personal, sealed = {}, erased }: Table): string[] =>
  erased === undefined ? [] : [...listed(people), ...listed(personal), ...Object.keys(sealed)]

/** The columns that nobody but the service may read. */
export const secretColumnsOf = ({ sealed = {}, hashed }: Table): string[] => [
  ...Object.keys(sealed),
  ...listed(hashed),
]

/** The columns that the audit role may read. */
export const auditColumnsOf = (table: Table): string[] =>
  table.audit === '*' ? columnsOf(table) : listed(table.audit)
