import type { GroupType, Scope } from '@loquat/protocol'
import { GROUP_COLUMNS, type GroupRow } from '../../core/group-rows.ts'
import { BAN_IS_IN_FORCE } from '../../core/visibility.ts'
import { query } from '../../platform/db/query.ts'

type OneGroup = { appNo: number; guid: string }

export const findGroup = query<OneGroup, GroupRow>(
  'groups.find',
  `select ${GROUP_COLUMNS} from groups g
   where app_no = :appNo and guid = :guid and removed_at is null`,
)

export const findPasswordHash = query<OneGroup, { password_hash: string | null }>(
  'groups.findPasswordHash',
  `select password_hash from groups
   where app_no = :appNo and guid = :guid and type = 'password' and removed_at is null`,
)

/**
 * The same for a user who wants to join; members and banned users are rejected whatever they send.
 */
export const findHashToProve = query<OneGroup & { uid: string }, { password_hash: string | null }>(
  'groups.findHashToProve',
  `select password_hash from groups
   where app_no = :appNo and guid = :guid and type = 'password' and removed_at is null
     and not exists (select from bans b
       where b.app_no = :appNo and b.guid = :guid and b.uid = :uid and ${BAN_IS_IN_FORCE})
     and not exists (select from inbox
       where app_no = :appNo and uid = :uid and kind = 'group' and with_id = :guid
         and scope is not null)`,
)

/** No row if the guid is taken, or its previous group is still being swept. */
export const insertGroup = query<
  OneGroup & {
    name: string
    type: GroupType
    passwordHash: string | null
    icon: string | null
    iconFile: string | null
    description: string | null
    owner: string
    metadata: string | null
    tags: string[]
  },
  { guid: string }
>(
  'groups.insert',
  `insert into groups
     (app_no, guid, name, type, password_hash, icon, icon_file, description, owner, metadata, tags)
   values
     (:appNo, :guid, :name, :type, :passwordHash, :icon, :iconFile, :description, :owner,
      :metadata::jsonb, :tags::text[])
   on conflict do nothing
   returning guid`,
)

export const insertHead = query<OneGroup, { no: number }>(
  'groups.insertHead',
  `insert into conversations (app_no, kind, one, other) values (:appNo, 'group', :guid, '')
   returning no`,
)

/** null keeps a field; `unset` clears it. Only groups of type `password` keep a password. */
export const updateGroupRow = query<
  OneGroup & {
    name: string | null
    type: GroupType | null
    passwordHash: string | null
    icon: string | null
    iconFile: string | null
    description: string | null
    metadata: string | null
    tags: string[] | null
    unset: string[]
    by: string
  }
>(
  'groups.update',
  `update groups set
     name = coalesce(:name, name),
     type = coalesce(:type, type),
     password_hash = case when coalesce(:type, type) = 'password'
       then coalesce(:passwordHash, password_hash) end,
     icon = case when 'icon' = any(:unset::text[]) then null else coalesce(:icon, icon) end,
     icon_file = case when 'icon' = any(:unset) or :icon is not null then :iconFile
       else icon_file end,
     description = case when 'description' = any(:unset) then null
       else coalesce(:description, description) end,
     metadata = case when 'metadata' = any(:unset) then null
       else coalesce(:metadata::jsonb, metadata) end,
     tags = coalesce(:tags::text[], tags),
     updated_at = now(), updated_by = :by
   where app_no = :appNo and guid = :guid`,
)

export const updateOwner = query<OneGroup & { owner: string; by: string }>(
  'groups.updateOwner',
  `update groups set owner = :owner, updated_at = now(), updated_by = :by
   where app_no = :appNo and guid = :guid`,
)

/** Removes pins of this group, so that the next group with this guid doesn't inherit them. */
export const markGroupRemoved = query<OneGroup>(
  'groups.markRemoved',
  `with unpinned as (
     delete from app_pins where app_no = :appNo and kind = 'group' and id = :guid
   )
   update groups set removed_at = now() where app_no = :appNo and guid = :guid`,
)

/** Removes up to :limit rows of a deleted group; the group's row goes last. */
export const sweepGroup = query<OneGroup & { limit: number }, { gone: boolean }>(
  'groups.sweep',
  'select sweep_group(:appNo, :guid, :limit) as gone',
)

/** Rows older than the log: nobody resumes from there. */
export const removeOldFormerMembers = query<{ days: number; limit: number }, { removed: number }>(
  'groups.removeOldFormerMembers',
  `with old as (
     select ctid from former_members where at < now() - make_interval(days => :days + 1) limit :limit
   ), gone as (
     delete from former_members where ctid = any (array(select ctid from old)) returning 1
   )
   select count(*) as removed from gone`,
)

export interface MemberStateRow {
  uid: string
  scope: Scope | null
  joined_at: Date | null
  banned: boolean
  former_scope: Scope | null
}

/** The state of each of these users in a group. */
export const listMemberStates = query<OneGroup & { uids: string[] }, MemberStateRow>(
  'groups.listMemberStates',
  `select u.uid, i.scope, i.joined_at, b.uid is not null as banned, b.scope as former_scope
   from unnest(:uids::text[]) as u (uid)
   left join inbox i on i.app_no = :appNo and i.uid = u.uid and i.kind = 'group'
     and i.with_id = :guid and i.scope is not null
   left join bans b on b.app_no = :appNo and b.guid = :guid and b.uid = u.uid and ${BAN_IS_IN_FORCE}`,
)
