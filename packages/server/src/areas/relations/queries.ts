import { query } from '../../platform/db/query.ts'

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

/** Inserts both directions. The users are locked, so nobody else writes these rows. */
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

/** How many users this user blocks, and which of the others. The user is locked. */
export const findBlocks = query<Pairs, { count: number; already: string[] }>(
  'blocks.find',
  `select (select count(*) from blocks where app_no = :appNo and uid = :uid) as count,
     array(select blocked_uid from blocks
       where app_no = :appNo and uid = :uid and blocked_uid = any(:others::text[])) as already`,
)

/** Blocks or unblocks other users; returns those whose state changed. */
export const setBlocks = query<Pairs & { blocked: boolean }, { blocked_uid: string }>(
  'blocks.set',
  'select set_blocks(:appNo, :uid, :others::text[], :blocked) as blocked_uid',
)
