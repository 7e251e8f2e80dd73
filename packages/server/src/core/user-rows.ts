import type { CellRows } from '../../db/rows.gen.ts'
import { query } from '../platform/db/query.ts'

/** Blocks between the viewer and a user: since when one blocks the other, or null. */
export interface Relation {
  blocked_by_me_at: Date | null
  has_blocked_me_at: Date | null
}

export type UserRow = Omit<
  CellRows['users'],
  'app_no' | 'name_key' | 'avatar_file' | 'added_at' | 'removed_at' | 'metadata' | 'tags' | 'bot'
> & { metadata: Record<string, unknown> | null; tags: string[] }

/**
 * The columns of a user in answers; a deleted role shows as `default` until its users are moved. Most users have the
 * default role, and calling `shown_role` for it would cost more than reading the user.
 */
export const USER_COLUMNS = `
  uid, name, avatar, link, case role when 'default' then role else shown_role(app_no, role) end as role,
  status_message, metadata, tags,
  online, last_active_at, created_at, updated_at, deactivated_at`

/** The active users among these, sorted by uid: the order in which all code locks users. */
export const lockUsers = query<{ appNo: number; uids: string[] }, UserRow>(
  'users.lock',
  `select ${USER_COLUMNS} from users
   where app_no = :appNo and uid = any(:uids::text[])
     and deactivated_at is null and removed_at is null
   order by uid for no key update`,
)

/** The users among these whom the viewer blocks, or who block the viewer. */
export const listRelations = query<
  { appNo: number; viewer: string; uids: string[] },
  Relation & { uid: string }
>(
  'users.listRelations',
  `select listed.uid, mine.created_at as blocked_by_me_at, theirs.created_at as has_blocked_me_at
   from json_array_elements_text(array_to_json(:uids::text[])) as listed (uid)
   left join blocks mine
     on mine.app_no = :appNo and mine.uid = :viewer and mine.blocked_uid = listed.uid
   left join blocks theirs
     on theirs.app_no = :appNo and theirs.uid = listed.uid and theirs.blocked_uid = :viewer
   where mine.uid is not null or theirs.uid is not null`,
)

/**
 * Whether one of the two blocks the other. The first lookup of each direction runs once per
 * statement: most viewers have no block, and then no user is looked up. A null viewer is the app.
 */
export const isApart = (viewer: string, uid: string) => `(
  case when exists (select from blocks b where b.app_no = :appNo and b.uid = ${viewer}) then exists (
    select from blocks b
    where b.app_no = :appNo and b.uid = ${viewer} and b.blocked_uid = ${uid}) else false end
  or case when exists (select from blocks b where b.app_no = :appNo and b.blocked_uid = ${viewer}) then exists (
    select from blocks b
    where b.app_no = :appNo and b.uid = ${uid} and b.blocked_uid = ${viewer}) else false end)`
