/**
 * Who may do what in a group. Each function returns the error, or undefined if the action is
 * allowed.
 */
import type { GroupType, Scope } from '@loquat/protocol'
import { type Refusal, refuseOutside } from '../../core/policy.ts'
import { fail } from '../../platform/http/fail.ts'

/** A user's state in a group. */
export interface MemberState {
  uid: string
  /** Null for users who aren't members. */
  scope: Scope | null
  owner: boolean
  banned: boolean
  /** A banned user's previous scope; null if they weren't a member. */
  formerScope: Scope | null
}

/** A group's scopes don't apply to the app. */
export type Acting = MemberState | 'app'

const RANK: Record<Scope, number> = { participant: 1, moderator: 2, admin: 3 }

const rankOf = ({ scope, owner }: Pick<MemberState, 'scope' | 'owner'>): number =>
  owner ? RANK.admin + 1 : scope === null ? 0 : RANK[scope]

const noClearance = (devMessage: string) => fail('ERR_GROUP_NO_CLEARANCE', {}, { devMessage })

const HAND_OVER = 'Transfer the ownership first: PUT /groups/{guid}/owner.'
const ownerStays = () => noClearance(`This user owns the group. ${HAND_OVER}`)

/** Requires a member with at least this scope. */
function refuseBelow(acting: Acting, least: Scope): Refusal {
  if (acting === 'app') return undefined
  const outside = refuseOutside(acting)
  if (outside || rankOf(acting) >= RANK[least]) return outside
  return fail(least === 'admin' ? 'ERR_GROUP_NO_ADMIN_SCOPE' : 'ERR_GROUP_NO_MODERATOR_SCOPE')
}

type Outsider = Pick<MemberState, 'banned' | 'scope'>

/** Everyone sees groups that aren't private; nobody sees a group that bans them. */
export function refuseReading(viewer: Outsider, type: GroupType): Refusal {
  return viewer.banned || type === 'private' ? refuseOutside(viewer) : undefined
}

export const refuseUpdate = (acting: Acting): Refusal => refuseBelow(acting, 'moderator')
export const refuseDelete = (acting: Acting): Refusal => refuseBelow(acting, 'admin')
export const refuseAdding = (acting: Acting): Refusal => refuseBelow(acting, 'admin')
/** Whether this user can kick, ban or unban anybody at all. */
export const refuseModerating = (acting: Acting): Refusal => refuseBelow(acting, 'moderator')

/**
 * Users may kick and ban members with a lower scope. Nobody may kick or ban the owner, not even the
 * app.
 */
export function refuseRemoval(acting: Acting, target: MemberState): Refusal {
  return refuseSelf(acting, target) ?? refuseModerating(acting) ?? refuseReach(acting, target)
}

/** Users who may ban a user may also lift the ban. */
export function refuseUnban(acting: Acting, target: MemberState): Refusal {
  const low = refuseModerating(acting)
  if (low) return low
  if (!target.banned) return fail('ERR_NOT_A_BANNED_USER', { uid: target.uid })
  return refuseReach(acting, { ...target, scope: target.formerScope })
}

function refuseReach(acting: Acting, target: MemberState): Refusal {
  const above = acting === 'app' ? !target.owner : rankOf(acting) > rankOf(target)
  if (above) return undefined
  return target.owner ? ownerStays() : noClearance("This user's scope isn't lower than yours.")
}

/** Outsiders can't act at all; this is checked first. */
function refuseSelf(acting: Acting, { uid }: MemberState): Refusal {
  if (acting === 'app') return undefined
  return (
    refuseOutside(acting) ?? (acting.uid === uid ? fail('ERR_GROUP_NO_SELF_ACTION') : undefined)
  )
}

/**
 * The owner sets any scope, an admin sets those of moderators and participants, and a moderator
 * makes participants moderators.
 */
export function refuseScope(acting: Acting, target: MemberState, scope: Scope): Refusal {
  const self = refuseSelf(acting, target)
  if (self) return self
  const refused = fail('ERR_GROUP_NO_SCOPE_CLEARANCE', { uid: target.uid })
  if (acting !== 'app' && rankOf(acting) < RANK.moderator) return refused
  if (target.owner) return ownerStays()
  if (target.scope === null || acting === 'app' || acting.owner) return undefined
  const within =
    acting.scope === 'admin'
      ? target.scope !== 'admin'
      : target.scope === 'participant' && scope === 'moderator'
  return within ? undefined : refused
}

/** Only the owner can transfer the ownership. */
export function refuseTransfer(acting: Acting, target: MemberState): Refusal {
  if (acting === 'app') return undefined
  const outside = refuseOutside(acting)
  if (outside) return outside
  if (!acting.owner) return noClearance('Only the owner can transfer the group.')
  return refuseSelf(acting, target)
}

/** Whether a user can become a member at all, in any way. */
export function refuseMember({ uid, banned, scope }: MemberState): Refusal {
  if (banned) return fail('ERR_BANNED_GROUPMEMBER')
  return scope === null ? undefined : fail('ERR_ALREADY_JOINED', { uid })
}

/** Users join public and password groups themselves. Other members add them to private groups. */
export const refuseJoin = (user: MemberState, group: { guid: string; type: GroupType }): Refusal =>
  refuseMember(user) ??
  (group.type === 'private' ? fail('ERR_GROUP_JOIN_NOT_ALLOWED', { guid: group.guid }) : undefined)

/** An owner must transfer the group first. */
export function refuseLeaving(acting: MemberState): Refusal {
  const outside = refuseOutside(acting)
  if (outside) return outside
  return acting.owner ? noClearance(`The owner can't leave the group. ${HAND_OVER}`) : undefined
}
