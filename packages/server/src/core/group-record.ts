import type { GroupRecord, Scope } from '@loquat/protocol'
import type { GroupRow } from './group-rows.ts'
import { seconds } from './time.ts'

/** The record for everyone. `group_record` in the database builds the same for messages. */
export function toGroup(row: GroupRow): GroupRecord {
  const group: GroupRecord = {
    guid: row.guid,
    name: row.name,
    type: row.type,
    owner: row.owner,
    membersCount: row.members_count,
    conversationId: `group_${row.guid}`,
    createdAt: seconds(row.created_at),
  }
  if (row.description !== null) group.description = row.description
  if (row.icon !== null) group.icon = row.icon
  if (row.metadata !== null) group.metadata = row.metadata
  if (row.updated_at) group.updatedAt = seconds(row.updated_at)
  if (row.updated_by !== null) group.updatedBy = row.updated_by
  return group
}

export const withTags = (group: GroupRecord, { tags }: GroupRow): GroupRecord =>
  tags.length > 0 ? { ...group, tags } : group

/** A viewer's membership in a group; both null if the viewer isn't a member. */
export interface Membership {
  scope: Scope | null
  joined_at: Date | null
}

export function asSeenBy(group: GroupRecord, { scope, joined_at: joinedAt }: Membership) {
  const seen: GroupRecord = { ...group, hasJoined: scope !== null }
  if (scope !== null) seen.scope = scope
  if (joinedAt) seen.joinedAt = seconds(joinedAt)
  return seen
}
