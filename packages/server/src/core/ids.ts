export type ConversationKind = 'user' | 'group'

/** The uid of the app itself; it has no row. */
export const SYSTEM_UID = 'app_system'

const BETWEEN = '_user_'
const OF_GROUP = 'group_'

/** The printed id of a conversation. */
export const printedId = ({ kind, one, other }: Named) =>
  kind === 'group' ? `${OF_GROUP}${one}` : `${one}${BETWEEN}${other}`

interface Named {
  kind: ConversationKind
  one: string
  other: string
}

/** Every way to read a printed id as two uids. */
export function splitsOf(id: string): [string, string][] {
  const splits: [string, string][] = []
  for (let at = id.indexOf(BETWEEN); at >= 0; at = id.indexOf(BETWEEN, at + 1)) {
    splits.push([id.slice(0, at), id.slice(at + BETWEEN.length)])
  }
  return splits
}

/** The group that a printed id can mean, or ''. */
export const guidOf = (id: string) => (id.startsWith(OF_GROUP) ? id.slice(OF_GROUP.length) : '')

/** `<uid>_user_<uid>`, the same for both users. */
export const conversationIdOf = (one: string, other: string) => [one, other].sort().join('_user_')
