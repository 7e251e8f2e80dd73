import type { Actor } from '../../core/actor.ts'
import type { Refusal } from '../../core/policy.ts'
import { limitOf } from '../../core/settings.ts'
import { toSnapshot, toUser } from '../../core/user-record.ts'
import { lockUsers, type UserRow } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import { holdAnyUsers } from '../users/queries.ts'
import { refusal } from './friends.actions.ts'
import { refuseBlock } from './policy.ts'
import { findBlocks, setBlocks } from './queries.ts'
import type { Outcomes } from './schema.ts'

export const blockUsers = (
  deps: Deps,
  actor: Actor,
  uid: string,
  others: string[],
): Promise<Outcomes> => write(deps, actor, (tx) => addBlocks(tx, actor, uid, others))

/** Blocking twice changes nothing and succeeds. */
export async function addBlocks(
  tx: Tx,
  actor: Actor,
  uid: string,
  given: string[],
): Promise<Outcomes> {
  const appNo = actor.app.no
  const others = [...new Set(given)]
  const users = byUid(await lockUsers.many(tx, { appNo, uids: [uid, ...others] }))
  if (!users.has(uid)) throw fail('ERR_UID_NOT_FOUND', { uid })
  const refusals = await refusalsOf(tx, actor, uid, others, users)
  const able = others.filter((other) => !refusals.get(other))
  const rows = await setBlocks.many(tx, { appNo, uid, others: able, blocked: true })
  const changed = rows.map((row) => row.blocked_uid)
  await announceBlocks(tx, appNo, 'user.blocked', uid, changed, users)
  return outcomes(others, (other) => {
    const refused = refusals.get(other)
    return refused ? refusal(refused) : { success: true, message: `${uid} now blocks ${other}.` }
  })
}

/** Who can't be blocked, and why. The users are locked. */
async function refusalsOf(
  tx: Tx,
  { app, settings }: Actor,
  uid: string,
  others: string[],
  active: Map<string, UserRow>,
): Promise<Map<string, Refusal>> {
  const blocks = await findBlocks.one(tx, { appNo: app.no, uid, others })
  const limit = limitOf(settings, 'limits.blocksPerUser')
  const refusals = new Map<string, Refusal>()
  let { count } = blocks
  for (const other of others) {
    const already = blocks.already.includes(other)
    const known = { uid: other, self: other === uid, active: active.has(other), already }
    const refused = refuseBlock({ ...known, limit, full: count >= limit })
    refusals.set(other, refused)
    if (!refused && !already) count++
  }
  return refusals
}

/**
 * Unblocking a user who wasn't blocked changes nothing and succeeds. A blocked user who is
 * deactivated can be unblocked too, but otherwise looks as if they didn't exist.
 */
export function unblockUsers(
  deps: Deps,
  actor: Actor,
  uid: string,
  given: string[],
): Promise<Outcomes> {
  const appNo = actor.app.no
  const others = [...new Set(given)]
  return write(deps, actor, async (tx) => {
    const users = byUid(await holdAnyUsers.many(tx, { appNo, uids: [uid, ...others] }))
    const isActive = (one: string) => users.get(one)?.deactivated_at === null
    if (!isActive(uid)) throw fail('ERR_UID_NOT_FOUND', { uid })
    const rows = await setBlocks.many(tx, { appNo, uid, others, blocked: false })
    const changed = rows.map((row) => row.blocked_uid)
    await announceBlocks(tx, appNo, 'user.unblocked', uid, changed, users)
    return outcomes(others, (other) =>
      isActive(other) || changed.includes(other)
        ? { success: true, message: `${uid} no longer blocks ${other}.` }
        : refusal(fail('ERR_UID_NOT_FOUND', { uid: other })),
    )
  })
}

/** None of these users can be deleted meanwhile. */
const byUid = (rows: UserRow[]) => new Map(rows.map((row) => [row.uid, row]))

const outcomes = (others: string[], of: (other: string) => Outcomes[string]): Outcomes =>
  Object.fromEntries(others.map((other) => [other, of(other)]))

async function announceBlocks(
  tx: Tx,
  appNo: number,
  type: 'user.blocked' | 'user.unblocked',
  uid: string,
  changed: string[],
  known: Map<string, UserRow>,
): Promise<void> {
  const by = known.get(uid)
  const rows = changed.flatMap((other) => known.get(other) ?? [])
  if (!by || rows.length === 0) return
  const users = Object.fromEntries(rows.map((row) => [row.uid, toSnapshot(toUser(row))]))
  await announce(tx, {
    appNo,
    type,
    key: `user:${uid}`,
    payload: { users, by: toSnapshot(toUser(by)) },
  })
}
