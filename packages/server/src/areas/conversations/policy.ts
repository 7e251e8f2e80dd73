/** Who may clear and pin conversations. */
import { refusedBy } from '../../core/access/authorize.ts'
import type { Acting, Refusal } from '../../core/policy.ts'
import { fail, noAccess } from '../../platform/http/fail.ts'

const DELETES = { features: ['deleteMessage'], permission: 'deleteMessage' } as const

/** With an auth token, users can't delete messages that the other user keeps. */
export const refusePurge = (acting: Acting): Refusal =>
  acting.kind === 'user'
    ? noAccess('deleteMessagesPermanently needs an API key.')
    : refusedBy(acting, DELETES)

/** Both users of a 1:1 conversation can clear it for everyone; in a group only admins can. */
export const refuseClearForAll = (
  acting: Acting,
  kind: 'user' | 'group',
  scope: string | null,
): Refusal =>
  refusedBy(acting, DELETES, { scope }) ??
  (kind === 'group' && scope !== 'admin' ? fail('ERR_GROUP_NO_ADMIN_SCOPE') : undefined)

/** Nobody changes a pin that the app has set for everyone. */
export const refusePin = ({ by_app }: { by_app: boolean }): Refusal =>
  by_app ? fail('ERR_SYSTEM_PINNED_CONVERSATION') : undefined
