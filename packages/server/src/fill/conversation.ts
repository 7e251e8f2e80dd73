import type pg from 'pg'
import { secondOf, timeOf } from '../core/ids.ts'
import { type CopyRow, copyInto } from './copy.ts'
import { type Draw, drawFrom } from './names.ts'
import { drawText } from './texts.ts'

/** A conversation before messages are added to it. */
export interface Conversation {
  appNo: number
  no: number
  counted: number
  /** Its users, at least one. */
  uids: string[]
  /** The messages are sent between these times, as ids. */
  from: number
  until: number
}

/** How far one user has read the new messages, and how many of the rest are the user's own. */
export interface Participant {
  uid: string
  /** 0: none of them. */
  readId: number
  readCounted: number
  own: number
}

/** New messages of a conversation, and its state after them. */
export interface NewMessages {
  messages: CopyRow[]
  participants: Participant[]
  counted: number
  firstSecond: number
  lastId: number
  lastSecond: number
}

const MESSAGE_COLUMNS = [
  ...['app_no', 'id', 'conversation', 'sender', 'category', 'type', 'data'],
  ...['counts', 'shows', 'counted'],
]
export const MARK_COLUMNS = ['app_no', 'conversation', 'uid', 'kind', 'upto_id', 'at']

/**
 * Creates messages that count as unread and move the views. Their ids aren't among those `taken` by other conversations
 * of the batch, and are added to them.
 */
export function writeMessages(
  conversation: Conversation,
  count: number,
  taken: Set<number>,
): NewMessages {
  const { appNo, no, uids } = conversation
  const draw = drawFrom(no)
  const ids = drawIds(conversation, count, taken)
  const senders = ids.map(() => draw(uids.length))
  const messages = ids.map((id, n): CopyRow => {
    const counted = conversation.counted + n + 1
    const sender = uids[senders[n] ?? 0] ?? ''
    const text = JSON.stringify({ text: drawText(draw, id) })
    return [appNo, id, no, sender, 'message', 'text', text, 't', 't', counted]
  })
  const [first = 0, last = 0] = [ids[0], ids.at(-1)]
  return {
    messages,
    participants: participantsOf(conversation, senders, ids, draw),
    counted: conversation.counted + count,
    firstSecond: secondOf(first),
    lastId: last,
    lastSecond: secondOf(last),
  }
}

/** Ascending ids, evenly spread. They are random, so that other batches draw others. */
function drawIds({ from, until }: Conversation, count: number, taken: Set<number>): number[] {
  const ids: number[] = []
  for (let n = 0, last = from; n < count; n++) {
    const drawn = Math.floor(from + ((until - from) * (n + Math.random())) / count)
    let id = Math.max(drawn, last + 1)
    while (taken.has(id)) id++
    taken.add(id)
    ids.push(id)
    last = id
  }
  return ids
}

/** Half of the users have read everything, a quarter some of it, a quarter nothing. */
function participantsOf(
  conversation: Conversation,
  senders: number[],
  ids: number[],
  draw: Draw,
): Participant[] {
  const reads = conversation.uids.map(() => [0, draw(senders.length) + 1, senders.length][draw(4)])
  const participants = conversation.uids.map((uid, n): Participant => {
    const read = reads[n] ?? senders.length
    const readCounted = read === 0 ? 0 : conversation.counted + read
    return { uid, readId: ids[read - 1] ?? 0, readCounted, own: 0 }
  })
  for (const [n, sender] of senders.entries()) {
    const participant = participants[sender]
    if (participant && (ids[n] ?? 0) > participant.readId) participant.own++
  }
  return participants
}

/** What the head keeps of the last message: all of them are short texts. */
export function lastOf({ messages }: NewMessages): { sender: string; data: string } {
  const [, , , sender = '', , , data = ''] = messages.at(-1) ?? []
  return { sender: String(sender), data: String(data) }
}

/** Stores the messages. They are older than some that are indexed, so searches have to know them. */
export async function copyMessages(
  tx: pg.Client,
  appNo: number,
  added: NewMessages[],
): Promise<void> {
  const messages = added.flatMap((each) => each.messages)
  await copyInto(tx, 'messages', MESSAGE_COLUMNS, messages)
  await tx.query('select add_search_changes($1, $2)', [appNo, messages.map(([, id]) => id)])
}

/** The read marks of all users who have read something. */
export const marksOf = ({ appNo, no }: Conversation, { participants }: NewMessages): CopyRow[] =>
  participants
    .filter(({ readId }) => readId > 0)
    .map(({ uid, readId }) => [appNo, no, uid, 'read', readId, timeOf(readId).toISOString()])
