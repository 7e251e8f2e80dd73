/** A password costs the CPU of a slow hash, whether it is tried or set: users have only so many a minute. */

import type { Actor } from '../../core/actor.ts'
import type { Deps } from '../../deps.ts'
import type { Limiter } from '../../platform/cache/limiter.ts'
import { fail } from '../../platform/http/fail.ts'

/** Of one group, whose password is not to be guessed. */
const OF_GROUP = 10
const OF_ALL = 30

export type TriesDeps = Deps & { tries: Limiter }

/** The app passes on what its users type: with `onBehalfOf` they count too. */
export async function countTry({ tries }: TriesDeps, { app, uid }: Actor, guid: string) {
  await count(tries, `${app.no}:password:${uid}:${guid}`, OF_GROUP)
  await count(tries, `${app.no}:password:${uid}`, OF_ALL)
}

/** The app may set as many as it likes. */
export async function countSetting({ tries }: TriesDeps, { kind, app, uid }: Actor) {
  if (kind === 'user') await count(tries, `${app.no}:password:${uid}`, OF_ALL)
}

/** Before anything is hashed: many at once count as many. */
async function count(tries: Limiter, key: string, limit: number): Promise<void> {
  const { allowed, resetSeconds } = await tries.take(key, limit)
  if (allowed) return
  const devMessage = 'You have tried or set too many group passwords.'
  throw fail('ERR_TOO_MANY_REQUESTS', { limit }, { devMessage, retryAfter: resetSeconds })
}
