import { EVERYONE, groupTopic, realtimeLimits, userTopic } from '@loquat/protocol'
import { seenOf } from './contents.ts'
import { type Entry, type LoggedRow, readLogged } from './entry.ts'
import type { Feed } from './feed.ts'
import { findResumePoint, listForGroups, listForUser } from './queries.ts'
import { type HubUser, mayReceive } from './user.ts'

/** A range of positions in which a user was a member of a group: after one position, up to another. */
export interface MembershipSpan {
  guid: string
  after: number
  upto: number
}

/** Where missed events are read from: the ring or the log. Undefined: there are too many. */
interface EventSource {
  /** Events addressed to the user or to everyone, after one position and up to another, in order. */
  forUser(uid: string, after: number, upto: number): Promise<Entry[] | undefined>
  forGroups(spans: MembershipSpan[]): Promise<Entry[] | undefined>
}

/** The most events read from the log. Twice the limit, because some turn out to have other recipients. */
const MAX_READ = 2 * realtimeLimits.resumeEvents

/**
 * The events that a user missed after one position and up to another. Undefined if there are too many, if the log no
 * longer holds them or lost the position in a break, or if some are older than the user. If the user left a group
 * meanwhile, the events up to that point are included; if the group was deleted, the events up to its deletion.
 */
export async function listMissed(
  feed: Feed,
  user: HubUser,
  position: number,
  upto: number,
): Promise<Entry[] | undefined> {
  if (position === upto) return []
  if (position > upto) return undefined
  // Copied now, because they may change while the log is read.
  const groups = [...user.groups].map(({ guid }) => guid)
  const { no: appNo, cell } = feed.app
  const point = await findResumePoint.one(cell.db, { appNo, uid: user.uid, after: position })
  const { base: after, lost, foreign, day, deleted } = point
  if (lost || foreign) return undefined
  const source = after >= feed.ring.after ? fromRing(feed) : day ? fromLog(feed, day) : undefined
  const own = await source?.forUser(user.uid, after, upto)
  if (!source || !own) return undefined
  const deletedKeys = new Set(deleted.map(({ order_key }) => order_key))
  const member = { uid: user.uid, groups, deletedKeys }
  const range = { after, upto }
  const shared = await source.forGroups([
    ...membershipSpans(member, own, range),
    // The position of a deletion isn't known yet, so the whole range of a deleted group is read.
    ...deleted.map(({ guid }) => ({ guid, ...range })),
  ])
  if (!shared) return undefined
  const found = inOrder([...own, ...shared])
  const spans = membershipSpans(member, found, range)
  const received = found.filter((entry) => isRecipient(entry, user, spans))
  const seen = received.map(({ contents }) => seenOf(contents, user.hidden, user.uid))
  // Lists show what the user may see.
  if (seen.includes('partly')) return undefined
  const missed = received.filter((_, nth) => seen[nth] === 'all')
  return missed.length > realtimeLimits.resumeEvents ? undefined : missed
}

const fromRing = ({ ring }: Feed): EventSource => ({
  forUser: async (uid, after, upto) =>
    inOrder([userTopic(uid), EVERYONE].flatMap((topic) => ring.inTopic(topic, after, upto))),
  forGroups: async (spans) =>
    spans.flatMap(({ guid, after, upto }) => ring.inTopic(groupTopic(guid), after, upto)),
})

function fromLog({ app: { no: appNo, cell } }: Feed, day: string): EventSource {
  const common = { appNo, day, limit: MAX_READ + 1 }
  const entries = (rows: LoggedRow[]) => (rows.length > MAX_READ ? undefined : rows.map(readLogged))
  return {
    forUser: async (uid, after, upto) => {
      const range = { ...common, topic: userTopic(uid), everyone: EVERYONE, after, upto }
      return entries(await listForUser.many(cell.db, range))
    },
    forGroups: async (spans) => {
      const topics = spans.map(({ guid, ...span }) => ({ topic: groupTopic(guid), ...span }))
      const params = { ...common, spans: JSON.stringify(topics) }
      return entries(await listForGroups.many(cell.db, params))
    },
  }
}

/** Sorts by position and removes duplicates. */
function inOrder(entries: Entry[]): Entry[] {
  const sorted = entries.sort((one, other) => one.position - other.position)
  return sorted.filter(({ position }, index) => position !== sorted[index - 1]?.position)
}

interface Member {
  uid: string
  /** Groups that the user is a member of now. */
  groups: string[]
  /** The order keys of groups that were deleted while the user was a member. */
  deletedKeys: Set<string>
}

/** When the user was a member of which group: derived from today's groups and the membership changes among the events. */
function membershipSpans(
  { uid, groups, deletedKeys }: Member,
  entries: Entry[],
  { after, upto }: Omit<MembershipSpan, 'guid'>,
): MembershipSpan[] {
  const spans: MembershipSpan[] = []
  const joinedAt = new Map<string, number>()
  for (const { audienceChange: change, position } of entries) {
    if (!change || !('guid' in change)) continue
    const { guid } = change
    // Imports announce no membership. What came before this was for the members of another group with the same guid.
    const ofOthers = change.kind === 'deleted' && !deletedKeys.has(change.orderKey)
    if (!ofOthers && 'uids' in change && !change.uids.includes(uid)) continue
    if (ofOthers || change.kind === 'joined') joinedAt.set(guid, position)
    else {
      spans.push({ guid, after: joinedAt.get(guid) ?? after, upto: position })
      joinedAt.delete(guid)
    }
  }
  for (const guid of groups) spans.push({ guid, after: joinedAt.get(guid) ?? after, upto })
  return spans
}

function isRecipient(
  { audience, position }: Entry,
  user: HubUser,
  spans: MembershipSpan[],
): boolean {
  if (!audience || !mayReceive(user, audience)) return false
  const { group, only, users, everyone } = audience
  if (everyone || users?.includes(user.uid)) return true
  if (group === undefined || only?.includes(user.uid) === false) return false
  return spans.some(
    ({ guid, after, upto }) => guid === group && position > after && position <= upto,
  )
}
