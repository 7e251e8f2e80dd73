import type { Filters } from '../../shared/search.ts'

/** What `GET /users` can be asked for. */
export const USER_FILTERS = {
  role: { label: 'Role', kind: 'text' },
  status: {
    label: 'Presence',
    kind: 'choice',
    options: { online: 'Online', offline: 'Offline' },
  },
  tags: { label: 'Tags', kind: 'list', hint: 'Any of these; several with commas.' },
  onlyDeactivated: { label: 'Deactivated only', kind: 'flag' },
  withDeactivated: { label: 'Deactivated too', kind: 'flag' },
  'createdAt[from]': { label: 'Created from', kind: 'time' },
  'createdAt[to]': { label: 'Created until', kind: 'time' },
  'updatedAt[from]': { label: 'Changed from', kind: 'time' },
  'updatedAt[to]': { label: 'Changed until', kind: 'time' },
  uids: { label: 'UIDs', kind: 'list' },
  sortOrder: { label: 'Order', kind: 'choice', options: { asc: 'A to Z', desc: 'Z to A' } },
} satisfies Filters
