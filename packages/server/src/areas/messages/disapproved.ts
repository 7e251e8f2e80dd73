/** Users whose messages are disapproved again and again have to pause. */
import type { Actor } from '../../core/actor.ts'
import { settingOf } from '../../core/settings.ts'
import type { Deps } from '../../deps.ts'
import type { Cache } from '../../platform/cache/cache.ts'
import { Limiter } from '../../platform/cache/limiter.ts'
import { fail } from '../../platform/http/fail.ts'

type CacheDeps = Pick<Deps, 'cache'>

const limiters = new WeakMap<Cache, Limiter>()

function limiterOf({ cache }: CacheDeps): Limiter {
  const limiter = limiters.get(cache) ?? new Limiter(cache)
  limiters.set(cache, limiter)
  return limiter
}

const keyOf = ({ app, uid }: Actor) => `${app.no}:disapproved:${uid}`
const limitFor = ({ settings }: Actor) => Number(settingOf(settings, 'rate.disapproved'))

const PAUSE =
  'Rules of moderation disapproved too many messages of this user in this minute. The message was not sent.'

/** Messages of the app itself have no limit. */
export function refuseRepeated(deps: CacheDeps, actor: Actor): void {
  if (actor.moderation === undefined || actor.uid === undefined) return
  const limit = limitFor(actor)
  const verdict = limiterOf(deps).reached(keyOf(actor), limit)
  if (!verdict) return
  const options = { devMessage: PAUSE, retryAfter: verdict.resetSeconds }
  throw fail('ERR_TOO_MANY_REQUESTS', { limit }, options)
}

export async function countDisapproved(deps: CacheDeps, actor: Actor): Promise<void> {
  if (actor.uid !== undefined) await limiterOf(deps).take(keyOf(actor), limitFor(actor))
}
