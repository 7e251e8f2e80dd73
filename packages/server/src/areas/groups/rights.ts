/** Who may do what in a group. Each function gives the refusal, or undefined when it is allowed. */
import type { GroupType, Scope } from '@loquat/protocol'
import { type ApiError, fail } from '../../platform/http/fail.ts'

/** How a user stands in a group. */
export interface Standing {
  uid: string
  /** null: no member. */
  scope: Scope | null
  owner: boolean
  banned: boolean
  /** What a banned user was before; null for one who was no member. */
  formerScope: Scope | null
}

/** Scopes of a group do not bind the app. */
export type Acting = Standing | 'app'
export type Refusal = ApiError | undefined

const RANK: Record<Scope, number> = { participant: 1, moderator: 2, admin: 3 }

const rankOf = ({ scope, owner }: Pick<Standing, 'scope' | 'owner'>): number =>
  owner ? RANK.admin + 1 : scope === null ? 0 : RANK[scope]

const noClearance = (devMessage: string) => fail('ERR_GROUP_NO_CLEARANCE', {}, { devMessage })

const HAND_OVER = 'Transfer the ownership first: PUT /groups/{guid}/owner.'
const ownerStays = () => noClearance(`This user owns the group. ${HAND_OVER}`)

/** A member, with at least this scope. */
function refuseBelow(acting: Acting, least: Scope): Refusal {
  if (acting === 'app') return undefined
  const outside = refuseOutside(acting)
  if (outside || rankOf(acting) >= RANK[least]) return outside
  return fail(least === 'admin' ? 'ERR_GROUP_NO_ADMIN_SCOPE' : 'ERR_GROUP_NO_MODERATOR_SCOPE')
}

type Outsider = Pick<Standing, 'banned' | 'scope'>

/** Neither banned nor a stranger. */
export function refuseOutside({ banned, scope }: Outsider): Refusal {
  if (banned) return fail('ERR_BANNED_GROUPMEMBER')
  return scope === null ? fail('ERR_GROUP_NOT_JOINED') : undefined
}

/** Everyone sees groups that are not private; nobody one that bans them. */
export function refuseReading(viewer: Outsider, type: GroupType): Refusal {
  return viewer.banned || type === 'private' ? refuseOutside(viewer) : undefined
}

export const refuseUpdate = (acting: Acting): Refusal => refuseBelow(acting, 'moderator')
export const refuseDelete = (acting: Acting): Refusal => refuseBelow(acting, 'admin')
export const refuseAdding = (acting: Acting): Refusal => refuseBelow(acting, 'admin')
/** Whether anybody at all can be kicked, banned or released by this one. */
export const refuseModerating = (acting: Acting): Refusal => refuseBelow(acting, 'moderator')

/** Kick and ban: of those below. The owner stands above all, also for the app. */
export function refuseRemoval(acting: Acting, target: Standing): Refusal {
  return refuseSelf(acting, target) ?? refuseModerating(acting) ?? refuseReach(acting, target)
}

/** A ban can be lifted by those who could set it. */
export function refuseUnban(acting: Acting, target: Standing): Refusal {
  const low = refuseModerating(acting)
  if (low) return low
  if (!target.banned) return fail('ERR_NOT_A_BANNED_USER', { uid: target.uid })
  return refuseReach(acting, { ...target, scope: target.formerScope })
}

function refuseReach(acting: Acting, target: Standing): Refusal {
  const above = acting === 'app' ? !target.owner : rankOf(acting) > rankOf(target)
  if (above) return undefined
  return target.owner ? ownerStays() : noClearance("This user's scope isn't lower than yours.")
}

/** Outsiders cannot act at all, which goes first. */
function refuseSelf(acting: Acting, { uid }: Standing): Refusal {
  if (acting === 'app') return undefined
  return (
    refuseOutside(acting) ?? (acting.uid === uid ? fail('ERR_GROUP_NO_SELF_ACTION') : undefined)
  )
}

/**
 * The owner sets any scope, an admin those of moderators and participants, a moderator makes
 * participants moderators.
 */
export function refuseScope(acting: Acting, target: Standing, scope: Scope): Refusal {
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

/** Ownership is the owner's to give. */
export function refuseTransfer(acting: Acting, target: Standing): Refusal {
  if (acting === 'app') return undefined
  const outside = refuseOutside(acting)
  if (outside) return outside
  if (!acting.owner) return noClearance('Only the owner can transfer the group.')
  return refuseSelf(acting, target)
}

/** Whether somebody can become a member at all, by whatever way. */
export function refuseMember({ uid, banned, scope }: Standing): Refusal {
  if (banned) return fail('ERR_BANNED_GROUPMEMBER')
  return scope === null ? undefined : fail('ERR_ALREADY_JOINED', { uid })
}

/** An owner hands the group over first. */
export function refuseLeaving(acting: Standing): Refusal {
  const outside = refuseOutside(acting)
  if (outside) return outside
  return acting.owner ? noClearance(`The owner can't leave the group. ${HAND_OVER}`) : undefined
}
