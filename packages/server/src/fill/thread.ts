import type { CopyRow } from './copy.ts'
import { type Draw, drawFrom } from './names.ts'
import { drawText } from './texts.ts'

/** Where messages are added to, as it is before. */
export interface Place {
  appNo: number
  no: number
  lastSeq: number
  counted: number
  /** Who takes part, at least one. */
  uids: string[]
  /** Messages are sent between these, in milliseconds. */
  from: number
  until: number
}

/** What one of them has read of the new messages, and wrote since. */
export interface Side {
  uid: string
  /** 0: nothing of them. */
  readSeq: number
  readCounted: number
  readAt: string
  own: number
}

/** New messages of a conversation, and what it is after them. */
export interface Thread {
  messages: CopyRow[]
  sides: Side[]
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

/** Writes one message for each id: they count, and move the views. */
export function writeThread(place: Place, ids: readonly number[]): Thread {
  const { appNo, no, uids, from, until } = place
  const draw = drawFrom(no)
  const times = ids.map((_, n) => Math.floor(from + ((until - from) * (n + 1)) / ids.length))
  const senders = ids.map(() => draw(uids.length))
  const messages = ids.map((id, n): CopyRow => {
    const at = new Date(times[n] ?? from).toISOString()
    const [seq, counted] = [place.lastSeq + n + 1, place.counted + n + 1]
    const sender = uids[senders[n] ?? 0] ?? ''
    const text = JSON.stringify({ text: drawText(draw, id) })
    return [appNo, id, no, seq, sender, 'message', 'text', text, 't', 't', counted, at, at]
  })
  const [first = from, last = from] = [times[0], times.at(-1)]
  return {
    messages,
    sides: sidesOf(place, senders, times, draw),
    lastSeq: place.lastSeq + ids.length,
    counted: place.counted + ids.length,
    lastId: ids.at(-1) ?? 0,
    firstSecond: Math.floor(first / 1000),
    lastSecond: Math.floor(last / 1000),
    lastAt: new Date(last).toISOString(),
  }
}

/** Half have read all, a quarter a part, a quarter nothing. */
function sidesOf(place: Place, senders: number[], times: number[], draw: Draw): Side[] {
  const reads = place.uids.map(() => [0, draw(senders.length) + 1, senders.length][draw(4)])
  const sides = place.uids.map((uid, n): Side => {
    const read = reads[n] ?? senders.length
    const readAt = new Date(times[read - 1] ?? place.from).toISOString()
    if (read === 0) return { uid, readSeq: 0, readCounted: 0, readAt, own: 0 }
    return { uid, readSeq: place.lastSeq + read, readCounted: place.counted + read, readAt, own: 0 }
  })
  for (const [n, sender] of senders.entries()) {
    const side = sides[sender]
    if (side && place.lastSeq + n + 1 > side.readSeq) side.own++
  }
  return sides
}

/** The marks that tell others what was read. */
export const marksOf = ({ appNo, no }: Place, { sides }: Thread): CopyRow[] =>
  sides
    .filter(({ readSeq }) => readSeq > 0)
    .map(({ uid, readSeq, readAt }) => [appNo, no, uid, 'read', readSeq, readAt])
