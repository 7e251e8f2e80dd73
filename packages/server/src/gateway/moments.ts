import { randomUUID } from 'node:crypto'
import type { Audience } from '@loquat/protocol'
import type { Bus } from '../platform/bus/bus.ts'

/** The subject on which the gateways of an app tell each other what is stored nowhere. */
const momentSubject = (appNo: number) => `moment.${appNo}`

/** Something for those who are connected now: typing, or a transient message. */
interface Moment {
  audience: Audience & { by: string }
  frame: string
}

/** Tells its own devices each gateway at once, and the others by NATS: without it, only its own. */
export class Moments {
  readonly #bus: Bus
  readonly #subject: string
  readonly #origin = randomUUID()
  readonly #tell: (moment: Moment) => void
  readonly #unsubscribe: () => void

  constructor(bus: Bus, appNo: number, tell: (moment: Moment) => void) {
    this.#bus = bus
    this.#subject = momentSubject(appNo)
    this.#tell = tell
    this.#unsubscribe = bus.subscribe(this.#subject, (text) => {
      const { origin, ...moment } = JSON.parse(text)
      if (origin !== this.#origin) tell(moment)
    })
  }

  tell(moment: Moment): void {
    this.#tell(moment)
    this.#bus.publish(this.#subject, JSON.stringify({ origin: this.#origin, ...moment }))
  }

  close(): void {
    this.#unsubscribe()
  }
}
