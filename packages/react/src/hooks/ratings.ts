'use client'
import type { AgentRating } from '@loquat/sdk'
import type { LoquatClient } from '@loquat/sdk/client'
import { useCallback, useEffect, useSyncExternalStore } from 'react'
import { useClient } from '../chat.tsx'

export interface OwnRating {
  rating: AgentRating['rating']
  comment?: string | undefined
}

/** As many as one request may ask for. */
const AT_ONCE = 100

/** The user's own ratings, by run. All answers that are shown at once are asked for together. */
class Ratings {
  readonly #client: LoquatClient
  readonly #known = new Map<string, OwnRating | undefined>()
  readonly #listeners = new Set<() => void>()
  readonly #changed = new Set<string>()
  #wanted: string[] = []
  #last = Promise.resolve()

  constructor(client: LoquatClient) {
    this.#client = client
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly get = (runId: string) => this.#known.get(runId)

  want(runId: string): void {
    if (this.#known.has(runId)) return
    this.#known.set(runId, undefined)
    if (this.#wanted.push(runId) === 1) queueMicrotask(() => this.#read())
  }

  /** Shows the rating at once, and takes it back if the server refuses it. Changes are sent one after the other. */
  change(runId: string, rating: OwnRating | undefined): Promise<void> {
    const before = this.#known.get(runId)
    this.#changed.add(runId)
    this.#set(runId, rating)
    const sent = this.#last.then(() => this.#send(runId, rating))
    this.#last = sent.catch(() => this.#set(runId, before))
    return sent
  }

  async #send(runId: string, given: OwnRating | undefined): Promise<void> {
    const { agentRatings } = this.#client.api
    if (!given) return void (await agentRatings.delete(runId))
    const { rating, comment } = given
    await agentRatings.set(runId, { rating, ...(comment && { comment }) })
  }

  #set(runId: string, rating: OwnRating | undefined): void {
    this.#known.set(runId, rating)
    for (const listener of this.#listeners) listener()
  }

  #read(): void {
    const runIds = this.#wanted
    this.#wanted = []
    for (let from = 0; from < runIds.length; from += AT_ONCE) {
      const some = runIds.slice(from, from + AT_ONCE)
      this.#client.api.agentRatings.list({ runIds: some, limit: AT_ONCE }).then(
        ({ data }) => {
          for (const { runId, rating, comment } of data) {
            // The user may have been faster.
            if (!this.#changed.has(runId)) this.#set(runId, { rating, comment })
          }
        },
        // The next time that they are shown, they are asked for again.
        () => some.forEach((runId) => void this.#known.delete(runId)),
      )
    }
  }
}

const ratings = new WeakMap<LoquatClient, Ratings>()

function ratingsOf(client: LoquatClient): Ratings {
  const known = ratings.get(client) ?? new Ratings(client)
  ratings.set(client, known)
  return known
}

/** What the user thinks of an answer, and how to change that. `rate` without a rating removes it. */
export function useRating(runId: string): {
  rating: OwnRating | undefined
  rate: (rating: OwnRating | undefined) => Promise<void>
} {
  const client = useClient()
  const store = ratingsOf(client)
  useEffect(() => store.want(runId), [store, runId])
  const rating = useSyncExternalStore(
    store.subscribe,
    () => store.get(runId),
    () => undefined,
  )
  const rate = useCallback(
    (given: OwnRating | undefined) => store.change(runId, given),
    [store, runId],
  )
  return { rating, rate }
}
