import type { Actor } from '../../core/actor.ts'
import { findGroupSeen, lockGroupHead } from '../../core/group-seen.ts'
import { refuseIf, refuseOutside } from '../../core/policy.ts'
import { lockUsers } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import type { NewFlag } from './flags.schema.ts'
import { getFlagReason } from './reasons.actions.ts'
import { countSubjectFlags, upsertSubjectFlag } from './subjects.queries.ts'

/** A user reports another user to the moderators. */
export const flagUser = (deps: Deps, actor: Actor, uid: string, flag: NewFlag) =>
  write(deps, actor, async (tx) => {
    if (uid === actor.uid) throw badRequest({ uid: ["you can't flag yourself"] })
    const known = await lockUsers.maybeOne(tx, { appNo: actor.app.no, uids: [uid] })
    if (!known) throw fail('ERR_UID_NOT_FOUND', { uid })
    return addFlag(tx, actor, { kind: 'user', subject: uid }, flag)
  })

/** A user reports a group that the user can see. */
export const flagGroup = (
  deps: Deps,
  actor: Actor & { uid: string },
  guid: string,
  flag: NewFlag,
) =>
  write(deps, actor, async (tx) => {
    const appNo = actor.app.no
    await lockGroupHead.maybeOne(tx, { appNo, guid })
    const row = await findGroupSeen.maybeOne(tx, { appNo, guid, viewer: actor.uid })
    if (!row) throw fail('ERR_GUID_NOT_FOUND', { guid })
    if (row.banned || row.type === 'private') refuseIf(refuseOutside(row))
    return addFlag(tx, actor, { kind: 'group', subject: guid }, flag)
  })

async function addFlag(
  tx: Tx,
  { app: { no: appNo }, uid = '' }: Actor,
  about: { kind: 'user' | 'group'; subject: string },
  { reasonId, remark }: NewFlag,
) {
  await getFlagReason(tx, appNo, reasonId)
  await upsertSubjectFlag.run(tx, { appNo, ...about, uid, reasonId, remark: remark ?? null })
  const { count: flaggedCount } = await countSubjectFlags.one(tx, { appNo, ...about })
  const flag = { uid, reasonId, flaggedCount, ...(remark !== undefined && { remark }) }
  const { kind, subject } = about
  const key = `${kind}:${subject}`
  if (kind === 'user') {
    await announce(tx, {
      appNo,
      type: 'user.flagged',
      key,
      payload: { ...flag, flaggedUid: subject },
    })
  } else {
    await announce(tx, { appNo, type: 'group.flagged', key, payload: { ...flag, guid: subject } })
  }
  return { success: true as const, message: 'flagged' }
}
