import type { CellRows } from '../../../db/rows.gen.ts'
import type { StoredPermissions } from '../../core/access/rules.ts'
import type { RoleSettings } from '../../core/access/twins.ts'
import { query } from '../../platform/db/query.ts'

export type RoleRow = Pick<
  CellRows['roles'],
  'role' | 'name' | 'description' | 'built_in' | 'created_at' | 'updated_at'
> & { metadata: Record<string, unknown> | null; settings: RoleSettings | null }

export const COLUMNS =
  'role, name, description, metadata, settings, built_in, created_at, updated_at'

/** The role, if it exists; it stays until the transaction ends. */
export const holdRole = query<{ appNo: number; role: string }, { role: string }>(
  'roles.hold',
  `select role from roles
   where app_no = :appNo and role = :role and removed_at is null for key share`,
)

/** The roles that every app starts with. */
export const insertBuiltInRoles = query<{ appNo: number }>(
  'roles.insertBuiltIn',
  `insert into roles (app_no, role, name, built_in)
   values (:appNo, 'default', 'Default', true), (:appNo, '@agentic', 'AI agent', true)`,
)

export const findRole = query<{ appNo: number; role: string }, RoleRow>(
  'roles.find',
  `select ${COLUMNS} from roles where app_no = :appNo and role = :role and removed_at is null`,
)

/** The users whose role is limited to friends. */
export const listClosedAmong = query<{ appNo: number; uids: string[] }, { uid: string }>(
  'roles.listClosedAmong',
  `select u.uid from users u
   join roles r on r.app_no = u.app_no and r.role = shown_role(u.app_no, u.role)
   where u.app_no = :appNo and u.uid = any(:uids::text[])
     and ('friendsOnly' in (r.settings ->> 'listUsers', r.settings ->> 'sendMessagesTo') or exists (
       select from jsonb_each(r.permissions) p where p.key like '%.mode' and p.value ->> 'value' = 'friends'))`,
)

/**
 * Sorted by id. There are at most 25 besides the built-in ones, so all are read and paged in
 * memory.
 */
export const listRoles = query<{ appNo: number }, RoleRow>(
  'roles.list',
  `select ${COLUMNS} from roles where app_no = :appNo and removed_at is null order by role`,
)

/**
 * Serialises the writes to an app's roles: their number is exact, and the app's row, which says
 * whether there are special roles, is always locked before them.
 */
export const lockRoles = query<{ appNo: number }>(
  'roles.lock',
  'select from apps where app_no = :appNo for no key update',
)

export const countRoles = query<{ appNo: number }, { count: number }>(
  'roles.count',
  'select count(*) from roles where app_no = :appNo and not built_in and removed_at is null',
)

/** No row if the id is taken, or users of a deleted role with this id are still being moved. */
export const insertRole = query<
  {
    appNo: number
    role: string
    name: string
    description: string | null
    metadata: string | null
    settings: string | null
    permissions: string | null
  },
  RoleRow
>(
  'roles.insert',
  `insert into roles (app_no, role, name, description, metadata, settings, permissions)
   values (:appNo, :role, :name, :description, :metadata::jsonb, :settings::jsonb, :permissions::jsonb)
   on conflict do nothing
   returning ${COLUMNS}`,
)

/** null keeps a field; `unset` clears it. */
export const updateRoleRow = query<
  {
    appNo: number
    role: string
    name: string | null
    description: string | null
    metadata: string | null
    settings: string | null
    permissions: string | null
    unset: string[]
  },
  RoleRow
>(
  'roles.update',
  `update roles set
     name = coalesce(:name, name),
     description = case when 'description' = any(:unset::text[]) then null
       else coalesce(:description, description) end,
     metadata = case when 'metadata' = any(:unset) then null
       else coalesce(:metadata::jsonb, metadata) end,
     settings = case when 'settings' = any(:unset) then null
       else coalesce(:settings::jsonb, settings) end,
     permissions = :permissions::jsonb,
     updated_at = now()
   where app_no = :appNo and role = :role and removed_at is null
   returning ${COLUMNS}`,
)

export const lockRole = query<
  { appNo: number; role: string },
  RoleRow & { permissions: StoredPermissions | null }
>(
  'roles.lockOne',
  `select ${COLUMNS}, permissions from roles
   where app_no = :appNo and role = :role and removed_at is null for update`,
)

export const markRoleRemoved = query<{ appNo: number; role: string }>(
  'roles.markRemoved',
  'update roles set removed_at = now() where app_no = :appNo and role = :role',
)

/** Moves up to :limit users to `default`; the role's row goes last. */
export const sweepRole = query<{ appNo: number; role: string; limit: number }, { gone: boolean }>(
  'roles.sweep',
  'select sweep_role(:appNo, :role, :limit) as gone',
)
