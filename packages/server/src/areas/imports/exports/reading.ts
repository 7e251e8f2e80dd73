/** What the readers of an export share. */
import { seconds } from '../../../core/time.ts'
import type { Executor } from '../../../platform/db/query.ts'
import { joinSql, type Sql, sql } from '../../../platform/db/sql.ts'

/** What to export. Without a user and a conversation: the whole app. */
export interface Scope {
  appNo: number
  /** What the user is and did. */
  uid: string | null
  /** A conversation, by its number and its key. */
  conversation: { no: number; kind: 'user' | 'group'; one: string; other: string } | null
  /** Messages with ids from here on, and below. Everything else must have existed at `until`. */
  fromId: number
  beforeId: number
  until: Date
}

/** The steps of an export, in this order. */
export const STEPS = [
  'role',
  'user',
  'group',
  'member',
  'ban',
  'message',
  'reaction',
  'friend',
  'block',
  'sanction',
  'save',
  'view',
] as const
export type Step = (typeof STEPS)[number]

/** The last item that was read: its step and its key. */
export interface Place {
  step: Step
  key: (string | number)[]
}

export type Line = { kind: string } & Record<string, unknown>

export interface Read {
  key: Place['key']
  line: Line
}

/** Rows of a statement. */
export const AT_ONCE = 500

export type Reader = (db: Executor, scope: Scope, after: Place['key']) => Promise<Read[]>

export const at = (time: Date | null) => (time === null ? undefined : seconds(time))
export const some = <T>(list: T[]) => (list.length > 0 ? list : undefined)

/** Without what is null or undefined. */
export const present = <T extends object>(fields: T) =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  )

export const and = (...conditions: (Sql | undefined)[]) =>
  joinSql(
    conditions.filter((one) => one !== undefined),
    ' and ',
  )

/**
 * Users and groups that were removed are not swept yet: nothing of them is exported. Each list is read once per statement,
 * as in core/visibility.ts.
 */
const removedUsers = (appNo: number) =>
  sql`array(select uid from users where app_no = ${appNo} and removed_at is not null)`
export const isThere = (appNo: number, uid: Sql) => sql`${uid} <> all (${removedUsers(appNo)})`

/** The message `m` and its conversation `h` are there. */
export const partiesAreThere = (appNo: number) =>
  and(
    sql`not (case h.kind when 'user' then array[m.sender, h.one, h.other] else array[m.sender] end)
      && ${removedUsers(appNo)}`,
    sql`not (h.kind = 'group' and h.one = any (array(
      select guid from groups where app_no = ${appNo} and removed_at is not null)))`,
  )
