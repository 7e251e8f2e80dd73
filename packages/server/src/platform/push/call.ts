import type { IncomingHttpHeaders } from 'node:http2'

/** The provider gave no answer. It may have processed the call or not. */
export class Unanswered extends Error {}

export interface PushRequest {
  path: string
  headers: Record<string, string>
  body: string
}

export interface PushAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** A request that waits for a session or for its answer. It settles once, at the latest after its timeout. */
export class PushCall {
  readonly request: PushRequest
  readonly answer: Promise<PushAnswer>
  /** How often it has gone from one session to the next. */
  moves = 0
  isSettled = false
  /** Frees what the call uses. Replaced by whoever has the call. */
  onTimeout: () => void = () => {}
  readonly #settle = Promise.withResolvers<PushAnswer>()
  readonly #timer: NodeJS.Timeout

  constructor(request: PushRequest, timeoutMs: number) {
    this.request = request
    this.answer = this.#settle.promise
    this.#timer = setTimeout(() => {
      this.reject(new Unanswered(`no answer within ${timeoutMs / 1000} s`))
      this.onTimeout()
    }, timeoutMs)
  }

  resolve(answer: PushAnswer): void {
    this.isSettled = true
    clearTimeout(this.#timer)
    this.#settle.resolve(answer)
  }

  reject(error: Error): void {
    this.isSettled = true
    clearTimeout(this.#timer)
    this.#settle.reject(error)
  }
}

/** The fields of an answer in JSON. There are none if it is something else, such as a proxy's page. */
// biome-ignore lint/suspicious/noExplicitAny: each provider has its own fields
export function contentOf(body: string): Record<string, any> {
  try {
    const content = JSON.parse(body)
    return typeof content === 'object' && content !== null ? content : {}
  } catch {
    return {}
  }
}
