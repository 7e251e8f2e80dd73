import { type Relation, USER_COLUMNS, type UserRow } from '../../core/user-rows.ts'
import { query } from '../../platform/db/query.ts'
import { type Sql, sql } from '../../platform/db/sql.ts'

export const findUser = query<{ appNo: number; uid: string }, UserRow>(
  'users.find',
  `select ${USER_COLUMNS} from users
   where app_no = :appNo and uid = :uid and deactivated_at is null and removed_at is null`,
)

/**
 * The same as another user sees it, with the blocks between the two. Always one row: `active` says whether the viewer
 * is an active user, and `uid` is null if there is no such user.
 */
export const findUserSeen = query<
  { appNo: number; uid: string; viewer: string },
  { active: boolean } & ((UserRow & Relation) | { uid: null })
>(
  'users.findSeen',
  `select viewer.active, seen.*
   from (select exists (select from users where app_no = :appNo and uid = :viewer
       and deactivated_at is null and removed_at is null) as active) viewer
   left join (
     select ${USER_COLUMNS},
       (select b.created_at from blocks b
        where b.app_no = :appNo and b.uid = :viewer and b.blocked_uid = :uid) as blocked_by_me_at,
       (select b.created_at from blocks b
        where b.app_no = :appNo and b.uid = :uid and b.blocked_uid = :viewer) as has_blocked_me_at
     from users
     where app_no = :appNo and uid = :uid and deactivated_at is null and removed_at is null
   ) seen on true`,
)

/** Whether two users are friends. */
export const findFriendship = query<
  { appNo: number; uid: string; other: string },
  { friend: boolean }
>(
  'users.findFriendship',
  `select exists (select from friends
     where app_no = :appNo and uid = :uid and friend_uid = :other) as friend`,
)

/** One of the roles as shown: users with a deleted role count as `default` until they are moved. */
export const hasRole = (appNo: number, wanted: readonly string[]): Sql =>
  sql`role = any(array(
    select r.role from roles r where r.app_no = ${appNo}
      and case when r.removed_at is null then r.role else 'default' end = any(${wanted}::text[])))`

/**
 * Whether a user is online, for this viewer: users across a block appear offline. The blocks are
 * read once for all users.
 */
export const onlineTo = (appNo: number, viewer: string | undefined): Sql =>
  viewer === undefined
    ? sql`online`
    : sql`(online and uid not in (
        select b.blocked_uid from blocks b where b.app_no = ${appNo} and b.uid = ${viewer}
        union all
        select b.uid from blocks b where b.app_no = ${appNo} and b.blocked_uid = ${viewer}))`

/**
 * As `lockUsers`, but only protects against deletion: writers that just need the users to stay don't wait
 * for each other.
 */
export const holdUsers = query<{ appNo: number; uids: string[] }, UserRow>(
  'users.hold',
  `select ${USER_COLUMNS} from users
   where app_no = :appNo and uid = any(:uids::text[])
     and deactivated_at is null and removed_at is null
   order by uid for share`,
)

/** The same for active and deactivated users. */
export const holdAnyUsers = query<{ appNo: number; uids: string[] }, UserRow>(
  'users.holdAny',
  `select ${USER_COLUMNS} from users
   where app_no = :appNo and uid = any(:uids::text[]) and removed_at is null
   order by uid for share`,
)

/** No row if the uid is taken. */
export const insertUser = query<
  {
    appNo: number
    uid: string
    name: string
    avatar: string | null
    avatarFile: string | null
    link: string | null
    role: string
    statusMessage: string | null
    metadata: string | null
    tags: string[]
    bot: boolean
  },
  UserRow
>(
  'users.insert',
  `insert into users
     (app_no, uid, name, avatar, avatar_file, link, role, status_message, metadata, tags, bot)
   values
     (:appNo, :uid, :name, :avatar, :avatarFile, :link, :role, :statusMessage, :metadata::jsonb, :tags::text[],
      :bot)
   on conflict do nothing
   returning ${USER_COLUMNS}`,
)

/** null keeps a field; `unset` clears it. */
export const updateUserRow = query<
  {
    appNo: number
    uid: string
    name: string | null
    avatar: string | null
    avatarFile: string | null
    link: string | null
    role: string | null
    statusMessage: string | null
    metadata: string | null
    tags: string[] | null
    unset: string[]
  },
  UserRow
>(
  'users.update',
  `update users set
     name = coalesce(:name, name),
     avatar = case when 'avatar' = any(:unset::text[]) then null else coalesce(:avatar, avatar) end,
     avatar_file = case when 'avatar' = any(:unset) or :avatar is not null then :avatarFile
       else avatar_file end,
     link = case when 'link' = any(:unset) then null else coalesce(:link, link) end,
     role = coalesce(:role, role),
     status_message = case when 'statusMessage' = any(:unset) then null
       else coalesce(:statusMessage, status_message) end,
     metadata = case when 'metadata' = any(:unset) then null
       else coalesce(:metadata::jsonb, metadata) end,
     tags = coalesce(:tags::text[], tags),
     updated_at = now()
   where app_no = :appNo and uid = :uid and deactivated_at is null and removed_at is null
   returning ${USER_COLUMNS}`,
)

/** Active and deactivated users, locked by uid: for deactivating, reactivating and deleting. */
export const lockAnyUsers = query<{ appNo: number; uids: string[] }, UserRow>(
  'users.lockAny',
  `select ${USER_COLUMNS} from users
   where app_no = :appNo and uid = any(:uids::text[]) and removed_at is null
   order by uid for update`,
)

export const updateDeactivated = query<
  { appNo: number; uids: string[]; deactivated: boolean },
  UserRow
>(
  'users.updateDeactivated',
  `update users
   set deactivated_at = case when :deactivated then now() end, updated_at = now()
   where app_no = :appNo and uid = any(:uids::text[])
     and (deactivated_at is not null) <> :deactivated and removed_at is null
   returning ${USER_COLUMNS}`,
)

/** Takes users who can't act any more out of their calls: see `leave_calls`. */
export const leaveCalls = query<{ appNo: number; uids: string[] }>(
  'users.leaveCalls',
  'select leave_calls(:appNo::int, uid) from unnest(:uids::text[]) uid',
)

/** Removes pins with this user, so that the next owner of the uid doesn't inherit them. */
export const markRemoved = query<{ appNo: number; uid: string }>(
  'users.markRemoved',
  `with unpinned as (
     delete from app_pins where app_no = :appNo and kind = 'user' and id = :uid
   )
   update users set removed_at = now() where app_no = :appNo and uid = :uid`,
)

/**
 * Removes up to :limit rows of a deleted user's relations; the user's row goes last. Returns
 * whether it is gone.
 */
export const sweepUser = query<{ appNo: number; uid: string; limit: number }, { gone: boolean }>(
  'users.sweep',
  'select sweep_user(:appNo, :uid, :limit) as gone',
)
