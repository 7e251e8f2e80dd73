import type { Actor } from '../../core/actor.ts'
import { limitOf } from '../../core/settings.ts'
import { listRelations, lockUsers } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { type ApiError, fail } from '../../platform/http/fail.ts'
import { listClosedAmong } from '../roles/queries.ts'
import { refuseFriend } from './policy.ts'
import { countFriends, insertFriends, listFriendsAmong, removeFriends } from './queries.ts'
import type { Outcomes } from './schema.ts'

/** An error for one uid among several. */
export const refusal = ({ code, message }: ApiError) => ({
  success: false,
  error: { code, message },
})

/** Makes users friends, both ways; returns the result for each uid. */
export function addFriends(deps: Deps, actor: Actor, uid: string, given: string[]) {
  const appNo = actor.app.no
  const others = [...new Set(given)]
  return write(deps, actor, async (tx) => {
    const known = await lockUsers.many(tx, { appNo, uids: [uid, ...others] })
    const active = new Set(known.map((user) => user.uid))
    if (!active.has(uid)) throw fail('ERR_UID_NOT_FOUND', { uid })
    const closed = await closedAmong(tx, actor, [uid, ...others])
    if (closed.has(uid)) throw fail('ERR_PERMISSION_DENIED')
    const { added, outcomes } = await newFriends(tx, actor, uid, others, { active, closed })
    if (added.length > 0) {
      await insertFriends.run(tx, { appNo, uid, others: added })
      await announcePairs(tx, appNo, 'user.friends.added', uid, added)
    }
    return { accepted: outcomes }
  })
}

/** One event per pair: a friend doesn't learn whom else the user added or removed. */
async function announcePairs(
  tx: Tx,
  appNo: number,
  type: 'user.friends.added' | 'user.friends.removed',
  uid: string,
  friends: string[],
): Promise<void> {
  for (const friend of friends) {
    const payload = { uid, friends: [friend] }
    await announce(tx, { appNo, type, key: `user:${uid}`, payload })
  }
}

/** With an auth token, users could widen a role that is limited to friends, on either side. */
async function closedAmong(tx: Tx, { app, kind }: Actor, uids: string[]) {
  if (kind !== 'user') return new Set<string>()
  const rows = await listClosedAmong.many(tx, { appNo: app.no, uids })
  return new Set(rows.map((row) => row.uid))
}

/** Users who block the auth token's user. The app may do what it wants. */
async function blockersAmong(tx: Tx, { app, kind, uid = '' }: Actor, uids: string[]) {
  if (kind !== 'user') return new Set<string>()
  const relations = await listRelations.many(tx, { appNo: app.no, viewer: uid, uids })
  return new Set(relations.filter((one) => one.has_blocked_me_at).map((one) => one.uid))
}

async function newFriends(
  tx: Tx,
  actor: Actor,
  uid: string,
  others: string[],
  { active, closed }: { active: Set<string>; closed: Set<string> },
): Promise<{ added: string[]; outcomes: Outcomes }> {
  const { app, settings } = actor
  const appNo = app.no
  const blockers = await blockersAmong(tx, actor, others)
  const friends = await listFriendsAmong.many(tx, { appNo, uid, others })
  const already = new Set(friends.map((row) => row.friend_uid))
  const counts = await countFriends.many(tx, { appNo, uids: [uid, ...others] })
  const countOf = new Map(counts.map((row) => [row.uid, row.count]))
  const limit = limitOf(settings, 'limits.friendsPerUser')
  const full = (one: string) => (countOf.get(one) ?? 0) >= limit
  // Without a prototype: `__proto__` is a uid like any other.
  const outcomes: Outcomes = Object.create(null)
  const added: string[] = []
  for (const other of others) {
    const refused = refuseFriend({
      uid: other,
      limit,
      self: other === uid,
      active: active.has(other),
      blocked: blockers.has(other),
      already: already.has(other),
      closed: closed.has(other),
      full: full(uid) || full(other),
    })
    if (refused) {
      outcomes[other] = refusal(refused)
      continue
    }
    outcomes[other] = { success: true, message: 'Relation stored.' }
    countOf.set(uid, (countOf.get(uid) ?? 0) + 1)
    added.push(other)
  }
  return { added, outcomes }
}

/** Skips uids that aren't friends, unless none is. */
export function deleteFriends(deps: Deps, actor: Actor, uid: string, given: string[]) {
  const appNo = actor.app.no
  const others = [...new Set(given)]
  return write(deps, actor, async (tx) => {
    const known = await lockUsers.many(tx, { appNo, uids: [uid, ...others] })
    if (!known.some((user) => user.uid === uid)) throw fail('ERR_UID_NOT_FOUND', { uid })
    const removed = await removeFriends.many(tx, { appNo, uid, others })
    if (removed.length === 0) throw fail('ERR_NOT_A_FRIEND', { uid })
    const friends = removed.map((row) => row.friend_uid)
    await announcePairs(tx, appNo, 'user.friends.removed', uid, friends)
    return { success: true as const, message: 'Friends removed.' }
  })
}
