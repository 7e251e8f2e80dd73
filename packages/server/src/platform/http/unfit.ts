import { isStorable } from './characters.ts'

const UNSTORABLE = 'must not contain U+0000 or an unpaired surrogate'

/** Far below what overflows the stack of this process, or of PostgreSQL when it stores JSON. */
const MAX_DEPTH = 100
const TOO_DEEP = `must not be nested deeper than ${MAX_DEPTH} levels`

/** PostgreSQL writes numbers out: `1e308` is 5 bytes as JSON, and 309 where limits no longer count. */
const LARGEST = 1e21
const SMALLEST = 1e-21
const TOO_LONG = 'must not contain numbers with more than 21 digits'

interface Unfit {
  field: string
  text: string
}

/** The first field of what a client sent that cannot be stored as it is, and why, if there is one. */
export function findUnfit(value: unknown, field = '', depth = 0): Unfit | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : { field, text: UNSTORABLE }
  if (typeof value === 'number' && value !== 0) {
    const size = Math.abs(value)
    return size < LARGEST && size > SMALLEST ? undefined : { field, text: TOO_LONG }
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > MAX_DEPTH) return { field: field.split('.')[0] ?? '', text: TOO_DEEP }
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return { field, text: UNSTORABLE }
    const found = findUnfit(inner, field ? `${field}.${key}` : key, depth + 1)
    if (found) return found
  }
  return undefined
}
