import { type ErrorCode, errors } from '@loquat/protocol'

/** Error messages by field. */
export type Details = Record<string, string[]>

type Values = Record<string, string | number | boolean>

export interface FailOptions {
  /** For the developer of the calling application. */
  devMessage?: string
  details?: Details
  /** Seconds to wait before the next attempt. */
  retryAfter?: number
}

/** An error of the catalogue. Only the error handler knows its JSON shape. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly devMessage: string | undefined
  readonly details: Details | undefined
  /** The values in the message, and others that are known. */
  readonly values: Values
  readonly retryAfter: number | undefined

  constructor(code: ErrorCode, values: Values, options: FailOptions) {
    const { status, message } = errors[code]
    super(message.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name] ?? '')))
    this.code = code
    this.status = status
    this.devMessage = options.devMessage
    this.details = options.details
    this.values = values
    this.retryAfter = options.retryAfter
  }
}

/** Use it as `throw fail('ERR_X', { id })`. The values are inserted into the catalogue's message. */
export function fail(code: ErrorCode, values: Values = {}, options: FailOptions = {}): ApiError {
  return new ApiError(code, values, options)
}

/** The error for a caller without permission. `devMessage` says what is missing. */
export const noAccess = (devMessage: string) => fail('AUTH_ERR_NO_ACCESS', {}, { devMessage })

/** The error for a request with invalid fields. */
export const badRequest = (details: Details, reason = 'The request is not valid. See details.') =>
  fail('ERR_BAD_REQUEST', { reason }, { details })
