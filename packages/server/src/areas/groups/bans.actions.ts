import type { MessageRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { fail } from '../../platform/http/fail.ts'
import { holdUsers } from '../users/queries.ts'
import {
  holdTargets,
  insertBan,
  removeBan,
  removeBanOfSanction,
  removeMember,
  updateBan,
} from './members.queries.ts'
import {
  announceMember,
  appendMemberMessage,
  type LockedGroup,
  lockGroup,
  type Member,
} from './membership.ts'
import { refuseModerating, refuseRemoval, refuseUnban } from './policy.ts'
import { findGroup } from './queries.ts'

/**
 * Ends the membership, if there is one; a user who isn't a member can be banned too. `until`: Unix seconds, null if the
 * ban doesn't end by itself.
 */
export async function banMember(
  tx: Tx,
  locked: LockedGroup,
  target: Member,
  until: number | null = null,
): Promise<MessageRecord> {
  const { uid, scope, joinedAt } = target
  const member = { appNo: locked.actor.app.no, guid: locked.group.guid, uid }
  if (scope !== null) await removeMember.run(tx, member)
  await insertBan.run(tx, { ...member, scope, joinedAt, until })
  return appendMemberMessage(tx, locked, 'banned', uid)
}

export function banUser(deps: Deps, actor: Actor, guid: string, uid: string) {
  return write(deps, actor, async (tx) => {
    const known = await holdUsers.maybeOne(tx, { appNo: actor.app.no, uids: [uid] })
    const locked = await lockGroup(tx, actor, guid, [uid])
    const target = locked.memberState(uid)
    refuseIf(refuseRemoval(locked.acting, target))
    if (!known) throw fail('ERR_UID_NOT_FOUND', { uid })
    if (target.banned) throw fail('ERR_ALREADY_BANNED', { uid })
    await announceMember(tx, locked, await banMember(tx, locked, target))
    return { success: true as const, message: `${uid} is banned from ${guid}.` }
  })
}

/** The user may join again, but doesn't become a member by this. */
export function unbanUser(deps: Deps, actor: Actor, guid: string, uid: string) {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const known = await holdTargets.maybeOne(tx, { appNo, uids: [uid] })
    const locked = await lockGroup(tx, actor, guid, [uid])
    const target = locked.memberState(uid)
    refuseIf(refuseModerating(locked.acting))
    if (!known) throw fail('ERR_UID_NOT_FOUND', { uid })
    refuseIf(refuseUnban(locked.acting, target))
    await removeBan.run(tx, { appNo, guid, uid })
    await announceMember(tx, locked, await appendMemberMessage(tx, locked, 'unbanned', uid))
    return { success: true as const, message: `${uid} is no longer banned from ${guid}.` }
  })
}

/** Announces a change at the end of its transaction. */
type Announcing = () => Promise<void>

/**
 * What a sanction does to a user in a group: a ban is the same as any other, except that it can end; a mute needs a
 * member. `until`: Unix seconds, or null.
 */
export async function sanctionMember(
  tx: Tx,
  actor: Actor,
  guid: string,
  { uid, kind, until }: { uid: string; kind: 'mute' | 'ban'; until: number | null },
): Promise<Announcing | undefined> {
  const locked = await lockGroup(tx, actor, guid, [uid])
  const target = locked.memberState(uid)
  if (kind === 'mute') {
    if (target.scope === null) throw fail('ERR_NOT_A_MEMBER', { uid })
    return undefined
  }
  refuseIf(refuseRemoval(locked.acting, target))
  if (target.banned) {
    await updateBan.run(tx, { appNo: actor.app.no, guid, uid, until })
    return undefined
  }
  const message = await banMember(tx, locked, target, until)
  return () => announceMember(tx, locked, message)
}

/**
 * Removes the ban of a sanction that ends. There is nothing to announce if the group or the ban is gone, or if the user
 * has joined again after the end of the ban.
 */
export async function liftBan(
  tx: Tx,
  actor: Actor,
  { guid, uid, until }: { guid: string; uid: string; until: Date | null },
): Promise<Announcing | undefined> {
  const appNo = actor.app.no
  await holdTargets.maybeOne(tx, { appNo, uids: [uid] })
  if (!(await findGroup.maybeOne(tx, { appNo, guid }))) return undefined
  const locked = await lockGroup(tx, actor, guid, [uid])
  const removed = await removeBanOfSanction.maybeOne(tx, { appNo, guid, uid, until })
  if (!removed || locked.memberState(uid).scope !== null) return undefined
  const message = await appendMemberMessage(tx, locked, 'unbanned', uid)
  return () => announceMember(tx, locked, message)
}
