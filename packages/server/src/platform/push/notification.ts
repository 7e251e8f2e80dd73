import { hash } from 'node:crypto'

/** What a notification is and what became of it, for every provider. */

export interface Notification {
  /** The JSON body in the provider's own form. For FCM: the fields of its `message`, without the token. */
  payload: Record<string, unknown>
  /** A later notification with the same id replaces this one on the device. So does a repetition. */
  collapseId?: string
  /** Milliseconds since 1970. A device that is offline until then never gets it. */
  expiresAt: number
  /** `high` wakes the device. */
  priority: 'high' | 'normal'
  /** `voip` rings, `background` shows nothing. */
  kind: 'alert' | 'voip' | 'background'
  /** Texts of the payload that may be shortened if it is too long, such as `['aps', 'alert', 'body']`. */
  trim?: readonly Path[]
}

/** The keys that lead to a value in a JSON object. */
export type Path = readonly string[]

export type Outcome =
  | { outcome: 'delivered' }
  /** The device or subscription doesn't exist any more: delete its token. */
  | { outcome: 'gone'; reason: string /** Since when, if the provider says so. */; since?: number }
  /** It may work later; whether the device got it is unknown. */
  | { outcome: 'retry'; reason: string; afterMs?: number }
  /** The credentials or the payload are wrong. The token may be fine, and a repetition doesn't help. */
  | { outcome: 'refused'; reason: string }

export const DELIVERED: Outcome = { outcome: 'delivered' }
export const gone = (reason: string): Outcome => ({ outcome: 'gone', reason })
export const refused = (reason: string): Outcome => ({ outcome: 'refused', reason })
export const retry = (reason: string, afterMs?: number): Outcome => ({
  outcome: 'retry',
  reason,
  ...(afterMs !== undefined && { afterMs }),
})

/** Milliseconds to wait that a `Retry-After` header asks for: seconds or a date. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  if (!header) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

export const TOO_LARGE = 'PayloadTooLarge'

/** The id as a provider accepts it. A hash stands for others, so that repetitions still have the same one. */
export const collapseIdOf = (id: string, accepted: RegExp): string =>
  accepted.test(id) ? id : hash('sha256', id, 'base64url').slice(0, 32)
