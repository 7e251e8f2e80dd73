import type { EventType } from '@loquat/protocol'
import { type FollowQuery, follow, type LoggedEvent } from './follow.ts'
import { Operations } from './operations.gen.ts'
import { type CallOptions, type LoquatOptions, Transport } from './transport.ts'

/** All operations of one app, by area: `client.users.create({ … })`. */
export class Loquat extends Operations {
  readonly #options: LoquatOptions

  constructor(options: LoquatOptions) {
    super(new Transport(options))
    this.#options = options
  }

  /** The same client in the name of a user. */
  onBehalfOf(uid: string): Loquat {
    return new Loquat({ ...this.#options, onBehalfOf: uid })
  }

  /**
   * Every event of the app, in order, from a position on or from the oldest one: waits for those
   * to come until the signal ends it. Keep the `position` of the last one that you handled.
   */
  followEvents<T extends EventType = EventType>(
    query: FollowQuery<T> = {},
    options: Pick<CallOptions, 'signal'> = {},
  ): AsyncGenerator<LoggedEvent<T>, void, undefined> {
    return follow(this.events, query, options)
  }
}
