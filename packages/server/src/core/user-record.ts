import type { UserRecord, UserSnapshot } from '@loquat/protocol'
import { conversationIdOf } from './ids.ts'
import { builder } from './records/fields.ts'
import { PRESENCE, USER } from './records/user.ts'
import { seconds } from './time.ts'
import type { Relation, UserRow } from './user-rows.ts'

/** The record that other users see, unless a block separates them: without the user's private data. */
export const toSharedUser = builder<UserRecord, UserRow>({ ...USER, ...PRESENCE })

/** The record with everything that the app may see. */
export function toUser(row: UserRow): UserRecord {
  const user = toSharedUser(row)
  return row.metadata ? { ...user, metadata: row.metadata } : user
}

export const withTags = (user: UserRecord, { tags }: UserRow): UserRecord =>
  tags.length > 0 ? { ...user, tags } : user

/** The record as a user across a block sees it: neither sees whether the other is online. */
export function withoutPresence({ lastActiveAt: _lastActiveAt, ...user }: UserRecord): UserRecord {
  return { ...user, status: 'offline' }
}

/** The record as events carry it: they have one form for all who receive them, so they show nobody's presence. */
export function toSnapshot({
  status: _status,
  lastActiveAt: _lastActiveAt,
  ...user
}: UserRecord): UserSnapshot {
  return user
}

/** The record as another user sees it. */
export function asSeenBy(viewer: string, row: UserRow, relation: Relation): UserRecord {
  if (viewer === row.uid) return toUser(row)
  const apart = relation.blocked_by_me_at !== null || relation.has_blocked_me_at !== null
  const user = apart ? withoutPresence(toSharedUser(row)) : toSharedUser(row)
  user.conversationId = conversationIdOf(viewer, row.uid)
  return { ...user, ...blockFields(relation) }
}

export function blockFields({ blocked_by_me_at: mine, has_blocked_me_at: theirs }: Relation) {
  const fields: Partial<UserRecord> = {
    blockedByMe: mine !== null,
    hasBlockedMe: theirs !== null,
  }
  if (mine) fields.blockedByMeAt = seconds(mine)
  if (theirs) fields.hasBlockedMeAt = seconds(theirs)
  const since = [mine, theirs].filter((date) => date !== null).map(seconds)
  if (since.length > 0) fields.blockedAt = Math.min(...since)
  return fields
}
