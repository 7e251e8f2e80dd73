import type { GroupRecord } from '@loquat/protocol'
import { authorize } from '../../core/access/authorize.ts'
import type { Actor } from '../../core/actor.ts'
import { asSeenBy, toGroup, withTags } from '../../core/group-record.ts'
import { findGroupSeen } from '../../core/group-seen.ts'
import { refuseIf } from '../../core/policy.ts'
import { lockUsers } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { fail } from '../../platform/http/fail.ts'
import { isPassword } from '../../platform/secrets/passwords.ts'
import { insertMember, removeMember } from './members.queries.ts'
import { announceMember, appendMemberMessage, Ceilings, lockGroup } from './membership.ts'
import { refuseJoin, refuseLeaving } from './policy.ts'
import { findHashToProve, findPasswordHash } from './queries.ts'
import { countTry, type TriesDeps } from './tries.ts'

/** A user who acts for themselves: these operations are not for the app. */
export type ActingUser = Actor & { uid: string }

/** A hash, and whether the given password matches it. */
interface Proof {
  hash: string | null
  holds: boolean
}

export async function joinGroup(
  deps: TriesDeps,
  actor: ActingUser,
  guid: string,
  password = '',
): Promise<GroupRecord> {
  const { uid } = actor
  const appNo = actor.app.no
  const proof = await prove(deps, actor, guid, password)
  return write(deps, actor, async (tx) => {
    const known = await lockUsers.maybeOne(tx, { appNo, uids: [uid] })
    if (!known) throw fail('ERR_UID_NOT_FOUND', { uid })
    const locked = await lockGroup(tx, actor, guid)
    authorize(actor, { permission: 'joinGroup' }, { groupType: locked.group.type })
    refuseIf(refuseJoin(locked.memberState(uid), locked.group))
    if (locked.group.type === 'password') {
      if (password === '') throw fail('ERR_EMPTY_GROUP_PASS')
      // The password may have changed since the check.
      const now = await findPasswordHash.maybeOne(tx, { appNo, guid })
      if (!proof.holds || now?.password_hash !== proof.hash) throw fail('ERR_WRONG_GROUP_PASS')
    }
    refuseIf((await Ceilings.read(tx, actor, locked.group, [uid])).take(uid))
    await insertMember.run(tx, { appNo, guid, uid, scope: 'participant' })
    const message = await appendMemberMessage(tx, locked, 'joined', uid)
    const row = await findGroupSeen.one(tx, { appNo, guid, viewer: uid })
    await announceMember(tx, locked, message)
    return asSeenBy(withTags(toGroup(row), row), row)
  })
}

/** Takes tens of milliseconds, by design: no lock is held meanwhile. */
async function prove(
  deps: TriesDeps,
  actor: ActingUser,
  guid: string,
  password: string,
): Promise<Proof> {
  const { app, uid } = actor
  const given = { appNo: app.no, guid, uid }
  const row = password === '' ? undefined : await findHashToProve.maybeOne(app.cell.db, given)
  const hash = row?.password_hash ?? null
  if (hash === null) return { hash, holds: false }
  await countTry(deps, actor, guid)
  return { hash, holds: await isPassword(password, hash) }
}

export function leaveGroup(deps: Deps, actor: ActingUser, guid: string) {
  const { uid } = actor
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const locked = await lockGroup(tx, actor, guid)
    refuseIf(refuseLeaving(locked.memberState(uid)))
    await removeMember.run(tx, { appNo, guid, uid })
    await announceMember(tx, locked, await appendMemberMessage(tx, locked, 'left', uid))
    return { success: true as const, message: `${uid} left ${guid}.` }
  })
}
