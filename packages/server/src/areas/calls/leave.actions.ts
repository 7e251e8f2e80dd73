import type { Actor } from '../../core/actor.ts'
import type { Tx } from '../../platform/db/db.ts'
import {
  announceMoved,
  finish,
  type LockedCall,
  lockCall,
  readCall,
  recordOf,
  watchLone,
} from './change.ts'
import { enqueueHangUp, findCall, findCallOfGroup, leavePlace, listUnended } from './queries.ts'
import type { CallRecord } from './schema.ts'

/** Takes a user out of an ongoing call. A 1:1 call ends with that, another one with the last device. */
export async function takeOut(
  tx: Tx,
  locked: LockedCall,
  uid: string,
  lost = false,
): Promise<CallRecord> {
  const { actor, call, places } = locked
  const appNo = actor.app.no
  for (const { no, state, ...place } of places) {
    if (place.uid === uid && state === 'ongoing')
      await leavePlace.run(tx, { appNo, id: call.id, uid, no, lost })
  }
  const after = (await readCall(tx, actor, call.id)) as LockedCall
  const rest = after.places.filter(({ state }) => state === 'ongoing').length
  const ends = rest === 0 || (call.kind === 'user' && call.mode !== 'meet')
  if (!ends) {
    await watchLone(tx, after)
    await enqueueHangUp.run(tx, { appNo, id: call.id })
  }
  const left = after.places.filter(
    (place) =>
      place.uid === uid &&
      places.some((one) => one.no === place.no && one.uid === uid && one.state === 'ongoing'),
  )
  for (const place of left) await announceMoved(tx, after, 'left', place)
  return ends
    ? finish(tx, after, 'ended', uid)
    : recordOf((await readCall(tx, actor, call.id)) ?? after)
}

/**
 * Takes a user who is about to be deleted out of all calls, so that they end as calls do. The calls that the user
 * started are deleted with the user, so they end for everyone. The user is locked.
 */
export async function leaveAll(tx: Tx, actor: Actor, uid: string): Promise<void> {
  const appNo = actor.app.no
  for (const { id } of await listUnended.many(tx, { appNo, uid })) {
    const row = await findCall.maybeOne(tx, { appNo, id })
    const locked = row && (await lockCall(tx, actor, row))
    if (!locked?.active) continue
    const { call } = locked
    const started = call.initiator === uid
    if (call.status === 'ongoing' && !started) await takeOut(tx, locked, uid)
    else if (call.status === 'ongoing') await finish(tx, locked, 'ended', uid)
    else await finish(tx, locked, started ? 'cancelled' : 'unanswered', call.initiator)
  }
}

/** Ends the call of a group that is about to be deleted. Its head is locked. */
export async function endCallOfGroup(tx: Tx, actor: Actor, conversation: number): Promise<void> {
  const found = await findCallOfGroup.maybeOne(tx, { appNo: actor.app.no, conversation })
  const locked = found && (await readCall(tx, actor, found.id))
  if (!locked) return
  const { status, initiator } = locked.call
  await finish(tx, locked, status === 'ongoing' ? 'ended' : 'cancelled', initiator)
}
