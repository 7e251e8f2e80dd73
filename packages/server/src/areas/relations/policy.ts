/** Who may become friends. Blocks need no rule: every user may block any other. */
import type { ErrorCode } from '@loquat/protocol'

/** What the rules need to know about the user who gets a new friend, read under the users' locks. */
export interface Pair {
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
}

/** The code of the refusal, or undefined if the two may become friends. */
export function refuseFriend(pair: Pair): ErrorCode | undefined {
  if (pair.self) return 'ERR_CANNOT_FORM_SELF_RELATION'
  if (!pair.active) return 'ERR_UID_NOT_FOUND'
  if (pair.blocked) return 'ERR_BLOCKED_SENDER'
  if (pair.already) return 'ERR_ALREADY_FRIEND'
  if (pair.closed) return 'ERR_PERMISSION_DENIED'
  return pair.full ? 'ERR_PLAN_QUOTA_RESTRICTION' : undefined
}
