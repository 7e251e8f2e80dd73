import type { CopyRow } from './copy.ts'
import { type Draw, drawFrom } from './names.ts'
import { drawText } from './texts.ts'

/** A conversation before messages are added to it. */
export interface Conversation {
  appNo: number
  no: number
  lastSeq: number
  counted: number
  /** Its users, at least one. */
  uids: string[]
  /** The messages are sent between these times, in Unix milliseconds. */
  from: number
  until: number
}

/** How far one user has read the new messages, and how many of the rest are the user's own. */
export interface Participant {
  uid: string
  /** 0: none of them. */
  readSeq: number
  readCounted: number
  readAt: string
  own: number
}

/** New messages of a conversation, and its state after them. */
export interface NewMessages {
  messages: CopyRow[]
  participants: Participant[]
  lastSeq: number
  counted: number
  lastId: number
  firstSecond: number
  lastSecond: number
  lastAt: string
}

export const MESSAGE_COLUMNS = [
  ...['app_no', 'id', 'conversation', 'seq', 'sender', 'category', 'type', 'data'],
  ...['counts', 'shows', 'counted', 'sent_at', 'updated_at'],
]
export const MARK_COLUMNS = ['app_no', 'conversation', 'uid', 'kind', 'seq', 'at']

/** Creates one message for each id. The messages count as unread and move the views. */
export function writeMessages(conversation: Conversation, ids: readonly number[]): NewMessages {
  const { appNo, no, uids, from, until } = conversation
  const draw = drawFrom(no)
  const times = ids.map((_, n) => Math.floor(from + ((until - from) * (n + 1)) / ids.length))
  const senders = ids.map(() => draw(uids.length))
  const messages = ids.map((id, n): CopyRow => {
    const at = new Date(times[n] ?? from).toISOString()
    const [seq, counted] = [conversation.lastSeq + n + 1, conversation.counted + n + 1]
    const sender = uids[senders[n] ?? 0] ?? ''
    const text = JSON.stringify({ text: drawText(draw, id) })
    return [appNo, id, no, seq, sender, 'message', 'text', text, 't', 't', counted, at, at]
  })
  const [first = from, last = from] = [times[0], times.at(-1)]
  return {
    messages,
    participants: participantsOf(conversation, senders, times, draw),
    lastSeq: conversation.lastSeq + ids.length,
    counted: conversation.counted + ids.length,
    lastId: ids.at(-1) ?? 0,
    firstSecond: Math.floor(first / 1000),
    lastSecond: Math.floor(last / 1000),
    lastAt: new Date(last).toISOString(),
  }
}

/** Half of the users have read everything, a quarter some of it, a quarter nothing. */
function participantsOf(
  conversation: Conversation,
  senders: number[],
  times: number[],
  draw: Draw,
): Participant[] {
  const reads = conversation.uids.map(() => [0, draw(senders.length) + 1, senders.length][draw(4)])
  const participants = conversation.uids.map((uid, n): Participant => {
    const read = reads[n] ?? senders.length
    const readAt = new Date(times[read - 1] ?? conversation.from).toISOString()
    if (read === 0) return { uid, readSeq: 0, readCounted: 0, readAt, own: 0 }
    return {
      uid,
      readSeq: conversation.lastSeq + read,
      readCounted: conversation.counted + read,
      readAt,
      own: 0,
    }
  })
  for (const [n, sender] of senders.entries()) {
    const participant = participants[sender]
    if (participant && conversation.lastSeq + n + 1 > participant.readSeq) participant.own++
  }
  return participants
}

/** The read marks of all users who have read something. */
export const marksOf = ({ appNo, no }: Conversation, { participants }: NewMessages): CopyRow[] =>
  participants
    .filter(({ readSeq }) => readSeq > 0)
    .map(({ uid, readSeq, readAt }) => [appNo, no, uid, 'read', readSeq, readAt])
