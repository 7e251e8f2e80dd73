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
  /** The state of its job; null if that is gone. */
  job: string | null
}

/** How long an export is kept. */
export const KEPT_SECONDS = 7 * 86_400

const ROWS = `
  select e.*, (select j.state from jobs j where j.app_no = e.app_no and j.id = e.id) as job
  from exports e
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
  `select count(*) as exports, coalesce(sum(bytes), 0)::bigint as bytes from exports where app_no = :appNo`,
)

export const insertExport = query<
  One & { uid: string | null; conversation: number | null; from: number | null; to: number }
>(
  'exports.insert',
  `insert into exports (app_no, id, uid, conversation, from_second, to_second)
   values (:appNo, :id, :uid, :conversation, :from, :to)`,
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

/** Adds a part, and stores how far the export is. */
export const addPart = query<
  One & { content: Buffer | null; place: string; sums: string; ended: boolean },
  { bytes: number }
>(
  'exports.addPart',
  `with part as (
     insert into export_parts (app_no, export_id, part, content)
     select :appNo::int, :id::bigint, parts + 1, :content::bytea from exports
     where app_no = :appNo and id = :id and :content::bytea is not null
   )
   update exports set parts = parts + case when :content::bytea is null then 0 else 1 end,
     bytes = bytes + coalesce(octet_length(:content::bytea), 0), place = :place::jsonb, sums = :sums::jsonb,
     ended_at = case when :ended then now() end
   where app_no = :appNo and id = :id
   returning bytes`,
)

export const findPart = query<One & { part: number }, { content: Buffer }>(
  'exports.findPart',
  `select content from export_parts where app_no = :appNo and export_id = :id and part = :part`,
)

export const removeExport = query<One>(
  'exports.remove',
  `with parts as (delete from export_parts where app_no = :appNo and export_id = :id)
   delete from exports where app_no = :appNo and id = :id`,
)

/** A few at a time, with their parts. */
export const removeOldExports = query<Record<string, never>, { removed: number }>(
  'exports.removeOld',
  `with gone as (
     delete from exports where ctid = any (array(
       select ctid from exports where created_at < now() - make_interval(secs => ${KEPT_SECONDS}) limit 10))
     returning app_no, id
   ), parts as (
     delete from export_parts p using gone where p.app_no = gone.app_no and p.export_id = gone.id
   )
   select count(*) as removed from gone`,
)
