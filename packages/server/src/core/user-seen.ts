import type { UserRecord } from '@loquat/protocol'
import type { Actor } from './actor.ts'
import { type Print, type PrintedUser, printSeen } from './user-print.ts'
import { asSeenBy } from './user-record.ts'
import { listRelations, type Relation, type UserRow } from './user-rows.ts'

const NONE: Relation = { blocked_by_me_at: null, has_blocked_me_at: null }

/** How the acting user sees these users: one statement for all of them. */
export async function showTo(actor: Actor, rows: readonly UserRow[]) {
  const relationTo = await relationsOf(actor, rows)
  return (row: UserRow): UserRecord => asSeenBy(actor.uid ?? '', row, relationTo(row))
}

/** The same as JSON text, without the closing brace. */
export async function printTo(actor: Actor, rows: readonly PrintedUser[]): Promise<Print> {
  const relationTo = await relationsOf(actor, rows)
  return (row) => printSeen(actor.uid ?? '', row, relationTo(row))
}

async function relationsOf({ app, uid: viewer = '' }: Actor, rows: readonly { uid: string }[]) {
  const uids = rows.map(({ uid }) => uid)
  const relations = await listRelations.many(app.cell.db, { appNo: app.no, viewer, uids })
  const known = new Map(relations.map((relation) => [relation.uid, relation]))
  return ({ uid }: { uid: string }): Relation => known.get(uid) ?? NONE
}
