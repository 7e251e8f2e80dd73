import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'
import type { Counts } from './kinds.ts'

type One = { appNo: number; id: number }

/** Where an import goes on: a part, a line of it, and how many pieces of the batch after it are done. */
export interface Place {
  part: number
  line: number
  piece: number
}

export type ImportRow = Omit<CellRows['imports'], 'app_no' | 'counts' | 'place'> & {
  counts: Partial<Counts>
  place: Place | null
  /** The state of its job; null if that is gone. */
  job: string | null
}

/** How long an import is kept. */
export const KEPT_SECONDS = 30 * 86_400
/** The most refused lines that are stored. All are counted. */
export const PROBLEMS = 100_000

const ROWS = `
  select i.*, (select j.state from jobs j where j.app_no = i.app_no and j.id = i.job_id) as job
  from imports i
  where i.app_no = :appNo and i.created_at > now() - make_interval(secs => ${KEPT_SECONDS})`

export const findImport = query<One, ImportRow>('imports.find', `${ROWS} and i.id = :id`)

export const lockImport = query<One, ImportRow>(
  'imports.lock',
  `${ROWS} and i.id = :id for no key update`,
)

/** Newest first. */
export const listImportRows = query<{ appNo: number; limit: number }, ImportRow>(
  'imports.list',
  `${ROWS} order by i.id desc limit :limit`,
)

/** An app's uploads are added one by one, so that their sum stays below the limit. */
export const lockUploads = query<{ appNo: number }>(
  'imports.lockUploads',
  `select pg_advisory_xact_lock(hashtextextended('imports ' || :appNo::int, 0))`,
)

/** What the parts of all imports of an app take. */
export const sumOfParts = query<{ appNo: number }, { bytes: number; imports: number }>(
  'imports.sumOfParts',
  `select coalesce(sum(bytes), 0)::bigint as bytes, count(*) as imports from imports where app_no = :appNo`,
)

export const insertImport = query<{ appNo: number; byConversation: boolean }, { id: number }>(
  'imports.insert',
  `insert into imports (app_no, id, by_conversation)
   values (:appNo, tick() + nextval('job_ids') % 4, :byConversation) returning id`,
)

/** Adds a part, or replaces it. */
export const putPart = query<One & { part: number; content: Buffer }>(
  'imports.putPart',
  `with before as (
     select octet_length(content) as bytes from import_parts
     where app_no = :appNo and import_id = :id and part = :part
   ), stored as (
     insert into import_parts (app_no, import_id, part, content)
     values (:appNo, :id, :part, :content)
     on conflict (app_no, import_id, part) do update set content = excluded.content
   )
   update imports set parts = greatest(parts, :part::int),
     bytes = bytes + octet_length(:content::bytea) - coalesce((select bytes from before), 0)
   where app_no = :appNo and id = :id`,
)

export const findPart = query<One & { part: number }, { content: Buffer }>(
  'imports.findPart',
  `select content from import_parts where app_no = :appNo and import_id = :id and part = :part`,
)

/** Begins anew, or goes on where it is if `resumes`. */
export const startImportRow = query<One & { dryRun: boolean; jobId: number; resumes: boolean }>(
  'imports.start',
  `update imports set state = 'started', dry_run = :dryRun, job_id = :jobId, ended_at = null,
     started_at = case when :resumes then started_at else now() end,
     place = case when :resumes then place end,
     counts = case when :resumes then counts else '{}' end,
     problems = case when :resumes then problems else 0 end
   where app_no = :appNo and id = :id`,
)

export const setImportState = query<One & { state: string; ended: boolean }>(
  'imports.setState',
  `update imports set state = :state, ended_at = case when :ended then now() end
   where app_no = :appNo and id = :id`,
)

export const removeParts = query<One>(
  'imports.removeParts',
  `with gone as (delete from import_parts where app_no = :appNo and import_id = :id)
   update imports set bytes = 0 where app_no = :appNo and id = :id`,
)

/** What an earlier start found. */
export const removeResults = query<One>(
  'imports.removeResults',
  `with problems as (delete from import_problems where app_no = :appNo and import_id = :id)
   delete from import_sums where app_no = :appNo and import_id = :id`,
)

export const removeImport = query<One>(
  'imports.remove',
  `delete from imports where app_no = :appNo and id = :id`,
)

/** No row if the import was paused or cancelled, or belongs to another job. */
export const holdStarted = query<One & { jobId: number }, { erasures: number[] }>(
  'imports.holdStarted',
  `select to_jsonb(erasures) as erasures from imports
   where app_no = :appNo and id = :id and job_id = :jobId and state = 'started' for no key update`,
)

/** Stores what a transaction reached. */
export const reachImport = query<
  One & { place: string; counts: string; problems: string; refused: number; sums: string }
>(
  'imports.reach',
  `with given as (
     select part, line, code, message
     from jsonb_to_recordset(:problems::jsonb) as p (part int, line int, code text, message text)
   ), problems as (
     insert into import_problems (app_no, import_id, part, line, code, message)
     select :appNo::int, :id::bigint, part, line, code, message from given
     where (select problems from imports where app_no = :appNo and id = :id) < ${PROBLEMS}
     on conflict do nothing
   ), sums as (
     insert into import_sums as s
       (app_no, import_id, kind, conversation, imported, checksum, there, there_checksum)
     select :appNo::int, :id::bigint, kind, conversation, imported, checksum, there, "thereChecksum"
     from jsonb_to_recordset(:sums::jsonb) as g (
       kind text, conversation text, imported bigint, checksum bigint, there bigint, "thereChecksum" bigint)
     order by kind, conversation
     on conflict (app_no, import_id, kind, conversation) do update set
       imported = s.imported + excluded.imported, there = s.there + excluded.there,
       checksum = (s.checksum + excluded.checksum) & ((1::bigint << 62) - 1),
       there_checksum = (s.there_checksum + excluded.there_checksum) & ((1::bigint << 62) - 1)
   )
   update imports set place = :place::jsonb, counts = :counts::jsonb, problems = problems + :refused::int
   where app_no = :appNo and id = :id`,
)

export interface ProblemRow {
  part: number
  line: number
  code: string
  message: string
}

export const listProblems = query<One & { part: number; line: number; limit: number }, ProblemRow>(
  'imports.listProblems',
  `select part, line, code, message from import_problems
   where app_no = :appNo and import_id = :id and (part, line) > (:part::int, :line::int)
   order by part, line limit :limit`,
)

/** Checksums as text: they are greater than what numbers hold. */
export interface SumRow {
  kind: string
  conversation: string
  imported: number
  checksum: string
  there: number
  there_checksum: string
}

const SUMS = `select kind, conversation, imported, checksum::text, there, there_checksum::text from import_sums
  where app_no = :appNo and import_id = :id`

export const listKindSums = query<One, SumRow>(
  'imports.listKindSums',
  `${SUMS} and kind <> 'conversation'`,
)

export const listConversationSums = query<One & { after: string; limit: number }, SumRow>(
  'imports.listConversationSums',
  `${SUMS} and kind = 'conversation' and conversation > :after order by conversation limit :limit`,
)

/** A few at a time, with all that belongs to them. */
export const removeOldImports = query<Record<string, never>, { removed: number }>(
  'imports.removeOld',
  `with gone as (
     delete from imports where ctid = any (array(
       select ctid from imports where created_at < now() - make_interval(secs => ${KEPT_SECONDS}) limit 10))
     returning app_no, id
   ), parts as (
     delete from import_parts p using gone where p.app_no = gone.app_no and p.import_id = gone.id
   ), problems as (
     delete from import_problems p using gone where p.app_no = gone.app_no and p.import_id = gone.id
   ), sums as (
     delete from import_sums s using gone where s.app_no = gone.app_no and s.import_id = gone.id
   )
   select count(*) as removed from gone`,
)
