import { createHmac } from 'node:crypto'

/** A server with which a device finds its addresses (STUN), or that relays for it (TURN). */
export interface IceServer {
  urls: string[]
  username?: string
  credential?: string
}

/** How long a device can begin to use a relay. Allocations that it renews go on. */
export const TURN_SECONDS = 3_600

export interface TurnOptions {
  turnUrls: readonly string[]
  turnSecret: string
}

/**
 * Credentials that the TURN server can check by itself, because it knows the secret: coturn's `use-auth-secret`. They don't
 * name the user, because relays write user names to their logs.
 */
export function iceServersFor(
  { turnUrls, turnSecret }: TurnOptions,
  name: string,
  now = Date.now(),
): IceServer[] {
  if (turnUrls.length === 0) return []
  if (!turnSecret) return [{ urls: [...turnUrls] }]
  const username = `${Math.floor(now / 1_000) + TURN_SECONDS}:${name}`
  const credential = createHmac('sha1', turnSecret).update(username).digest('base64')
  return [{ urls: [...turnUrls], username, credential }]
}
