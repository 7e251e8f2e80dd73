export type ConversationKind = 'user' | 'group'

/** The uid of the app itself; it has no row. */
export const SYSTEM_UID = 'app_system'

/** The uid that others' messages show instead of that of a user who was erased. Nobody can have it. */
export const ERASED_UID = 'app_erased'

const BETWEEN = '_user_'
const OF_GROUP = 'group_'

/**
 * Ids of messages and reactions are quarter microseconds since this second (tick() in the database). They stay below
 * 2^53 until 2073.
 */
const FIRST_SECOND = 1_000_000_000
const IDS_PER_SECOND = 4_000_000

/** The Unix second in which a message was sent. */
export const secondOf = (id: number) => Math.floor(id / IDS_PER_SECOND) + FIRST_SECOND

/** When a message was sent. */
export const timeOf = (id: number) =>
  new Date(Math.floor(id / (IDS_PER_SECOND / 1000)) + FIRST_SECOND * 1000)

/** The first id of a Unix second, or the nearest number that can be an id. */
export const firstIdOf = (second: number) =>
  Math.min(Math.max(second - FIRST_SECOND, 0) * IDS_PER_SECOND, Number.MAX_SAFE_INTEGER)

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
