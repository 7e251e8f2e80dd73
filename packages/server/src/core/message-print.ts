/**
 * Records of messages as JSON text, the same as those of message-record.ts. PostgreSQL prints contents, users and
 * groups, and this joins them. Only contents with mentions or actions are parsed.
 */
import { type ConversationKind, conversationIdOf, secondOf } from './ids.ts'
import {
  changedBy,
  type Entity,
  entitiesOf,
  isWritten,
  mentionsOf,
  receiptFields,
  type Show,
  toBase,
} from './message-record.ts'
import type { MessageRow } from './message-rows.ts'
import { receiverOf } from './records/message.ts'
import { seconds } from './time.ts'

type Json = Record<string, unknown>

/** A message with its annotations. `data` is `{}` unless the content has to be parsed. */
export interface PrintableRow extends MessageRow {
  /** The content as PostgreSQL prints it. */
  text: string
  /** Whether nobody changed it, replied or reacted to it, or saved it, and it has no tags and refers to no message. */
  plain: boolean
  reactions: { reaction: string; count: number; reactedByMe?: true }[] | undefined
  saved_at: Date | null
}

const NOTHING: Json = {}
const NO_MENTIONED = new Map<string, Json>()

/** The content of a message, if it has parts that change. Most contents are printed as they are stored. */
export const parsedContent = (category: string, text: string): Json =>
  isWritten(category) || text.includes('"mentions": ') ? JSON.parse(text) : NOTHING

/** Prints the messages of one conversation, with the users, groups and messages that they refer to. */
export class MessagePrinter {
  readonly #entities: Map<string, string>
  readonly #messages: Map<number, PrintableRow>
  readonly #show: Pick<Show, 'hideQuoted' | 'hideTags'>
  /** `"entities":{…}` by sender: it is the same for all plain contents of a sender. */
  readonly #bySender = new Map<string, string>()
  /** The fields that plain messages of one sender, category and type have in common. */
  readonly #common = new Map<string, string>()

  /** Users and groups by `kind:id`, and messages that others refer to by id. */
  constructor(
    entities: Map<string, string>,
    messages: Map<number, PrintableRow>,
    show: Pick<Show, 'hideQuoted' | 'hideTags'>,
  ) {
    this.#entities = entities
    this.#messages = messages
    this.#show = show
  }

  print(row: PrintableRow): string {
    return `${this.#printBare(row)}${this.#printQuoted(row)}${this.#printThread(row)}${printReceipts(row)}}`
  }

  /** Without the messages that it refers to, without receipts, and without the closing brace. */
  #printBare(row: PrintableRow): string {
    if (row.plain && row.data === NOTHING) return this.#printPlain(row)
    const base = toBase(row)
    if (this.#show.hideTags) delete base.tags
    const saved = row.saved_at ? `,"savedAt":${seconds(row.saved_at)}` : ''
    return `${opened(JSON.stringify(base))},"data":${this.#printContent(row)}${saved}`
  }

  /** Most messages differ only in their id, time and content: their other fields are printed once. */
  #printPlain(row: PrintableRow): string {
    const key = `${row.sender} ${row.category} ${row.type}`
    let common = this.#common.get(key)
    if (common === undefined) {
      const { id: _id, muid: _muid, sentAt: _sentAt, updatedAt: _updatedAt, ...rest } = toBase(row)
      common = opened(JSON.stringify(rest))
      this.#common.set(key, common)
    }
    const muid = row.muid === null ? '' : `,"muid":${JSON.stringify(row.muid)}`
    const second = secondOf(row.id)
    return `${common},"id":"${row.id}"${muid},"sentAt":${second},"updatedAt":${second},"data":${this.#printContent(row)}`
  }

  #printContent(row: PrintableRow): string {
    const { text, reactions } = row
    if (row.data !== NOTHING) return JSON.stringify(this.#toContent(row))
    const start = text === '{}' ? '{' : `${opened(text)},`
    const shown = reactions ? `"reactions":${JSON.stringify(reactions)},` : ''
    return `${start}${shown}${this.#printEntities(row)}}`
  }

  #printEntities(row: PrintableRow): string {
    const known = this.#bySender.get(row.sender)
    if (known !== undefined) return known
    const { kind, one, other, sender } = row
    const receiver = this.#entities.get(`${kind}:${receiverOf(row)}`) ?? '{}'
    const id = JSON.stringify(conversationIdOf(one, other))
    const shown =
      kind === 'group'
        ? receiver
        : `${opened(receiver)}${receiver === '{}' ? '' : ','}"conversationId":${id}}`
    const from = this.#entities.get(`user:${sender}`) ?? '{}'
    const text = printEntities(kind, from, shown)
    this.#bySender.set(sender, text)
    return text
  }

  /** The content of an action message or of one that mentions users. */
  #toContent(row: PrintableRow): Json {
    const known = { get: (id: string) => this.#parsedEntity(id) }
    const entities: Record<string, Entity> = entitiesOf(row, known)
    const changed = this.#messages.get(changedBy(row) ?? 0)
    if (changed) {
      const entity = JSON.parse(`${this.#printBare(changed)}}`)
      entities.on = { entity, entityType: 'message' }
    }
    return {
      ...row.data,
      ...mentionsOf(row, { entities: known, mentioned: NO_MENTIONED }),
      ...(row.reactions && { reactions: row.reactions }),
      entities,
    }
  }

  #parsedEntity(id: string): Json | undefined {
    const text = this.#entities.get(id)
    return text === undefined ? undefined : JSON.parse(text)
  }

  #printQuoted({ quoted_id }: PrintableRow): string {
    if (quoted_id === null || this.#show.hideQuoted) return ''
    const quoted = this.#messages.get(quoted_id)
    return `,"quotedMessage":${quoted ? this.#printBare(quoted) : `{"id":"${quoted_id}"`}}`
  }

  #printThread({ thread }: PrintableRow): string {
    if (!thread) return ''
    const [replyCount, lastId] = thread
    const last = this.#messages.get(lastId)
    const reply = last && !last.deleted_at ? `,"lastReply":${this.#printBare(last)}}` : ''
    return `,"replyCount":${replyCount}${reply}`
  }
}

/** The entities of a message that is no action, from the records of its sender and receiver as JSON. */
export const printEntities = (kind: ConversationKind, sender: string, receiver: string) =>
  `"entities":{"sender":{"entity":${sender},"entityType":"user"},"receiver":{"entity":${receiver},"entityType":"${kind}"}}`

/** A JSON object without its closing brace. */
const opened = (json: string) => json.slice(0, -1)

function printReceipts(row: PrintableRow): string {
  if (!row.delivered_at && !row.read_at) return ',"receipts":{"data":[]}'
  return `,${opened(JSON.stringify(receiptFields(row)).slice(1))}`
}
