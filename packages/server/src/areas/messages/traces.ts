import type { Executor } from '../../platform/db/query.ts'
import type { MessageRow } from './queries.ts'
import { listReactionCounts } from './reactions.queries.ts'
import { listSaveTimes } from './saves.queries.ts'

interface ReactionCount {
  reaction: string
  count: number
  reactedByMe?: true
}

/** What users left at messages, by the id of the message. */
export interface Traces {
  reactions: Map<number, ReactionCount[]>
  savedAt: Map<number, Date>
}

/** Only messages that anybody ever reacted to or saved are looked up: of most pages none. */
export async function tracesOf(
  db: Executor,
  appNo: number,
  rows: MessageRow[],
  viewer: string | undefined,
): Promise<Traces> {
  const traces: Traces = { reactions: new Map(), savedAt: new Map() }
  const reacted = rows.filter((row) => row.reacted).map(({ id }) => id)
  if (reacted.length > 0) {
    const found = { appNo, ids: reacted, viewer: viewer ?? null }
    for (const row of await listReactionCounts.many(db, found)) {
      const { message_id: id, reaction, count, mine } = row
      const counts = traces.reactions.get(id) ?? []
      counts.push({ reaction, count, ...(mine && { reactedByMe: true }) })
      traces.reactions.set(id, counts)
    }
  }
  const saved = rows.filter((row) => row.saved).map(({ id }) => id)
  if (viewer !== undefined && saved.length > 0) {
    const times = await listSaveTimes.many(db, { appNo, uid: viewer, ids: saved })
    for (const { message_id: id, saved_at: at } of times) traces.savedAt.set(id, at)
  }
  return traces
}
