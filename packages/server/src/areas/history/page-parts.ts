/** Reads the rows of page.queries.ts. */
import type { ConversationKind } from '../../core/ids.ts'
import { type PrintableRow, parsedContent } from '../../core/message-print.ts'
import { receiverOf } from '../../core/records/message.ts'
import type { PartRow } from './page.queries.ts'

/** Whether the reader may read the conversation. Without a conversation, most fields are null. */
export interface PageHead {
  kind: ConversationKind
  one: string
  other: string
  scope: string | null
  banned: boolean
  /** Whether the other user or the group exists. */
  known: boolean
  /** Whether the acting user exists and is active. */
  active: boolean
}

export interface PageParts {
  head: PageHead
  /** Oldest first. */
  rows: PrintableRow[]
  /** Messages that others refer to. */
  referred: Map<number, PrintableRow>
  /** Records of users and groups by `kind:id`. */
  entities: Map<string, string>
}

export function toParts(found: PartRow[]): PageParts {
  const head = toHead(found)
  const parts: PageParts = { head, rows: [], referred: new Map(), entities: new Map() }
  const marks = new Map<string, Marks>()
  for (const row of found) {
    if (row.part === 'message' || row.part === 'held') parts.rows.push(toRow(head, row))
    else if (row.part === 'referred') parts.referred.set(Number(row.id), toRow(head, row))
    else if (row.part === 'mark') addMark(marks, row)
    else if (row.part === 'entity' && row.text !== null) parts.entities.set(idOf(row), row.text)
  }
  parts.rows.sort((one, other) => one.id - other.id)
  if (marks.size > 0) addReceipts(parts.rows, marks)
  return parts
}

function toHead(found: PartRow[]): PageHead {
  const row = found.find(({ part }) => part === 'head')
  if (!row) throw new Error('the page has no head')
  const [kind, one, other, scope, banned, known, active] = JSON.parse(row.fields)
  return { kind, one, other, scope, banned, known, active }
}

const idOf = ({ fields }: PartRow): string => JSON.parse(fields).join(':')

/** Plain messages have only the first four fields. */
type Fields = [
  ...[sender: string, category: string, type: string, muid: string | null],
  ...[tags?: string[], parentId?: number | null, quotedId?: number | null],
  ...[updatedAt?: Time, editedAt?: Time, editedBy?: Uid, deletedAt?: Time, deletedBy?: Uid],
  ...[pinnedAt?: Time, pinnedBy?: Uid, thread?: [number, number] | null],
  ...[reactions?: [string, number, boolean][] | null, savedAt?: Time],
]
type Time = string | null
type Uid = string | null

const PLAIN_FIELDS = 4
const NO_TAGS: string[] = []

function toRow({ kind, one, other }: PageHead, { id, fields, text }: PartRow): PrintableRow {
  const given = JSON.parse(fields) as Fields
  const reactions = given[15] ?? undefined
  const content = text ?? '{}'
  return {
    id: Number(id),
    kind,
    one,
    other,
    sender: given[0],
    category: given[1],
    type: given[2],
    muid: given[3],
    tags: given[4] ?? NO_TAGS,
    parent_id: given[5] ?? null,
    quoted_id: given[6] ?? null,
    updated_at: dateOf(given[7]),
    edited_at: dateOf(given[8]),
    edited_by: given[9] ?? null,
    deleted_at: dateOf(given[10]),
    deleted_by: given[11] ?? null,
    pinned_at: dateOf(given[12]),
    pinned_by: given[13] ?? null,
    thread: given[14] ?? null,
    reactions: reactions?.map(([reaction, count, mine]) => ({
      reaction,
      count,
      ...(mine && { reactedByMe: true as const }),
    })),
    reacted: reactions !== undefined,
    saved_at: dateOf(given[16]),
    saved: given[16] !== undefined,
    text: content,
    plain: given.length === PLAIN_FIELDS,
    data: parsedContent(given[1], content),
    delivered_at: null,
    read_at: null,
  }
}

const dateOf = (text: Time | undefined) => (text ? new Date(text) : null)

/** The marks of one user and kind, and the first one that the messages so far haven't passed. */
interface Marks {
  list: { upto: number; at: Date }[]
  next: number
}

const keyOf = (uid: string, kind: string) => `${uid} ${kind}`

function addMark(marks: Map<string, Marks>, { id, fields }: PartRow): void {
  const [uid, kind, at] = JSON.parse(fields)
  const key = keyOf(uid, kind)
  const known = marks.get(key) ?? { list: [], next: 0 }
  known.list.push({ upto: Number(id), at: new Date(at) })
  marks.set(key, known)
}

/** Merges messages and marks, both in order: a receipt is the receiver's first mark at or after the message. */
function addReceipts(rows: PrintableRow[], marks: Map<string, Marks>): void {
  for (const { list } of marks.values()) list.sort((one, other) => one.upto - other.upto)
  for (const row of rows) {
    const uid = receiverOf(row)
    row.delivered_at = firstMark(marks.get(keyOf(uid, 'delivered')), row.id)
    row.read_at = firstMark(marks.get(keyOf(uid, 'read')), row.id)
  }
}

function firstMark(marks: Marks | undefined, id: number): Date | null {
  if (!marks) return null
  while ((marks.list[marks.next]?.upto ?? id) < id) marks.next++
  return marks.list[marks.next]?.at ?? null
}
