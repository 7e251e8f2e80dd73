import { LoquatError } from '../error.ts'
import type { Message, MessagesMethods, SendMessageBody } from '../operations.gen.ts'
import { isPassing } from '../retry.ts'
import type { ChatMessage } from './state.ts'

/** Nobody answers, or there is no token now: others can fare no better. */
const isShared = (error: unknown) =>
  isPassing(error) ||
  (error instanceof LoquatError && error.code === 'CLIENT_ERR_TOKEN_NOT_RENEWED')

/** Shows a message of ours on its way, or what became of it. */
type Note = (room: string, message: ChatMessage) => void

/**
 * Messages on their way: those of a room go out one after the other, each with its own `muid` and key
 * in all tries, so that it arrives once.
 */
export class Sends {
  readonly #messages: Pick<MessagesMethods, 'send'>
  readonly #note: Note
  /** By room: the last one in line. It resolves to why it failed, if others can fare no better. */
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(messages: Pick<MessagesMethods, 'send'>, note: Note) {
    this.#messages = messages
    this.#note = note
  }

  send(room: string, message: ChatMessage): Promise<Message> {
    this.#note(room, message)
    const sent = (this.#last.get(room) ?? Promise.resolve()).then((failure) =>
      this.#post(room, message, failure),
    )
    const ended = sent.then(
      () => undefined,
      (error: unknown) => (isShared(error) ? error : undefined),
    )
    this.#last.set(room, ended)
    void ended.then(() => this.#last.get(room) === ended && this.#last.delete(room))
    return sent
  }

  /** Where nobody answered for long, those in line fail too: each would wait as long, after the other. */
  async #post(room: string, message: ChatMessage, failure: unknown): Promise<Message> {
    const { receiver, receiverType, category, type, data, tags, muid = '', parentId } = message
    const body: SendMessageBody = {
      ...{ receiver, receiverType, category, type, data, muid },
      ...(tags && { tags }),
      ...(parentId !== undefined && { parentMessageId: parentId }),
    }
    try {
      if (failure) throw failure
      const sent = (await this.#messages.send(body, { idempotencyKey: muid })) as Message
      this.#note(room, sent)
      return sent
    } catch (error) {
      const known = error instanceof LoquatError && { error }
      this.#note(room, { ...message, pending: 'failed', ...known })
      throw error
    }
  }
}
