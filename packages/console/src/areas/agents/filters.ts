import type { Filters } from '../../shared/search.ts'
import { RUN_STATES } from './words.ts'

/** The filters of `GET /ai-agents/runs`. */
export const RUN_FILTERS = {
  state: {
    label: 'State',
    kind: 'choice',
    options: Object.fromEntries(Object.entries(RUN_STATES).map(([id, { label }]) => [id, label])),
  },
  agentUid: { label: 'Agent', kind: 'text', hint: 'UID of an agent.' },
  uid: { label: 'User', kind: 'text', hint: 'UID of the user who asked.' },
} satisfies Filters
