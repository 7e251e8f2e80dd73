import type { UserRecord } from '@loquat/protocol'
import type { Actor } from './actor.ts'
import { asSeenBy } from './user-record.ts'
import { listRelations, type Relation, type UserRow } from './user-rows.ts'

const NONE: Relation = { blocked_by_me_at: null, has_blocked_me_at: null }

/** How the acting user sees these users: one statement for all of them. */
export async function showTo({ app, uid: viewer = '' }: Actor, rows: readonly UserRow[]) {
  const uids = rows.map(({ uid }) => uid)
  const relations = await listRelations.many(app.cell.db, { appNo: app.no, viewer, uids })
  const known = new Map(relations.map((relation) => [relation.uid, relation]))
  return (row: UserRow): UserRecord => asSeenBy(viewer, row, known.get(row.uid) ?? NONE)
}
