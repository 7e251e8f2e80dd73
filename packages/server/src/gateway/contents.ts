/** What an event shows that rules of a role or a group can hide from a user. */
import type { EventPayload, EventType, MessageRecord } from '@loquat/protocol'
import { isShown, type MessageLimits, type ProfileLimits } from '../core/access/visible.ts'

type Kind = Pick<MessageRecord, 'category' | 'type'>

export interface Contents {
  /** The message that the event is about. Who may not see it doesn't receive the event. */
  message?: Kind
  /** Messages that are shown with something else. Who may not see them reads the lists again instead. */
  beside: readonly Kind[]
  /** Whose reaction or receipt in a group it is, and what hides it. */
  member?: { guid: string; uid: string; hiddenBy: 'unseenReactions' | 'unseenMembers' }
  /** Whether it shows profiles of users. Who may not read all profiles reads the lists again instead. */
  profiles?: boolean
}

/** What rules hide from a user. */
export interface Hidden {
  limits: MessageLimits | undefined
  /** Groups in which the user's scope may not see the reactions of all others. */
  unseenReactions: ReadonlySet<string>
  /** Groups in which the user's scope may not list all members. */
  unseenMembers: ReadonlySet<string>
  /** Whose profiles the user may read; undefined for all. */
  profiles: ProfileLimits | undefined
}

const PROFILES: Contents = { beside: [], profiles: true }
const INTERACTIVE: Contents = { message: { category: 'interactive', type: '' }, beside: [] }

export function contentsOf(type: EventType, payload: unknown): Contents | undefined {
  if (type === 'message.reaction.added' || type === 'message.reaction.removed') {
    const reacted = payload as EventPayload<typeof type>
    const { reaction, receiverType, receiver, messageCategory, messageType } = reacted
    const member = { guid: receiver, uid: reaction.uid, hiddenBy: 'unseenReactions' } as const
    return {
      message: { category: messageCategory, type: messageType },
      beside: [],
      ...(receiverType === 'group' && { member }),
    }
  }
  if (type === 'conversation.delivered' || type === 'conversation.read') {
    const { receiverType, receiver, uid } = payload as EventPayload<typeof type>
    if (receiverType !== 'group') return undefined
    return { beside: [], member: { guid: receiver, uid, hiddenBy: 'unseenMembers' } }
  }
  if (type === 'message.interacted') return INTERACTIVE
  if (type === 'user.blocked' || type === 'user.unblocked') return PROFILES
  const { message } = payload as { message?: MessageRecord }
  if (!message) return undefined
  // A call rings whatever the role may see in lists.
  if (type.startsWith('call.') || type.startsWith('meeting.')) return undefined
  // The action message of a membership is shown with the membership.
  if (type.startsWith('group.')) return { beside: [message] }
  const { on } = (message.data.entities ?? {}) as { on?: { entity: MessageRecord } }
  const changed =
    message.category === 'action' && message.type === 'message' ? on?.entity : undefined
  // Of a message that was deleted permanently, the event has only ids. Everyone who may have it learns of that.
  if (changed && changed.category === undefined) return undefined
  const { quotedMessage, lastReply } = changed ?? message
  const shown = [quotedMessage, lastReply] as (Partial<MessageRecord> | undefined)[]
  return {
    message: changed ?? message,
    // A quoted message that is gone has only an id.
    beside: shown.filter((one): one is MessageRecord => one?.category !== undefined),
  }
}

/** What a user may see of an event: all of it, nothing, or something else than everybody. */
export function seenOf(
  contents: Contents | undefined,
  hidden: Hidden,
  uid: string,
): 'all' | 'nothing' | 'partly' {
  if (!contents) return 'all'
  const { message, beside, member, profiles } = contents
  if (member && member.uid !== uid && hidden[member.hiddenBy].has(member.guid)) return 'nothing'
  if (profiles && hidden.profiles) return 'partly'
  const { limits } = hidden
  if (!limits) return 'all'
  if (message && !isShown(limits, message)) return 'nothing'
  return beside.every((one) => isShown(limits, one)) ? 'all' : 'partly'
}
