import type { MessageRecord, Scope } from '@loquat/protocol'
import { authorize, refusedBy } from '../../core/access/authorize.ts'
import type { Actor } from '../../core/actor.ts'
import { refuseIf } from '../../core/policy.ts'
import { seconds } from '../../core/time.ts'
import { lockUsers } from '../../core/user-rows.ts'
import type { Deps } from '../../deps.ts'
import { write } from '../../gate/write.ts'
import type { Tx } from '../../platform/db/db.ts'
import { type ApiError, badRequest, fail } from '../../platform/http/fail.ts'
import { banMember } from './bans.actions.ts'
import { holdTargets, insertMember, removeMember, updateScope } from './members.queries.ts'
import type { MemberLists, MemberOutcome, MemberOutcomes, MemberScope } from './members.schema.ts'
import {
  announceMember,
  appendMemberMessage,
  Ceilings,
  type LockedGroup,
  lockGroup,
} from './membership.ts'
import {
  refuseAdding,
  refuseMember,
  refuseModerating,
  refuseRemoval,
  refuseScope,
} from './policy.ts'

/** By precedence: a uid in several lists counts in the first one. */
const LISTS = ['admins', 'moderators', 'participants', 'usersToBan'] as const
type List = (typeof LISTS)[number]

const SCOPE_OF: Record<Exclude<List, 'usersToBan'>, Scope> = {
  admins: 'admin',
  moderators: 'moderator',
  participants: 'participant',
}

const MOST_AT_ONCE = 25

/** Each uid of a call once. */
export function uidsOf(lists: MemberLists): string[] {
  const uids = [...new Set(LISTS.flatMap((list) => lists[list] ?? []))]
  if (uids.length > MOST_AT_ONCE) {
    throw badRequest({ body: [`body must not have more than ${MOST_AT_ONCE} uids in its lists`] })
  }
  return uids
}

export function addMembers(
  deps: Deps,
  actor: Actor,
  guid: string,
  lists: MemberLists,
): Promise<MemberOutcomes> {
  const uids = uidsOf(lists)
  if (uids.length === 0) throw badRequest({ body: ['body must name at least one user'] })
  if (uids.length > 1) authorize(actor, { features: ['massMemberOperate'] })
  return write(deps, actor, async (tx) => {
    const active = await lockUsers.many(tx, { appNo: actor.app.no, uids })
    const locked = await lockGroup(tx, actor, guid, uids)
    refuseIf((addsAny(lists) ? refuseAdding : refuseModerating)(locked.acting))
    const known = new Set(active.map(({ uid }) => uid))
    const { outcomes, messages } = await applyMemberLists(tx, locked, lists, known)
    for (const message of messages) await announceMember(tx, locked, message)
    return outcomes
  })
}

const addsAny = ({ usersToBan: _, ...additions }: MemberLists) =>
  Object.values(additions).some((uids) => uids.length > 0)

interface AppliedLists {
  outcomes: MemberOutcomes
  /** The changes to announce. */
  messages: MessageRecord[]
}

/**
 * Adds and bans the users of the lists, each on its own: an error for one doesn't stop the others.
 */
export async function applyMemberLists(
  tx: Tx,
  locked: LockedGroup,
  lists: MemberLists,
  known: Set<string>,
): Promise<AppliedLists> {
  const ceilings = await Ceilings.read(tx, locked.actor, locked.group, [...known])
  const applied: AppliedLists = { outcomes: {}, messages: [] }
  const done = new Set<string>()
  for (const list of LISTS) {
    if (!lists[list]) continue
    // Without a prototype: `__proto__` is a uid like any other.
    const outcomes: Record<string, MemberOutcome> = Object.create(null)
    for (const uid of new Set(lists[list])) {
      if (done.has(uid)) continue
      done.add(uid)
      const result = !known.has(uid)
        ? fail('ERR_UID_NOT_FOUND', { uid })
        : list === 'usersToBan'
          ? await banOne(tx, locked, uid)
          : await addOne(tx, locked, ceilings, uid, SCOPE_OF[list])
      if (!(result instanceof Error)) applied.messages.push(result)
      outcomes[uid] = outcomeOf(list, result)
    }
    applied.outcomes[list] = outcomes
  }
  return applied
}

function outcomeOf(list: List, result: MessageRecord | ApiError): MemberOutcome {
  if (result instanceof Error) {
    const { code, message } = result
    return { success: false, error: { code, message } }
  }
  return list === 'usersToBan' ? { success: true } : { success: true, data: result }
}

async function banOne(tx: Tx, locked: LockedGroup, uid: string): Promise<MessageRecord | ApiError> {
  const target = locked.memberState(uid)
  const refusal =
    refusedBy(locked.actor, { features: ['ban'] }) ?? refuseRemoval(locked.acting, target)
  if (refusal) return refusal
  if (target.banned) return fail('ERR_ALREADY_BANNED', { uid })
  return banMember(tx, locked, target)
}

async function addOne(
  tx: Tx,
  locked: LockedGroup,
  ceilings: Ceilings,
  uid: string,
  scope: Scope,
): Promise<MessageRecord | ApiError> {
  const refusal =
    refusedBy(locked.actor, { features: ['addMember'] }) ??
    refuseMember(locked.memberState(uid)) ??
    ceilings.take(uid)
  if (refusal) return refusal
  const { actor, group } = locked
  await insertMember.run(tx, { appNo: actor.app.no, guid: group.guid, uid, scope })
  return appendMemberMessage(tx, locked, 'added', uid)
}

export function changeMemberScope(
  deps: Deps,
  actor: Actor,
  guid: string,
  uid: string,
  scope: Scope,
): Promise<MemberScope> {
  const appNo = actor.app.no
  return write(deps, actor, async (tx) => {
    const known = await holdTargets.maybeOne(tx, { appNo, uids: [uid] })
    const locked = await lockGroup(tx, actor, guid, [uid])
    const target = locked.memberState(uid)
    refuseIf(refuseScope(locked.acting, target, scope))
    if (!known) throw fail('ERR_UID_NOT_FOUND', { uid })
    if (target.scope === null) throw fail('ERR_NOT_A_MEMBER', { uid })
    if (target.scope === scope) throw fail('ERR_SAME_SCOPE', { uid })
    const { joined_at } = await updateScope.one(tx, { appNo, guid, uid, scope })
    const change = { old: target.scope, new: scope }
    await announceMember(
      tx,
      locked,
      await appendMemberMessage(tx, locked, 'scopeChanged', uid, change),
    )
    return { guid, uid, scope, joinedAt: seconds(joined_at) }
  })
}

export const kickMember = (deps: Deps, actor: Actor, guid: string, uid: string) =>
  write(deps, actor, async (tx) => {
    await dropMember(tx, actor, guid, uid)
    return { success: true as const, message: `${uid} was removed from ${guid}.` }
  })

export async function dropMember(tx: Tx, actor: Actor, guid: string, uid: string): Promise<void> {
  const appNo = actor.app.no
  const known = await holdTargets.maybeOne(tx, { appNo, uids: [uid] })
  const locked = await lockGroup(tx, actor, guid, [uid])
  const target = locked.memberState(uid)
  refuseIf(refuseRemoval(locked.acting, target))
  if (!known) throw fail('ERR_UID_NOT_FOUND', { uid })
  if (target.scope === null) throw fail('ERR_NOT_A_MEMBER', { uid })
  await removeMember.run(tx, { appNo, guid, uid })
  await announceMember(tx, locked, await appendMemberMessage(tx, locked, 'kicked', uid))
}
