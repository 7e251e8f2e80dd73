import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { ServedApp } from '../core/actor.ts'
import { limitOf, type Settings } from '../core/settings.ts'
import type { Deps } from '../deps.ts'
import type { ReadingDb } from '../platform/db/db.ts'
import { fail } from '../platform/http/fail.ts'
import { isWrite } from '../platform/http/route.ts'
import type { Admission, LaneWork, WorkClass } from '../platform/lanes/lanes.ts'
import { LaneFull, LaneSlow } from '../platform/lanes/slots.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set for every route by its method and its query. */
    work?: WorkClass
    /** The operation has a queue of its own, which is fair to apps. */
    queued?: boolean
  }
  interface FastifyRequest {
    turn: Turn | undefined
  }
}

const RETRY_SECONDS = 3

/** Requests that were refused try again after 1 to 3 seconds, not all at once. */
export const drawRetryAfter = () => 1 + Math.floor(Math.random() * RETRY_SECONDS)

/** What requests to a route do. Undefined: they don't wait for a turn. */
export function workOf({ method, config, schema }: RouteOptions): WorkClass | undefined {
  if (config?.queued) return undefined
  if (isWrite(method)) return 'write'
  const { properties = {} } = (schema?.querystring ?? {}) as { properties?: object }
  return 'perPage' in properties || 'limit' in properties ? 'list' : 'read'
}

type Context = Pick<Deps, 'lanes' | 'config'>

/** What an app's work needs of its cell. */
export const laneWork = (
  { no: app, cell }: ServedApp,
  settings: Settings,
  kind: Pick<LaneWork, 'class' | 'operation'>,
): LaneWork => {
  const writes = kind.class === 'write' || kind.class === 'frame'
  const perApp = limitOf(settings, writes ? 'limits.writesAtOnce' : 'limits.readsAtOnce')
  return { cellId: cell.id, app, perApp, ...kind }
}

/** The turn of a request in the lane of its app, from its admission until its answer is ready. */
export class Turn {
  readonly #lanes: Deps['lanes']
  readonly #work: LaneWork
  #admission: Admission | undefined
  #reading: ReadingDb | undefined
  #deadlineMs = 0
  #timer: NodeJS.Timeout | undefined

  constructor({ lanes }: Pick<Deps, 'lanes'>, work: LaneWork) {
    this.#lanes = lanes
    this.#work = work
  }

  /** Returns nothing if it may start at once. */
  enter(): Promise<void> | undefined {
    try {
      this.#admission = this.#lanes.enter(this.#work)
    } catch (error) {
      throw toRefusal(error)
    }
    this.#startClock()
    return this.#admission.started?.catch((error) => {
      throw toRefusal(error)
    })
  }

  /** From now on it ends if it takes too long or if the client goes away: what it reads is cancelled. */
  limit(reading: ReadingDb, deadlineMs: number, { raw }: FastifyReply): void {
    this.#reading = reading
    this.#deadlineMs = deadlineMs
    raw.once('close', () => {
      if (!raw.writableFinished) this.#end('gone', GONE)
    })
  }

  /** Waits for something other than the database. Others may have its slots meanwhile, and the clock stands still. */
  async outside<T>(wait: Promise<T>): Promise<T> {
    this.leave()
    try {
      return await wait
    } finally {
      await this.enter()
    }
  }

  /** The answer, if there is one, has so many bytes. */
  leave(bytes?: number): void {
    clearTimeout(this.#timer)
    this.#admission?.leave(bytes)
    this.#admission = undefined
  }

  #startClock(): void {
    if (this.#reading) this.#timer = setTimeout(() => this.#end('late', LATE), this.#deadlineMs)
  }

  #end(reason: 'gone' | 'late', devMessage: string): void {
    if (!this.#admission) return
    const error = fail('ERR_MISSION_FAILED', {}, { devMessage })
    this.#lanes.cancelled.add(1, { class: this.#work.class, reason, cell: this.#work.cellId })
    this.#admission.giveUp(error)
    this.#reading?.end(error)
  }
}

const GONE = 'The client closed the connection before the answer.'
const LATE = 'The request took too long and was cancelled. Ask for less at a time.'

const SLOW = 'The request waited too long for its turn. Nothing was changed.'

/** The app's own requests fill its queue, or the database is too slow for those that wait. */
function toRefusal(error: unknown): unknown {
  const retryAfter = drawRetryAfter()
  if (error instanceof LaneFull) return fail('ERR_TOO_MANY_AT_ONCE', {}, { retryAfter })
  if (!(error instanceof LaneSlow)) return error
  return fail('ERR_MISSION_FAILED', {}, { retryAfter, devMessage: SLOW })
}

/** Runs work in its app's lane. */
export async function inTurn<W, T>(
  { lanes }: { lanes: { run<R>(work: W, act: () => Promise<R>): Promise<R> } },
  work: W,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await lanes.run(work, act)
  } catch (error) {
    throw toRefusal(error)
  }
}

const operationOf = ({ routeOptions: { schema } }: FastifyRequest) =>
  (schema as { operationId?: string } | undefined)?.operationId ?? ''

/** Admits a request to its cell. Returns the app for the rest of the request: a read gets its own database. */
export async function admit(
  deps: Context,
  served: ServedApp,
  settings: Settings,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ServedApp> {
  const { work } = request.routeOptions.config
  if (!work) return served
  const kind = { class: work, operation: operationOf(request) }
  const turn = new Turn(deps, laneWork(served, settings, kind))
  request.turn = turn
  if (work === 'write') {
    await turn.enter()
    return served
  }
  const reading = served.cell.db.reading()
  turn.limit(reading, deps.config.engines.deadlineMs, reply)
  await turn.enter()
  return { ...served, cell: { ...served.cell, db: reading.db } }
}
