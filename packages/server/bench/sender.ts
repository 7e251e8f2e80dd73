import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { readAnswers } from './answers.ts'

interface Sending {
  name: string
  /** A complete request as text. */
  request: string
}

/** Sends each request on a free connection, and records when it was answered. */
export class Sender {
  /** When each successful request was answered: milliseconds, by the machine's clock. */
  readonly answers = new Map<string, number>()
  readonly #sockets: Socket[] = []
  readonly #free: ((sending: Sending) => void)[] = []
  readonly #queue: Sending[] = []
  readonly #done = Promise.withResolvers<void>()
  #closing = false

  static async open(port: number, connections: number): Promise<Sender> {
    const sender = new Sender()
    for (let n = 0; n < connections; n++) await sender.#connect(port)
    return sender
  }

  send(name: string, request: string): void {
    const sending = { name, request }
    const free = this.#free.pop()
    if (free) free(sending)
    else this.#queue.push(sending)
  }

  /**
   * Sends requests at a fixed rate, whether or not earlier ones are answered. Returns when each was sent: milliseconds,
   * by the machine's clock.
   */
  async sendAt(
    perSecond: number,
    seconds: number,
    requestOf: (name: string, nth: number) => string,
  ): Promise<Map<string, number>> {
    const begun = new Map<string, number>()
    const started = performance.now()
    for (let nth = 0; nth < perSecond * seconds; nth++) {
      const early = started + (nth / perSecond) * 1000 - performance.now()
      if (early > 0) await sleep(early)
      const name = String(nth)
      const request = requestOf(name, nth)
      begun.set(name, performance.timeOrigin + performance.now())
      this.send(name, request)
    }
    return begun
  }

  /** Resolves when all requests are answered. */
  async close(): Promise<void> {
    this.#closing = true
    this.#check()
    await this.#done.promise
    for (const socket of this.#sockets) socket.end()
  }

  #check(): void {
    if (this.#closing && this.#free.length === this.#sockets.length) this.#done.resolve()
  }

  async #connect(port: number): Promise<void> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.once('error', this.#done.reject)
    let current = ''
    const start = ({ name, request }: Sending) => {
      current = name
      socket.write(request)
    }
    readAnswers(socket, (head) => {
      const at = performance.timeOrigin + performance.now()
      if (head.startsWith('HTTP/1.1 200')) this.answers.set(current, at)
      const next = this.#queue.shift()
      if (next) return start(next)
      this.#free.push(start)
      this.#check()
    })
    this.#sockets.push(socket)
    this.#free.push(start)
  }
}
