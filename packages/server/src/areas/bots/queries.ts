import { USER_COLUMNS, type UserRow } from '../../core/user-rows.ts'
import { query } from '../../platform/db/query.ts'

/**
 * Sorted by uid, deactivated bots included. An app has at most 25, so all are read and paged in
 * memory.
 */
export const listBots = query<{ appNo: number }, UserRow>(
  'bots.list',
  `select ${USER_COLUMNS} from users
   where app_no = :appNo and bot and removed_at is null order by uid`,
)

export const findBot = query<{ appNo: number; uid: string }, { deactivated_at: Date | null }>(
  'bots.find',
  `select deactivated_at from users
   where app_no = :appNo and uid = :uid and bot and removed_at is null`,
)

/** Serialises the creation of an app's bots, so that their number is exact. */
export const lockBots = query<{ appNo: number }>(
  'bots.lock',
  'select from apps where app_no = :appNo for no key update',
)
