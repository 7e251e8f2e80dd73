import { EVERYONE, groupPlace, realtimeLimits, userPlace } from '@loquat/protocol'
import type { Entry } from './entry.ts'
import { type AppHub, type HubUser, isTold } from './hub.ts'

/** While a user was a member of a group: past one position, up to another. */
export interface Span {
  guid: string
  after: number
  upto: number
}

/** Where missed events are found: in the ring, or in the log. */
interface Source {
  /** Past one position and up to another, in order. */
  at(places: string[], after: number, upto: number): Entry[] | Promise<Entry[]>
  inGroups(spans: Span[]): Entry[] | Promise<Entry[]>
}

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
  const source = after > upto ? undefined : sourceOf(hub, after)
  if (!source) return undefined
  const own = await source.at([userPlace(user.uid), EVERYONE], after, upto)
  const spans = spansOf(user, groups, own, { after, upto })
  const shared = await source.inGroups(spans)
  const told = inOrder([...own, ...shared]).filter((entry) => isMeant(entry, user, spans))
  return told.length > realtimeLimits.resumeEvents ? undefined : told
}

function sourceOf({ feed: { ring } }: AppHub, after: number): Source | undefined {
  if (after < ring.after) return undefined
  return {
    at: (places, from, upto) => inOrder(places.flatMap((place) => ring.at(place, from, upto))),
    inGroups: (spans) =>
      spans.flatMap((span) => ring.at(groupPlace(span.guid), span.after, span.upto)),
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
