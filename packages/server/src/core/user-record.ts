import type { UserRecord } from '@loquat/protocol'
import { conversationIdOf } from './ids.ts'
import { seconds } from './time.ts'
import type { Relation, UserRow } from './user-rows.ts'

/** The record with everything that the app may see. */
export function toUser(row: UserRow): UserRecord {
  const user: UserRecord = {
    uid: row.uid,
    name: row.name,
    role: row.role,
    status: row.online ? 'online' : 'offline',
    createdAt: seconds(row.created_at),
  }
  if (row.avatar !== null) user.avatar = row.avatar
  if (row.link !== null) user.link = row.link
  if (row.status_message !== null) user.statusMessage = row.status_message
  if (row.metadata !== null) user.metadata = row.metadata
  if (row.last_active_at) user.lastActiveAt = seconds(row.last_active_at)
  if (row.updated_at) user.updatedAt = seconds(row.updated_at)
  if (row.deactivated_at) user.deactivatedAt = seconds(row.deactivated_at)
  return user
}

export const withTags = (user: UserRecord, { tags }: UserRow): UserRecord =>
  tags.length > 0 ? { ...user, tags } : user

/** The record without the user's private data. */
export function toSharedUser(row: UserRow): UserRecord {
  const user = toUser(row)
  if (user.metadata) {
    const { '@private': _private, ...shared } = user.metadata
    user.metadata = shared
  }
  return user
}

/** The record as a user across a block sees it: neither sees whether the other is online. */
export function withoutPresence({ lastActiveAt: _lastActiveAt, ...user }: UserRecord): UserRecord {
  return { ...user, status: 'offline' }
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
