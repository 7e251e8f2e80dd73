import { events } from '@loquat/protocol'
import type { Counters } from '../../areas/stats/counters.ts'
import type { Deps } from '../../deps.ts'
import type { Cell } from '../../platform/cells/directory.ts'
import type { Worker } from '../../platform/leases/leases.ts'
import { Semaphore } from '../../platform/semaphore.ts'
import { type Caller, isDelivered } from './caller.ts'
import { CircuitBreaker } from './circuit-breaker.ts'
import { type DeadLetter, DeliveryBatch } from './delivery-batch.ts'
import type { ActiveWebhook, OutgoingEvent } from './queries.ts'
import { requestFor } from './request.ts'

/** Concurrent calls per webhook. */
export const MAX_CALLS = 8

export interface SenderContext {
  deps: Pick<Deps, 'secrets' | 'log'>
  cell: Cell
  caller: Caller
  counters: Counters
  worker: Worker
}

/** Calls one webhook, and collects the outcomes until they are written to the database. */
export class Sender {
  webhook: ActiveWebhook
  batch = new DeliveryBatch()
  readonly breaker: CircuitBreaker
  /** A parked key may be retried, or the receiver may be probed. */
  retryDue = false
  stopped = false
  readonly #context: SenderContext
  readonly #onAttempt: () => void
  readonly #semaphore = new Semaphore(MAX_CALLS)

  constructor(context: SenderContext, webhook: ActiveWebhook, onAttempt: () => void) {
    this.#context = context
    this.webhook = webhook
    this.#onAttempt = onAttempt
    const { failures, waiting: open, probes } = webhook
    this.breaker = new CircuitBreaker({ failures, open, probes })
  }

  get maySend(): boolean {
    return !this.stopped && this.breaker.mayCall
  }

  /** Returns whether the event was delivered or is a dead letter; undefined if it wasn't sent. */
  async send(event: OutgoingEvent, attempt: number): Promise<boolean | undefined> {
    const { caller, cell, counters, deps, worker } = this.#context
    // A newer version has announced it, and can deliver it when it is replayed.
    if (!Object.hasOwn(events, event.type)) {
      this.giveUp(event, 'unknownType')
      return true
    }
    const call = async () => {
      if (!this.maySend) return undefined
      if (!worker.alive) throw new Error("the worker's leases were not renewed in time")
      const { headers, body } = requestFor(this.webhook, cell.region, event, deps.secrets)
      const at = Date.now()
      const outcome = await caller.post(this.webhook.url, headers, body)
      const { position, type } = event
      this.batch.attempts.push({ position, type, try: attempt, at, ...outcome })
      const delivered = isDelivered(outcome)
      this.#record(delivered, event.key)
      const { app_no: no } = this.webhook
      counters.count({ no, cell }, delivered ? 'webhook.delivered' : 'webhook.failed')
      return delivered
    }
    const { app_no: app } = this.webhook
    const delivered = await this.#semaphore.run(() => caller.inTurn(app, call))
    // Last, so that the caller moves its cursor before the attempt is written.
    if (delivered !== undefined) this.#onAttempt()
    return delivered
  }

  /** Makes an event a dead letter. */
  giveUp(
    { position, type }: Pick<OutgoingEvent, 'position' | 'type'>,
    reason: DeadLetter['reason'] = this.webhook.retry_on_failure ? 'exhausted' : 'noRetry',
  ): void {
    this.batch.dead.push({ position, upto: position, type, reason })
  }

  #record(delivered: boolean, orderKey: string): void {
    if (delivered) {
      // The receiver is back, so retry what has waited for it.
      if (this.breaker.open) this.retryDue = true
      this.batch.succeeded = true
      this.breaker.succeeded()
      return
    }
    const waitSeconds = this.breaker.failed(orderKey)
    if (waitSeconds === undefined) return
    this.batch.waitSeconds = waitSeconds
    this.retryDue = false
  }
}
