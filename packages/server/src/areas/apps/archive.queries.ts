import { directoryQuery, query } from '../../platform/db/query.ts'

/** Apps of a cell that aren't in service, a thousand at a time. */
export const listRestingApps = directoryQuery<
  { cellId: string; after: number },
  { app_no: number; app_id: string; due: boolean; archived: boolean }
>(
  'apps.listResting',
  `select app_no, app_id, state = 'archived' as archived,
     state = 'purging' or purge_at <= now()
       or state = 'creating' and created_at < now() - interval '1 hour' as due
   from apps where cell_id = :cellId and state <> 'active' and app_no > :after
   order by app_no limit 1000`,
)

/** The apps among these that are in service according to the directory. */
export const listActiveOf = directoryQuery<{ appNos: number[] }, { app_no: number }>(
  'apps.listActiveOf',
  `select app_no from apps where app_no = any(:appNos::int[]) and state = 'active'`,
)

/** After this the app can't be restored. No row if it was restored meanwhile. */
export const beginPurge = directoryQuery<{ appNo: number }, { app_no: number }>(
  'apps.beginPurge',
  `update apps set state = 'purging' where app_no = :appNo and (
     state = 'purging' or state = 'archived' and purge_at <= now()
     or state = 'creating' and created_at < now() - interval '1 hour')
   returning app_no`,
)

/** Together with its collaborators and invitations. */
export const removePlacement = directoryQuery<{ appNo: number }, { app_id: string }>(
  'apps.removePlacement',
  `delete from apps where app_no = :appNo and state = 'purging' returning app_id`,
)

/** The apps among these that are still served. */
export const listUnarchived = query<{ appNos: number[] }, { app_no: number; app_id: string }>(
  'apps.listUnarchived',
  `select app_no, app_id from apps where app_no = any(:appNos::int[]) and archived_at is null`,
)

export const listArchived = query<Record<string, never>, { app_no: number; app_id: string }>(
  'apps.listArchived',
  'select app_no, app_id from apps where archived_at is not null order by app_no',
)

/** No row if nothing changes. */
export const setArchived = query<{ appNo: number; archived: boolean }, { app_no: number }>(
  'apps.setArchived',
  `update apps set archived_at = case when :archived then now() end
   where app_no = :appNo and (archived_at is not null) <> :archived
   returning app_no`,
)

/** The app that has this number in the cell. */
export const findAppWithNo = query<{ appNo: number }, { app_id: string }>(
  'apps.findWithNo',
  'select app_id from apps where app_no = :appNo',
)

export const purgeApp = query<{ appNo: number; limit: number }, { gone: boolean }>(
  'apps.purge',
  'select purge_app(:appNo, :limit) as gone',
)
