import type { Actor } from '../core/actor.ts'
import { ApiError, fail } from '../platform/http/fail.ts'
import { refusalOf } from '../platform/http/refusal.ts'
import { findVisibleGroup } from './queries.ts'

/** What tells a user that a group is there. */
const OF_GROUPS: readonly string[] = [
  'ERR_GROUP_NOT_JOINED',
  'ERR_GROUP_JOIN_NOT_ALLOWED',
  'ERR_BANNED_GROUPMEMBER',
  'ERR_CONVERSATION_NOT_ACCESSIBLE',
]

/**
 * A failure as the actor is told of it. The app knows its own data and is told what stands in the way;
 * a user with a token learns nothing of messages and private groups that it takes no part in: they are
 * as unknown as those that are not there.
 */
export async function toldTo(
  actor: Actor | undefined,
  error: unknown,
  { guid }: { guid?: string | undefined },
): Promise<unknown> {
  if (actor?.kind !== 'user') return error
  const known = error instanceof ApiError ? error : refusalOf(error)
  if (known?.code === 'ERR_MESSAGE_NO_ACCESS' || known?.values.unseen)
    return fail('ERR_MESSAGE_ID_NOT_FOUND', known.values)
  if (!known || guid === undefined || !OF_GROUPS.includes(known.code)) return error
  const { app, uid } = actor
  const visible = await findVisibleGroup.maybeOne(app.cell.db, { appNo: app.no, guid, uid })
  return visible ? error : fail('ERR_GUID_NOT_FOUND', { guid })
}
