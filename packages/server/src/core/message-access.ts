import type { MessageRecord } from '@loquat/protocol'
import type { Tx } from '../platform/db/db.ts'
import { type Executor, query } from '../platform/db/query.ts'
import { fail } from '../platform/http/fail.ts'
import { isShown, messageLimits } from './access/visible.ts'
import { type Actor, isModerator } from './actor.ts'
import { lockHead } from './heads.ts'
import { asSeenBy, toMessages } from './message-record.ts'
import {
  HELD_COLUMNS,
  MESSAGE_COLUMNS,
  type MessageRow,
  type ViewerAccess,
} from './message-rows.ts'
import { refuseIf, refuseReading } from './policy.ts'
import { HELD_IS_SHOWN, PARTIES_ARE_THERE } from './visibility.ts'

const ACCESS = `
     m.conversation, i.scope,
     m.id <= h.purged_id or m.id <= coalesce(i.cleared_id, 0) as cleared,
     case h.kind when 'user' then coalesce(:viewer in (h.one, h.other), false)
       else i.scope is not null end as takes_part,
     case h.kind when 'group' then (select scope_rules(g.permissions, g.owner, i.scope, :viewer) from groups g
       where g.app_no = h.app_no and g.guid = h.one) end as scope_rules`

const WITH_ACCESS = `
   join conversations h on h.app_no = m.app_no and h.no = m.conversation
     left join inbox i on i.app_no = m.app_no and i.conversation = m.conversation
       and i.uid = :viewer
   where m.app_no = :appNo and m.id = :id and ${PARTIES_ARE_THERE}
     and not (h.kind = 'group' and exists (
       select from groups g
       where g.app_no = h.app_no and g.guid = h.one and g.removed_at is not null))`

/** By id, with the viewer's access. Held messages aren't found. */
export const findMessage = query<
  { appNo: number; id: string; viewer: string | null },
  MessageRow & ViewerAccess
>('messages.find', `select ${MESSAGE_COLUMNS}, ${ACCESS} from messages m ${WITH_ACCESS}`)

/** The same for a held message that the viewer sees. */
export const findHeld = query<
  { appNo: number; id: string; viewer: string | null; moderates: boolean },
  MessageRow & ViewerAccess
>(
  'messages.findHeld',
  `select ${HELD_COLUMNS}, ${ACCESS} from held_messages m ${WITH_ACCESS}
     and not m.delivered and ${HELD_IS_SHOWN}`,
)

/**
 * Reads a message as the actor may see it. A write does this in its transaction; otherwise a retry
 * would find it gone.
 */
export async function readMessage(
  actor: Actor,
  id: string,
  db: Executor = actor.app.cell.db,
): Promise<MessageRow & ViewerAccess> {
  const row = await findSeen(db, actor, id)
  refuseIf(refuseReading(actor, row))
  return row
}

/** The message as the actor sees it, even if it is held. */
export async function showMessage(actor: Actor, id: string): Promise<MessageRecord> {
  const { db } = actor.app.cell
  const seen = await findVisible(db, actor, id)
  if (seen) refuseIf(refuseReading(actor, seen))
  const row = seen ?? (await readHeld(db, actor, id))
  if (!row) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
  const [message] = await toMessages(actor.app.cell.db, actor.app.no, [row], asSeenBy(actor))
  return message as MessageRecord
}

/** A held message, if the actor sees it. */
export async function readHeld(
  db: Executor,
  actor: Actor,
  id: string,
): Promise<(MessageRow & ViewerAccess) | undefined> {
  const { app, uid: viewer = null } = actor
  const held = { appNo: app.no, id, viewer, moderates: isModerator(actor) }
  const row = await findHeld.maybeOne(db, held)
  if (!row || row.cleared || !isShown(messageLimits(actor.policy), row)) return undefined
  refuseIf(refuseReading(actor, row))
  return row
}

/** Locks the head of a message's conversation and reads the message again, if it still exists. */
export async function lockSeen(
  tx: Tx,
  actor: Actor,
  id: string,
): Promise<MessageRow & ViewerAccess> {
  const row = await lockVisible(tx, actor, id)
  if (!row) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
  return row
}

/** The same, but undefined if the actor doesn't see the message. */
export async function lockVisible(tx: Tx, actor: Actor, id: string) {
  const seen = await findVisible(tx, actor, id)
  if (!seen) return undefined
  await lockHead.maybeOne(tx, { appNo: actor.app.no, conversation: seen.conversation })
  return findVisible(tx, actor, id)
}

/**
 * A message that the actor hasn't cleared and whose kind the actor's role may see, even if the actor isn't part of the
 * conversation.
 */
export async function findSeen(
  db: Executor,
  actor: Actor,
  id: string,
): Promise<MessageRow & ViewerAccess> {
  const row = await findVisible(db, actor, id)
  if (!row) throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
  return row
}

async function findVisible(db: Executor, { app, uid, policy }: Actor, id: string) {
  const row = await findMessage.maybeOne(db, { appNo: app.no, id, viewer: uid ?? null })
  return row && !row.cleared && isShown(messageLimits(policy), row) ? row : undefined
}
