import { EVERYONE, groupPlace, realtimeLimits, userPlace } from '@loquat/protocol'
import { type Entry, type LoggedRow, readLogged } from './entry.ts'
import type { Feed } from './feed.ts'
import { findReturn, listTold, listToldInGroups } from './queries.ts'
import { type HubUser, isTold } from './user.ts'

/** While a user was a member of a group: past one position, up to another. */
export interface Span {
  guid: string
  after: number
  upto: number
}

/** Where missed events are found: in the ring, or in the log. Undefined: there are too many. */
interface Source {
  /** What the user itself was told, or everyone, past one position and up to another, in order. */
  own(uid: string, after: number, upto: number): Promise<Entry[] | undefined>
  inGroups(spans: Span[]): Promise<Entry[] | undefined>
}

/** Read of the log at most: a few of them can be meant for others. */
const READ = 2 * realtimeLimits.resumeEvents

/**
 * What a user was told past `after`, up to where the hub stands now; undefined if that is too much, or
 * no longer known. Groups that the user left meanwhile are told up to the leave, those that ended up to the end.
 */
export async function missedBy(
  feed: Feed,
  user: HubUser,
  after: number,
  upto: number,
): Promise<Entry[] | undefined> {
  if (after === upto) return []
  if (after > upto) return undefined
  // As they are now: while the log is read, they may change.
  const groups = [...user.groups].map(({ guid }) => guid)
  const { no: appNo, cell } = feed.app
  const { day, ended } = await findReturn.one(cell.db, { appNo, uid: user.uid, after })
  const source = after >= feed.ring.after ? inRing(feed) : day ? inLog(feed, day) : undefined
  const own = await source?.own(user.uid, after, upto)
  if (!source || !own) return undefined
  const member = { uid: user.uid, groups, ended: new Set(ended.map(({ key }) => key)) }
  const range = { after, upto }
  const shared = await source.inGroups([
    ...spansOf(member, own, range),
    // Where in it the end is, is not known yet.
    ...ended.map(({ guid }) => ({ guid, ...range })),
  ])
  if (!shared) return undefined
  const found = inOrder([...own, ...shared])
  const spans = spansOf(member, found, range)
  const told = found.filter((entry) => isMeant(entry, user, spans))
  return told.length > realtimeLimits.resumeEvents ? undefined : told
}

const inRing = ({ ring }: Feed): Source => ({
  own: async (uid, after, upto) =>
    inOrder([userPlace(uid), EVERYONE].flatMap((place) => ring.at(place, after, upto))),
  inGroups: async (spans) =>
    spans.flatMap(({ guid, after, upto }) => ring.at(groupPlace(guid), after, upto)),
})

function inLog({ app: { no: appNo, cell } }: Feed, day: string): Source {
  const common = { appNo, day, limit: READ + 1 }
  const entries = (rows: LoggedRow[]) => (rows.length > READ ? undefined : rows.map(readLogged))
  return {
    own: async (uid, after, upto) => {
      const place = userPlace(uid)
      const range = { ...common, place, everyone: EVERYONE, after, upto }
      return entries(await listTold.many(cell.db, range))
    },
    inGroups: async (spans) => {
      const places = spans.map(({ guid, ...span }) => ({ place: groupPlace(guid), ...span }))
      const found = { ...common, spans: JSON.stringify(places) }
      return entries(await listToldInGroups.many(cell.db, found))
    },
  }
}

/** By position, each once. */
function inOrder(entries: Entry[]): Entry[] {
  const sorted = entries.sort((one, other) => one.position - other.position)
  return sorted.filter(({ position }, index) => position !== sorted[index - 1]?.position)
}

interface Member {
  uid: string
  /** Where it is a member now. */
  groups: string[]
  /** Keys of groups that have ended with it. */
  ended: Set<string>
}

/** When the user was a member of which group: known from where it is one now, and what changed that. */
function spansOf(
  { uid, groups, ended }: Member,
  entries: Entry[],
  { after, upto }: Omit<Span, 'guid'>,
): Span[] {
  const spans: Span[] = []
  const since = new Map<string, number>()
  for (const { change, position } of entries) {
    if (!change || !('guid' in change)) continue
    const { guid } = change
    const concerned = change.kind === 'gone' ? ended.has(change.key) : change.uids.includes(uid)
    if (!concerned) continue
    if (change.kind === 'in') since.set(guid, position)
    else {
      spans.push({ guid, after: since.get(guid) ?? after, upto: position })
      since.delete(guid)
    }
  }
  for (const guid of groups) spans.push({ guid, after: since.get(guid) ?? after, upto })
  return spans
}

function isMeant({ audience, position }: Entry, user: HubUser, spans: Span[]): boolean {
  if (!audience || !isTold(user, audience)) return false
  const { group, only, users, everyone } = audience
  if (everyone || users?.includes(user.uid)) return true
  if (group === undefined || only?.includes(user.uid) === false) return false
  return spans.some(
    ({ guid, after, upto }) => guid === group && position > after && position <= upto,
  )
}
