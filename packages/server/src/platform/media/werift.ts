import { type ChildProcess, fork } from 'node:child_process'
import { type Connection, MediaGone, MediaRefused, type MediaServer } from './server.ts'

interface Answer {
  id: number
  result?: unknown
  error?: string
  gone?: boolean
  refused?: boolean
}

type Waiting = { resolve: (value: never) => void; reject: (error: Error) => void }

/** A media server in a process of its own, which starts when the first call needs it. For development and tests. */
export class WeriftServer implements MediaServer {
  readonly address = 'werift'
  readonly #recordings: string
  #process: ChildProcess | undefined
  #lastId = 0
  readonly #waiting = new Map<number, Waiting>()

  publish = (room: string, offer: string) => this.#call<Connection>('publish', room, offer)
  subscribe = (room: string, publisher: string) =>
    this.#call<Connection>('subscribe', room, publisher)
  answer = (handle: string, sdp: string) => this.#call<void>('answer', handle, sdp)
  record = (handle: string, name = '') => this.#call<void>('record', handle, this.#recordings, name)
  drop = (handle: string) => this.#call<void>('drop', handle)
  close = (room: string) => this.#call<void>('close', room)
  load = () => this.#call<number>('load')

  constructor(recordings: string) {
    this.#recordings = recordings
  }

  stop(): void {
    this.#process?.disconnect()
    this.#process = undefined
  }

  #call<T>(method: string, ...args: string[]): Promise<T> {
    this.#process ??= this.#start()
    const id = ++this.#lastId
    const answered = new Promise<T>((resolve, reject) =>
      this.#waiting.set(id, { resolve, reject } as Waiting),
    )
    this.#process.channel?.ref()
    this.#process.send({ id, method, args })
    return answered
  }

  #start(): ChildProcess {
    const child = fork(new URL('./werift-process.ts', import.meta.url), {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    })
    // It must not keep this process from ending, unless somebody waits for an answer.
    child.unref()
    child.on('message', (answer) => this.#settle(answer as Answer))
    child.once('exit', () => {
      if (this.#process === child) this.#process = undefined
      for (const { reject } of this.#waiting.values())
        reject(new Error('the media process has ended'))
      this.#waiting.clear()
    })
    return child
  }

  #settle({ id, result, error, gone, refused }: Answer): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#process?.channel?.unref()
    if (error === undefined) waiting?.resolve(result as never)
    else waiting?.reject(new (gone ? MediaGone : refused ? MediaRefused : Error)(error))
  }
}
