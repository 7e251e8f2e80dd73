import type { CellRows } from '../../../db/rows.gen.ts'
import { query } from '../../platform/db/query.ts'

export type ReasonRow = Omit<CellRows['flag_reasons'], 'app_no'>

type OneReason = { appNo: number; id: string }

const COLUMNS = 'reason_id, name, description, created_at, updated_at'

/** Sorted by id. An app has at most 50, so all are read. */
export const listReasonRows = query<{ appNo: number }, ReasonRow>(
  'moderation.listReasons',
  `select ${COLUMNS} from flag_reasons where app_no = :appNo order by reason_id`,
)

export const findReason = query<OneReason, ReasonRow>(
  'moderation.findReason',
  `select ${COLUMNS} from flag_reasons where app_no = :appNo and reason_id = :id`,
)

export const insertReason = query<
  OneReason & { name: string; description: string | null },
  ReasonRow
>(
  'moderation.insertReason',
  `insert into flag_reasons (app_no, reason_id, name, description)
   values (:appNo, :id, :name, :description)
   on conflict do nothing
   returning ${COLUMNS}`,
)

/** null keeps a field. */
export const updateReason = query<
  OneReason & { name: string | null; description: string | null },
  ReasonRow
>(
  'moderation.updateReason',
  `update flag_reasons set name = coalesce(:name, name),
     description = coalesce(:description, description), updated_at = now()
   where app_no = :appNo and reason_id = :id
   returning ${COLUMNS}`,
)

export const removeReason = query<OneReason, ReasonRow>(
  'moderation.removeReason',
  `delete from flag_reasons where app_no = :appNo and reason_id = :id returning ${COLUMNS}`,
)
