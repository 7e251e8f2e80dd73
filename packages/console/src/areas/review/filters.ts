import type { Filters } from '../../shared/search.ts'

export const REVIEW_FILTERS: Filters = {
  kind: {
    label: 'Kind',
    kind: 'choice',
    options: {
      blocked: 'Blocked messages',
      flagged: 'Flagged messages',
      user: 'Flagged users',
      group: 'Flagged groups',
    },
  },
  searchKey: { label: 'Text', kind: 'text', hint: 'Part of the text of the message.' },
  sender: { label: 'Sender', kind: 'text', hint: 'The UID of the sender.' },
  receiver: { label: 'Receiver', kind: 'text', hint: 'The UID or GUID of the receiver.' },
  ruleId: { label: 'Rule', kind: 'text', hint: 'The ID of the rule that blocked the message.' },
}
