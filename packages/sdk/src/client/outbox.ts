import { LoquatError } from '../error.ts'
import type { Message, MessagesMethods, SendMessageBody } from '../operations.gen.ts'
import { isTemporary } from '../retry.ts'
import type { ChatMessage } from './state.ts'

/** Whether the error affects all messages: the server doesn't respond, or there is no valid token. */
const isShared = (error: unknown) =>
  isTemporary(error) ||
  (error instanceof LoquatError && error.code === 'CLIENT_ERR_TOKEN_NOT_RENEWED')

/** Shows one of the user's messages while it is being sent, and its outcome. */
type ShowMessage = (room: string, message: ChatMessage) => void

/**
 * Sends messages. Those of a room go out one after another. All attempts for a message use the same `muid` and idempotency
 * key, so that it is stored only once.
 */
export class Outbox {
  readonly #messages: Pick<MessagesMethods, 'send'>
  readonly #show: ShowMessage
  /** The last queued message of each room. Resolves to its error if that error affects the messages behind it. */
  readonly #last = new Map<string, Promise<unknown>>()

  constructor(messages: Pick<MessagesMethods, 'send'>, show: ShowMessage) {
    this.#messages = messages
    this.#show = show
  }

  send(room: string, message: ChatMessage): Promise<Message> {
    this.#show(room, message)
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

  /** Fails without a request if the server didn't respond to the message before, so that a queue doesn't time out one by one. */
  async #post(room: string, message: ChatMessage, failure: unknown): Promise<Message> {
    const {
      receiver,
      receiverType,
      category,
      type,
      tags,
      muid = '',
      parentId,
      quotedMessageId,
    } = message
    // The server adds the entities.
    const { entities: _entities, ...data } = message.data
    const body = {
      ...{ receiver, receiverType, category, type, data, muid },
      ...(tags && { tags }),
      ...(parentId !== undefined && { parentMessageId: parentId }),
      ...(quotedMessageId !== undefined && { quotedMessageId }),
    } as SendMessageBody
    try {
      if (failure) throw failure
      const sent = await this.#messages.send(body, { idempotencyKey: muid })
      this.#show(room, sent)
      return sent
    } catch (error) {
      const known = error instanceof LoquatError && { error }
      this.#show(room, { ...message, pending: 'failed', ...known })
      throw error
    }
  }
}
