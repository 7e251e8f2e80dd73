import { FairSlots, isLight } from '../lanes/slots.ts'
import type { Answer, Outbound } from '../net/outbound.ts'
import { ForbiddenTarget } from '../net/targets.ts'
import { Unanswered } from './call.ts'
import type { PushLimits } from './limits.ts'

/** Calls at the same time, of all credentials and of one: servers that hang hold each until its timeout. */
const CALLS = 1_024
const CALLS_PER_CREDENTIAL = 256
const ANSWER_BYTES = 1_000

export interface HttpCall {
  url: string
  headers: Record<string, string>
  body: string | Buffer
}

/** Fails with `ForbiddenTarget` or `Unanswered`. */
export type Post = (call: HttpCall) => Promise<Answer>

/** Calls push servers whose addresses come from tenants and devices. Credentials share the slots fairly. */
export class HttpCalls {
  readonly #outbound: Outbound
  readonly #slots: FairSlots
  #lanes = 0

  constructor(outbound: Outbound, { waiting: queue, timeoutMs: patienceMs }: PushLimits) {
    this.#outbound = outbound
    this.#slots = new FairSlots({ size: CALLS, queue, patienceMs })
  }

  /** A way to call with a share of its own. */
  newLane(timeoutMs: number): Post {
    const app = ++this.#lanes
    const work = { app, weight: isLight, last: false, perApp: CALLS_PER_CREDENTIAL }
    return ({ url, headers, body }) =>
      answered(() =>
        this.#slots.run(work, () =>
          this.#outbound.post(url, { headers, body, timeoutMs, answerBytes: ANSWER_BYTES }),
        ),
      )
  }

  close(): void {
    this.#outbound.close()
  }
}

/** Turns every reason for having no answer into `Unanswered`. */
export async function answered<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof ForbiddenTarget || error instanceof Unanswered) throw error
    throw new Unanswered((error as Error).message || 'too many calls wait')
  }
}
