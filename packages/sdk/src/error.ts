import type { ErrorCode } from './protocol.gen.ts'

/**
 * Errors that the client itself detects: no complete response arrived; the response isn't from Loquat, but for example a
 * proxy's error page; the token was rejected and `renewToken` failed; or the server checked a file and refused it.
 */
export type ClientErrorCode =
  | 'CLIENT_ERR_NO_ANSWER'
  | 'CLIENT_ERR_UNREADABLE_ANSWER'
  | 'CLIENT_ERR_TOKEN_NOT_RENEWED'
  | 'CLIENT_ERR_FILE_REJECTED'

/** The properties of an error. */
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

/** An error of an operation. Check `code` in your program, because the messages can change. */
export class LoquatError extends Error {
  override readonly name = 'LoquatError'
  declare readonly code: ErrorCode | ClientErrorCode
  /** The status of the HTTP response. Undefined if there was no response. */
  declare readonly status: number | undefined
  /** An explanation for developers. */
  declare readonly devMessage: string | undefined
  /** What is wrong with each invalid field. */
  declare readonly details: Record<string, string[]> | undefined
  /** Identifies the request in the server's logs. */
  declare readonly requestId: string | undefined
  /** How many seconds to wait before you send the request again. */
  declare readonly retryAfter: number | undefined

  constructor({ message, cause, ...known }: Failure) {
    super(message, cause === undefined ? undefined : { cause })
    Object.assign(this, known)
  }
}
