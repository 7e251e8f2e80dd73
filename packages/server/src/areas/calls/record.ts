import type {
  CallOccupant,
  CallSummary,
  RecordingRecord,
  TranscriptionRecord,
} from '@loquat/protocol'
import type { ServedApp } from '../../core/actor.ts'
import { seconds } from '../../core/time.ts'
import { fail } from '../../platform/http/fail.ts'
import { urlOf } from '../files/record.ts'
import type { CallFileRow } from './files.queries.ts'
import type { CallRow, ParticipantRow } from './queries.ts'
import type { CallParticipant, CallRecord } from './schema.ts'

type Of = Pick<ServedApp, 'id' | 'region'>

export const sessionIdOf = ({ id, region }: Of, callId: number) => `v1.${region}.${id}.${callId}`

/** The id of a call in a session id of this app. */
export function callIdOf({ id, region }: Of, sessionId: string): number {
  if (sessionId.trim() === '') throw fail('ERR_EMPTY_CALL_SESSION_ID')
  const prefix = `v1.${region}.${id}.`
  const digits = sessionId.startsWith(prefix) ? sessionId.slice(prefix.length) : ''
  if (!/^[1-9][0-9]{0,15}$/.test(digits)) throw notFound(sessionId)
  return Number(digits)
}

export const notFound = (sessionId: string) => fail('ERR_CALL_SESSION_NOT_FOUND', { sessionId })

/** The call as its messages and events show it. */
export const toSummary = (app: Of, row: CallRow): CallSummary => ({
  sessionId: sessionIdOf(app, row.id),
  callInitiator: row.initiator,
  callReceiver: row.receiver,
  receiverType: row.kind,
  type: row.type,
  mode: row.mode,
  status: row.status,
  initiatedAt: seconds(row.initiated_at),
  ...(row.started_at && { joinedAt: seconds(row.started_at) }),
  ...(row.ended_at && { endedAt: seconds(row.ended_at) }),
})

export const toOccupant = (row: ParticipantRow): CallOccupant => ({
  uid: row.uid,
  name: row.name,
  ...(row.device_id !== null && { deviceId: row.device_id }),
  joinedAt: seconds(row.joined_at ?? row.at),
  ...(row.left_at && { leftAt: seconds(row.left_at) }),
})

export const toTranscription = (app: Of, row: CallFileRow): TranscriptionRecord => ({
  tid: row.id,
  roomName: sessionIdOf(app, row.call_id),
  ...(row.mid !== null && { mid: row.mid }),
  startTime: seconds(row.started_at),
  endTime: seconds(row.ended_at),
  transcriptDate: row.created_at.toISOString(),
  transcriptUrl: urlOf(row.file_id),
})

const minutes = (milliseconds: number) => Math.round(Math.max(milliseconds, 0) / 600) / 100

/** From the join to the leave, or to now. */
const minutesIn = ({ joined_at: joined, left_at: left, at }: ParticipantRow) =>
  joined ? minutes((left ?? at).getTime() - joined.getTime()) : 0

function toParticipant(
  row: ParticipantRow,
  { type, mode, mid, initiator }: CallRow,
): CallParticipant {
  const total = minutesIn(row)
  const { state } = row
  return {
    uid: row.uid,
    isJoined: row.joined_at !== null,
    state: state === 'invited' || state === 'waiting' ? 'unanswered' : state,
    ...(row.joined_at && { joinedAt: seconds(row.joined_at) }),
    ...(row.left_at && { leftAt: seconds(row.left_at) }),
    totalAudioMinutes: type === 'audio' ? total : 0,
    totalVideoMinutes: type === 'video' ? total : 0,
    totalDuration: total,
    ...(row.device_id !== null && { deviceId: row.device_id }),
    ...(row.joined_at && { mid }),
    ...(mode === 'presenter' && { sends: row.uid === initiator }),
  }
}

const two = (value: number) => String(value).padStart(2, '0')

function clock(total: number): string {
  const second = Math.max(Math.floor(total / 1000), 0)
  return [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60].map(two).join(':')
}

export const toRecording = (row: CallFileRow): RecordingRecord => ({
  rid: row.id,
  ...(row.uid !== null && { uid: row.uid }),
  source: row.source ?? 'camera',
  type: row.type ?? 'video',
  duration: minutes(row.ended_at.getTime() - row.started_at.getTime()),
  startTime: seconds(row.started_at),
  endTime: seconds(row.ended_at),
  recording_url: urlOf(row.file_id),
})

export function toRecord(
  app: Of,
  row: CallRow,
  rows: readonly ParticipantRow[],
  files: readonly CallFileRow[],
): CallRecord {
  const { type, mode, status, started_at: started, ended_at: ended } = row
  const participants = rows.map((one) => toParticipant(one, row))
  const total = rows.reduce((sum, one) => sum + minutesIn(one), 0)
  const until = ended ?? rows[0]?.at ?? started
  const rounded = Math.round(total * 100) / 100
  const recordings = files.filter(({ kind }) => kind === 'recording').map(toRecording)
  const transcriptions = files
    .filter(({ kind }) => kind === 'transcription')
    .map((one) => toTranscription(app, one))
  return {
    sessionId: sessionIdOf(app, row.id),
    ...{ type, mode, status, receiverType: row.kind, receiver: row.receiver },
    initiator: row.initiator,
    initiatedAt: seconds(row.initiated_at),
    ...(started && { startedAt: seconds(started) }),
    ...(ended && { endedAt: seconds(ended) }),
    totalAudioMinutes: type === 'audio' ? rounded : 0,
    totalVideoMinutes: type === 'video' ? rounded : 0,
    totalDurationInMinutes: rounded,
    totalDuration: clock(started && until ? until.getTime() - started.getTime() : 0),
    totalParticipants: row.joined,
    hasRecording: recordings.length > 0,
    hasTranscription: transcriptions.length > 0,
    mid: row.mid,
    participants,
    ...(recordings.length > 0 && { recordings }),
    ...(transcriptions.length > 0 && { transcriptions }),
  }
}
