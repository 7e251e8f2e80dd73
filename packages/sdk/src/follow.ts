import type { EventPayload, EventType } from './events.gen.ts'
import type { EventsMethods, ListEventsQuery } from './operations.gen.ts'
import { delay, isTemporary, retryDelay } from './retry.ts'
import type { CallOptions } from './transport.ts'

/** An event of the app's log. Its type determines the payload. */
export type LoggedEvent<Types extends EventType = EventType> = {
  [T in Types]: {
    /** 1, 2, 3 … without gaps, except after the database was restored. To continue after this event, pass it as `after`. */
    position: number
    type: T
    /** When it happened, in Unix seconds. */
    at: number
    payload: EventPayload<T>
  }
}[Types]

export interface FollowQuery<T extends EventType> extends Pick<ListEventsQuery, 'after' | 'limit'> {
  /** Return only events of these types. */
  types?: T[]
}

/** How many seconds a request waits for new events. */
const WAIT = 20

/** Iterates over events in order and without end. Retries temporary failures forever, and skips no event. */
export async function* follow<T extends EventType>(
  events: EventsMethods,
  query: FollowQuery<T>,
  options: Pick<CallOptions, 'signal'>,
): AsyncGenerator<LoggedEvent<T>, void, undefined> {
  let { after } = query
  for (let failures = 0; ; ) {
    try {
      const from = after === undefined ? {} : { after }
      const { data, meta } = await events.list({ ...query, ...from, wait: WAIT }, options)
      failures = 0
      yield* data as LoggedEvent<T>[]
      after = meta.next.after
    } catch (error) {
      if (!isTemporary(error)) throw error
      await delay(retryDelay(failures++, error.retryAfter), options.signal)
    }
  }
}
