import type { Tx } from '../../platform/db/db.ts'
import { announceMoved, finish, type LockedCall, readCall, recordOf, watchLone } from './change.ts'
import { leavePlace } from './queries.ts'
import type { CallRecord } from './schema.ts'

/** Takes a user out of an ongoing call. A 1:1 call ends with that, another one with the last device. */
export async function takeOut(tx: Tx, locked: LockedCall, uid: string): Promise<CallRecord> {
  const { actor, call, places } = locked
  const appNo = actor.app.no
  for (const { no, state, ...place } of places) {
    if (place.uid === uid && state === 'ongoing')
      await leavePlace.run(tx, { appNo, id: call.id, uid, no })
  }
  const after = (await readCall(tx, actor, call.id)) as LockedCall
  const rest = after.places.filter(({ state }) => state === 'ongoing').length
  const ends = rest === 0 || (call.kind === 'user' && call.mode !== 'meet')
  if (!ends) await watchLone(tx, after)
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
