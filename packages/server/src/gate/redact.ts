import type { Actor } from '../core/actor.ts'
import { ApiError, fail } from '../platform/http/fail.ts'
import { refusalOf } from '../platform/http/refusal.ts'
import { findVisibleGroup } from './queries.ts'

/** Errors that would reveal a group's existence. */
const OF_GROUPS: readonly string[] = [
  'ERR_GROUP_NOT_JOINED',
  'ERR_GROUP_JOIN_NOT_ALLOWED',
  'ERR_BANNED_GROUPMEMBER',
  'ERR_CONVERSATION_NOT_ACCESSIBLE',
]

/**
 * The error that the actor may see. The app knows its own data and gets the reason. For a user with
 * an auth token, messages and private groups that they aren't part of look as if they didn't exist.
 */
export async function redactError(
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
