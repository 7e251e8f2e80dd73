import { isStorable } from './characters.ts'

const UNSTORABLE = 'must not contain U+0000 or an unpaired surrogate'

/** Far below the depth that overflows the stack of this process or of PostgreSQL's JSON parser. */
const MAX_DEPTH = 100
const TOO_DEEP = `must not be nested deeper than ${MAX_DEPTH} levels`

/** PostgreSQL stores all digits of a number: `1e308` has 5 bytes as JSON but 309 when stored, after limits were checked. */
const LARGEST = 1e21
const SMALLEST = 1e-21
const TOO_LONG = 'must not contain numbers with more than 21 digits'

interface Unstorable {
  field: string
  text: string
}

/** Finds the first field of a client's value that can't be stored, and says why. */
export function findUnstorable(value: unknown, field = '', depth = 0): Unstorable | undefined {
  if (typeof value === 'string') return isStorable(value) ? undefined : { field, text: UNSTORABLE }
  if (typeof value === 'number' && value !== 0) {
    const size = Math.abs(value)
    return size < LARGEST && size > SMALLEST ? undefined : { field, text: TOO_LONG }
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > MAX_DEPTH) return { field: field.split('.')[0] ?? '', text: TOO_DEEP }
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return { field, text: UNSTORABLE }
    const found = findUnstorable(inner, field ? `${field}.${key}` : key, depth + 1)
    if (found) return found
  }
  return undefined
}
