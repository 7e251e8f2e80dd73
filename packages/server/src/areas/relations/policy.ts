/** Who may become friends, and whom a user may block: any other user, up to a limit. */
import type { Refusal } from '../../core/policy.ts'
import { fail } from '../../platform/http/fail.ts'

/** What the rules need to know about the user who gets a new friend, read under the users' locks. */
export interface Pair {
  /** The other user. */
  uid: string
  self: boolean
  /** Whether the other user exists and is active. */
  active: boolean
  /** Whether the other user blocks the acting user of a token; an API key is not bound by blocks. */
  blocked: boolean
  already: boolean
  /**
   * Whether the other user's role is limited to friends. With an auth token, either user could get around
   * that limit by adding the other one.
   */
  closed: boolean
  /** Whether either of the two has as many friends as the app allows. */
  full: boolean
  limit: number
}

export function refuseFriend({ uid, limit, ...pair }: Pair): Refusal {
  if (pair.self) return fail('ERR_CANNOT_FORM_SELF_RELATION')
  if (!pair.active) return fail('ERR_UID_NOT_FOUND', { uid })
  if (pair.blocked) return fail('ERR_BLOCKED_SENDER', { uid })
  if (pair.already) return fail('ERR_ALREADY_FRIEND')
  if (pair.closed) return fail('ERR_PERMISSION_DENIED')
  return pair.full
    ? fail('ERR_PLAN_QUOTA_RESTRICTION', { limit, what: 'friends per user' })
    : undefined
}

/** What the rules need to know about a user who is blocked, read under the lock of the blocking user. */
export interface NewBlock {
  /** The other user. */
  uid: string
  self: boolean
  active: boolean
  already: boolean
  /** Whether the user blocks as many others as the app allows. */
  full: boolean
  limit: number
}

/** Blocking somebody again changes nothing, so the limit doesn't count. */
export function refuseBlock({ uid, limit, ...block }: NewBlock): Refusal {
  if (block.self) return fail('ERR_CANNOT_BLOCK_SELF')
  if (!block.active) return fail('ERR_UID_NOT_FOUND', { uid })
  return block.full && !block.already
    ? fail('ERR_PLAN_QUOTA_RESTRICTION', { limit, what: 'blocked users per user' })
    : undefined
}
