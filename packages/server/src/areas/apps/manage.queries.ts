import type { Region } from '@loquat/protocol'
import type { Role } from '../../gate/operator.ts'
import { directoryQuery } from '../../platform/db/query.ts'

export type ManagedAppRow = {
  app_no: number
  app_id: string
  cell_id: string
  name: string
  state: 'active' | 'archived'
  region: Region
  created_at: Date
  purge_at: Date | null
  role: Role
  owner_no: number | null
  owner_name: string | null
  owner_email: string | null
}

/** An operator's apps, each with its owner. */
const OWN = `
   from collaborators c join apps a using (app_no) join cells using (cell_id)
   left join collaborators oc on oc.app_no = c.app_no and oc.role = 'owner'
   left join operators o on o.operator_no = oc.operator_no
   where c.operator_no = :operatorNo and a.state in ('active', 'archived')`

const COLUMNS = `c.app_no, app_id, a.cell_id, a.name, a.state, region, a.created_at, purge_at, c.role,
     o.operator_no as owner_no, o.name as owner_name, o.email as owner_email`

const MATCHES = `(:searchKey::text is null or app_id = lower(:searchKey)
     or strpos(lower(a.name), lower(:searchKey)) > 0)`

/** Newest first. Reads only the operator's own apps. */
export const listManagedApps = directoryQuery<
  { operatorNo: number; searchKey: string | null; before: number; limit: number },
  ManagedAppRow
>(
  'apps.listManaged',
  `select ${COLUMNS} ${OWN} and c.app_no < :before and ${MATCHES}
   order by c.app_no desc limit :limit`,
)

export const countManagedApps = directoryQuery<
  { operatorNo: number; searchKey: string | null },
  { total: number }
>(
  'apps.countManaged',
  `select count(*) as total from collaborators c join apps a using (app_no)
   where c.operator_no = :operatorNo and a.state in ('active', 'archived') and ${MATCHES}`,
)

/** The last of the first `count` apps. */
export const findManagedAppStart = directoryQuery<
  { operatorNo: number; searchKey: string | null; skip: number },
  { app_no: number }
>(
  'apps.findManagedStart',
  `select app_no from collaborators c join apps a using (app_no)
   where c.operator_no = :operatorNo and a.state in ('active', 'archived') and ${MATCHES}
   order by c.app_no desc offset :skip limit 1`,
)

export const getManagedApp = directoryQuery<{ operatorNo: number; appNo: number }, ManagedAppRow>(
  'apps.getManaged',
  `select ${COLUMNS} ${OWN} and c.app_no = :appNo`,
)

/** The apps that count towards the operator's limit; the lock makes the number exact. */
export const lockOwner = directoryQuery<{ operatorNo: number }>(
  'apps.lockOwner',
  'select from operators where operator_no = :operatorNo for no key update',
)

export const countOwnedApps = directoryQuery<{ operatorNo: number }, { count: number }>(
  'apps.countOwned',
  `select count(*) from collaborators where operator_no = :operatorNo and role = 'owner'`,
)

export const renameApp = directoryQuery<{ appNo: number; name: string }, { before: string }>(
  'apps.rename',
  `with old as (select app_no, name from apps where app_no = :appNo for no key update)
   update apps a set name = :name from old where a.app_no = old.app_no
   returning old.name as before`,
)

/**
 * An app's cell, and whether it is scheduled for deletion; nothing while it is being created or
 * purged.
 */
export const findArchived = directoryQuery<
  { appNo: number },
  { cell_id: string; archived: boolean }
>(
  'apps.findArchived',
  `select cell_id, state = 'archived' as archived from apps
   where app_no = :appNo and state in ('active', 'archived')`,
)

/** No row if it is already scheduled for deletion. */
export const archiveApp = directoryQuery<{ appNo: number; days: number }, { purge_at: Date }>(
  'apps.archive',
  `update apps set state = 'archived', archived_at = now(),
     purge_at = now() + make_interval(days => :days)
   where app_no = :appNo and state = 'active'
   returning purge_at`,
)

/** No row if it isn't scheduled for deletion, or it is too late. */
export const restorePlacement = directoryQuery<{ appNo: number }, { app_no: number }>(
  'apps.restore',
  `update apps set state = 'active', archived_at = null, purge_at = null
   where app_no = :appNo and state = 'archived' and purge_at > now()
   returning app_no`,
)
