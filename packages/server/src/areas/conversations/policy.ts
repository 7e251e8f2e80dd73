/** Who may clear and pin conversations. */
import type { Acting, Refusal } from '../../core/policy.ts'
import { fail, noAccess } from '../../platform/http/fail.ts'

/** A user's token can't delete messages that the other side keeps. */
export const refusePurge = ({ kind }: Acting): Refusal =>
  kind === 'user' ? noAccess('deleteMessagesPermanently needs an API key.') : undefined

/** Either side clears a 1:1 conversation for everyone; in a group it takes an admin. */
export const refuseClearForAll = (kind: 'user' | 'group', scope: string | null): Refusal =>
  kind === 'group' && scope !== 'admin' ? fail('ERR_GROUP_NO_ADMIN_SCOPE') : undefined

/** Nobody changes a pin that the app has set for everyone. */
export const refusePin = ({ by_app }: { by_app: boolean }): Refusal =>
  by_app ? fail('ERR_SYSTEM_PINNED_CONVERSATION') : undefined
