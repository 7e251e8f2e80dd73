/** Calls that send and return JSON, and why they fail. */
import { storableStart } from '../http/characters.ts'
import type { Outbound } from './outbound.ts'
import { ForbiddenTarget } from './targets.ts'

/** How much of a bad response people see. */
const SHOWN = 1_000

/** Why a call has no usable answer. `http_4xx` and so on: by the status. */
export type CallFault =
  | 'timeout'
  | 'connection'
  | 'forbidden_target'
  | 'invalid_response'
  | `http_${number}xx`

/** What the system was asked for before there was a connection. */
const CONNECTING = ['connect', 'getaddrinfo']

export class CallFailed extends Error {
  readonly category: CallFault
  readonly status: number | undefined
  /** The beginning of the response. */
  readonly body: string | undefined
  readonly truncated: boolean
  /** There was no connection, so the other side knows nothing of the call. */
  readonly unsent: boolean

  constructor(
    category: CallFault,
    message: string,
    { status, body, unsent = false }: { status?: number; body?: Buffer; unsent?: boolean } = {},
  ) {
    super(message)
    this.unsent = unsent
    this.category = category
    this.status = status
    const text = body?.toString('utf8')
    this.body = text && storableStart(text, SHOWN)
    this.truncated = text !== undefined && text.length > SHOWN
  }
}

export interface JsonCall {
  url: string
  headers: Record<string, string>
  body: string
  timeoutMs: number
  /** The largest response. */
  bytes: number
  /** Aborts the call for a reason of the caller's own, which is thrown then. */
  signal: AbortSignal
  /** Whether an answer has the shape that the caller needs. */
  accepts(answer: unknown): boolean
}

/** Returns the answer of a call, or throws `CallFailed`. */
export async function postJson(outbound: Outbound, call: JsonCall): Promise<unknown> {
  const { url, body, timeoutMs, bytes, signal } = call
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'Loquat',
    ...call.headers,
  }
  const started = performance.now()
  // Timers are exact to a millisecond.
  const isLate = () => performance.now() - started > timeoutMs - 2
  const late = () => new CallFailed('timeout', `no response within ${timeoutMs} ms`)
  // One byte more shows that there is too much.
  const answer = await outbound
    .post(url, { headers, body, timeoutMs, answerBytes: bytes + 1, signal })
    .catch((error: NodeJS.ErrnoException) => {
      signal.throwIfAborted()
      if (isLate()) throw late()
      const { message, syscall = '' } = error
      if (error instanceof ForbiddenTarget) {
        throw new CallFailed('forbidden_target', message, { unsent: true })
      }
      throw new CallFailed('connection', message, { unsent: CONNECTING.includes(syscall) })
    })
  signal.throwIfAborted()
  const { status } = answer
  if (status < 200 || status > 299) {
    const category = `http_${Math.floor(status / 100)}xx` as const
    throw new CallFailed(category, `answered with status ${status}`, answer)
  }
  if (answer.body.length > bytes) {
    throw new CallFailed('invalid_response', 'the response is too large', answer)
  }
  const json = parsed(answer.body)
  if (!call.accepts(json)) {
    // It may have been cut off.
    if (isLate()) throw late()
    throw new CallFailed('invalid_response', 'the response has another shape', answer)
  }
  return json
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
