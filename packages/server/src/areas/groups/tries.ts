/**
 * A password costs the CPU of a slow hash, whether it is tried or set, so users have a limited
 * number per minute.
 */

import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import type { Limiter } from '../../platform/cache/limiter.ts'
import { fail } from '../../platform/http/fail.ts'

/** For one group, so that its password can't be guessed. */
const OF_GROUP = 10
const OF_ALL = 30

export type TriesDeps = Deps & { tries: Limiter }

/** The app passes on what its users type, so attempts with `onBehalfOf` count too. */
export async function countTry({ tries }: TriesDeps, { app, uid }: Actor, guid: string) {
  await count(tries, `${app.no}:password:${uid}:${guid}`, OF_GROUP)
  await count(tries, `${app.no}:password:${uid}`, OF_ALL)
}

/** The app may set any number. */
export async function countSetting({ tries }: TriesDeps, { kind, app, uid }: Actor) {
  if (kind === 'user') await count(tries, `${app.no}:password:${uid}`, OF_ALL)
}

/** Counted before anything is hashed, so that concurrent attempts all count. */
async function count(tries: Limiter, key: string, limit: number): Promise<void> {
  const { allowed, resetSeconds } = await tries.take(key, limit)
  if (allowed) return
  const devMessage = 'You have tried or set too many group passwords.'
  throw fail('ERR_TOO_MANY_REQUESTS', { limit }, { devMessage, retryAfter: resetSeconds })
}
