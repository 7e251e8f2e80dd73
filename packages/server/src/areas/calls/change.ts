/** What all changes of a call have in common: its lock, its message, its events. */
import type { CallStatus, EventPayload, MessageRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { lockHead } from '../../core/heads.ts'
import { settingOf } from '../../core/settings.ts'
import type { Tx } from '../../platform/db/db.ts'
import type { Executor } from '../../platform/db/query.ts'
import { announce } from '../../platform/events/announce.ts'
import { type CallFileRow, listShown } from './files.queries.ts'
import { LONE_SECONDS, SHOWN_TRANSCRIPTIONS } from './limits.ts'
import type { CallState } from './policy.ts'
import {
  appendCall,
  type CallRow,
  enqueueHangUp,
  enqueueSweep,
  findCall,
  finishCall,
  listParticipants,
  type ParticipantRow,
  setLone,
} from './queries.ts'
import { toOccupant, toRecord, toSummary } from './record.ts'
import type { CallRecord } from './schema.ts'

/** A call whose conversation is locked: nobody else changes it. */
export interface LockedCall extends CallState {
  actor: Actor
  call: CallRow
  places: ParticipantRow[]
  own: ParticipantRow[]
  files: CallFileRow[]
}

/** The recordings and transcriptions that records of these calls show. Most calls have none. */
export async function filesOf(
  db: Executor,
  appNo: number,
  calls: readonly CallRow[],
): Promise<CallFileRow[]> {
  const ids = calls.filter((call) => call.recorded || call.transcribed).map(({ id }) => id)
  if (ids.length === 0) return []
  return listShown.many(db, { appNo, ids, transcriptions: SHOWN_TRANSCRIPTIONS })
}

/** Locks a call and reads it. Users are locked before. Undefined if it was deleted meanwhile. */
export async function lockCall(
  tx: Tx,
  actor: Actor,
  row: CallRow,
): Promise<LockedCall | undefined> {
  const appNo = actor.app.no
  await lockHead.maybeOne(tx, { appNo, conversation: row.conversation })
  return readCall(tx, actor, row.id)
}

/** The state of a call whose conversation is locked. */
export async function readCall(tx: Tx, actor: Actor, id: number): Promise<LockedCall | undefined> {
  const appNo = actor.app.no
  const found = await findCall.maybeOne(tx, { appNo, id })
  if (!found) return undefined
  const { active, ...call } = found
  const places = await listParticipants.many(tx, { appNo, ids: [id] })
  const own = places.filter(({ uid }) => uid === actor.uid)
  const files = await filesOf(tx, appNo, [call])
  return { actor, call, active, places, own, files }
}

export const recordOf = ({ actor, call, places, files }: LockedCall): CallRecord =>
  toRecord(actor.app, call, places, files)

/** Adds the message about the new status of a call. */
export async function appendStatus(
  tx: Tx,
  { app, settings }: Actor,
  call: CallRow,
  by: string,
): Promise<Pick<EventPayload<'call.busy'>, 'call' | 'message'>> {
  const summary = toSummary(app, call)
  const { message } = await appendCall.one(tx, {
    ...{ appNo: app.no, conversation: call.conversation, by, type: call.type },
    ...{ action: call.status, call: JSON.stringify(summary) },
    moves: settingOf(settings, 'core.conversations.updateOnCallActivity') === true,
  })
  return { call: summary, message: message as MessageRecord }
}

export const orderKeyOf = ({ conversation }: Pick<CallRow, 'conversation'>) =>
  `conversation:${conversation}`

type Moved = 'joined' | 'left'

/** A device joined or left. */
export function announceMoved(
  tx: Tx,
  { actor: { app }, call }: Pick<LockedCall, 'actor' | 'call'>,
  moved: Moved,
  place: ParticipantRow,
  transferred = false,
): Promise<void> {
  const prefix = call.mode === 'meet' ? 'meeting' : 'call'
  const payload = {
    ...{ call: toSummary(app, call), occupant: toOccupant(place) },
    ...(transferred && { transferred: true as const }),
  }
  const type = `${prefix}.participant.${moved}` as const
  return announce(tx, { appNo: app.no, type, key: orderKeyOf(call), payload })
}

/** Devices of these members of a group stop ringing. The call goes on, so there is no message. */
export function announceSilenced(
  tx: Tx,
  { actor: { app }, call }: Pick<LockedCall, 'actor' | 'call'>,
  uids: string[],
  reason: EventPayload<'call.silenced'>['reason'],
  deviceId: string | null = null,
): Promise<void> {
  const payload = {
    ...{ call: toSummary(app, call), uids, reason },
    ...(deviceId !== null && { deviceId }),
  }
  return announce(tx, { appNo: app.no, type: 'call.silenced', key: orderKeyOf(call), payload })
}

/** Ends a call for everyone, with its message and event. `by` is the user whom the message names. */
export async function finish(
  tx: Tx,
  { actor, call: { id } }: LockedCall,
  status: Exclude<CallStatus, 'initiated' | 'ongoing'>,
  by: string,
  more: { replacedBy?: string } = {},
): Promise<CallRecord> {
  const appNo = actor.app.no
  await finishCall.run(tx, { appNo, id, status })
  await enqueueHangUp.run(tx, { appNo, id })
  const after = (await readCall(tx, actor, id)) as LockedCall
  const change = await appendStatus(tx, actor, after.call, by)
  const event = { appNo, key: orderKeyOf(after.call) }
  if (status === 'ended') {
    const occupants = after.places.filter(({ joined_at }) => joined_at !== null).map(toOccupant)
    const type = after.call.mode === 'meet' ? 'meeting.ended' : 'call.ended'
    await announce(tx, { ...event, type, payload: { ...change, occupants } })
  } else {
    await announce(tx, { ...event, type: `call.${status}`, payload: { ...change, ...more } })
  }
  return recordOf(after)
}

/** Starts or stops the time after which a device that is alone has to leave. */
export async function watchLone(tx: Tx, { actor, call, places }: LockedCall): Promise<void> {
  const lone = places.filter(({ state }) => state === 'ongoing').length === 1
  if (lone === (call.lone_since !== null)) return
  const appNo = actor.app.no
  await setLone.run(tx, { appNo, id: call.id, lone })
  if (lone) await enqueueSweep.run(tx, { appNo, id: call.id, seconds: LONE_SECONDS })
}
