import type { GroupRecord, MessageRecord } from '@loquat/protocol'
import { asSeenBy, toGroup, withTags } from '../../core/group-record.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { fail } from '../../platform/http/fail.ts'
import { lockUsers } from '../users/queries.ts'
import type { ActingUser } from './join.actions.ts'
import { insertMember, updateScope } from './members.queries.ts'
import {
  announceMember,
  Ceilings,
  enterGroup,
  keyOf,
  type Member,
  type Place,
  SYSTEM_UID,
  tellMember,
} from './membership.ts'
import { refuseTransfer } from './policy.ts'
import { findGroupSeen, updateOwner } from './queries.ts'

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
    const place = await enterGroup(tx, actor, guid, [owner])
    refuseIf(refuseTransfer(place.acting, place.standing(owner)))
    if (!known) throw fail('ERR_UID_NOT_FOUND', { uid: owner })
    const messages = await giveTo(tx, place, owner)
    const row = await findGroupSeen.one(tx, { appNo, guid, viewer: actor.uid })
    const group = withTags(toGroup(row), row)
    for (const message of messages) await announceMember(tx, place, message)
    await announceOwner(tx, place, group)
    return asSeenBy(group, row)
  })
}

/** The owner of a group is an admin of it; the returned action messages say what that changes. */
export async function giveTo(tx: Tx, place: Place, owner: string): Promise<MessageRecord[]> {
  const { actor, group } = place
  const by = actor.uid ?? null
  const messages = owner === SYSTEM_UID ? [] : await makeAdmin(tx, place, place.standing(owner))
  await updateOwner.run(tx, { appNo: actor.app.no, guid: group.guid, owner, by })
  return messages
}

async function makeAdmin(tx: Tx, place: Place, target: Member): Promise<MessageRecord[]> {
  const { uid, scope: old, banned } = target
  const member = { appNo: place.actor.app.no, guid: place.group.guid, uid, scope: 'admin' as const }
  if (banned) throw fail('ERR_BANNED_GROUPMEMBER')
  if (old === 'admin') return []
  if (old === null) {
    refuseIf((await Ceilings.read(tx, place.actor, place.group, [uid])).take(uid))
    await insertMember.run(tx, member)
    return [await tellMember(tx, place, 'added', uid)]
  }
  await updateScope.run(tx, member)
  return [await tellMember(tx, place, 'scopeChanged', uid, { old, new: 'admin' })]
}

export const announceOwner = (
  tx: Tx,
  { actor, no, group: { owner: oldOwner } }: Place,
  group: GroupRecord,
) =>
  announce(tx, {
    appNo: actor.app.no,
    type: 'group.owner.transferred',
    key: keyOf(no),
    payload: { group, oldOwner },
  })
