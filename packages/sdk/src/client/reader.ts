import { LoquatError } from '../error.ts'
import type { Conversation, Message, UserOperations } from '../operations.gen.ts'
import {
  hasMessage,
  isShown,
  newestOf,
  oldestOf,
  type Part,
  type Room,
  type Target,
} from './state.ts'

const PAGE = 50
/** If a room shows more messages than this, refetching it keeps only those around its anchor, or the newest. */
const MOST = 500

export interface ConversationPage {
  data: Conversation[]
  next: string | undefined
}

/** Which messages of a room to fetch. Defaults to the newest. */
interface Range {
  /** Only messages before this one. */
  before?: string | undefined
  /** Only messages after this one. */
  after?: string | undefined
  /** At least as far as this message. */
  to?: string | undefined
  /** But not many more than this number. */
  most?: number
}

/** The store's requests. They return undefined for what doesn't exist, or what the user may not see. */
export class Reader {
  readonly #api: Pick<UserOperations, 'conversations' | 'messages' | 'threads'>

  constructor(api: Pick<UserOperations, 'conversations' | 'messages' | 'threads'>) {
    this.#api = api
  }

  async conversations(cursor?: string): Promise<ConversationPage> {
    const query = { perPage: PAGE, ...(cursor !== undefined && { cursor }) }
    const { data, meta } = await this.#api.conversations.list(query)
    return { data, next: meta.cursor?.next }
  }

  conversation({ type, id }: Target): Promise<Conversation | undefined> {
    const { conversations } = this.#api
    return ifFound(type === 'user' ? conversations.getUser(id) : conversations.getGroup(id))
  }

  message(id: string): Promise<Message | undefined> {
    return ifFound(this.#api.messages.get(id))
  }

  /** The messages around one, or the newest. `shown` says how far to read at least. */
  async around(room: Room, id?: string, shown: Pick<Room, 'messages'> = { messages: [] }) {
    const oldest = oldestOf(shown)?.id
    if (id === undefined) {
      const { messages, more } = await this.messages(room, { to: oldest })
      return { messages, more, newer: false } satisfies Part
    }
    const most = MOST / 2
    const before = String(Number(id) + 1)
    const older = await this.messages(room, { before, to: oldest, most })
    const later = await this.messages(room, { after: id, to: newestOf(shown)?.id, most })
    const messages = [...older.messages, ...later.messages]
    return { messages, more: older.more, newer: later.more } satisfies Part
  }

  /** A room again, as far as it is shown. */
  again(room: Room): Promise<Part> {
    const { anchor, messages } = room
    // The room may be on its way to its anchor.
    const isMoving = anchor !== undefined && !hasMessage(room, anchor)
    const isPart = isMoving || room.newer || messages.length > MOST
    return this.around(room, isPart ? anchor : undefined, isMoving ? undefined : room)
  }

  /** Messages of a room, oldest first, and whether there are more in the same direction. */
  async messages({ target, parentId }: Room, { before, after, to, most = MOST }: Range = {}) {
    const found: Message[] = []
    const reaches = () =>
      to === undefined ||
      (after === undefined
        ? Number(found[0]?.id) <= Number(to)
        : Number(found.at(-1)?.id) >= Number(to))
    const { messages, threads } = this.#api
    const affix = after === undefined ? 'prepend' : 'append'
    const id = after ?? before
    let next: object | undefined = id === undefined ? {} : { id }
    // A page may consist mostly of messages that aren't shown.
    while (next && (found.length < PAGE / 2 || (found.length < most && !reaches()))) {
      const query: object = { limit: PAGE, affix, ...next }
      const page = await ifFound(
        parentId !== undefined
          ? threads.listReplies(parentId, query)
          : target.type === 'user'
            ? messages.listUser(target.id, { ...query, hideReplies: true })
            : messages.listGroup(target.id, { ...query, hideReplies: true }),
      )
      const shown = (page?.data ?? []).filter(isShown)
      if (after === undefined) found.unshift(...shown)
      else found.push(...shown)
      next = page?.meta.next
    }
    return { messages: found, more: next !== undefined }
  }
}

async function ifFound<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request
  } catch (error) {
    const { status = 0 } = error instanceof LoquatError ? error : {}
    // A permanent error must not block the other requests.
    if (status >= 400 && status < 500 && status !== 401 && status !== 429) return undefined
    throw error
  }
}
