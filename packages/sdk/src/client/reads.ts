import { LoquatError } from '../error.ts'
import type { Message, Operations } from '../operations.gen.ts'
import { type Conversation, isShown, type Room, type Target } from './state.ts'

const PAGE = 50
/** Whoever went further back than this begins anew. */
const MOST = 500

export interface ConversationPage {
  data: Conversation[]
  next: string | undefined
}

/** A part of a room: the newest messages, or … */
interface Part {
  /** … those before this one, … */
  before?: string | undefined
  /** … and at least as far back as this one was. */
  downTo?: string | undefined
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

  /** Messages of a room, the oldest first. */
  async messages({ target, parentId }: Room, { before, downTo }: Part = {}) {
    const found: Message[] = []
    const reaches = () => downTo === undefined || Number(found[0]?.id) <= Number(downTo)
    const { messages, threads } = this.#api
    let place: object | undefined = before === undefined ? {} : { id: before }
    // What is not shown could fill a page.
    while (place && (found.length < PAGE / 2 || (found.length < MOST && !reaches()))) {
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
    const { status = 0 } = error instanceof LoquatError ? error : {}
    // What is refused for good must not keep the rest from being read.
    if (status >= 400 && status < 500 && status !== 401 && status !== 429) return undefined
    throw error
  }
}
