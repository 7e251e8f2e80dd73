import type { Filters } from '../../shared/search.ts'

export const GROUP_TYPES = { public: 'Public', private: 'Private', password: 'Password' }

/** What `GET /groups` can be asked for. */
export const GROUP_FILTERS = {
  type: { label: 'Type', kind: 'choice', options: GROUP_TYPES },
  tags: { label: 'Tags', kind: 'list', hint: 'Any of these; several with commas.' },
  'membersCount[gte]': { label: 'Members, at least', kind: 'number' },
  'membersCount[lte]': { label: 'Members, at most', kind: 'number' },
  'createdAt[from]': { label: 'Created from', kind: 'time' },
  'createdAt[to]': { label: 'Created until', kind: 'time' },
  'updatedAt[from]': { label: 'Changed from', kind: 'time' },
  'updatedAt[to]': { label: 'Changed until', kind: 'time' },
  guids: { label: 'GUIDs', kind: 'list' },
  sortBy: {
    label: 'Order by',
    kind: 'choice',
    options: { name: 'Name', guid: 'GUID', createdAt: 'Creation' },
  },
  sortOrder: {
    label: 'Order',
    kind: 'choice',
    options: { asc: 'Ascending', desc: 'Descending' },
  },
} satisfies Filters
