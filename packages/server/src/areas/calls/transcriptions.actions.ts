import type { TranscriptionRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { refuseIf } from '../../core/policy.ts'
import { seconds } from '../../core/time.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import { announce } from '../../platform/events/announce.ts'
import { badRequest, fail } from '../../platform/http/fail.ts'
import { type PageRequest, pageOf } from '../../platform/http/schemas.ts'
import { findSeen } from './actions.ts'
import { lockCall, orderKeyOf } from './change.ts'
import { insertTranscription, listTranscriptions } from './files.queries.ts'
import { MAX_TRANSCRIPTIONS } from './limits.ts'
import { refuseTranscription } from './policy.ts'
import { notFound, toSummary, toTranscription } from './record.ts'
import type { NewTranscription } from './schema.ts'

export async function pageOfTranscriptions(actor: Actor, sessionId: string, query: PageRequest) {
  const { app } = actor
  const { db } = app.cell
  const { id, transcribed } = await findSeen(db, actor, sessionId)
  const rows = transcribed ? await listTranscriptions.many(db, { appNo: app.no, id }) : []
  return pageOf(query, rows, (row) => toTranscription(app, row))
}

/** Adds a file of the app as a transcription. Without times, it is about the call from its start to its end. */
export const addCallTranscription = (
  deps: Deps,
  actor: Actor,
  sessionId: string,
  body: NewTranscription,
): Promise<TranscriptionRecord> =>
  write(deps, actor, async (tx) => {
    const { app } = actor
    const locked = await lockCall(tx, actor, await findSeen(tx, actor, sessionId))
    if (!locked) throw notFound(sessionId)
    const { call, places } = locked
    refuseIf(refuseTranscription(locked))
    if (body.mid !== undefined && body.mid !== call.mid)
      throw badRequest({ mid: ['This call has another meeting id.'] })
    const start = call.started_at ?? call.initiated_at
    const end = call.ended_at ?? places[0]?.at ?? start
    const { startTime = seconds(start), endTime = seconds(end) } = body
    if (endTime < startTime) throw badRequest({ endTime: ['must not be before startTime'] })
    const one = { appNo: app.no, id: call.id }
    if (call.transcribed && (await listTranscriptions.many(tx, one)).length >= MAX_TRANSCRIPTIONS) {
      const what = 'transcriptions of a call'
      throw fail('ERR_PLAN_QUOTA_RESTRICTION', { limit: MAX_TRANSCRIPTIONS, what })
    }
    const mid = body.mid ?? null
    const row = await insertTranscription.one(tx, {
      ...{ ...one, file: body.fileId, mid, startTime, endTime },
    })
    const transcription = toTranscription(app, row)
    const payload = { call: toSummary(app, call), transcription }
    await announce(tx, { appNo: app.no, type: 'call.transcribed', key: orderKeyOf(call), payload })
    return transcription
  })
