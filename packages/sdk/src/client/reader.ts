import { LoquatError } from '../error.ts'
import type { Conversation, Message, Operations } from '../operations.gen.ts'
import { isShown, type Room, type Target } from './state.ts'

const PAGE = 50
/** If a room shows more messages than this, refetching it keeps only the newest. */
const MOST = 500

export interface ConversationPage {
  data: Conversation[]
  next: string | undefined
}

/** Which messages of a room to fetch. Defaults to the newest. */
interface Part {
  /** Only messages before this one. */
  before?: string | undefined
  /** At least as far back as this message. */
  downTo?: string | undefined
}

/** The store's requests. They return undefined for what doesn't exist, or what the user may not see. */
export class Reader {
  readonly #api: Pick<Operations, 'conversations' | 'messages' | 'threads'>

  constructor(api: Pick<Operations, 'conversations' | 'messages' | 'threads'>) {
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

  /** Messages of a room, oldest first. */
  async messages({ target, parentId }: Room, { before, downTo }: Part = {}) {
    const found: Message[] = []
    const reaches = () => downTo === undefined || Number(found[0]?.id) <= Number(downTo)
    const { messages, threads } = this.#api
    let next: object | undefined = before === undefined ? {} : { id: before }
    // A page may consist mostly of messages that aren't shown.
    while (next && (found.length < PAGE / 2 || (found.length < MOST && !reaches()))) {
      const query: object = { limit: PAGE, affix: 'prepend', ...next }
      const page = await ifFound(
        parentId !== undefined
          ? threads.listReplies(parentId, query)
          : target.type === 'user'
            ? messages.listUser(target.id, { ...query, hideReplies: true })
            : messages.listGroup(target.id, { ...query, hideReplies: true }),
      )
      found.unshift(...(page?.data ?? []).filter(isShown))
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
