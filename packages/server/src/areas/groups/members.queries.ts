import type { MessageRecord, Scope } from '@loquat/protocol'
import { USER_COLUMNS, type UserRow } from '../../core/user-rows.ts'
import { query } from '../../platform/db/query.ts'

export type MemberRow = UserRow & { scope: Scope; joined_at: Date }

type OneMember = { appNo: number; guid: string; uid: string }

/** These statements change the members of a group: its head is locked. */
export const insertMember = query<OneMember & { scope: Scope }>(
  'members.insert',
  'select add_member(:appNo, :guid, :uid, :scope)',
)

export const removeMember = query<OneMember>(
  'members.remove',
  'select remove_member(:appNo, :guid, :uid)',
)

export const updateScope = query<OneMember & { scope: Scope }, { joined_at: Date }>(
  'members.updateScope',
  `update inbox set scope = :scope
   where app_no = :appNo and uid = :uid and kind = 'group' and with_id = :guid
     and scope is not null
   returning joined_at`,
)

/** The action message about a change; its entities are the users and group after it. */
export const appendMemberAction = query<
  OneMember & { by: string; action: string; extras: string | null; moves: boolean },
  { message: MessageRecord }
>(
  'members.appendAction',
  `select append_member_action(:appNo, :guid, :by, :uid, :action, :extras::jsonb, :moves)
     as message`,
)

type BanEnd = { /** Unix seconds. Null: it doesn't end by itself. */ until: number | null }

/** The ban stores the user's previous scope. It replaces one that has ended and whose row is still there. */
export const insertBan = query<OneMember & BanEnd & { scope: Scope | null; joinedAt: Date | null }>(
  'bans.insert',
  `insert into bans (app_no, guid, uid, scope, joined_at, until)
   values (:appNo, :guid, :uid, :scope, :joinedAt, to_timestamp(:until::float8))
   on conflict (app_no, guid, uid) do update set scope = excluded.scope, joined_at = excluded.joined_at,
     banned_at = excluded.banned_at, until = excluded.until`,
)

export const updateBan = query<OneMember & BanEnd>(
  'bans.update',
  `update bans set until = to_timestamp(:until::float8)
   where app_no = :appNo and guid = :guid and uid = :uid`,
)

/** Also ends the sanction that it belongs to, if there is one. */
export const removeBan = query<OneMember>(
  'bans.remove',
  `with ended as (
     delete from sanctions where app_no = :appNo and uid = :uid and kind = 'ban' and guid = :guid
   )
   delete from bans where app_no = :appNo and guid = :guid and uid = :uid`,
)

/** The ban with this end. There may be a later one without. */
export const removeBanOfSanction = query<OneMember & { until: Date | null }, { uid: string }>(
  'bans.removeOfSanction',
  `delete from bans
   where app_no = :appNo and guid = :guid and uid = :uid and until is not distinct from :until
   returning uid`,
)

/** How many groups each user is a member of. */
export const countMemberships = query<
  { appNo: number; uids: string[] },
  { uid: string; count: number }
>(
  'members.countMemberships',
  `select uid, count(*) from inbox
   where app_no = :appNo and uid = any(:uids::text[]) and kind = 'group' and scope is not null
   group by uid`,
)

export const findMember = query<OneMember, MemberRow>(
  'members.find',
  `select ${USER_COLUMNS}, scope, joined_at
   from users cross join (select scope, joined_at from inbox
     where app_no = :appNo and uid = :uid and kind = 'group' and with_id = :guid
       and scope is not null) member
   where app_no = :appNo and uid = :uid and removed_at is null`,
)

/** Members who were removed, until the sweep takes them out of the group. An index has the few removed users. */
export const countRemovedMembers = query<Pick<OneMember, 'appNo' | 'guid'>, { removed: number }>(
  'members.countRemoved',
  `select count(*)::int as removed from users u
     cross join lateral (
       select from inbox i
       where i.app_no = :appNo and i.uid = u.uid and i.kind = 'group' and i.with_id = :guid
         and i.scope is not null offset 0) member
   where u.app_no = :appNo and u.removed_at is not null`,
)

/**
 * The existing users among these, deactivated ones included: an unreachable member can still be
 * removed.
 */
export const holdTargets = query<{ appNo: number; uids: string[] }, { uid: string }>(
  'members.holdTargets',
  `select uid from users
   where app_no = :appNo and uid = any(:uids::text[]) and removed_at is null
   order by uid for share`,
)
