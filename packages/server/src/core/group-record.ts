import type { GroupRecord, Scope } from '@loquat/protocol'
import type { GroupRow } from './group-rows.ts'
import { builder } from './records/fields.ts'
import { GROUP } from './records/group.ts'
import { seconds } from './time.ts'

/** The record for everyone. */
export const toGroup = builder<GroupRecord, GroupRow>(GROUP)

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
