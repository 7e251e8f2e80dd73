import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
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
