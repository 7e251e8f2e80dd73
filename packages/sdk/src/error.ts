import type { ErrorCode } from './protocol.gen.ts'

/**
 * What the client itself finds: no whole answer came, or one that is none of Loquat's, such as a
 * page of a proxy; or the token was refused, and `renewToken` failed.
 */
export type ClientErrorCode =
  | 'CLIENT_ERR_NO_ANSWER'
  | 'CLIENT_ERR_UNREADABLE_ANSWER'
  | 'CLIENT_ERR_TOKEN_NOT_RENEWED'

/** What else is known of a failure. */
export interface Failure {
  code: ErrorCode | ClientErrorCode
  message: string
  status?: number | undefined
  devMessage?: string | undefined
  details?: Record<string, string[]> | undefined
  requestId?: string | undefined
  retryAfter?: number | undefined
  cause?: unknown
}

/** Why an operation failed. The code decides; texts may change. */
export class LoquatError extends Error {
  override readonly name = 'LoquatError'
  readonly code: ErrorCode | ClientErrorCode
  /** Of the HTTP answer; undefined when none came. */
  readonly status: number | undefined
  /** For the developer. */
  readonly devMessage: string | undefined
  /** For each field at fault, what is wrong with it. */
  readonly details: Record<string, string[]> | undefined
  /** Finds the request in the logs of the server. */
  readonly requestId: string | undefined
  /** Seconds until the server wants to be asked again. */
  readonly retryAfter: number | undefined

  constructor({ message, cause, ...known }: Failure) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = known.code
    this.status = known.status
    this.devMessage = known.devMessage
    this.details = known.details
    this.requestId = known.requestId
    this.retryAfter = known.retryAfter
  }
}
