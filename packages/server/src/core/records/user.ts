import type { UserRecord } from '@loquat/protocol'
import type { UserRow } from '../user-rows.ts'
import { columnsOf, type Fields } from './fields.ts'

const { text, seconds, flag } = columnsOf<UserRow>('u')

type Presence = Pick<UserRecord, 'status' | 'lastActiveAt'>

/** The fields of a user that everyone sees, without private ones. */
export const USER: Fields<Omit<UserRecord, keyof Presence>, UserRow> = {
  uid: text('uid'),
  name: text('name'),
  avatar: text('avatar', 'optional'),
  link: text('link', 'optional'),
  statusMessage: text('status_message', 'optional'),
  createdAt: seconds('created_at'),
  updatedAt: seconds('updated_at', 'optional'),
  deactivatedAt: seconds('deactivated_at', 'optional'),
  metadata: {
    read: ({ metadata }) => (metadata ? withoutPrivate(metadata) : undefined),
    sql: `(u.metadata - '@private')`,
    optional: true,
  },
  role: {
    read: ({ role }) => role,
    // The column can hold a role that was removed; rows are read with the role that is shown.
    sql: `case when u.role = 'default' then '"default"' else to_json(shown_role(u.app_no, u.role))::text end`,
    live: true,
  },
}

/** The fields that depend on the viewer: users across a block don't see them. */
export const PRESENCE: Fields<Presence, UserRow> = {
  status: flag('online', 'available', 'offline'),
  lastActiveAt: seconds('last_active_at', 'optional'),
}

function withoutPrivate(metadata: Record<string, unknown>) {
  if (!('@private' in metadata)) return metadata
  const { '@private': _private, ...shared } = metadata
  return shared
}
