/** An event of the log, as far as notifications look at it. */
import type {
  CallSummary,
  EventType,
  MessageRecord,
  ReactionRecord,
  UserSnapshot,
} from '@loquat/protocol'
import { type ConversationKind, SYSTEM_UID, timeOf } from '../ids.ts'
import type { GroupAction } from './preferences.ts'

export interface Occurrence {
  type:
    | ('message' | 'reply' | 'messageEdited' | 'messageDeleted' | 'reaction')
    /** It rings, and then it doesn't ring any more. */
    | ('call' | 'callOver')
    | GroupAction
  at: Date
  /** The number of the conversation. */
  conversation: number
  kind: ConversationKind
  /** Who did it. */
  by: string
  /** The message that it is about: of a reaction, the one that somebody reacted to. The id is 0 if there is none. */
  message: { id: number; category: string; type: string }
  /** Users that the message mentions. */
  mentioned: readonly string[]
  /** Only these users are concerned. */
  only?: readonly string[]
}

export interface LoggedEvent {
  type: string
  key: string
  at: Date
  // biome-ignore lint/suspicious/noExplicitAny: each type of event has its own payload
  payload: any
}

const GROUP_ACTION_TYPES: Partial<Record<EventType, GroupAction>> = {
  'group.member.left': 'memberLeft',
  'group.member.added': 'memberAdded',
  'group.member.joined': 'memberJoined',
  'group.member.kicked': 'memberKicked',
  'group.member.banned': 'memberBanned',
  'group.member.unbanned': 'memberUnbanned',
  'group.member.scope.changed': 'memberScopeChanged',
}

/** After these events, devices stop ringing. */
const CALL_ENDS: readonly EventType[] = [
  'call.accepted',
  'call.rejected',
  'call.cancelled',
  'call.busy',
  'call.unanswered',
  'call.ended',
]

/** The types of events that somebody can be notified of. */
export const NOTIFIED_TYPES: readonly EventType[] = [
  'message.sent',
  'message.edited',
  'message.deleted',
  'message.reaction.added',
  'call.incoming',
  'call.silenced',
  ...CALL_ENDS,
  ...(Object.keys(GROUP_ACTION_TYPES) as EventType[]),
]

/** Undefined if nobody is notified of such events. */
export function occurrenceOf({ type, key, at, payload }: LoggedEvent): Occurrence | undefined {
  const conversation = Number(key.slice('conversation:'.length))
  const of = { at, conversation }
  switch (type as EventType) {
    case 'message.sent':
      return { ...of, ...ofMessage(payload.message) }
    case 'message.edited':
      return { ...of, ...ofChange(payload.message, 'messageEdited') }
    case 'message.deleted':
      return { ...of, ...ofChange(payload.message, 'messageDeleted') }
    case 'message.reaction.added':
      return { ...of, ...ofReaction(payload) }
    case 'call.incoming':
      return { ...of, ...ofCall(payload, 'call') }
    case 'call.silenced':
      return { ...of, ...ofSilenced(payload) }
    default: {
      if (CALL_ENDS.includes(type as EventType)) return { ...of, ...ofCall(payload, 'callOver') }
      const action = GROUP_ACTION_TYPES[type as EventType]
      return action && { ...of, ...ofGroupAction(payload, action) }
    }
  }
}

type Content = Omit<Occurrence, 'at' | 'conversation'>

const about = ({ id, category, type }: MessageRecord) => ({ id: Number(id), category, type })
const mentionedIn = ({ data }: MessageRecord) => Object.keys((data.mentions as object) ?? {})

const ofMessage = (message: MessageRecord): Content => ({
  // The answer of an agent is a reply, but the user asked for it.
  type: message.parentId === undefined || message.category === 'agentic' ? 'message' : 'reply',
  ...{ kind: message.receiverType, by: message.sender, message: about(message) },
  mentioned: mentionedIn(message),
})

/** The action message says who changed which message. */
function ofChange(action: MessageRecord, type: 'messageEdited' | 'messageDeleted'): Content {
  const { on } = action.data.entities as { on: { entity: MessageRecord } }
  return {
    ...{ type, kind: action.receiverType, by: action.sender, mentioned: [] },
    message: about({ ...action, ...on.entity }),
  }
}

const ofReaction = (payload: {
  reaction: ReactionRecord
  receiverType: ConversationKind
  messageCategory: string
  messageType: string
}): Content => ({
  ...{ type: 'reaction', kind: payload.receiverType, by: payload.reaction.uid, mentioned: [] },
  message: {
    id: Number(payload.reaction.messageId),
    ...{ category: payload.messageCategory, type: payload.messageType },
  },
})

function ofGroupAction(
  { message, by, members }: { message: MessageRecord; by?: UserSnapshot; members: object },
  type: GroupAction,
): Content {
  // Who joins or leaves does it alone.
  const actor = by?.uid ?? Object.keys(members)[0] ?? SYSTEM_UID
  return { ...{ type, kind: 'group', by: actor, mentioned: [] }, message: about(message) }
}

/** In a group, an answer ends the ringing for the member who answered; the others can still join. */
function ofCall(
  payload: { call: CallSummary; message: MessageRecord; rung?: string[]; by?: string },
  type: 'call' | 'callOver',
): Content {
  const { call, message, rung, by } = payload
  const only = by === undefined ? rung : [by]
  return {
    ...{ type, kind: call.receiverType, by: call.callInitiator, mentioned: [] },
    message: about(message),
    ...(only && { only }),
  }
}

const ofSilenced = ({ call, uids }: { call: CallSummary; uids: string[] }): Content => ({
  ...{ type: 'callOver', kind: call.receiverType, by: call.callInitiator, mentioned: [] },
  ...{ message: { id: 0, category: 'call', type: call.type }, only: uids },
})

/** What has to be known of a message. */
export interface OccurringMessage {
  id: number
  conversation: number
  kind: ConversationKind
  sender: string
  category: string
  type: string
  parent_id: number | null
  data: Record<string, unknown>
}

/** A message that was sent, from its row. */
export const occurrenceOfMessage = (row: OccurringMessage): Occurrence => ({
  type: row.parent_id === null ? 'message' : 'reply',
  ...{ at: timeOf(row.id), conversation: row.conversation, kind: row.kind, by: row.sender },
  message: { id: row.id, category: row.category, type: row.type },
  mentioned: Object.keys((row.data.mentions as object) ?? {}),
})
