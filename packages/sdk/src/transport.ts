import { type Address, searchOf, type Target } from './address.ts'
import { type Failure, LoquatError } from './error.ts'
import { isPassing, pause, pauseBefore, readRetryAfter } from './retry.ts'

/** How requests are sent. */
export interface SendOptions {
  /** How often a request is sent again after a failure that passes; 4 unless given. */
  maxRetries?: number | undefined
  /** Milliseconds for each try, answer included; 30,000 unless given. */
  timeoutMs?: number | undefined
  /** Instead of the global one. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

/** Which app, where it is, and how to call it. */
export type LoquatOptions = Address &
  SendOptions & {
    appId: string
    /** Which operations it may call is a matter of its scope. */
    apiKey: string
    /** The uid of a user in whose name all operations are called. */
    onBehalfOf?: string | undefined
  }

/** What any single call can be given. */
export interface CallOptions {
  /** Ends the call, also between two tries; it then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined
  /** Of writes; made for each call unless given. Give one to repeat a call in another process. */
  idempotencyKey?: string | undefined
}

/** A request as an operation describes it. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  query?: object | undefined
  body?: unknown
}

interface Request {
  url: string
  init: RequestInit
}

/** Sends requests and reads answers, with as many tries as it takes or may take. */
export class Transport {
  readonly #origin: string
  readonly #headers: Record<string, string>
  readonly #maxRetries: number
  readonly #timeoutMs: number
  readonly #fetch: NonNullable<SendOptions['fetch']>

  constructor({ origin, headers }: Target, options: SendOptions) {
    this.#origin = origin
    this.#headers = headers
    this.#maxRetries = options.maxRetries ?? 4
    this.#timeoutMs = options.timeoutMs ?? 30_000
    // Called as a method of anything but the global object, a browser's fetch throws.
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init))
  }

  /** The `data` of the answer. */
  async data<T>(call: Call, options?: CallOptions): Promise<T> {
    return (await this.answer<{ data: T }>(call, options)).data
  }

  /** The whole answer. */
  async answer<T>(call: Call, options: CallOptions = {}): Promise<T> {
    const request = this.#request(call, options)
    for (let retry = 0; ; retry++) {
      try {
        return (await this.#send(request, options.signal)) as T
      } catch (error) {
        if (retry >= this.#maxRetries || !isPassing(error)) throw error
        await pause(pauseBefore(retry, error.retryAfter), options.signal)
      }
    }
  }

  /** Every try sends the same: the key is what makes a repeated write safe. */
  #request({ method, path, query, body }: Call, { idempotencyKey }: CallOptions): Request {
    const headers = new Headers(this.#headers)
    if (body !== undefined) headers.set('content-type', 'application/json')
    if (method !== 'GET') headers.set('idempotency-key', idempotencyKey ?? newKey())
    return {
      url: this.#origin + path + searchOf(query),
      init: {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // Followed, a redirect would take the API key to another host.
        redirect: 'manual',
      },
    }
  }

  async #send({ url, init }: Request, signal?: AbortSignal): Promise<unknown> {
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    const either = signal ? AbortSignal.any([signal, timeout]) : timeout
    let response: Response
    let text: string
    try {
      response = await this.#fetch(url, { ...init, signal: either })
      text = await response.text()
    } catch (cause) {
      signal?.throwIfAborted()
      throw isNetworkError(cause) || timeout.aborted ? noAnswer(cause) : cause
    }
    return readAnswer(response, text)
  }
}

/** The standard has fetch and the reading of a body reject so; all else is a fault in the program. */
const isNetworkError = (error: unknown) => error instanceof TypeError

const noAnswer = (cause: unknown) =>
  new LoquatError({ code: 'CLIENT_ERR_NO_ANSWER', message: 'No whole answer came.', cause })

function readAnswer(response: Response, text: string): unknown {
  const body = parse(response, text)
  if (response.ok && body !== undefined) return body
  throw new LoquatError({
    ...failureOf(response, body),
    status: response.status,
    requestId: response.headers.get('x-request-id') ?? undefined,
    retryAfter: readRetryAfter(response.headers.get('retry-after')),
  })
}

/** undefined: not JSON. What says it is and cannot be read was cut on its way. */
function parse({ headers }: Response, text: string): unknown {
  if (!headers.get('content-type')?.startsWith('application/json')) return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw noAnswer(cause)
  }
}

function failureOf({ status }: Response, body: unknown): Failure {
  const { error } = (body ?? {}) as { error?: Failure }
  if (error) return error
  const message = `The answer with status ${status} is none of Loquat. Is the address right?`
  return { code: 'CLIENT_ERR_UNREADABLE_ANSWER', message }
}

/** crypto.randomUUID is not there on pages without TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
