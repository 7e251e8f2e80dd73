/** Which change of a call is possible for whom. Everything is decided under the lock of the call's conversation. */
import { type Refusal, refuseOutside } from '../../core/policy.ts'
import { fail } from '../../platform/http/fail.ts'
import type { CallRow, ParticipantRow } from './queries.ts'

/** What decides about a change. */
export interface CallState {
  call: Pick<CallRow, 'kind' | 'mode' | 'status' | 'initiator'>
  /** False once nobody can answer any more, even if the status doesn't say so yet. */
  active: boolean
  /** The places of the acting user, the newest last. */
  own: readonly Pick<ParticipantRow, 'state' | 'device_id'>[]
}

type Places = Pick<CallState, 'own'>

export const isIn = ({ own }: Places) => own.some(({ state }) => state === 'ongoing')
const isWaiting = ({ own }: Places) => own.some(({ state }) => state === 'waiting')

const refuseOver = ({ active }: CallState): Refusal =>
  active ? undefined : fail('ERR_CALL_TERMINATED')

export function refuseJoin(state: CallState, transfer: boolean): Refusal {
  const over = refuseOver(state)
  if (over || transfer) return over
  if (!isIn(state) && !isWaiting(state)) return undefined
  return fail(
    state.call.kind === 'group' ? 'ERR_CALL_GROUP_ALREADY_JOINED' : 'ERR_CALL_USER_ALREADY_JOINED',
  )
}

/** A device that handed the call over to another one has left. */
export function refuseLeave(state: CallState, deviceId: string | undefined): Refusal {
  const { own, call } = state
  const over = refuseOver(state)
  if (over) return over
  if (call.status === 'initiated') return fail('ERR_CALL_NOT_STARTED')
  const place = own.find(({ state: at }) => at === 'ongoing')
  if (!place)
    return own.some(({ state: at }) => at === 'ended')
      ? fail('ERR_CALL_GROUP_ALREADY_LEFT')
      : fail('ERR_CALL_NOT_A_PART')
  const other = deviceId !== undefined && place.device_id !== null && place.device_id !== deviceId
  return other ? fail('ERR_CALL_GROUP_ALREADY_LEFT') : undefined
}

/** In a group, a member rejects for themselves, also while others talk. */
export function refuseReject(state: CallState, status: 'rejected' | 'busy'): Refusal {
  const over = refuseOver(state)
  if (over) return over
  const { call, own } = state
  if (call.kind === 'group' && status === 'busy') return fail('ERR_CALL_GROUP_INVALID_STATUS')
  if (call.kind === 'user' && call.status === 'ongoing') return fail('ERR_CALL_ONGOING_TO_INVALID')
  if (isIn(state)) return fail('ERR_CALL_ONGOING_TO_INVALID')
  return own.some(({ state: at }) => at === 'invited') ? undefined : fail('ERR_CALL_NOT_A_PART')
}

export function refuseCancel(state: CallState, uid: string): Refusal {
  const over = refuseOver(state)
  if (over) return over
  if (state.call.initiator !== uid) return fail('ERR_CALL_NOT_A_PART')
  return state.call.status === 'ongoing' ? fail('ERR_CALL_ONGOING_TO_INVALID') : undefined
}

/** In a 1:1 call both may end it; in a group the caller and those who look after the group. */
export function refuseEnd(
  state: CallState,
  uid: string,
  member: { scope: string | null; banned: boolean } | undefined,
): Refusal {
  const over = refuseOver(state)
  if (over) return over
  const { call } = state
  if (call.status === 'initiated') return fail('ERR_CALL_NOT_STARTED')
  if (call.kind === 'user') return isIn(state) ? undefined : fail('ERR_CALL_NOT_A_PART')
  if (call.initiator === uid && isIn(state)) return undefined
  const outside = refuseOutside(member ?? { scope: null, banned: false })
  if (outside) return outside
  return member?.scope === 'participant' ? fail('ERR_GROUP_NO_MODERATOR_SCOPE') : undefined
}

/** Audio and video are for the device that is in the call, not for the user's others. */
export function refuseMedia({ call, own }: CallState, deviceId: string | undefined): Refusal {
  if (call.status === 'initiated') return fail('ERR_CALL_NOT_STARTED')
  if (call.status !== 'ongoing') return fail('ERR_CALL_TERMINATED')
  const place = own.find(({ state }) => state === 'ongoing')
  const other = place && place.device_id !== null && place.device_id !== (deviceId ?? null)
  return !place || other ? fail('ERR_CALL_NOT_A_PART') : undefined
}

/** In the mode `presenter`, only the caller sends. */
export const refuseSending = ({ call }: Pick<CallState, 'call'>, uid: string): Refusal =>
  call.mode === 'presenter' && call.initiator !== uid ? fail('ERR_CALL_NOT_A_PART') : undefined

/** The app can record each ongoing call. Of users, those who can end it can record it. */
export function refuseRecording(
  state: CallState,
  uid: string | undefined,
  member: { scope: string | null; banned: boolean } | undefined,
): Refusal {
  if (uid !== undefined) return refuseEnd(state, uid, member)
  const over = refuseOver(state)
  if (over) return over
  return state.call.status === 'initiated' ? fail('ERR_CALL_NOT_STARTED') : undefined
}

/** Where nobody answered, nothing was said. */
export const refuseTranscription = ({ call }: { call: Pick<CallRow, 'started_at'> }): Refusal =>
  call.started_at ? undefined : fail('ERR_CALL_NOT_STARTED')

/** Records of calls that are over can go. */
export function refuseDelete({ call, active }: Pick<CallState, 'call' | 'active'>): Refusal {
  if (!active) return undefined
  return fail(call.status === 'ongoing' ? 'ERR_CALL_ONGOING_TO_INVALID' : 'ERR_CALL_NOT_STARTED')
}
