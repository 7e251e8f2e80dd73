/** Recordings and transcriptions of calls. */
import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

export type CallFileRow = Omit<CellRows['call_files'], 'app_no' | 'kind' | 'source' | 'type'> & {
  kind: 'recording' | 'transcription'
  source: 'camera' | 'screen' | null
  type: 'audio' | 'video' | null
}

const COLUMNS = `f.call_id, f.id, f.kind, f.file_id, f.uid, f.source, f.type, f.mid, f.started_at, f.ended_at,
  f.created_at`

/** What records show: all recordings, and the newest transcriptions. */
export const listShown = query<
  { appNo: number; ids: number[]; transcriptions: number },
  CallFileRow
>(
  'calls.listShownFiles',
  `select ${COLUMNS} from (
     select f.*, row_number() over (partition by call_id, kind order by created_at desc, id) as rank
     from call_files f where f.app_no = :appNo and f.call_id = any(:ids::bigint[])) f
   where f.kind = 'recording' or f.rank <= :transcriptions::int
   order by f.call_id, f.kind, f.rank`,
)

type OneCall = { appNo: number; id: number }

/** The newest first. */
export const listTranscriptions = query<OneCall, CallFileRow>(
  'calls.listTranscriptions',
  `select ${COLUMNS} from call_files f
   where f.app_no = :appNo and f.call_id = :id and f.kind = 'transcription'
   order by f.created_at desc, f.id`,
)

/** Adds a transcription of a call that is locked. A trigger refuses files that aren't there. */
export const insertTranscription = query<
  OneCall & { file: string; mid: string | null; startTime: number; endTime: number },
  CallFileRow
>(
  'calls.insertTranscription',
  `with marked as (update calls set transcribed = true where app_no = :appNo and id = :id)
   insert into call_files as f (app_no, call_id, kind, file_id, mid, started_at, ended_at)
   values (:appNo, :id, 'transcription', :file, :mid::uuid, to_timestamp(:startTime::float8), to_timestamp(:endTime::float8))
   returning ${COLUMNS}`,
)

/** Adds a recording of a call that is locked. */
export const insertRecording = query<
  OneCall & {
    file: string
    uid: string | null
    source: string
    type: string
    startedAt: Date
    endedAt: Date
  },
  CallFileRow
>(
  'calls.insertRecording',
  `with marked as (update calls set recorded = true where app_no = :appNo and id = :id)
   insert into call_files as f (app_no, call_id, kind, file_id, uid, source, type, started_at, ended_at)
   values (:appNo, :id, 'recording', :file, :uid, :source, :type, :startedAt::timestamptz, greatest(:startedAt::timestamptz, :endedAt::timestamptz))
   returning ${COLUMNS}`,
)
