import type { Filters } from '../../shared/search.ts'

export const GROUP_TYPES = { public: 'Public', private: 'Private', password: 'Password' }

/** The filters of `GET /groups`. */
export const GROUP_FILTERS = {
  type: { label: 'Type', kind: 'choice', options: GROUP_TYPES },
  tags: { label: 'Tags', kind: 'list', hint: 'Any of these tags, separated by commas.' },
  'membersCount[gte]': { label: 'Minimum members', kind: 'number' },
  'membersCount[lte]': { label: 'Maximum members', kind: 'number' },
  'createdAt[from]': { label: 'Created after', kind: 'time' },
  'createdAt[to]': { label: 'Created before', kind: 'time' },
  'updatedAt[from]': { label: 'Updated after', kind: 'time' },
  'updatedAt[to]': { label: 'Updated before', kind: 'time' },
  guids: { label: 'GUIDs', kind: 'list' },
  sortBy: {
    label: 'Sort by',
    kind: 'choice',
    options: { name: 'Name', guid: 'GUID', createdAt: 'Created' },
  },
  sortOrder: {
    label: 'Sort order',
    kind: 'choice',
    options: { asc: 'Ascending', desc: 'Descending' },
  },
} satisfies Filters
