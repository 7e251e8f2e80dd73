export type Decision = 'approve' | 'reject' | 'delete'

export const KINDS = {
  blocked: { label: 'Blocked', tone: 'bad' },
  flagged: { label: 'Flagged', tone: 'warn' },
  user: { label: 'Flagged user', tone: 'warn' },
  group: { label: 'Flagged group', tone: 'warn' },
} as const
