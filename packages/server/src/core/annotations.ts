import { type Executor, query } from '../platform/db/query.ts'
import type { MessageRow } from './message-rows.ts'

/** Counts per value, and whether the viewer reacted; one index range per message. */
export const listReactionCounts = query<
  { appNo: number; ids: number[]; viewer: string | null },
  { message_id: number; reaction: string; count: number; mine: boolean }
>(
  'annotations.listReactionCounts',
  `select c.message_id, c.reaction, c.count, mine.message_id is not null as mine
   from reaction_counts c left join (
     select message_id, reaction from reactions
     where app_no = :appNo and uid = :viewer and message_id = any(:ids::bigint[])
   ) mine on mine.message_id = c.message_id and mine.reaction = c.reaction
   where c.app_no = :appNo and c.message_id = any(:ids)
   order by c.first_id`,
)

/** Which of these messages a user saved, and when: one index range. */
export const listSaveTimes = query<
  { appNo: number; uid: string; ids: number[] },
  { message_id: number; saved_at: Date }
>(
  'annotations.listSaveTimes',
  `select message_id, saved_at from saves
   where app_no = :appNo and uid = :uid and message_id = any(:ids::bigint[])`,
)

interface ReactionCount {
  reaction: string
  count: number
  reactedByMe?: true
}

/** Reactions and saves by message id. */
export interface Annotations {
  reactions: Map<number, ReactionCount[]>
  savedAt: Map<number, Date>
}

/** Looks up only messages that somebody has reacted to or saved; most pages have none. */
export async function annotationsOf(
  db: Executor,
  appNo: number,
  rows: MessageRow[],
  viewer: string | undefined,
): Promise<Annotations> {
  const annotations: Annotations = { reactions: new Map(), savedAt: new Map() }
  const reacted = rows.filter((row) => row.reacted).map(({ id }) => id)
  if (reacted.length > 0) {
    const found = { appNo, ids: reacted, viewer: viewer ?? null }
    for (const row of await listReactionCounts.many(db, found)) {
      const { message_id: id, reaction, count, mine } = row
      const counts = annotations.reactions.get(id) ?? []
      counts.push({ reaction, count, ...(mine && { reactedByMe: true }) })
      annotations.reactions.set(id, counts)
    }
  }
  const saved = rows.filter((row) => row.saved).map(({ id }) => id)
  if (viewer !== undefined && saved.length > 0) {
    const times = await listSaveTimes.many(db, { appNo, uid: viewer, ids: saved })
    for (const { message_id: id, saved_at: at } of times) annotations.savedAt.set(id, at)
  }
  return annotations
}
