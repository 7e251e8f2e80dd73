/** The kinds of items in a file, in the order in which they depend on each other. */
export const KINDS = [
  'role',
  'user',
  'group',
  'member',
  'message',
  'reaction',
  'friend',
  'block',
  'sanction',
  'save',
  'view',
] as const
export type Kind = (typeof KINDS)[number]

/** What became of the lines of a kind. `there`: they were there already. */
export interface Count {
  read: number
  imported: number
  there: number
  refused: number
}

export type Counts = Record<Kind, Count>
