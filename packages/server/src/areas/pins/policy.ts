/** Who may pin messages. Blocks are checked under the head's lock, in SQL: `check_blocks`. */
import {
  type Accessed,
  type Acting,
  moderates,
  type Refusal,
  refuseActionMessage,
  refuseDeleted,
  refuseReading,
} from '../../core/policy.ts'
import { refuseMutedAt } from '../../core/sanctions.ts'
import { fail } from '../../platform/http/fail.ts'

/** Both sides of a 1:1 conversation, in groups admins and moderators, and the app. */
export function refuseUnpin(acting: Acting, message: Accessed): Refusal {
  const unseen = refuseReading(acting, message)
  if (unseen) return unseen
  const may = acting.uid === undefined || message.kind === 'user' || moderates(message)
  return may ? undefined : fail('ERR_PERMISSION_DENIED')
}

export const refusePin = (acting: Acting, message: Accessed): Refusal =>
  refuseUnpin(acting, message) ??
  refuseMutedAt(acting, message) ??
  refuseActionMessage(message) ??
  refuseDeleted(message)
