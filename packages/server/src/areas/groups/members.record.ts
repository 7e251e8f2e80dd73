import type { UserRecord } from '@loquat/protocol'
import { seconds } from '../../core/time.ts'
import type { BanRow } from './members.list.ts'
import type { MemberRow } from './members.queries.ts'
import type { BannedRecord, MemberRecord } from './members.schema.ts'

/** `user` is the record of the same row, as the viewer sees it. */
export const toMember = (row: MemberRow, user: UserRecord): MemberRecord => ({
  ...user,
  scope: row.scope,
  joinedAt: seconds(row.joined_at),
})

export function toBanned(row: BanRow, user: UserRecord): BannedRecord {
  const bannedAt = seconds(row.banned_at)
  const banned: BannedRecord = { ...user, isBanned: true, bannedAt }
  if (row.scope !== null) banned.scope = row.scope
  if (row.joined_at) banned.joinedAt = seconds(row.joined_at)
  return banned
}
