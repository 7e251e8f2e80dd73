import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'
import { NO_MEDIA_SECONDS } from './limits.ts'

type OneCall = { appNo: number; id: number }

export type ConnectionRow = Omit<CellRows['call_connections'], 'app_no' | 'call_id'>

const COLUMNS = 'k.uid, k.no, k.what, k.id, k.server, k.handle, k.audio, k.video'

/** What the devices in a call send, with their ids. */
export const listSent = query<OneCall, ConnectionRow & { device_id: string | null }>(
  'calls.listSent',
  `select ${COLUMNS}, p.device_id
   from call_connections k join call_participants p
     on p.app_no = k.app_no and p.call_id = k.call_id and p.uid = k.uid and p.no = k.no
   where k.app_no = :appNo and k.call_id = :id and k.what in ('camera', 'screen') and p.state = 'ongoing'
   order by k.uid, k.no, k.what`,
)

export const findConnection = query<
  OneCall & { uid: string; no: number; what: string },
  ConnectionRow
>(
  'calls.findConnection',
  `select ${COLUMNS} from call_connections k
   where k.app_no = :appNo and k.call_id = :id and k.uid = :uid and k.no = :no and k.what = :what`,
)

/** Stores a connection in place of the device's earlier one of the same kind, which is deleted before. */
export const insertConnection = query<
  OneCall & {
    uid: string
    no: number
    what: string
    connection: string
    server: string
    handle: string
    audio: boolean
    video: boolean
  }
>(
  'calls.insertConnection',
  `insert into call_connections (app_no, call_id, uid, no, what, id, server, handle, audio, video)
   values (:appNo, :id, :uid, :no, :what, :connection, :server, :handle, :audio, :video)`,
)

/** Ends what a device sends, with the connections of those who receive it; or one that receives. Returns them. */
export const deleteConnections = query<OneCall & { connection: string }, ConnectionRow>(
  'calls.deleteConnections',
  `delete from call_connections k
   where k.app_no = :appNo and k.call_id = :id
     and (k.id = :connection::uuid or k.what = :connection::text)
   returning ${COLUMNS}`,
)

/** The call begins on a server, or moves to another one. Returns what the other one forwarded. */
export const setMediaServer = query<OneCall & { server: string }, ConnectionRow>(
  'calls.setMediaServer',
  `with moved as (
     update calls set media_server = :server, media_lost_at = null, media_version = media_version + 1
     where app_no = :appNo and id = :id
   )
   delete from call_connections k where k.app_no = :appNo and k.call_id = :id
   returning ${COLUMNS}`,
)

/** Ends connections on a server that the call has left, and its room there. `left` are their servers and handles, as JSON. */
export const enqueueDrop = query<OneCall & { server: string; left: string }>(
  'calls.enqueueDrop',
  `select enqueue_job(:appNo::int, 'calls.hangUp', jsonb_build_object('id', c.id::text, 'mid', c.mid,
     'server', :server::text, 'left', :left::jsonb))
   from calls c where c.app_no = :appNo and c.id = :id`,
)

/** No media server answers. A job ends the call, unless one answers again. */
export const loseMedia = query<OneCall>(
  'calls.loseMedia',
  `with lost as (
     update calls set media_lost_at = clock_timestamp()
     where app_no = :appNo and id = :id and status = 'ongoing' and media_lost_at is null
     returning id)
   select enqueue_job(:appNo::int, 'calls.lostMedia', jsonb_build_object('id', id::text),
     make_interval(secs => ${NO_MEDIA_SECONDS}))
   from lost`,
)

/** A media server answers again. */
export const regainMedia = query<OneCall>(
  'calls.regainMedia',
  'update calls set media_lost_at = null where app_no = :appNo and id = :id and media_lost_at is not null',
)

export const countMedia = query<OneCall, { version: number }>(
  'calls.countMedia',
  `update calls set media_version = media_version + 1 where app_no = :appNo and id = :id
   returning media_version as version`,
)

export const setSending = query<OneCall & { connection: string; audio: boolean; video: boolean }>(
  'calls.setSending',
  `update call_connections set audio = :audio, video = :video
   where app_no = :appNo and call_id = :id and id = :connection::uuid`,
)

/** The connections of devices that aren't in the call any more, and those that receive what they sent. */
export const listLeft = query<OneCall, ConnectionRow>(
  'calls.listLeft',
  `with gone as (
     select k.id from call_connections k
     where k.app_no = :appNo and k.call_id = :id and not exists (select from call_participants p
       where p.app_no = :appNo and p.call_id = :id and p.uid = k.uid and p.no = k.no and p.state = 'ongoing'))
   select ${COLUMNS} from call_connections k
   where k.app_no = :appNo and k.call_id = :id
     and (k.id in (select id from gone) or k.what in (select id::text from gone))`,
)

/** How many calls are on each media server, of all apps of the cell. */
export const countOnServers = query<Record<string, never>, { server: string; calls: number }>(
  'calls.countOnServers',
  `select media_server as server, count(*) as calls
   from apps a join calls c on c.app_no = a.app_no and c.status = 'ongoing'
   where media_server is not null group by media_server`,
)

/** How many of the app's calls are on each media server. */
export const countOnServersOfApp = query<{ appNo: number }, { server: string; calls: number }>(
  'calls.countOnServersOfApp',
  `select media_server as server, count(*) as calls from calls
   where app_no = :appNo and status = 'ongoing' and media_server is not null group by media_server`,
)

export const removeConnections = query<OneCall & { ids: string[] }>(
  'calls.removeConnections',
  `delete from call_connections
   where app_no = :appNo and call_id = :id and id = any(:ids::uuid[])`,
)
