import {
  type ClientFrame,
  type CloseName,
  closeCodes,
  realtimeLimits,
  type ServerBody,
  type ServerFrameType,
  type UserSnapshot,
} from '@loquat/protocol'
import type { WebSocket } from 'ws'
import type { ServedApp } from '../core/actor.ts'
import type { Settings } from '../core/settings.ts'
import type { DeviceInfo } from './device-info.ts'
import type { Entry } from './entry.ts'
import { FrameLimiter } from './frame-limiter.ts'
import type { TypingIndicators } from './typing.ts'

/** Close codes by name. */
export const closeCodeOf = Object.fromEntries(
  Object.entries(closeCodes).map(([code, { name }]) => [name, Number(code)]),
) as Record<CloseName, number>

const TEXT = { binary: false }
/** Missed events are sent one at a time while more than this many bytes are unsent. */
const PACED_BYTES = realtimeLimits.queueBytes / 4
/** The most live entries that may wait while missed ones are sent. */
const MAX_PENDING = 5_000

/** The most receipts in one frame. */
const RECEIPTS_PER_FRAME = 100

/** The most client frames that may wait to be executed. A client that keeps sending while the database is slow is closed. */
const MAX_QUEUED_FRAMES = 60
/** The most ticks that catching up may take. A slower client is closed, and resumes after the last event that it read. */
const MAX_CATCH_UP_TICKS = 60

/** One WebSocket connection of a device. */
export class Session {
  readonly app: ServedApp
  device: DeviceInfo
  /** Set once the session has joined the hub of its app. */
  uid: string | undefined
  settings: Settings = {}
  /** The hash of its auth token, in hex. */
  credential = ''
  resource: string | undefined
  /** When it replaced earlier connections of its device, in Unix milliseconds. */
  authenticatedAt: number | undefined
  typing: TypingIndicators | undefined
  /** The receiver that the user was last allowed to send to, and the user's record at that time. */
  allowedReceiver: { topic: string; sender: UserSnapshot; until: number } | undefined
  /** Whose presence it asked for. */
  presence: ClientFrame<'presence.subscribe'>['body'] | undefined
  closed = false
  /** Ticks of the gateway's clock since the client last sent anything. */
  silentTicks = 0
  /** Ticks since it connected, until it sends `auth`. */
  unauthenticatedTicks = 0
  readonly #ws: WebSocket
  /** Live entries that wait until the session has started and missed events are sent. Undefined: it is live. */
  #pending: Entry[] | undefined = []
  #receipts: Entry[] | undefined
  #lastFrame: Promise<void> = Promise.resolve()
  #queuedFrames = 0
  /** Ticks since it began to send missed events. Undefined: it hasn't begun, or has sent them. */
  #catchUpTicks: number | undefined
  readonly #limiter = new FrameLimiter(performance.now())
  #throttledAt = Number.NEGATIVE_INFINITY

  constructor(ws: WebSocket, app: ServedApp, device: DeviceInfo = {}) {
    this.device = device
    this.#ws = ws
    this.app = app
  }

  /** Answers `auth`, then sends the missed events, then those that arrived meanwhile. After that it is live or closed. */
  start<T extends 'session.ready' | 'session.reload'>(
    type: T,
    body: ServerBody<T>,
    missed: Entry[] = [],
  ): Promise<void> {
    this.send(type, body)
    return this.#catchUp(missed)
  }

  /** `tick` limits the time, because the remaining events occupy memory. */
  async #catchUp(missed: Entry[]): Promise<void> {
    this.#catchUpTicks = 0
    for (let next = missed; next.length > 0 || this.#pending?.length; ) {
      for (const { frame } of next) {
        if (this.closed) return
        if (this.#ws.bufferedAmount < PACED_BYTES) this.#ws.send(frame, TEXT)
        else await this.#sendSlowly(frame)
      }
      next = this.#pending ?? []
      this.#pending = []
    }
    this.#pending = undefined
    this.#catchUpTicks = undefined
  }

  /** Waits until a slow client has read the frame. */
  async #sendSlowly(frame: Buffer): Promise<void> {
    await new Promise((sent) => this.#ws.send(frame, TEXT, sent))
  }

  /** Call once a second. */
  tick(): void {
    this.flushReceipts()
    this.typing?.tick()
    if (this.#catchUpTicks !== undefined && ++this.#catchUpTicks > MAX_CATCH_UP_TICKS) {
      this.close('slow')
    }
    this.silentTicks++
    if (this.silentTicks > realtimeLimits.silenceSeconds) this.close('silent')
    else if (this.silentTicks % realtimeLimits.heartbeatSeconds === 0 && !this.closed) {
      this.#ws.ping()
    }
  }

  /** Sends an event that its user receives. */
  deliver(entry: Entry): void {
    if (this.closed) return
    if (!this.#pending) this.#deliverNow(entry)
    else if (this.#pending.push(entry) > MAX_PENDING) this.close('behind')
  }

  /** Collects other members' receipts for up to a second. Any later event flushes them first, to keep the order. */
  #deliverNow(entry: Entry): void {
    if (entry.batched && entry.audience?.by !== this.uid) {
      this.#receipts ??= []
      if (this.#receipts.push(entry) >= RECEIPTS_PER_FRAME) this.flushReceipts()
      return
    }
    this.flushReceipts()
    this.write(entry.frame)
  }

  /** Sends the collected receipts in one frame. */
  flushReceipts(): void {
    const receipts = this.#receipts
    if (!receipts) return
    this.#receipts = undefined
    const position = receipts.at(-1)?.position
    const frames = receipts.map(({ frame }) => frame.toString()).join()
    this.write(
      `{"type":"conversation.receipts","position":${position},"body":{"receipts":[${frames}]}}`,
    )
  }

  /** Sends a frame that is of no use later: it is dropped while the session catches up. */
  sendEphemeral(frame: Buffer): void {
    if (!this.#pending) this.write(frame)
  }

  send<T extends ServerFrameType>(type: T, body?: ServerBody<T>, id?: string): void {
    this.write(JSON.stringify({ type, ...(id !== undefined && { id }), ...(body && { body }) }))
  }

  /** Closes a client that doesn't read. It loses nothing: it reconnects and resumes. */
  write(frame: Buffer | string): void {
    if (this.closed) return
    if (this.#ws.bufferedAmount > realtimeLimits.queueBytes) this.close('slow')
    else this.#ws.send(frame, TEXT)
  }

  /** Answers a ping of the WebSocket protocol, which counts like any other frame. */
  pong(data: Buffer): void {
    this.silentTicks = 0
    if (this.closed || !this.admit()) return
    if (this.#ws.bufferedAmount > realtimeLimits.queueBytes) this.close('slow')
    else this.#ws.pong(data)
  }

  /** Executes the client's frames one after the other, in the order in which they arrived. */
  enqueue(work: () => Promise<void>): void {
    if (++this.#queuedFrames > MAX_QUEUED_FRAMES) {
      this.close('tooMany')
      return
    }
    this.#lastFrame = this.#lastFrame.then(work).finally(() => this.#queuedFrames--)
  }

  /** Counts a client's frame and returns whether to execute it. Closes the session if the client floods it. */
  admit(): boolean {
    const outcome = this.#limiter.take(performance.now())
    if (outcome === 'flood') this.close('tooMany')
    else if (outcome === 'dropped') this.throttle()
    return outcome === 'allowed'
  }

  /** Tells the client that what it sent was dropped, at most once a second. */
  throttle(): void {
    const now = performance.now()
    if (this.#throttledAt > now - 1_000) return
    this.#throttledAt = now
    this.send('session.throttled')
  }

  close(name: CloseName): void {
    if (this.closed) return
    this.closed = true
    this.#ws.close(closeCodeOf[name], name)
  }
}
