/** Requests that differ each time they are sent: with an idempotency key and a muid of their own. */
import { randomBytes } from 'node:crypto'

/** Stands for a unique text of the same length, so that the content length stays right. */
export const UNIQUE = '@unique-in-a-request@'

const PREFIX = randomBytes(5).toString('hex')
let count = 0

export function uniqueText(request: string): string {
  if (!request.includes(UNIQUE)) return request
  count++
  const digits = String(count).padStart(UNIQUE.length - PREFIX.length, '0')
  return request.replaceAll(UNIQUE, `${PREFIX}${digits}`)
}
