import type { DirectoryRows } from '../../../db/rows.gen.ts'
import { directoryQuery, query } from '../../platform/db/query.ts'

/** The cell of the region that accepts new apps and has the fewest. */
export const findCellForApp = directoryQuery<
  { region: string },
  Pick<DirectoryRows['apps'], 'cell_id'>
>(
  'apps.findCell',
  `select cell_id
   from cells left join apps using (cell_id)
   where region = :region and accepts_apps
   group by cell_id
   order by count(app_no), cell_id
   limit 1`,
)

/** The highest number of an app in a cell. */
export const findHighestNo = query<Record<string, never>, { highest: number }>(
  'apps.findHighestNo',
  'select coalesce(max(app_no), 0) as highest from apps',
)

/** Apps that are placed from now on get higher numbers than this. */
export const skipNumbers = directoryQuery<{ highest: number }>(
  'apps.skipNumbers',
  `select setval('apps_app_no_seq', greatest(nextval('apps_app_no_seq'), :highest::bigint))
   from apps_app_no_seq
   where last_value < :highest::bigint or last_value = :highest and not is_called`,
)

export const insertPlacement = directoryQuery<
  { appId: string; name: string; cellId: string },
  Pick<DirectoryRows['apps'], 'app_no'>
>(
  'apps.insertPlacement',
  `insert into apps (app_id, name, cell_id)
   values (:appId, :name, :cellId)
   returning app_no`,
)

export type ListedAppRow = Pick<
  DirectoryRows['apps'],
  'app_id' | 'name' | 'cell_id' | 'state' | 'created_at'
> & { region: string; owner: string | null }

/** All apps, oldest first, each with its owner's email address. */
export const listAllApps = directoryQuery<Record<string, never>, ListedAppRow>(
  'apps.listAll',
  `select app_id, a.name, region, cell_id, state, email as owner, a.created_at
   from apps a join cells using (cell_id)
   left join collaborators c on c.app_no = a.app_no and role = 'owner'
   left join operators using (operator_no)
   order by a.app_no`,
)

/** The oldest app in service with this name. */
export const findAppByName = directoryQuery<
  { name: string },
  Pick<DirectoryRows['apps'], 'app_id'>
>(
  'apps.findByName',
  `select app_id from apps where name = :name and state = 'active' order by app_no limit 1`,
)

/** No row if the app took too long to be created: it is being purged by now. */
export const activatePlacement = directoryQuery<{ appNo: number }, { app_no: number }>(
  'apps.activatePlacement',
  `update apps set state = 'active' where app_no = :appNo and state = 'creating' returning app_no`,
)

export const insertOwner = directoryQuery<{ appNo: number; operatorNo: number }>(
  'apps.insertOwner',
  `insert into collaborators (app_no, operator_no, role) values (:appNo, :operatorNo, 'owner')`,
)

export const insertApp = query<{ appNo: number; appId: string }>(
  'apps.insert',
  `insert into apps (app_no, app_id) values (:appNo, :appId)`,
)
