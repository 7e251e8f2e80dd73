import { query } from '../../platform/db/query.ts'
import type { FlagRow } from './flags.queries.ts'

type Subject = { appNo: number; kind: 'user' | 'group'; subject: string }

/** All flags of a subject have the id of one item. The subject is locked, so there is no second one. */
export const upsertSubjectFlag = query<
  Subject & { uid: string; reasonId: string; remark: string | null }
>(
  'subjects.flag',
  `insert into subject_flags (app_no, kind, subject, uid, item_id, reason_id, remark)
   values (:appNo, :kind, :subject, :uid, coalesce((
     select item_id from subject_flags
     where app_no = :appNo and kind = :kind and subject = :subject limit 1), tick()), :reasonId, :remark)
   on conflict (app_no, kind, subject, uid) do update
   set reason_id = excluded.reason_id, remark = excluded.remark, flagged_at = excluded.flagged_at`,
)

export const countSubjectFlags = query<Subject, { count: number }>(
  'subjects.count',
  `select count(*) from subject_flags where app_no = :appNo and kind = :kind and subject = :subject`,
)

export const removeSubjectFlags = query<{ appNo: number; id: number }>(
  'subjects.remove',
  'delete from subject_flags where app_no = :appNo and item_id = :id',
)

/** Oldest first. */
export const listSubjectFlags = query<
  { appNo: number; ids: number[] },
  FlagRow & { kind: 'user' | 'group'; subject: string }
>(
  'subjects.list',
  `select f.item_id as message_id, f.kind, f.subject, f.uid, u.name, u.avatar, u.role, f.reason_id,
     f.remark, f.flagged_at
   from subject_flags f left join users u on u.app_no = f.app_no and u.uid = f.uid and u.removed_at is null
   where f.app_no = :appNo and f.item_id = any(:ids::bigint[])
   order by f.flagged_at, f.uid`,
)
