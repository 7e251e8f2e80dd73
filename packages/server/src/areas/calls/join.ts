import type { Tx } from '../../platform/db/db.ts'
import { announce } from '../../platform/events/announce.ts'
import {
  announceMoved,
  announceSilenced,
  appendStatus,
  type LockedCall,
  orderKeyOf,
  readCall,
  recordOf,
  watchLone,
} from './change.ts'
import { countJoined, insertParticipant, joinPlace, startCallRow } from './queries.ts'
import type { CallRecord } from './schema.ts'

/** The states of a user who was called and can still join. */
const CALLED: readonly string[] = ['invited', 'rejected', 'unanswered']

/** The acting user's device takes its place. */
async function takePlace(tx: Tx, { actor, call, own }: LockedCall, deviceId: string | null) {
  const { app, uid = '' } = actor
  const one = { appNo: app.no, id: call.id, uid }
  const free = own.find(({ state }) => CALLED.includes(state))
  if (free) await joinPlace.run(tx, { ...one, no: free.no, deviceId })
  else await insertParticipant.run(tx, { ...one, state: 'ongoing', deviceId, joined: true })
}

/** The first answer: the call begins. */
export async function answer(
  tx: Tx,
  locked: LockedCall,
  deviceId: string | null,
): Promise<CallRecord> {
  const { actor, call } = locked
  const { app, uid = '' } = actor
  await takePlace(tx, locked, deviceId)
  await startCallRow.run(tx, { appNo: app.no, id: call.id })
  const after = (await readCall(tx, actor, call.id)) as LockedCall
  const change = await appendStatus(tx, actor, after.call, uid)
  const payload = { ...change, by: uid, ...(deviceId !== null && { deviceId }) }
  await announce(tx, {
    ...{ appNo: app.no, key: orderKeyOf(call), type: 'call.accepted', payload },
  })
  for (const place of after.places) {
    if (place.state === 'ongoing') await announceMoved(tx, after, 'joined', place)
  }
  return recordOf(after)
}

/** One more device in an ongoing call. If the call rings other devices of a member, they stop. */
export async function enter(
  tx: Tx,
  locked: LockedCall,
  deviceId: string | null,
  transferred = false,
): Promise<CallRecord> {
  const { actor, call, own } = locked
  const { uid = '' } = actor
  const rings = call.kind === 'group' && own.some(({ state }) => state === 'invited')
  await takePlace(tx, locked, deviceId)
  await countJoined.run(tx, { appNo: actor.app.no, id: call.id })
  const after = (await readCall(tx, actor, call.id)) as LockedCall
  await watchLone(tx, after)
  const place = after.own.findLast(({ state }) => state === 'ongoing')
  if (place) await announceMoved(tx, after, 'joined', place, transferred)
  if (rings) await announceSilenced(tx, after, [uid], 'answered', deviceId)
  return recordOf((await readCall(tx, actor, call.id)) ?? after)
}
