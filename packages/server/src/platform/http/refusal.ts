import type { ErrorCode } from '@loquat/protocol'
import { isDatabaseDown, sqlState } from '../db/db.ts'
import { ApiError, fail } from './fail.ts'

const REFUSED = 'LQ002'

/** What a function in the database refused (`refuse` in db/cell/functions/errors.sql), as an answer. */
export function refusalOf(error: unknown): ApiError | undefined {
  if (sqlState(error) !== REFUSED) return undefined
  const { message, detail = '{}' } = error as { message: string; detail?: string }
  const { devMessage, details, ...values } = JSON.parse(detail)
  return fail(message as ErrorCode, values, { devMessage, details })
}

/** Converts any error to an API error. */
export const answerTo = (error: unknown): ApiError =>
  error instanceof ApiError
    ? error
    : (refusalOf(error) ?? fail(isDatabaseDown(error) ? 'ERR_MISSION_FAILED' : 'ERR_EXCEPTION'))
