import { query } from '../platform/db/query.ts'
import { fail } from '../platform/http/fail.ts'
import type { Actor } from './actor.ts'
import { findEntities } from './entities.ts'
import { SYSTEM_UID } from './ids.ts'
import { refuseIf, refuseOutside } from './policy.ts'
import { BAN_IS_IN_FORCE } from './visibility.ts'

/** A conversation as far as a user may read it. */
export interface Readable {
  no: number
  /** How many messages it has, as an estimate: the user may have cleared some. */
  messages: number
  cleared_id: number
}

/** A user's 1:1 conversation with another, as far as that user may read it. */
export const findDirect = query<{ appNo: number; uid: string; other: string }, Readable>(
  'heads.findDirect',
  `select h.no, h.stored - h.removed as messages, greatest(h.purged_id, i.cleared_id) as cleared_id
   from inbox i join conversations h on h.app_no = i.app_no and h.no = i.conversation
   where i.app_no = :appNo and i.uid = :uid and i.kind = 'user' and i.with_id = :other`,
)

/** A group's conversation, with the viewer's membership. */
export const findGroupHead = query<
  { appNo: number; guid: string; viewer: string | null },
  Readable & { scope: string | null; banned: boolean }
>(
  'heads.findGroup',
  `select h.no, h.stored - h.removed as messages, greatest(h.purged_id, coalesce(i.cleared_id, 0)) as cleared_id,
     i.scope,
     exists (select from bans b
       where b.app_no = g.app_no and b.guid = g.guid and b.uid = :viewer and ${BAN_IS_IN_FORCE}) as banned
   from groups g
     join conversations h on h.app_no = g.app_no and h.kind = 'group' and h.one = g.guid
       and h.other = ''
     left join inbox i on i.app_no = g.app_no and i.uid = :viewer and i.kind = 'group'
       and i.with_id = g.guid
   where g.app_no = :appNo and g.guid = :guid and g.removed_at is null`,
)

export const lockHead = query<{ appNo: number; conversation: number }, { no: number }>(
  'heads.lock',
  'select no from conversations where app_no = :appNo and no = :conversation for no key update',
)

/** Fails if one of the two users blocks the other. */
export const checkBlocks = query<{ appNo: number; conversation: number; uid: string }>(
  'heads.checkBlocks',
  `select check_blocks(:uid, h) from conversations h
   where h.app_no = :appNo and h.no = :conversation`,
)

export async function checkKnown({ app: { no: appNo, cell } }: Actor, uid: string): Promise<void> {
  const known = { appNo, viewer: null, uids: [uid], guids: [], system: uid === SYSTEM_UID }
  if (!(await findEntities.maybeOne(cell.db, known))) throw fail('ERR_UID_NOT_FOUND', { uid })
}

/** The acting user's 1:1 conversation with another user, if there is one. */
export async function findHeadWith(actor: Actor, other: string): Promise<Readable | undefined> {
  await checkKnown(actor, other)
  const { app, uid = '' } = actor
  return findDirect.maybeOne(app.cell.db, { appNo: app.no, uid, other })
}

/** A group's conversation, if the actor may read it: members and the app may. */
export async function getHeadOf(actor: Actor, guid: string): Promise<Readable> {
  const { no: appNo, cell } = actor.app
  const viewer = actor.uid ?? null
  const head = await findGroupHead.maybeOne(cell.db, { appNo, guid, viewer })
  if (!head) throw fail('ERR_GUID_NOT_FOUND', { guid })
  if (viewer !== null) refuseIf(refuseOutside(head))
  return head
}
