import type { GroupRecord, MessageRecord } from '@loquat/protocol'
import { asSeenBy, toGroup, withTags } from '../../core/group-record.ts'
import { findGroupSeen } from '../../core/group-seen.ts'
import { SYSTEM_UID } from '../../core/ids.ts'
import { refuseIf } from '../../core/policy.ts'
import { lockUsers } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import type { ActingUser } from './join.actions.ts'
import { insertMember, updateScope } from './members.queries.ts'
import {
  announceMember,
  appendMemberMessage,
  Ceilings,
  type LockedGroup,
  lockGroup,
  type Member,
  orderKeyOf,
} from './membership.ts'
import { refuseTransfer } from './policy.ts'
import { updateOwner } from './queries.ts'

/** The old owner stays an admin. */
export function transferGroup(
  deps: Deps,
  actor: ActingUser,
  guid: string,
  owner: string,
): Promise<GroupRecord> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const known = await lockUsers.maybeOne(tx, { appNo, uids: [owner] })
    const locked = await lockGroup(tx, actor, guid, [owner])
    refuseIf(refuseTransfer(locked.acting, locked.memberState(owner)))
    if (!known) throw fail('ERR_UID_NOT_FOUND', { uid: owner })
    const messages = await transferOwnership(tx, locked, owner)
    const row = await findGroupSeen.one(tx, { appNo, guid, viewer: actor.uid })
    const group = withTags(toGroup(row), row)
    for (const message of messages) await announceMember(tx, locked, message)
    await announceOwner(tx, locked, group)
    return asSeenBy(group, row)
  })
}

/** The owner of a group is an admin of it; the returned action messages say what that changes. */
export async function transferOwnership(
  tx: Tx,
  locked: LockedGroup,
  owner: string,
): Promise<MessageRecord[]> {
  const { actor, group } = locked
  const by = actor.uid ?? SYSTEM_UID
  const messages =
    owner === SYSTEM_UID ? [] : await makeAdmin(tx, locked, locked.memberState(owner))
  await updateOwner.run(tx, { appNo: actor.app.no, guid: group.guid, owner, by })
  return messages
}

async function makeAdmin(tx: Tx, locked: LockedGroup, target: Member): Promise<MessageRecord[]> {
  const { uid, scope: old, banned } = target
  const member = {
    appNo: locked.actor.app.no,
    guid: locked.group.guid,
    uid,
    scope: 'admin' as const,
  }
  if (banned) throw fail('ERR_BANNED_GROUPMEMBER')
  if (old === 'admin') return []
  if (old === null) {
    refuseIf((await Ceilings.read(tx, locked.actor, locked.group, [uid])).take(uid))
    await insertMember.run(tx, member)
    return [await appendMemberMessage(tx, locked, 'added', uid)]
  }
  await updateScope.run(tx, member)
  return [await appendMemberMessage(tx, locked, 'scopeChanged', uid, { old, new: 'admin' })]
}

export const announceOwner = (
  tx: Tx,
  { actor, no, group: { owner: oldOwner } }: LockedGroup,
  group: GroupRecord,
) =>
  announce(tx, {
    appNo: actor.app.no,
    type: 'group.owner.transferred',
    key: orderKeyOf(no),
    payload: { group, oldOwner },
  })
