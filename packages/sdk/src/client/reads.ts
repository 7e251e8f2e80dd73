import { LoquatError } from '../error.ts'
import type { Message, Operations } from '../operations.gen.ts'
import { type Conversation, isShown, type Room, type Target } from './state.ts'

const PAGE = 50

export interface ConversationPage {
  data: Conversation[]
  next: string | undefined
}

/** What the store reads. Undefined: it is not there, or not for this user. */
export class Reads {
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
    return ifThere(type === 'user' ? conversations.getUser(id) : conversations.getGroup(id))
  }

  message(id: string): Promise<Message | undefined> {
    return ifThere(this.#api.messages.get(id))
  }

  /** The newest messages of a room, or those before one; the oldest first. */
  async messages({ target, parentId }: Room, before?: string) {
    const found: Message[] = []
    const { messages, threads } = this.#api
    let place: object | undefined = before === undefined ? {} : { id: before }
    // What is not shown could fill a page.
    while (place && found.length < PAGE / 2) {
      const query: object = { limit: PAGE, affix: 'prepend', ...place }
      const page = await ifThere(
        parentId !== undefined
          ? threads.listReplies(parentId, query)
          : target.type === 'user'
            ? messages.listUser(target.id, { ...query, hideReplies: true })
            : messages.listGroup(target.id, { ...query, hideReplies: true }),
      )
      found.unshift(...(page?.data ?? []).filter(isShown))
      place = page?.meta.next
    }
    return { messages: found, more: place !== undefined }
  }
}

async function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    const gone = error instanceof LoquatError && (error.status === 403 || error.status === 404)
    if (gone) return undefined
    throw error
  }
}
