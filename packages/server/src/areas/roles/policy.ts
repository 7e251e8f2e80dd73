/** Which roles can be deleted. */
import type { Refusal } from '../../core/policy.ts'
import { fail } from '../../platform/http/fail.ts'

/** The built-in roles always exist. */
export const refuseDelete = ({ role, built_in }: { role: string; built_in: boolean }): Refusal =>
  built_in ? fail('ERR_ROLE_DELETE_DENIED', { role }) : undefined
