import { type Address, searchOf, type Target } from './address.ts'
import { type Failure, LoquatError } from './error.ts'
import { isPassing, pause, pauseBefore, readRetryAfter, unlessAborted } from './retry.ts'

export const TIMEOUT_MS = 30_000

/** How requests are sent. */
export interface SendOptions {
  /** How often a request is sent again after a failure that passes; 4 unless given. */
  maxRetries?: number | undefined
  /** For how many milliseconds a request is sent again; 60,000 on devices, else without a limit. */
  retryForMs?: number | undefined
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

/** Gets other credentials after the headers of a target were refused; false: there are none. */
type Renew = (refused: Target['headers']) => Promise<boolean>

interface Request {
  url: string
  init: RequestInit & { headers: Record<string, string> }
}

/** Sends requests and reads answers, with as many tries as it takes or may take. */
export class Transport {
  readonly #target: Target
  readonly #renew: Renew | undefined
  readonly #maxRetries: number
  readonly #retryForMs: number
  readonly #timeoutMs: number
  readonly #fetch: NonNullable<SendOptions['fetch']>

  constructor(target: Target, options: SendOptions, renew?: Renew) {
    this.#target = target
    this.#renew = renew
    this.#maxRetries = options.maxRetries ?? 4
    this.#retryForMs = options.retryForMs ?? Number.POSITIVE_INFINITY
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS
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
    const startedAt = Date.now()
    let renew = this.#renew
    for (let retry = 0; ; retry++) {
      // With each try: a token can be another one by then.
      const { headers } = this.#target
      try {
        return (await this.#send(request, headers, options.signal)) as T
      } catch (error) {
        if (renew && isUnknownToken(error)) {
          if (!(await unlessAborted(renew(headers), options.signal))) throw error
          renew = undefined
          continue
        }
        const over = retry >= this.#maxRetries || Date.now() - startedAt > this.#retryForMs
        if (over || !isPassing(error)) throw error
        await pause(pauseBefore(retry, error.retryAfter), options.signal)
      }
    }
  }

  /** Every try sends the same: the key is what makes a repeated write safe. */
  #request({ method, path, query, body }: Call, { idempotencyKey }: CallOptions): Request {
    const headers: Record<string, string> = {}
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (method !== 'GET') headers['idempotency-key'] = idempotencyKey ?? newKey()
    return {
      url: this.#target.origin + path + searchOf(query),
      init: {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // Followed, a redirect would take the API key to another host.
        redirect: 'manual',
      },
    }
  }

  async #send(
    { url, init }: Request,
    own: Target['headers'],
    signal?: AbortSignal,
  ): Promise<unknown> {
    // By hand: React Native has neither AbortSignal.timeout nor AbortSignal.any.
    const either = new AbortController()
    const abort = () => either.abort(signal?.reason)
    let timedOut = false
    const timer = setTimeout(() => {
      timedOut = true
      either.abort()
    }, this.#timeoutMs)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort)
    try {
      const headers = { ...own, ...init.headers }
      const response = await this.#fetch(url, { ...init, headers, signal: either.signal })
      return readAnswer(response, await response.text())
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      throw timedOut || isNetworkError(cause) ? noAnswer(cause) : cause
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }
}

const isUnknownToken = (error: unknown) =>
  error instanceof LoquatError && error.code === 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND'

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

/** 128 bits of chance. crypto.randomUUID is not there on pages without TLS, crypto not in React Native. */
export function newKey(): string {
  const bytes = new Uint8Array(16)
  if (globalThis.crypto) crypto.getRandomValues(bytes)
  else for (let i = 0; i < bytes.length; i++) bytes[i] = Math.random() * 256
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
