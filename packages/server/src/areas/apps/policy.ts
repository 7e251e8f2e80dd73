/**
 * Whom an operator may add, change or remove in an app's team. Which roles use which part of the
 * management is decided at the gate: gate/operator.ts.
 */
import type { Refusal } from '../../core/policy.ts'
import { fail } from '../../platform/http/fail.ts'

/** Nobody changes their own access, or an owner's. */
export function refuseCollaborator(
  caller: { email: string },
  email: string,
  role: string | undefined,
): Refusal {
  if (email === caller.email) return fail('ERR_SELF_ACTION_DENIED')
  return role === 'owner' ? fail('ERR_ALREADY_AN_OWNER', { email }) : undefined
}
