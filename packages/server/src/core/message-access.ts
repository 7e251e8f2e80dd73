import type { MessageRecord } from '@loquat/protocol'
import type { Tx } from '../platform/db/db.ts'
import { type Executor, query } from '../platform/db/query.ts'
import { fail } from '../platform/http/fail.ts'
import { isShown, messageLimits } from './access/visible.ts'
import type { Actor } from './actor.ts'
import { lockHead } from './heads.ts'
import { asSeenBy, toMessages } from './message-record.ts'
import { MESSAGE_COLUMNS, type MessageRow, type ViewerAccess } from './message-rows.ts'
import { refuseIf, refuseReading } from './policy.ts'
import { PARTIES_ARE_THERE } from './visibility.ts'

/** By id, with the viewer's access. */
export const findMessage = query<
  { appNo: number; id: string; viewer: string | null },
  MessageRow & ViewerAccess
>(
  'messages.find',
  `select ${MESSAGE_COLUMNS}, m.conversation, i.scope,
     m.id <= h.purged_id or m.id <= coalesce(i.cleared_id, 0) as cleared,
     case h.kind when 'user' then coalesce(:viewer in (h.one, h.other), false)
       else i.scope is not null end as takes_part,
     case h.kind when 'group' then (select scope_rules(g.permissions, g.owner, i.scope, :viewer) from groups g
       where g.app_no = h.app_no and g.guid = h.one) end as scope_rules
   from messages m join conversations h on h.app_no = m.app_no and h.no = m.conversation
     left join inbox i on i.app_no = m.app_no and i.conversation = m.conversation
       and i.uid = :viewer
   where m.app_no = :appNo and m.id = :id and ${PARTIES_ARE_THERE}
     and not (h.kind = 'group' and exists (
       select from groups g
       where g.app_no = h.app_no and g.guid = h.one and g.removed_at is not null))`,
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

/** The message as the actor sees it. */
export async function showMessage(actor: Actor, id: string): Promise<MessageRecord> {
  const row = await readMessage(actor, id)
  const [message] = await toMessages(actor.app.cell.db, actor.app.no, [row], asSeenBy(actor))
  return message as MessageRecord
}

/** Locks the head of a message's conversation and reads the message again, if it still exists. */
export async function lockSeen(
  tx: Tx,
  actor: Actor,
  id: string,
): Promise<MessageRow & ViewerAccess> {
  const { conversation } = await findSeen(tx, actor, id)
  await lockHead.maybeOne(tx, { appNo: actor.app.no, conversation })
  return findSeen(tx, actor, id)
}

/**
 * A message that the actor hasn't cleared and whose kind the actor's role may see, even if the actor isn't part of the
 * conversation.
 */
export async function findSeen(
  db: Executor,
  { app, uid, policy }: Actor,
  id: string,
): Promise<MessageRow & ViewerAccess> {
  const row = await findMessage.maybeOne(db, { appNo: app.no, id, viewer: uid ?? null })
  if (!row || row.cleared || !isShown(messageLimits(policy), row))
    throw fail('ERR_MESSAGE_ID_NOT_FOUND', { id })
  return row
}
