import type { GroupType } from '@loquat/protocol'
import type { CellRows } from '../../db/rows.gen.ts'

export type GroupRow = Omit<
  CellRows['groups'],
  | 'app_no'
  | 'name_key'
  | 'icon_file'
  | 'password_hash'
  | 'permissions'
  | 'removed_at'
  | 'type'
  | 'metadata'
  | 'tags'
> & { type: GroupType; metadata: Record<string, unknown> | null; tags: string[] }

const NAMES = [
  ...['guid', 'name', 'type', 'icon', 'description', 'owner', 'metadata', 'tags'],
  ...['members_count', 'created_at', 'updated_at', 'updated_by'],
]

const columns = (table: string) => NAMES.map((name) => `${table}.${name}`).join(', ')

/** The columns of a group `g` in answers. */
export const GROUP_COLUMNS = columns('g')
