import { readAddress, type Target } from './address.ts'
import { type FollowQuery, follow, type LoggedEvent } from './follow.ts'
import { Operations } from './operations.gen.ts'
import type { EventType } from './protocol.gen.ts'
import { type CallOptions, type LoquatOptions, type SendOptions, Transport } from './transport.ts'

/** An app's data as an operator reaches it: made by `LoquatManagement.app`. */
export interface ManagedOptions extends SendOptions {
  target: Target
  onBehalfOf?: string | undefined
}

/** All operations of one app, by area: `client.users.create({ … })`. */
export class Loquat extends Operations {
  readonly #options: LoquatOptions | ManagedOptions

  constructor(options: LoquatOptions | ManagedOptions) {
    super(new Transport(targetOf(options), options))
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

function targetOf(options: LoquatOptions | ManagedOptions): Target {
  const { onBehalfOf } = options
  // The server takes a blank header as none: the call would be made in the name of the app.
  if (onBehalfOf === '') throw new TypeError('onBehalfOf needs a uid')
  const viewer: Record<string, string> = onBehalfOf === undefined ? {} : { onbehalfof: onBehalfOf }
  if ('target' in options) {
    const { origin, headers } = options.target
    return { origin, headers: { ...headers, ...viewer } }
  }
  const { origin, headers } = readAddress(options.appId, options)
  return { origin, headers: { ...headers, apikey: options.apiKey, ...viewer } }
}
