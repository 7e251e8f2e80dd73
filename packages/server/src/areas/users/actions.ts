import type { EventType, UserRecord } from '@loquat/protocol'
import type { Actor } from '../../core/actor.ts'
import { ERASED_UID, SYSTEM_UID } from '../../core/ids.ts'
import { toSnapshot, toUser, withTags } from '../../core/user-record.ts'
import type { UserRow } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { addToTotal } from '../../platform/db/totals.ts'
import { announce } from '../../platform/events/announce.ts'
import { isEmpty, readUnset } from '../../platform/http/changes.ts'
import { fail, noAccess } from '../../platform/http/fail.ts'
import { enqueue } from '../../platform/jobs/queue.ts'
import { leaveAll } from '../calls/leave.actions.ts'
import { pictureOf } from '../files/pictures.actions.ts'
import { removePresence } from '../presence/queries.ts'
import { holdRole } from '../roles/queries.ts'
import {
  findUser,
  insertUser,
  leaveCalls,
  lockAnyUsers,
  markRemoved,
  sweepUser,
  updateDeactivated,
  updateUserRow,
} from './queries.ts'
import type { CreatedUser, NewUser, UserChanges } from './schema.ts'
import { sweepUserJob } from './sweep.job.ts'
import { addAuthToken, type RevokingDeps, revokeTokensOf } from './tokens.actions.ts'

/** Uids that stand for others; they have no row. */
const RESERVED = [SYSTEM_UID, ERASED_UID]
/** Rows removed in the action's own transaction; the sweep removes the rest. */
const SWEEP_AT_ONCE = 1_000

export const createUser = (deps: Deps, actor: Actor, user: NewUser): Promise<CreatedUser> =>
  write(deps, actor, (tx) => addUser(tx, deps, { actor, user, bot: false }))

export async function addUser(
  tx: Tx,
  deps: Deps,
  { actor, user, bot }: { actor: Actor; user: NewUser; bot: boolean },
): Promise<CreatedUser> {
  const appNo = actor.app.no
  const { uid, name, role = 'default', tags = [], withAuthToken = false } = user
  const { link = null, statusMessage = null } = user
  const metadata = user.metadata ? JSON.stringify(user.metadata) : null
  await checkRole(tx, appNo, role)
  const { url: avatar, file: avatarFile } = await pictureOf(deps, actor, { url: user.avatar }, tx)
  const fields = { name, avatar, avatarFile, link, role, statusMessage, metadata, tags, bot }
  const row = RESERVED.includes(uid)
    ? undefined
    : await insertUser.maybeOne(tx, { appNo, uid, ...fields })
  if (!row) throw fail('ERR_UID_ALREADY_EXISTS', { uid })
  const token = withAuthToken ? await addAuthToken(tx, deps, actor, uid) : undefined
  await addToTotal(tx, appNo, 'users.active', 1)
  await announceUser(tx, appNo, 'user.created', row)
  return { ...withTags(toUser(row), row), ...(token && { authToken: token.authToken }) }
}

export const updateUser = (
  deps: Deps,
  actor: Actor,
  uid: string,
  changes: UserChanges,
): Promise<UserRecord> => {
  if (actor.kind === 'user') checkOwnChanges(changes)
  return write(deps, actor, (tx) => changeUser(tx, deps, actor, uid, changes))
}

export async function changeUser(
  tx: Tx,
  deps: Deps,
  actor: Actor,
  uid: string,
  changes: UserChanges,
): Promise<UserRecord> {
  const appNo = actor.app.no
  const unset = readUnset(changes)
  const { name = null, link = null, role = null } = changes
  const { statusMessage = null, tags = null, metadata } = changes
  const fields = { name, link, role, statusMessage, tags }
  const data = metadata ? JSON.stringify(metadata) : null
  if (role) await checkRole(tx, appNo, role)
  const current = async () => (await findUser.maybeOne(tx, { appNo, uid }))?.avatar
  const wanted = { url: changes.avatar, current }
  const { url: avatar, file: avatarFile } = await pictureOf(deps, actor, wanted, tx)
  const picture = { avatar, avatarFile }
  const row = isEmpty(changes)
    ? await findUser.maybeOne(tx, { appNo, uid })
    : await updateUserRow.maybeOne(tx, { appNo, uid, ...fields, ...picture, metadata: data, unset })
  if (!row) throw fail('ERR_UID_NOT_FOUND', { uid })
  if (!isEmpty(changes)) await announceUser(tx, appNo, 'user.updated', row)
  return withTags(toUser(row), row)
}

/** The app classifies its users by role and tags, so users can't change their own. */
function checkOwnChanges({ role, tags }: UserChanges): void {
  const field = role !== undefined ? 'role' : tags !== undefined ? 'tags' : undefined
  if (field) throw noAccess(`Only the app can change ${field}, with an API key.`)
}

/** A role that can be assigned. It must stay until the user has it; `default` is never deleted. */
async function checkRole(tx: Tx, appNo: number, role: string) {
  if (role === 'default') return
  if (!(await holdRole.maybeOne(tx, { appNo, role }))) throw fail('ERR_ROLE_NOT_FOUND', { role })
}

export const deactivateUsers = (deps: Deps, actor: Actor, uids: string[]): Promise<string[]> =>
  write(deps, actor, (tx) => deactivate(tx, deps, actor.app.no, uids))

/** Returns the uids that this call deactivated, and those that already were. */
export async function deactivate(
  tx: Tx,
  deps: RevokingDeps,
  appNo: number,
  uids: string[],
): Promise<string[]> {
  const known = await lockAnyUsers.many(tx, { appNo, uids })
  await switchOff(tx, deps, appNo, uids)
  return known.map((user) => user.uid)
}

export async function switchOff(
  tx: Tx,
  deps: RevokingDeps,
  appNo: number,
  uids: string[],
): Promise<void> {
  const rows = await updateDeactivated.many(tx, { appNo, uids, deactivated: true })
  const deactivated = rows.map(({ uid }) => uid)
  await revokeTokensOf(tx, deps, appNo, deactivated)
  await leaveCalls.run(tx, { appNo, uids: deactivated })
  await addToTotal(tx, appNo, 'users.active', -rows.length)
  await addToTotal(tx, appNo, 'users.deactivated', rows.length)
  for (const row of rows) await announceUser(tx, appNo, 'user.deactivated', row)
}

/** Returns the uids that are active after the call; unknown ones are left out. */
export function reactivateUsers(deps: Deps, actor: Actor, uids: string[]): Promise<string[]> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const known = await lockAnyUsers.many(tx, { appNo, uids })
    const rows = await updateDeactivated.many(tx, { appNo, uids, deactivated: false })
    await addToTotal(tx, appNo, 'users.deactivated', -rows.length)
    await addToTotal(tx, appNo, 'users.active', rows.length)
    for (const row of rows) await announceUser(tx, appNo, 'user.reactivated', row)
    return known.map((user) => user.uid)
  })
}

export const deleteUser = (deps: Deps, actor: Actor, uid: string, permanent: boolean) =>
  write(deps, actor, (tx) => dropUser(tx, deps, actor, { uid, permanent }))

export async function dropUser(
  tx: Tx,
  deps: RevokingDeps,
  actor: Actor,
  { uid, permanent }: { uid: string; permanent: boolean },
) {
  const appNo = actor.app.no
  const user = await lockAnyUsers.maybeOne(tx, { appNo, uids: [uid] })
  if (!user || (!permanent && user.deactivated_at)) throw fail('ERR_UID_NOT_FOUND', { uid })
  if (permanent) await removeUser(tx, deps, actor, user)
  else await switchOff(tx, deps, appNo, [uid])
  return { success: true as const, message: `User ${uid} deleted.` }
}

/** The user is invisible at once. A few related rows are removed now, many by the sweep. */
export async function removeUser(
  tx: Tx,
  deps: RevokingDeps,
  actor: Actor,
  user: UserRow,
): Promise<void> {
  const appNo = actor.app.no
  const { uid } = user
  await revokeTokensOf(tx, deps, appNo, [uid])
  await leaveAll(tx, actor, uid)
  await markRemoved.run(tx, { appNo, uid })
  await removePresence.run(tx, { appNo, uid })
  const { gone } = await sweepUser.one(tx, { appNo, uid, limit: SWEEP_AT_ONCE })
  if (!gone) await enqueue(tx, appNo, sweepUserJob, { uid })
  const state = user.deactivated_at ? 'users.deactivated' : 'users.active'
  await addToTotal(tx, appNo, state, -1)
  await announceUser(tx, appNo, 'user.deleted', user)
}

type UserEvent = Extract<
  EventType,
  'user.created' | 'user.updated' | 'user.deactivated' | 'user.reactivated' | 'user.deleted'
>

const announceUser = (tx: Tx, appNo: number, type: UserEvent, row: UserRow) =>
  announce(tx, {
    appNo,
    type,
    key: `user:${row.uid}`,
    payload: { user: toSnapshot(withTags(toUser(row), row)) },
  })
