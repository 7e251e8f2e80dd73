/** Who may clear and pin conversations. */
import type { Acting, Refusal } from '../../core/policy.ts'
import { fail, noAccess } from '../../platform/http/fail.ts'

/** With an auth token, users can't delete messages that the other user keeps. */
export const refusePurge = ({ kind }: Acting): Refusal =>
  kind === 'user' ? noAccess('deleteMessagesPermanently needs an API key.') : undefined

/** Both users of a 1:1 conversation can clear it for everyone; in a group only admins can. */
export const refuseClearForAll = (kind: 'user' | 'group', scope: string | null): Refusal =>
  kind === 'group' && scope !== 'admin' ? fail('ERR_GROUP_NO_ADMIN_SCOPE') : undefined

/** Nobody changes a pin that the app has set for everyone. */
export const refusePin = ({ by_app }: { by_app: boolean }): Refusal =>
  by_app ? fail('ERR_SYSTEM_PINNED_CONVERSATION') : undefined
