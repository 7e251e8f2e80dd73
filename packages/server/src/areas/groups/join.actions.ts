import type { GroupRecord } from '@loquat/protocol'
import type { Deps } from '../../deps.ts'
import type { Limiter } from '../../platform/cache/limiter.ts'
import { fail } from '../../platform/http/fail.ts'
import { isPassword } from '../../platform/secrets/passwords.ts'
import type { Actor } from '../access/actor.ts'
import { write } from '../access/write.ts'
import { lockUsers } from '../users/queries.ts'
import { insertMember, removeMember } from './members.queries.ts'
import { announceMember, Ceilings, enterGroup, refuseIf, tellMember } from './membership.ts'
import { findGroupSeen, findHashToProve, findPasswordHash } from './queries.ts'
import { asSeenBy, toGroup, withTags } from './record.ts'
import { refuseLeaving, refuseMember } from './rights.ts'

/** A user that acts for itself: these operations are not for the app. */
export type ActingUser = Actor & { uid: string }

/** Passwords that a user may try a minute: of one group, which others are not to guess, and of all, for each costs CPU. */
const TRIES_OF_GROUP = 10
const TRIES = 30

/** A hash, and whether the password given is the one that it was made of. */
interface Proof {
  hash: string | null
  holds: boolean
}

export async function joinGroup(
  deps: Deps & { tries: Limiter },
  actor: ActingUser,
  guid: string,
  password = '',
): Promise<GroupRecord> {
  const { uid } = actor
  const appNo = actor.app.no
  const proof = await prove(deps.tries, actor, guid, password)
  return write(deps, actor, async (tx) => {
    const known = await lockUsers.maybeOne(tx, { appNo, uids: [uid] })
    if (!known) throw fail('ERR_UID_NOT_FOUND', { uid })
    const place = await enterGroup(tx, actor, guid)
    refuseIf(refuseMember(place.standing(uid)))
    if (place.group.type === 'private') throw fail('ERR_GROUP_JOIN_NOT_ALLOWED', { guid })
    if (place.group.type === 'password') {
      if (password === '') throw fail('ERR_EMPTY_GROUP_PASS')
      // It may have been changed since the proof.
      const now = await findPasswordHash.maybeOne(tx, { appNo, guid })
      if (!proof.holds || now?.password_hash !== proof.hash) throw fail('ERR_WRONG_GROUP_PASS')
    }
    refuseIf((await Ceilings.read(tx, actor, place.group, [uid])).take(uid))
    await insertMember.many(tx, { appNo, guid, uid, scope: 'participant' })
    const message = await tellMember(tx, place, 'joined', uid)
    const row = await findGroupSeen.one(tx, { appNo, guid, viewer: uid })
    await announceMember(tx, place, message)
    return asSeenBy(withTags(toGroup(row), row), row)
  })
}

/** Takes tens of milliseconds, by design: no lock is held meanwhile. */
async function prove(
  tries: Limiter,
  { app, uid }: ActingUser,
  guid: string,
  password: string,
): Promise<Proof> {
  const given = { appNo: app.no, guid, uid }
  const row = password === '' ? undefined : await findHashToProve.maybeOne(app.cell.db, given)
  const hash = row?.password_hash ?? null
  if (hash === null) return { hash, holds: false }
  await countTry(tries, `${app.no}:join:${uid}:${guid}`, TRIES_OF_GROUP)
  await countTry(tries, `${app.no}:join:${uid}`, TRIES)
  return { hash, holds: await isPassword(password, hash) }
}

/** Before the password is looked at: many at once count as many. */
async function countTry(tries: Limiter, key: string, limit: number): Promise<void> {
  const { allowed, resetSeconds } = await tries.take(key, limit)
  if (allowed) return
  const devMessage = "Only joins with a group's password are counted here, by user."
  throw fail('ERR_TOO_MANY_REQUESTS', { limit }, { devMessage, retryAfter: resetSeconds })
}

export function leaveGroup(deps: Deps, actor: ActingUser, guid: string) {
  const { uid } = actor
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const place = await enterGroup(tx, actor, guid)
    refuseIf(refuseLeaving(place.standing(uid)))
    await removeMember.many(tx, { appNo, guid, uid })
    await announceMember(tx, place, await tellMember(tx, place, 'left', uid))
    return { success: true as const, message: `${uid} left ${guid}.` }
  })
}
