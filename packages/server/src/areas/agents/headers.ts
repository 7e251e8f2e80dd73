import { badRequest } from '../../platform/http/fail.ts'

const NAME = /^[A-Za-z0-9-]{1,100}$/
const VALUE = /^[\x20-\x7e]{0,2000}$/
/** They belong to the connection, not to the caller. */
const RESERVED = /^(host|connection|content-length|transfer-encoding|upgrade|te|trailer|expect)$/i
const MOST = 20

/** Headers of calls to tools and agents. Throws if one can't be sent. */
export function checkHeaders(headers: Record<string, unknown>): Record<string, string> {
  const all = Object.entries(headers)
  if (all.length > MOST) throw badRequest({ headers: [`there can be at most ${MOST} headers`] })
  const wrong = all.find(
    ([name, value]) =>
      !NAME.test(name) || RESERVED.test(name) || typeof value !== 'string' || !VALUE.test(value),
  )
  if (wrong) throw badRequest({ headers: [`the header "${wrong[0]}" can't be sent`] })
  return headers as Record<string, string>
}

/** The same for headers as JSON text. */
export function readHeaders(text: string): Record<string, string> {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    parsed = undefined
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw badRequest({ headers: ['headers must be a JSON object'] })
  }
  return checkHeaders(parsed as Record<string, unknown>)
}

/** The same headers, with names in lower case. */
export const lowered = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
