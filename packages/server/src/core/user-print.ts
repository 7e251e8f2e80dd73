/**
 * Users as JSON text. PostgreSQL keeps most of a user's record as text, and this adds what is live or depends on the
 * viewer: a page of users is never parsed.
 */
import { conversationIdOf } from './ids.ts'
import { blockFields } from './user-record.ts'
import type { Relation } from './user-rows.ts'

export interface PrintedUser {
  uid: string
  /** The record without role and presence, and without the closing brace. */
  card: string
  /** The same with private metadata, if there is any: for the app and for the user alone. */
  own_card: string | null
  role: string
  online: boolean
  active_second: number | null
  /** As JSON, if there are any. */
  tags: string | null
}

/** A deleted role shows as `default` until its users are moved. */
export const PRINTED_COLUMNS = `
  uid, card, case when metadata ? '@private'
    then left(((card || '}')::jsonb || jsonb_build_object('metadata', metadata))::text, -1) end as own_card,
  case role when 'default' then role else shown_role(app_no, role) end as role,
  online, unix(last_active_at) as active_second, to_json(nullif(tags, '{}'))::text as tags`

export type Print = (user: PrintedUser) => string

/** The record with everything that the app may see. */
export const printUser: Print = (user) =>
  `${user.own_card ?? user.card}${printRole(user)}${printPresence(user)}`

/** The record as another user sees it. */
export function printSeen(viewer: string, user: PrintedUser, relation: Relation): string {
  if (viewer === user.uid) return printUser(user)
  const apart = relation.blocked_by_me_at !== null || relation.has_blocked_me_at !== null
  // Ids consist of characters that JSON doesn't escape.
  return `${user.card}${printRole(user)}${apart ? OFFLINE : printPresence(user)},"conversationId":"${conversationIdOf(
    viewer,
    user.uid,
  )}",${JSON.stringify(blockFields(relation)).slice(1, -1)}`
}

const printRole = ({ role }: PrintedUser) => `,"role":${JSON.stringify(role)}`

const OFFLINE = ',"status":"offline"'

const printPresence = ({ online, active_second: second }: PrintedUser) =>
  `${online ? ',"status":"available"' : OFFLINE}${second === null ? '' : `,"lastActiveAt":${second}`}`
