import {
  type CloseName,
  closeCodes,
  realtimeLimits,
  type ServerBody,
  type ServerFrameType,
  type UserRecord,
} from '@loquat/protocol'
import type { WebSocket } from 'ws'
import type { ServedApp } from '../core/actor.ts'
import type { Settings } from '../core/settings.ts'
import { Allowance } from './allowance.ts'
import type { Entry } from './entry.ts'
import type { Typings } from './typing.ts'

/** The codes by name. */
export const codeOf = Object.fromEntries(
  Object.entries(closeCodes).map(([code, { name }]) => [name, Number(code)]),
) as Record<CloseName, number>

const TEXT = { binary: false }
/** What is sent again waits whenever this much is unsent. */
const PACED_BYTES = realtimeLimits.queueBytes / 4
/** Entries that may wait while earlier ones are sent again. */
const HELD = 5_000

/** Receipts in one frame, at most. */
const GATHERED = 100

/** Frames that came and are not carried out yet; one that sends on while the database is slow is closed. */
const WAITING = 60
/** Rounds of the gateway's clock that one frame may take, of what is sent again. */
const STALLED = 30

const USER_AGENT = 255

/** One connection of a device. */
export class Session {
  readonly app: ServedApp
  /** What the device says it is. */
  readonly userAgent: string | undefined
  /** Set once it has shown its token. */
  uid: string | undefined
  settings: Settings = {}
  credential = ''
  resource: string | undefined
  /** When it took the place of its device, in Unix milliseconds. */
  arrivedAt: number | undefined
  typing: Typings | undefined
  /** To whom the user could write when it last tried, and its record. */
  reach: { key: string; sender: UserRecord; until: number } | undefined
  closed = false
  /** Rounds of the gateway's clock since anything was heard. */
  silent = 0
  /** The same since it came, while it has not shown a token. */
  waited = 0
  readonly #ws: WebSocket
  /** Until it is started, and while what it missed is sent: what came since. */
  #held: Entry[] | undefined = []
  #receipts: Entry[] | undefined
  #last: Promise<void> = Promise.resolve()
  #waiting = 0
  /** Rounds that a frame of what is sent again has taken so far. */
  #stalled: number | undefined
  readonly #allowance = new Allowance(performance.now())
  #throttledAt = Number.NEGATIVE_INFINITY

  constructor(ws: WebSocket, app: ServedApp, userAgent?: string) {
    this.userAgent = userAgent?.slice(0, USER_AGENT)
    this.#ws = ws
    this.app = app
  }

  /** Answers `auth`, then sends what was missed, then what came meanwhile; from then on it is live, or closed. */
  start<T extends 'session.ready' | 'session.reload'>(
    type: T,
    body: ServerBody<T>,
    missed: Entry[] = [],
  ): Promise<void> {
    this.send(type, body)
    return this.#catchUp(missed)
  }

  async #catchUp(missed: Entry[]): Promise<void> {
    for (let next = missed; next.length > 0 || this.#held?.length; ) {
      for (const { frame } of next) {
        if (this.closed) return
        if (this.#ws.bufferedAmount < PACED_BYTES) this.#ws.send(frame, TEXT)
        else await this.#sendSlowly(frame)
      }
      next = this.#held ?? []
      this.#held = []
    }
    this.#held = undefined
  }

  /** Waits for whoever reads slowly, but not for ever: what is left to send is in memory. */
  async #sendSlowly(frame: Buffer): Promise<void> {
    this.#stalled = 0
    await new Promise((sent) => this.#ws.send(frame, TEXT, sent))
    this.#stalled = undefined
  }

  /** Once a second. */
  round(): void {
    this.flush()
    this.typing?.round()
    if (this.#stalled !== undefined && ++this.#stalled > STALLED) this.close('slow')
    this.silent++
    if (this.silent > realtimeLimits.silenceSeconds) this.close('silent')
    else if (this.silent % realtimeLimits.heartbeatSeconds === 0 && !this.closed) this.#ws.ping()
  }

  /** An event that its user is told of. */
  deliver(entry: Entry): void {
    if (this.closed) return
    if (!this.#held) this.#tell(entry)
    else if (this.#held.push(entry) > HELD) this.close('behind')
  }

  /** Receipts of others wait for more of them, but not longer than anything that came after them. */
  #tell(entry: Entry): void {
    if (entry.gathered && entry.audience?.by !== this.uid) {
      this.#receipts ??= []
      if (this.#receipts.push(entry) >= GATHERED) this.flush()
      return
    }
    this.flush()
    this.write(entry.frame)
  }

  /** Sends the receipts that wait: once a second, and before what came after them. */
  flush(): void {
    const receipts = this.#receipts
    if (!receipts) return
    this.#receipts = undefined
    const position = receipts.at(-1)?.position
    const frames = receipts.map(({ frame }) => frame.toString()).join()
    this.write(
      `{"type":"conversation.receipts","position":${position},"body":{"receipts":[${frames}]}}`,
    )
  }

  /** What is of no use later is left out while it catches up. */
  whisper(frame: Buffer): void {
    if (!this.#held) this.write(frame)
  }

  send<T extends ServerFrameType>(type: T, body?: ServerBody<T>, id?: string): void {
    this.write(JSON.stringify({ type, ...(id !== undefined && { id }), ...(body && { body }) }))
  }

  /** Whoever does not read is closed, and resumes: nothing is lost by it. */
  write(frame: Buffer | string): void {
    if (this.closed) return
    if (this.#ws.bufferedAmount > realtimeLimits.queueBytes) this.close('slow')
    else this.#ws.send(frame, TEXT)
  }

  /** Answers a ping of the WebSocket protocol, which counts as any other frame. */
  pong(data: Buffer): void {
    this.silent = 0
    if (this.closed || !this.admit()) return
    if (this.#ws.bufferedAmount > realtimeLimits.queueBytes) this.close('slow')
    else this.#ws.pong(data)
  }

  /** Frames are carried out one after the other, in the order in which they came. */
  inTurn(work: () => Promise<void>): void {
    if (++this.#waiting > WAITING) {
      this.close('tooMany')
      return
    }
    this.#last = this.#last.then(work).finally(() => this.#waiting--)
  }

  /** Counts a frame that came. Some more than allowed are left out; whoever goes on is closed. */
  admit(): boolean {
    const now = performance.now()
    const outcome = this.#allowance.take(now)
    if (outcome === 'flood') this.close('tooMany')
    else if (outcome === 'leftOut' && this.#throttledAt < now - 1_000) {
      this.#throttledAt = now
      this.send('session.throttled')
    }
    return outcome === 'allowed'
  }

  close(name: CloseName): void {
    if (this.closed) return
    this.closed = true
    this.#ws.close(codeOf[name], name)
  }
}
