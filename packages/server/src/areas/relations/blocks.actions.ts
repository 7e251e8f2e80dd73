import type { Deps } from '../../deps.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import type { Actor } from '../access/actor.ts'
import { write } from '../access/write.ts'
import { holdUsers, type UserRow } from '../users/queries.ts'
import { toUser } from '../users/record.ts'
import { refusal } from './friends.actions.ts'
import { setBlocks } from './queries.ts'
import type { Outcomes } from './schema.ts'

export const blockUsers = (deps: Deps, actor: Actor, uid: string, others: string[]) =>
  changeBlocks(deps, actor, uid, others, true)

export const unblockUsers = (deps: Deps, actor: Actor, uid: string, others: string[]) =>
  changeBlocks(deps, actor, uid, others, false)

/** Blocking twice, or releasing somebody who was not blocked, changes nothing, and is told as success. */
function changeBlocks(
  deps: Deps,
  actor: Actor,
  uid: string,
  given: string[],
  blocked: boolean,
): Promise<Outcomes> {
  const appNo = actor.app.no
  const others = [...new Set(given)]
  return write(deps, actor, async (tx) => {
    const users = await holdParties(tx, appNo, uid, others)
    const able = others.filter((other) => other !== uid && users.has(other))
    const rows = await setBlocks.many(tx, { appNo, uid, others: able, blocked })
    const changed = rows.map((row) => row.blocked_uid)
    await announceBlocks(
      tx,
      appNo,
      blocked ? 'user.blocked' : 'user.unblocked',
      uid,
      changed,
      users,
    )
    const text = blocked ? 'now blocks' : 'no longer blocks'
    return tell(others, uid, users, (other) => `${uid} ${text} ${other}.`)
  })
}

/** All who take part and are active; none of them can be removed meanwhile. */
async function holdParties(tx: Tx, appNo: number, uid: string, others: string[]) {
  const rows = await holdUsers.many(tx, { appNo, uids: [uid, ...others] })
  const users = new Map(rows.map((row) => [row.uid, row]))
  if (!users.has(uid)) throw fail('ERR_UID_NOT_FOUND', { uid })
  return users
}

function tell(
  others: string[],
  uid: string,
  users: Map<string, UserRow>,
  text: (other: string) => string,
): Outcomes {
  const outcomeOf = (other: string) => {
    if (other === uid) return refusal('ERR_CANNOT_BLOCK_SELF')
    if (!users.has(other)) return refusal('ERR_UID_NOT_FOUND', { uid: other })
    return { success: true, message: text(other) }
  }
  return Object.fromEntries(others.map((other) => [other, outcomeOf(other)]))
}

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
  const users = Object.fromEntries(rows.map((row) => [row.uid, toUser(row)]))
  await announce(tx, { appNo, type, key: `user:${uid}`, payload: { users, by: toUser(by) } })
}
