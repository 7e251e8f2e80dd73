import type { DirectoryRows } from '../../../db/rows.gen.ts'
import { directoryQuery } from '../db/query.ts'

export type CellRow = Pick<DirectoryRows['cells'], 'cell_id' | 'region' | 'url_sealed'>

export const listCells = directoryQuery<Record<string, never>, CellRow>(
  'directory.listCells',
  `select cell_id, region, url_sealed from cells order by cell_id`,
)

export type ListedCellRow = CellRow &
  Pick<DirectoryRows['cells'], 'accepts_apps' | 'synchronous' | 'created_at'> & { apps: number }

/** All cells, each with the number of its apps. */
export const listCellsWithApps = directoryQuery<Record<string, never>, ListedCellRow>(
  'directory.listCellsWithApps',
  `select cell_id, region, url_sealed, accepts_apps, synchronous, c.created_at,
     count(app_no) filter (where state in ('active', 'archived')) as apps
   from cells c left join apps using (cell_id)
   group by cell_id order by cell_id`,
)

export const upsertCell = directoryQuery<{ cellId: string; region: string; urlSealed: Buffer }>(
  'directory.upsertCell',
  `insert into cells (cell_id, region, url_sealed)
   values (:cellId, :region, :urlSealed)
   on conflict (cell_id) do update set url_sealed = excluded.url_sealed`,
)

/** Returns no row if there is no such cell. */
export const declareSynchronous = directoryQuery<
  { cellId: string; synchronous: boolean },
  { cell_id: string }
>(
  'directory.declareSynchronous',
  'update cells set synchronous = :synchronous where cell_id = :cellId returning cell_id',
)

export type PlacementRow = Pick<DirectoryRows['apps'], 'app_no' | 'app_id' | 'cell_id'> &
  Pick<CellRow, 'region'>

/** The active apps among these ids. Apps that are still being created are left out. */
export const listPlacements = directoryQuery<{ appIds: string[] }, PlacementRow>(
  'directory.listPlacements',
  `select app_no, app_id, region, cell_id
   from apps join cells using (cell_id)
   where app_id = any(:appIds::text[]) and state = 'active'`,
)

export type PlacedRow = Pick<DirectoryRows['apps'], 'app_no' | 'app_id'>

/** The apps whose data a cell must contain. */
export const listPlaced = directoryQuery<{ cellId: string }, PlacedRow>(
  'directory.listPlaced',
  `select app_no, app_id from apps
   where cell_id = :cellId and state in ('active', 'archived') order by app_no`,
)
