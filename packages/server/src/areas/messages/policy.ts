/**
 * Who may edit, delete and use a message. Whatever the message, the role and the scope come first. The rules of sending (`check_direct_send` and
 * `check_group_send` in db/cell/functions/send.sql) and of blocks (`check_blocks`) are in SQL.
 */
import { refusedBy } from '../../core/access/authorize.ts'
import {
  type Accessed,
  type Acting,
  moderates,
  notAllowed,
  type Refusal,
  refuseActionMessage,
  refuseDeleted,
  refuseReading,
} from '../../core/policy.ts'
import { refuseMutedAt } from '../../core/sanctions.ts'
import { fail } from '../../platform/http/fail.ts'

/** The sender, in groups also admins and moderators, and the app. */
function refuseChange(acting: Acting, message: Accessed): Refusal {
  const unseen = refuseReading(acting, message)
  if (unseen) return unseen
  const own = acting.uid === undefined || acting.uid === message.sender
  if (!own && !moderates(message)) return fail('ERR_MESSAGE_NOT_A_SENDER')
  return refuseActionMessage(message)
}

/** A deleted message can still be deleted permanently. */
export const refuseDelete = (acting: Acting, message: Accessed, permanent: boolean): Refusal =>
  refusedBy(
    acting,
    {
      features:
        message.kind === 'group' ? ['deleteMessage', 'deleteGroupMessages'] : ['deleteMessage'],
      permission: 'deleteMessage',
    },
    { scope: message.scope },
  ) ??
  refuseChange(acting, message) ??
  (permanent ? undefined : refuseDeleted(message))

/** With an auth token, users can edit text and custom messages. Other messages need an API key. */
export function refuseEdit(acting: Acting, message: Accessed): Refusal {
  const { scope, scope_rules: scopeRules } = message
  const refused =
    refusedBy(
      acting,
      { permission: 'editMessage', scopePermission: 'editMessage' },
      { scope, scopeRules },
    ) ??
    refuseMutedAt(acting, message) ??
    refuseChange(acting, message)
  if (refused) return refused
  const written = message.category === 'custom' || message.type === 'text'
  if (acting.kind === 'user' && !written) {
    return notAllowed(
      'With an auth token you can edit text and custom messages. Other messages need an API key.',
    )
  }
  return refuseDeleted(message)
}

/** Everyone in the conversation uses an interactive message; its sender only if the message allows it. */
export function refuseInteraction(
  acting: Acting,
  message: Accessed & { data: Record<string, unknown> },
): Refusal {
  const refused = refuseReading(acting, message) ?? refuseDeleted(message)
  if (refused) return refused
  if (message.category !== 'interactive') return notAllowed('The message is not interactive.')
  return message.sender === acting.uid && message.data.allowSenderInteraction !== true
    ? notAllowed('The message does not set allowSenderInteraction.')
    : undefined
}
