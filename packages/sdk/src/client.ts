import { readAddress, type Target } from './address.ts'
import type { EventType } from './events.gen.ts'
import { type FollowQuery, follow, type LoggedEvent } from './follow.ts'
import { Operations } from './operations.gen.ts'
import { type CallOptions, type LoquatOptions, type SendOptions, Transport } from './transport.ts'

/** The options of a client for an operator. `LoquatManagement.app` creates it. */
export interface ManagedOptions extends SendOptions {
  target: Target
  onBehalfOf?: string | undefined
}

/** A client for all operations of one app, grouped by area: `client.users.create({ … })`. */
export class Loquat extends Operations {
  readonly #options: LoquatOptions | ManagedOptions

  constructor(options: LoquatOptions | ManagedOptions) {
    super(new Transport(targetOf(options), options))
    this.#options = options
  }

  /** Returns a client that makes the same calls on behalf of a user. */
  onBehalfOf(uid: string): Loquat {
    return new Loquat({ ...this.#options, onBehalfOf: uid })
  }

  /**
   * Iterates over the app's events in order, from the oldest event or after a given position. Waits for new events until
   * the signal is aborted. Store the `position` of the last event that you handled, and continue after it.
   */
  followEvents<T extends EventType = EventType>(
    query: FollowQuery<T> = {},
    options: Pick<CallOptions, 'signal'> = {},
  ): AsyncGenerator<LoggedEvent<T>, void, undefined> {
    return follow(this.events, query, options)
  }
}

function targetOf(options: LoquatOptions | ManagedOptions): Target {
  const { onBehalfOf } = options
  // The server treats an empty header as absent, so the call would be made as the app.
  if (onBehalfOf === '') throw new TypeError('onBehalfOf needs a UID')
  const viewer: Record<string, string> = onBehalfOf === undefined ? {} : { onbehalfof: onBehalfOf }
  if ('target' in options) {
    const { origin, headers } = options.target
    return { origin, headers: { ...headers, ...viewer } }
  }
  const { origin, headers } = readAddress(options.appId, options)
  return { origin, headers: { ...headers, apikey: options.apiKey, ...viewer } }
}
