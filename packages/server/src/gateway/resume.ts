import { EVERYONE, groupPlace, realtimeLimits, userPlace } from '@loquat/protocol'
import { type Entry, type LoggedRow, readLogged } from './entry.ts'
import { type AppHub, type HubUser, isTold } from './hub.ts'
import { findDay, listTold, listToldInGroups } from './queries.ts'

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
 * no longer known. Groups that the user left meanwhile are told up to the leave.
 */
export async function missedBy(
  hub: AppHub,
  user: HubUser,
  after: number,
  upto: number,
): Promise<Entry[] | undefined> {
  // As they are now: while the log is read, they may change.
  const groups = [...user.groups].map(({ guid }) => guid)
  if (after > upto) return undefined
  const source = after >= hub.feed.ring.after ? inRing(hub) : await inLog(hub, after)
  const own = await source?.own(user.uid, after, upto)
  if (!source || !own) return undefined
  const spans = spansOf(user, groups, own, { after, upto })
  const shared = await source.inGroups(spans)
  if (!shared) return undefined
  const told = inOrder([...own, ...shared]).filter((entry) => isMeant(entry, user, spans))
  return told.length > realtimeLimits.resumeEvents ? undefined : told
}

const inRing = ({ feed: { ring } }: AppHub): Source => ({
  own: async (uid, after, upto) =>
    inOrder([userPlace(uid), EVERYONE].flatMap((place) => ring.at(place, after, upto))),
  inGroups: async (spans) =>
    spans.flatMap(({ guid, after, upto }) => ring.at(groupPlace(guid), after, upto)),
})

/** Undefined if the log no longer holds all past the position. */
async function inLog({ app }: AppHub, from: number): Promise<Source | undefined> {
  const { no: appNo, cell } = app
  const start = await findDay.maybeOne(cell.db, { appNo, position: from + 1 })
  if (!start) return undefined
  const common = { appNo, day: start.day, limit: READ + 1 }
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

/** When the user was a member of which group: known from where it is one now, and what changed that. */
function spansOf(
  { uid, banned }: HubUser,
  groups: string[],
  own: Entry[],
  { after, upto }: Omit<Span, 'guid'>,
): Span[] {
  const spans: Span[] = []
  const since = new Map<string, number>()
  const met = new Set<string>()
  for (const { change, position } of own) {
    if (change?.kind !== 'in' && change?.kind !== 'out') continue
    if (!change.uids.includes(uid)) continue
    const { guid } = change
    if (change.kind === 'in') since.set(guid, position)
    else {
      // Whoever was never a member can be banned too.
      const member = !met.has(guid) && (!change.banned || banned.has(guid))
      const from = since.get(guid) ?? (member ? after : undefined)
      if (from !== undefined) spans.push({ guid, after: from, upto: position })
      since.delete(guid)
    }
    met.add(guid)
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
