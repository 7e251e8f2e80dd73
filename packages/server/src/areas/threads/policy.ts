/** Who may follow a thread. The rules for replying are the rules for sending, in messages/policy.ts. */
import { type Accessed, type Acting, type Refusal, refuseReading } from '../../core/policy.ts'
import { fail } from '../../platform/http/fail.ts'

/** Everyone in the conversation; only a message outside threads can begin one. */
export function refuseFollow(
  acting: Acting,
  message: Accessed & { parent_id: number | null },
): Refusal {
  const unseen = refuseReading(acting, message)
  if (unseen) return unseen
  if (message.category === 'action' || message.category === 'call')
    return fail('ERR_WRONG_MESSAGE_THREAD_CATEGORY')
  return message.parent_id === null ? undefined : fail('ERR_MESSAGE_THREAD_NESTING')
}
