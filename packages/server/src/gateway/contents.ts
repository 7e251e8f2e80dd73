/** What an event shows that rules of a role or a group can hide from a user. */
import type { EventPayload, EventType, MessageRecord } from '@loquat/protocol'
import { isShown, type MessageLimits } from '../core/access/visible.ts'

type Kind = Pick<MessageRecord, 'category' | 'type'>

export interface Contents {
  /** The message that the event is about. Who may not see it doesn't receive the event. */
  message?: Kind
  /** Messages that are shown with something else. Who may not see them reads the lists again instead. */
  beside: readonly Kind[]
  /** A reaction in a group. */
  reaction?: { guid: string; uid: string }
}

/** What rules hide from a user. */
export interface Hidden {
  limits: MessageLimits | undefined
  /** Groups in which the user's scope may not see the reactions of all others. */
  unseenReactions: ReadonlySet<string>
}

export function contentsOf(type: EventType, payload: unknown): Contents | undefined {
  if (type === 'message.reaction.added' || type === 'message.reaction.removed') {
    const { reaction, receiverType, receiver } = payload as EventPayload<typeof type>
    if (receiverType !== 'group') return undefined
    return { beside: [], reaction: { guid: receiver, uid: reaction.uid } }
  }
  const { message } = payload as { message?: MessageRecord }
  if (!message) return undefined
  // The action message of a membership is shown with the membership.
  if (type.startsWith('group.')) return { beside: [message] }
  const { on } = (message.data.entities ?? {}) as { on?: { entity: MessageRecord } }
  const changed =
    message.category === 'action' && message.type === 'message' ? on?.entity : undefined
  const { quotedMessage } = changed ?? message
  return {
    message: changed ?? message,
    beside: quotedMessage && 'category' in quotedMessage ? [quotedMessage as MessageRecord] : [],
  }
}

/** What a user may see of an event: all of it, nothing, or something else than everybody. */
export function seenOf(
  contents: Contents | undefined,
  { limits, unseenReactions }: Hidden,
  uid: string,
): 'all' | 'nothing' | 'partly' {
  if (!contents) return 'all'
  const { message, beside, reaction } = contents
  if (reaction)
    return reaction.uid !== uid && unseenReactions.has(reaction.guid) ? 'nothing' : 'all'
  if (!limits) return 'all'
  if (message && !isShown(limits, message)) return 'nothing'
  return beside.every((one) => isShown(limits, one)) ? 'all' : 'partly'
}
