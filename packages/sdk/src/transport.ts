import { type Address, searchOf, type Target } from './address.ts'
import { type Failure, LoquatError } from './error.ts'
import { delay, isTemporary, readRetryAfter, retryDelay, unlessAborted } from './retry.ts'

export const TIMEOUT_MS = 30_000

/** How to send requests. */
export interface SendOptions {
  /** How many times to retry a request after a temporary failure. Defaults to 4, on devices to 10. */
  maxRetries?: number | undefined
  /** How many milliseconds to keep retrying. Defaults to 60,000 on devices, elsewhere to no limit. */
  retryForMs?: number | undefined
  /** The timeout of each attempt in milliseconds, including the response body. Defaults to 30,000. */
  timeoutMs?: number | undefined
  /** Replaces the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

/** The app, its address, and how to call it. */
export type LoquatOptions = Address &
  SendOptions & {
    appId: string
    /** An API key of the app. Its scope decides which operations it may call. */
    apiKey: string
    /** The UID of a user on whose behalf to make all calls. */
    onBehalfOf?: string | undefined
  }

/** Options of a single call. */
export interface CallOptions {
  /** Cancels the call, also while it waits for a retry. The call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined
  /** Makes a write safe to repeat. Each call gets a new key by default. Set it to repeat a call in another process. */
  idempotencyKey?: string | undefined
}

/** A request, as an operation describes it. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  query?: object | undefined
  body?: unknown
  /** Counts in the records of the response that JSON shows as strings. They are converted to numbers. */
  counts?: string[]
}

/** Gets new credentials after the server rejected these headers. Resolves to false if there are none. */
type Renew = (refused: Target['headers']) => Promise<boolean>

interface Request {
  url: string
  init: RequestInit & { headers: Record<string, string> }
}

/** Sends requests, reads responses, and retries temporary failures. */
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
    // A browser's fetch throws unless it is called as a method of the global object.
    this.#fetch = options.fetch ?? ((url, init) => fetch(url, init))
  }

  /** Returns the `data` of the response. */
  async data<T>(call: Call, options?: CallOptions): Promise<T> {
    return (await this.answer<{ data: T }>(call, options)).data
  }

  /** Returns the whole response. */
  async answer<T>(call: Call, options: CallOptions = {}): Promise<T> {
    const request = this.#request(call, options)
    const startedAt = Date.now()
    let renew = this.#renew
    for (let retry = 0; ; retry++) {
      // Read the headers for each attempt, because the token may have changed.
      const { headers } = this.#target
      try {
        const answer = await this.#send(request, headers, options.signal)
        return withNumbers(answer, call.counts ?? []) as T
      } catch (error) {
        if (renew && isUnknownToken(error)) {
          if (!(await unlessAborted(renew(headers), options.signal))) throw error
          renew = undefined
          continue
        }
        const over = retry >= this.#maxRetries || Date.now() - startedAt > this.#retryForMs
        if (over || !isTemporary(error)) throw error
        await delay(retryDelay(retry, error.retryAfter), options.signal)
      }
    }
  }

  /** All attempts send the same request. The idempotency key makes repeated writes safe. */
  #request({ method, path, query, body }: Call, { idempotencyKey }: CallOptions): Request {
    const headers: Record<string, string> = {}
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (method !== 'GET') headers['idempotency-key'] = idempotencyKey ?? randomKey()
    return {
      url: this.#target.origin + path + searchOf(query),
      init: {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
        // Following a redirect would send the API key to another host.
        redirect: 'manual',
      },
    }
  }

  async #send(
    { url, init }: Request,
    own: Target['headers'],
    signal?: AbortSignal,
  ): Promise<unknown> {
    // React Native has neither AbortSignal.timeout nor AbortSignal.any.
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

function withNumbers(answer: unknown, counts: string[]): unknown {
  const { data } = answer as { data: Record<string, unknown> | Record<string, unknown>[] }
  for (const name of counts) for (const record of [data].flat()) record[name] = Number(record[name])
  return answer
}

const isUnknownToken = (error: unknown) =>
  error instanceof LoquatError && error.code === 'AUTH_ERR_AUTH_TOKEN_NOT_FOUND'

/** By the standard, `fetch` and reading a body reject with a TypeError. Any other error is a bug in the program. */
export const isNetworkError = (error: unknown) => error instanceof TypeError

export const noAnswer = (cause: unknown) =>
  new LoquatError({
    code: 'CLIENT_ERR_NO_ANSWER',
    message: 'The server sent no complete response.',
    cause,
  })

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

/** Returns undefined if the response isn't JSON. JSON that can't be parsed was cut off on its way. */
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
  const message = `The response with status ${status} isn't from Loquat. Check the URL.`
  return { code: 'CLIENT_ERR_UNREADABLE_ANSWER', message }
}

/** 128 random bits. Pages without TLS have no crypto.randomUUID, and React Native has no crypto. */
export function randomKey(): string {
  const bytes = new Uint8Array(16)
  if (globalThis.crypto) crypto.getRandomValues(bytes)
  else for (let i = 0; i < bytes.length; i++) bytes[i] = Math.random() * 256
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
