import type { Filters } from '../../shared/search.ts'

/** The filters of `GET /users`. */
export const USER_FILTERS = {
  role: { label: 'Role', kind: 'text' },
  status: {
    label: 'Presence',
    kind: 'choice',
    options: { online: 'Online', offline: 'Offline' },
  },
  tags: { label: 'Tags', kind: 'list', hint: 'Any of these tags, separated by commas.' },
  onlyDeactivated: { label: 'Only deactivated', kind: 'flag' },
  withDeactivated: { label: 'Include deactivated', kind: 'flag' },
  'createdAt[from]': { label: 'Created after', kind: 'time' },
  'createdAt[to]': { label: 'Created before', kind: 'time' },
  'updatedAt[from]': { label: 'Updated after', kind: 'time' },
  'updatedAt[to]': { label: 'Updated before', kind: 'time' },
  uids: { label: 'UIDs', kind: 'list' },
  sortOrder: { label: 'Sort order', kind: 'choice', options: { asc: 'A to Z', desc: 'Z to A' } },
} satisfies Filters
