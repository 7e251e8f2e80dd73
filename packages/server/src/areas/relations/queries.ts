import { query } from '../../platform/db/query.ts'
import { type Relation, USER_COLUMNS, type UserRow } from '../users/queries.ts'

type Pairs = { appNo: number; uid: string; others: string[] }

export const listFriendsAmong = query<Pairs, { friend_uid: string }>(
  'friends.listAmong',
  `select friend_uid from friends
   where app_no = :appNo and uid = :uid and friend_uid = any(:others::text[])`,
)

export const countFriends = query<
  { appNo: number; uids: string[] },
  { uid: string; count: number }
>(
  'friends.count',
  `select uid, count(*) from friends
   where app_no = :appNo and uid = any(:uids::text[]) group by uid`,
)

/** Both ways. The users are locked, so nobody else writes these rows. */
export const insertFriends = query<Pairs>(
  'friends.insert',
  `insert into friends (app_no, uid, friend_uid)
   select :appNo, pair.uid, pair.friend_uid
   from unnest(:others::text[]) as other (uid),
     lateral (values (:uid, other.uid), (other.uid, :uid)) as pair (uid, friend_uid)
   order by pair.uid, pair.friend_uid`,
)

export const removeFriends = query<Pairs, { friend_uid: string }>(
  'friends.remove',
  `with gone as (
     delete from friends where app_no = :appNo and (
       (uid = :uid and friend_uid = any(:others::text[]))
       or (uid = any(:others) and friend_uid = :uid))
     returning uid, friend_uid
   )
   select friend_uid from gone where uid = :uid order by friend_uid`,
)

/** Blocks others or releases them; returns those for whom that is new. */
export const setBlocks = query<Pairs & { blocked: boolean }, { blocked_uid: string }>(
  'blocks.set',
  'select set_blocks(:appNo, :uid, :others::text[], :blocked) as blocked_uid',
)

export type SeenUserRow = UserRow & Relation
type ListParams = { appNo: number; uid: string; searchKey: string | null }

/** How the viewer :uid and user `u` stand to each other. */
const RELATION = `
  (select b.created_at from blocks b
   where b.app_no = u.app_no and b.uid = :uid and b.blocked_uid = u.uid) as blocked_by_me_at,
  (select b.created_at from blocks b
   where b.app_no = u.app_no and b.uid = u.uid and b.blocked_uid = :uid) as has_blocked_me_at`

const MATCHES = `(:searchKey::text is null
  or strpos(u.name_key, nullif(fold_name(:searchKey), '')) > 0 or starts_with(u.uid, lower(:searchKey)))`

/** By name, then uid. A user has at most as many as its app allows, so all are read and paged together. */
export const listFriends = query<ListParams, SeenUserRow>(
  'friends.list',
  `select ${USER_COLUMNS}, ${RELATION}
   from users u
   where app_no = :appNo and deactivated_at is null and removed_at is null and ${MATCHES}
     and uid in (select friend_uid from friends f where f.app_no = :appNo and f.uid = :uid)
   order by name_key, uid`,
)

/** By name, then uid: whom :uid blocks, who blocks :uid, or both. */
export const listBlocks = query<ListParams & { mine: boolean; theirs: boolean }, SeenUserRow>(
  'blocks.list',
  `select ${USER_COLUMNS}, ${RELATION}
   from users u
   where app_no = :appNo and deactivated_at is null and removed_at is null and ${MATCHES}
     and uid in (
       select b.blocked_uid from blocks b where :mine and b.app_no = :appNo and b.uid = :uid
       union
       select b.uid from blocks b where :theirs and b.app_no = :appNo and b.blocked_uid = :uid)
   order by name_key, uid`,
)
