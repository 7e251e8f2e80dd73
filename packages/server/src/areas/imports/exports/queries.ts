import type { CellRows } from '../../../../db/rows.gen.ts'
import { query } from '../../../platform/db/query.ts'
import type { Place } from './reader.ts'

type One = { appNo: number; id: number }

/** The sums of a kind. The checksum is a text: it is greater than what numbers hold. */
export interface Sum {
  count: number
  checksum: string
}

export type ExportRow = Omit<CellRows['exports'], 'app_no' | 'place' | 'sums'> & {
  place: Place | null
  sums: Record<string, Sum>
  app_id: string
  /** The state of its job; null if that is gone. */
  job: string | null
}

/** How long an export is kept. */
export const KEPT_SECONDS = 7 * 86_400

const ROWS = `
  select e.*, a.app_id, (select j.state from jobs j where j.app_no = e.app_no and j.id = e.id) as job
  from exports e join apps a on a.app_no = e.app_no
  where e.app_no = :appNo and e.created_at > now() - make_interval(secs => ${KEPT_SECONDS})`

export const findExport = query<One, ExportRow>('exports.find', `${ROWS} and e.id = :id`)

/** Newest first. */
export const listExportRows = query<{ appNo: number; limit: number }, ExportRow>(
  'exports.list',
  `${ROWS} order by e.id desc limit :limit`,
)

/** Exports of an app are added one by one, so that their number stays below the limit. */
export const lockExports = query<{ appNo: number }>(
  'exports.lock',
  `select pg_advisory_xact_lock(hashtextextended('exports ' || :appNo::int, 0))`,
)

export const sumOfExports = query<{ appNo: number }, { exports: number; bytes: number }>(
  'exports.sum',
  `select count(*) as exports, coalesce(sum(bytes), 0)::bigint as bytes from exports
   where app_no = :appNo and created_at > '-infinity'`,
)

export const insertExport = query<
  One & {
    uid: string | null
    conversation: number | null
    from: number | null
    to: number
    inStore: boolean
  }
>(
  'exports.insert',
  `insert into exports (app_no, id, uid, conversation, from_second, to_second, in_store)
   values (:appNo, :id, :uid, :conversation, :from, :to, :inStore)`,
)

/** The conversation, and whether it still exists for anyone. */
export const findConversation = query<
  { appNo: number; kind: string; one: string; other: string },
  { no: number }
>(
  'exports.findConversation',
  `select no from conversations where app_no = :appNo and kind = :kind and one = :one and other = :other`,
)

export const findConversationByNo = query<
  { appNo: number; no: number },
  { no: number; kind: 'user' | 'group'; one: string; other: string }
>(
  'exports.findConversationByNo',
  `select no, kind, one, other from conversations where app_no = :appNo and no = :no`,
)

/** Adds a part, unless it is empty, and stores how far the export is. */
export const addPart = query<
  One & {
    content: Buffer | null
    object: string | null
    size: number
    place: string
    sums: string
    ended: boolean
  },
  { bytes: number }
>(
  'exports.addPart',
  `with part as (
     insert into export_parts (app_no, export_id, part, content, object)
     select :appNo::int, :id::bigint, parts + 1, :content::bytea, :object from exports
     where app_no = :appNo and id = :id and :size::bigint > 0
   )
   update exports set parts = parts + sign(:size::bigint)::int, bytes = bytes + :size::bigint,
     place = case when not :ended then :place::jsonb end, sums = :sums::jsonb,
     ended_at = case when :ended then now() end
   where app_no = :appNo and id = :id
   returning bytes`,
)

interface PartRow {
  part: number
  content: Buffer | null
  object: string | null
}

export const findPart = query<One & { part: number }, PartRow>(
  'exports.findPart',
  `select part, content, object from export_parts where app_no = :appNo and export_id = :id and part = :part`,
)

/** The parts in the file store, in order. */
export const listObjects = query<
  One & { after: number; limit: number },
  { part: number; object: string }
>(
  'exports.listObjects',
  `select part, object from export_parts
   where app_no = :appNo and export_id = :id and part > :after and object is not null
   order by part limit :limit`,
)

/** Deletes an export whose parts are in the database. */
export const removeExport = query<One>(
  'exports.remove',
  `with parts as (delete from export_parts where app_no = :appNo and export_id = :id)
   delete from exports where app_no = :appNo and id = :id`,
)

/** Nobody sees it any more, and the sweep deletes it. */
export const expireExport = query<One>(
  'exports.expire',
  `update exports set created_at = '-infinity' where app_no = :appNo and id = :id`,
)

/** A few at a time, with their parts. */
export const removeOldExports = query<Record<string, never>, { removed: number }>(
  'exports.removeOld',
  `with gone as (
     delete from exports where ctid = any (array(
       select ctid from exports
       where created_at < now() - make_interval(secs => ${KEPT_SECONDS}) and not in_store limit 10))
     returning app_no, id
   ), parts as (
     delete from export_parts p using gone where p.app_no = gone.app_no and p.export_id = gone.id
   )
   select count(*) as removed from gone`,
)

/** Exports in the file store that are over, a few at a time. A job that still runs could store another part. */
export const listOldInStore = query<
  { limit: number },
  { app_no: number; app_id: string; id: number }
>(
  'exports.listOldInStore',
  `select app_no, a.app_id, e.id from exports e join working_apps() a using (app_no)
   where e.created_at < now() - make_interval(secs => ${KEPT_SECONDS}) and e.in_store
     and not exists (select from jobs j where j.app_no = e.app_no and j.id = e.id and j.state = 'running')
   order by e.created_at limit :limit`,
)
