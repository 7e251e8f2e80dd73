import type { Actor } from '../../core/actor.ts'
import { findGroupSeen } from '../../core/group-seen.ts'
import { refuseIf } from '../../core/policy.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { fail } from '../../platform/http/fail.ts'
import { findSeen } from './actions.ts'
import { lockCall, readCall, recordOf } from './change.ts'
import { announceMedia } from './media.ts'
import { refuseRecording } from './policy.ts'
import { callIdOf, notFound } from './record.ts'
import { beginRecordings, endRecordings, setRecording } from './recording.queries.ts'
import type { CallRecord } from './schema.ts'

/** Begins or ends the recording of a call. A job tells the media server. Repeating it changes nothing. */
async function switchRecording(
  deps: Deps,
  actor: Actor,
  sessionId: string,
  on: boolean,
): Promise<CallRecord> {
  const { app, uid } = actor
  const record = await write(deps, actor, async (tx) => {
    const locked = await lockCall(tx, actor, await findSeen(tx, actor, sessionId))
    if (!locked) throw notFound(sessionId)
    const { call } = locked
    const one = { appNo: app.no, id: call.id }
    const member =
      uid !== undefined && call.kind === 'group'
        ? await findGroupSeen.maybeOne(tx, { appNo: app.no, guid: call.receiver, viewer: uid })
        : undefined
    refuseIf(refuseRecording(locked, uid, member))
    if (on && !(deps.files && deps.media.recordings)) throw fail('ERR_CALL_RECORDING_UNAVAILABLE')
    if (on === (call.recording_since !== null)) return recordOf(locked)
    await setRecording.run(tx, { ...one, on })
    await (on ? beginRecordings : endRecordings).run(tx, one)
    return recordOf((await readCall(tx, actor, call.id)) ?? locked)
  })
  await announceMedia(deps, actor, callIdOf(app, sessionId))
  return record
}

export const startCallRecording = (deps: Deps, actor: Actor, sessionId: string) =>
  switchRecording(deps, actor, sessionId, true)

export const stopCallRecording = (deps: Deps, actor: Actor, sessionId: string) =>
  switchRecording(deps, actor, sessionId, false)
