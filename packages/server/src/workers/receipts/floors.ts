import type { Executor } from '../../platform/db/query.ts'
import {
  type Floor,
  listFloors,
  listLowest,
  listReached,
  type Reached,
  type ReceiptKind,
  scanMembers,
} from './queries.ts'

/** Numbers of members. Tests lower them, so that small groups are treated as large ones. */
export interface Sizes {
  /** How many members a group may have to look at all of them each time, and how many laggards larger groups keep. */
  laggards: number
  /** Members per statement. */
  scan: number
}

const SIZES: Sizes = { laggards: 100, scan: 10_000 }
/** Small groups per statement. A user who is deactivated can be a member of thousands. */
const GROUPS = 100

/** A group in which members may have been the last ones to receive or read messages. */
export interface Candidate {
  floor: Floor
  /** All members have reached this message, and all but `lowest` have reached `next`. */
  reached: number
  lowest: string
  next: number
  laggards: string[] | null
  bound: number | null
}

export interface FloorOptions {
  appNo: number
  kind: ReceiptKind
}

/** Finds out how far the members of these groups are. Groups without members who give receipts are left out. */
export async function findCandidates(
  db: Executor,
  { appNo, kind }: FloorOptions,
  conversations: number[],
  sizes = SIZES,
): Promise<Candidate[]> {
  const { laggards } = sizes
  const floors = await listFloors.many(db, { appNo, kind, conversations })
  const small = floors.filter(({ members }) => members <= laggards)
  const found = new Map<number, Reached[]>()
  for (let at = 0; at < small.length; at += GROUPS) {
    const groups = small.slice(at, at + GROUPS).map(({ conversation }) => conversation)
    for (const lowest of await listLowest.many(db, { appNo, kind, conversations: groups })) {
      const { conversation, ...reached } = lowest
      found.set(conversation, [...(found.get(conversation) ?? []), reached])
    }
  }
  const candidates: Candidate[] = []
  for (const floor of floors) {
    const candidate =
      floor.members <= laggards
        ? candidateOf(floor, found.get(floor.conversation) ?? [], null, null)
        : await findInLarge(db, { appNo, kind, ...sizes }, floor)
    if (candidate) candidates.push(candidate)
  }
  return candidates
}

/**
 * Looking at 100,000 members after each mark would be too slow. So a large group keeps its laggards, the members who are
 * furthest behind, and a bound that all others have reached. Members only move forward, so as long as two laggards
 * haven't passed the bound, the others don't matter.
 */
async function findInLarge(db: Executor, options: FloorOptions & Sizes, floor: Floor) {
  const { appNo, kind } = options
  const { conversation, laggards, bound, last_id } = floor
  if (laggards && bound !== null) {
    const reached = await listReached.many(db, { appNo, kind, conversation, uids: laggards })
    const [, second] = reached
    if ((second && second.id <= bound) || bound >= last_id) {
      return candidateOf(floor, [...reached, { uid: '', id: bound }], laggards, bound)
    }
  }
  const scanned = await scanGroup(db, options, conversation)
  // Members who join from now on are further than this.
  const reachedByOthers = Math.min(scanned[options.laggards]?.id ?? last_id, last_id)
  const kept = scanned.slice(0, options.laggards)
  const uids = kept.map(({ uid }) => uid)
  return candidateOf(floor, [...kept, { uid: '', id: reachedByOthers }], uids, reachedByOthers)
}

/** The members who are furthest behind: one more than are kept, for the bound. */
async function scanGroup(
  db: Executor,
  { appNo, kind, laggards, scan }: FloorOptions & Sizes,
  conversation: number,
): Promise<Reached[]> {
  const most = laggards + 1
  let lowest: Reached[] = []
  for (let after: string | null = ''; after !== null; ) {
    const from = { appNo, kind, conversation, after, scan, most }
    const part: { last: string | null; lowest: Reached[] } = await scanMembers.one(db, from)
    lowest = [...lowest, ...part.lowest].sort((one, other) => one.id - other.id).slice(0, most)
    after = part.last
  }
  return lowest
}

function candidateOf(
  floor: Floor,
  reached: Reached[],
  laggards: string[] | null,
  bound: number | null,
): Candidate | undefined {
  const [first, second = first] = reached.sort((one, other) => one.id - other.id)
  if (!first || !second) return undefined
  return { floor, reached: first.id, lowest: first.uid, next: second.id, laggards, bound }
}
