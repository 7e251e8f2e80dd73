import type { LogEntry, LogTrigger } from '../../core/notifications/log.ts'
import {
  type LoggedEvent,
  type Occurrence,
  occurrenceOf,
} from '../../core/notifications/occurrence.ts'

const TRIGGERS: Record<Occurrence['type'], LogTrigger> = {
  message: 'after_message',
  reply: 'after_message',
  messageEdited: 'message_edited',
  messageDeleted: 'message_deleted',
  reaction: 'message_reaction_added',
  call: 'initiated',
  callOver: 'cancelled',
  memberLeft: 'after_group_left',
  memberAdded: 'after_group_members_added',
  memberJoined: 'after_group_joined',
  memberKicked: 'after_group_members_kicked',
  memberBanned: 'after_group_members_banned',
  memberUnbanned: 'after_group_members_unbanned',
  memberScopeChanged: 'after_scope_changed',
}

type OfEvent = Pick<
  LogEntry,
  | ('trigger' | 'messageId' | 'reactionId' | 'category' | 'type' | 'sender' | 'receiver')
  | ('receiverType' | 'reactionSender' | 'sentAt')
>

/** What the log says about an event. Undefined for one that nobody is notified of. */
export function loggedAs(event: LoggedEvent): OfEvent | undefined {
  const occurrence = occurrenceOf(event)
  if (!occurrence) return undefined
  const { type, message, by, kind, at } = occurrence
  const { reaction, receiver, call } = event.payload
  return {
    ...{ trigger: TRIGGERS[type], sender: by, sentAt: at },
    ...(message.id > 0 && { messageId: message.id }),
    ...{ category: message.category, type: message.type, receiverType: kind },
    receiver: receiver ?? call?.callReceiver ?? event.payload.message.receiver,
    ...(reaction && { reactionId: Number(reaction.id), reactionSender: by }),
  }
}
