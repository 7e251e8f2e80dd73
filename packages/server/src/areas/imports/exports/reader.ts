/** Reads the data of an app as the lines that an import reads. */
import { firstIdOf } from '../../../core/ids.ts'
import type { Executor } from '../../../platform/db/query.ts'
import { sql } from '../../../platform/db/sql.ts'
import { readMessages, readReactions, readSaves, readViews } from './messages.reader.ts'
import {
  readBans,
  readGroups,
  readMembers,
  readPairs,
  readRoles,
  readSanctions,
  readUsers,
} from './people.reader.ts'
import { type Line, type Place, type Reader, type Scope, STEPS, type Step } from './reading.ts'

export type { Line, Place, Scope }

export const START: Place = { step: STEPS[0], key: [] }

/** The lines after a place, each with its own. It ends at a full page, or at the end of the export. */
export async function readAfter(
  db: Executor,
  scope: Scope,
  from: Place,
): Promise<{ lines: { line: Line; place: Place }[]; ended: boolean }> {
  let { step, key } = from
  for (;;) {
    const rows = await READERS[step](db, scope, key)
    if (rows.length > 0) {
      const lines = rows.map((row) => ({ line: row.line, place: { step, key: row.key } }))
      return { lines, ended: false }
    }
    const next = STEPS[STEPS.indexOf(step) + 1]
    if (!next) return { lines: [], ended: true }
    step = next
    key = []
  }
}

const READERS: Record<Step, Reader> = {
  role: readRoles,
  user: readUsers,
  group: readGroups,
  member: readMembers,
  ban: readBans,
  message: readMessages,
  reaction: readReactions,
  friend: readPairs('friend', 'friendUid', sql`friends`, sql`friend_uid`),
  block: readPairs('block', 'blockedUid', sql`blocks`, sql`blocked_uid`),
  ...{ sanction: readSanctions, save: readSaves, view: readViews },
}

/** The ids of messages from a second to a second, but none after `until`. */
export const idsOf = (from: number | null, to: number, until: Date) => ({
  fromId: firstIdOf(from ?? 0),
  beforeId: Math.min(firstIdOf(to + 1), Math.floor(firstIdOf(until.getTime() / 1000))),
})
