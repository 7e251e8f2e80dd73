/** What is recorded of calls, until it is converted. */
import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

type OneCall = { appNo: number; id: number }

export type RecordingRow = Omit<CellRows['call_recordings'], 'app_no' | 'source'> & {
  source: 'camera' | 'screen'
}

const COLUMNS =
  'r.call_id, r.id, r.connection, r.room, r.uid, r.source, r.told, r.started_at, r.ended_at'

/** Begins or ends the recording of a call that is locked. */
export const setRecording = query<OneCall & { on: boolean }>(
  'calls.setRecording',
  `update calls set recording_since = case when :on::boolean then clock_timestamp() end,
     media_version = media_version + 1
   where app_no = :appNo and id = :id`,
)

/** Everything that devices send is recorded from now on, if the call is. */
export const beginRecordings = query<OneCall>(
  'calls.beginRecordings',
  `with begun as (
     insert into call_recordings (app_no, call_id, connection, room, uid, source)
     select k.app_no, k.call_id, k.id, c.mid, k.uid, k.what
     from call_connections k join calls c on c.app_no = k.app_no and c.id = k.call_id
     where k.app_no = :appNo and k.call_id = :id and k.what in ('camera', 'screen') and c.recording_since is not null
       and not exists (select from call_recordings r where r.app_no = k.app_no and r.call_id = k.call_id
         and r.connection = k.id and r.ended_at is null)
     returning call_id)
   select enqueue_job(:appNo::int, 'calls.record', jsonb_build_object('id', :id::bigint::text),
     p_dedupe_key => :id::bigint::text)
   where exists (select from begun)`,
)

/** The media server is told to stop, and then the files are converted. */
export const endRecordings = query<OneCall>(
  'calls.endRecordings',
  `with ended as (
     update call_recordings set ended_at = clock_timestamp(), told = false
     where app_no = :appNo and call_id = :id and ended_at is null
     returning call_id)
   select enqueue_job(:appNo::int, 'calls.record', jsonb_build_object('id', :id::bigint::text),
     p_dedupe_key => :id::bigint::text)
   where exists (select from ended)`,
)

/** What the media server doesn't know yet, in its order. */
export const listUntold = query<OneCall, RecordingRow & { server: string; handle: string }>(
  'calls.listUntoldRecordings',
  `select ${COLUMNS}, k.server, k.handle
   from call_recordings r join call_connections k
     on k.app_no = r.app_no and k.call_id = r.call_id and k.id = r.connection
   where r.app_no = :appNo and r.call_id = :id and not r.told order by r.started_at, r.id`,
)

/** Unless it has ended meanwhile, which the media server has to be told, too. */
export const markTold = query<OneCall & { recording: string; ended: boolean }>(
  'calls.markTold',
  `update call_recordings set told = true
   where app_no = :appNo and call_id = :id and id = :recording::uuid and (ended_at is not null) = :ended::boolean`,
)

/** What was recorded to its end, and how long ago that was. */
export const listEnded = query<OneCall, RecordingRow & { ended_at: Date; quiet_ms: number }>(
  'calls.listEndedRecordings',
  `select ${COLUMNS}, (date_part('epoch', clock_timestamp() - r.ended_at) * 1000)::int as quiet_ms
   from call_recordings r
   where r.app_no = :appNo and r.call_id = :id and r.ended_at is not null and r.told order by r.started_at, r.id`,
)

export const listRecordings = query<OneCall, { id: string }>(
  'calls.listRecordings',
  'select id from call_recordings where app_no = :appNo and call_id = :id',
)

export const enqueueConvert = query<OneCall & { room: string }>(
  'calls.enqueueConvert',
  'select convert_recordings(:appNo::int, :id::bigint, :room::uuid)',
)

/** No row if another run has stored it. Its time counts once, whatever tracks it has. */
export const removeRecording = query<
  OneCall & { recording: string; counts: boolean },
  { id: string }
>(
  'calls.removeRecording',
  `with gone as (
     delete from call_recordings where app_no = :appNo and call_id = :id and id = :recording::uuid
     returning id, started_at, ended_at
   ), counted as (
     insert into usage_days as d (app_no, day, what, count)
     select :appNo::int, utc_day(clock_timestamp()), 'call.recorded.ms',
       round(date_part('epoch', ended_at - started_at) * 1000)::bigint
     from gone where :counts::boolean
     on conflict (app_no, day, what) do update set count = d.count + excluded.count
   )
   select id from gone`,
)
