import type { CellRows } from '../../../db/rows.gen.ts'
import type { PendingCheck } from '../../core/moderation/slow.ts'
import type { Settings } from '../../core/settings.ts'
import { query } from '../../platform/db/query.ts'

type OneEdit = { appNo: number; id: string }

export type HeldEditRow = Omit<CellRows['held_edits'], 'app_no' | 'data' | 'checks'> & {
  data: Record<string, unknown>
  checks: PendingCheck[]
  /** Those of the app that differ from their defaults. */
  settings: Settings
}

const COLUMNS = `e.id, e.edit_no, e.edited_by, e.data, e.tags, e.mentions, e.files, e.edited_before, e.checks, e.held_at,
  (select a.settings from apps a where a.app_no = e.app_no) as settings`

export const findHeldEdit = query<OneEdit, HeldEditRow>(
  'edits.find',
  `select ${COLUMNS} from held_edits e where e.app_no = :appNo and e.id = :id`,
)

/** Locks the head of the message. No row if the message is gone. */
export const lockEdited = query<OneEdit, { no: number; blocked: boolean }>(
  'edits.lockHead',
  `select h.no, h.kind = 'user' and (h.blocked_one or h.blocked_other) as blocked from conversations h
   where h.app_no = :appNo and h.no = (
     select m.conversation from messages m where m.app_no = :appNo and m.id = :id)
   for no key update`,
)

/** Ends the wait of an edit. No row if a later edit waits instead, or none. */
export const removeHeldEdit = query<OneEdit & { editNo: string }, HeldEditRow>(
  'edits.remove',
  `delete from held_edits e where e.app_no = :appNo and e.id = :id and e.edit_no = :editNo
   returning ${COLUMNS}`,
)

export interface PendingEditRow {
  app_id: string
  edit_no: number
  checks: PendingCheck[]
  overdue: boolean
  data: Record<string, unknown>
}

export const findPendingEdit = query<OneEdit & { deadlineSeconds: number }, PendingEditRow>(
  'edits.findPending',
  `select a.app_id, e.edit_no, e.checks, e.data,
     clock_timestamp() > e.held_at + make_interval(secs => :deadlineSeconds) as overdue
   from held_edits e join apps a on a.app_no = e.app_no
   where e.app_no = :appNo and e.id = :id`,
)

/** Edits whose checks should have been over for a while. */
export const listOverdueEdits = query<
  { deadlineSeconds: number; graceSeconds: number; limit: number },
  { app_no: number; id: number }
>(
  'edits.listOverdue',
  `select e.app_no, e.id from held_edits e
   where e.held_at < clock_timestamp() - make_interval(secs => :graceSeconds)
     and e.held_at < clock_timestamp() - make_interval(secs => :graceSeconds + coalesce((
       select c.deadline_seconds from check_settings c where c.app_no = e.app_no), :deadlineSeconds))
     and exists (select from working_apps() w where w.app_no = e.app_no)
   order by e.held_at limit :limit`,
)

/** Those of these files that can be referred to, locked. */
export const lockFiles = query<{ appNo: number; files: string[] }, { id: string }>(
  'edits.lockFiles',
  `select id from files where app_no = :appNo and id = any (:files::text[]) and state = 'ready'
   order by id for no key update`,
)
