import { type ErrorCode, errors } from '@loquat/protocol'

/** Texts by field: what is wrong with it. */
export type Details = Record<string, string[]>

type Values = Record<string, string | number | boolean>

export interface FailOptions {
  /** For the developer of the caller. */
  devMessage?: string
  details?: Details
  /** Seconds after which to come back. */
  retryAfter?: number
}

/** An answer of the catalogue. Only the error handler knows its wire shape. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly devMessage: string | undefined
  readonly details: Details | undefined
  /** What filled the message, and what else is known. */
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

/** `throw fail('ERR_X', { id })`: the values fill the message of the catalogue. */
export function fail(code: ErrorCode, values: Values = {}, options: FailOptions = {}): ApiError {
  return new ApiError(code, values, options)
}

/** A caller that may not do this; `devMessage` says what is missing. */
export const noAccess = (devMessage: string) => fail('AUTH_ERR_NO_ACCESS', {}, { devMessage })

/** A request whose fields are at fault. */
export const badRequest = (details: Details, reason = 'The request is not valid. See details.') =>
  fail('ERR_BAD_REQUEST', { reason }, { details })
