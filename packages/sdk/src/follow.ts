import type { EventsMethods, ListEventsQuery } from './operations.gen.ts'
import type { EventPayload, EventType } from './protocol.gen.ts'
import { isPassing, pause, pauseBefore } from './retry.ts'
import type { CallOptions } from './transport.ts'

/** An event of the app's log; its type tells what the payload holds. */
export type LoggedEvent<Types extends EventType = EventType> = {
  [T in Types]: {
    /** 1, 2, 3 … without a hole: to follow on after this event, give it as `after`. */
    position: number
    type: T
    /** When it happened, in Unix seconds. */
    at: number
    payload: EventPayload<T>
  }
}[Types]

export interface FollowQuery<T extends EventType> extends Pick<ListEventsQuery, 'after' | 'limit'> {
  /** Only events of these types. */
  types?: T[]
}

/** Seconds that a request waits for news. */
const WAIT = 20

/**
 * Every event, in order, without end: waits for those to come. Failures that pass are waited out,
 * however long they last, and nothing is skipped.
 */
export async function* follow<T extends EventType>(
  events: EventsMethods,
  query: FollowQuery<T>,
  options: Pick<CallOptions, 'signal'>,
): AsyncGenerator<LoggedEvent<T>, void, undefined> {
  let { after } = query
  for (let failures = 0; ; ) {
    try {
      const place = after === undefined ? {} : { after }
      const { data, meta } = await events.list({ ...query, ...place, wait: WAIT }, options)
      failures = 0
      yield* data as LoggedEvent<T>[]
      after = meta.next.after
    } catch (error) {
      if (!isPassing(error)) throw error
      await pause(pauseBefore(failures++, error.retryAfter), options.signal)
    }
  }
}
