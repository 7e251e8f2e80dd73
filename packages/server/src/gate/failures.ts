import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Deps } from '../deps.ts'
import { Limiter } from '../platform/cache/limiter.ts'
import { fail } from '../platform/http/fail.ts'
import { networkOf } from '../platform/net/network.ts'
import { addLimitHeaders } from './headers.ts'

/**
 * Credentials known to be valid. Beyond this number the oldest are forgotten, and are known again
 * after their next use.
 */
const REMEMBERED = 20_000

/** One attempt to authenticate. */
interface Attempt {
  /** What the credential is for: an app, or the management API. */
  where: string
  /** Failures per minute from one network. */
  limit: number
  request: FastifyRequest
  reply: FastifyReply
}

/**
 * Unknown credentials cost a statement each and count for no app and no user. So they are counted
 * by network address and, beyond a limit, no longer looked up. Credentials that this process knows
 * to be valid are always accepted, so that users who share an address with an attacker aren't
 * locked out.
 */
export class Failures {
  readonly #limiter: Limiter
  readonly #good = new Set<string>()

  constructor({ cache }: Pick<Deps, 'cache'>) {
    this.#limiter = new Limiter(cache)
  }

  /** The result of `find` for a credential. `hashOf` is only called if needed. */
  async find<T extends { hash: Buffer }>(
    { where, limit, request, reply }: Attempt,
    hashOf: () => Buffer,
    find: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const key = `${where}:failed:${networkOf(request.ip)}`
    const reached = this.#limiter.reached(key, limit)
    if (reached && !this.#good.has(idOf(where, hashOf()))) {
      addLimitHeaders(reply, 'failed', reached)
      const devMessage = 'This address sent too many unknown credentials.'
      throw fail('ERR_TOO_MANY_REQUESTS', { limit }, { devMessage })
    }
    const found = await find()
    if (found) this.#remember(idOf(where, found.hash))
    else await this.#limiter.take(key, limit)
    return found
  }

  #remember(id: string): void {
    if (this.#good.has(id)) return
    const [oldest] = this.#good.size < REMEMBERED ? [] : this.#good
    if (oldest !== undefined) this.#good.delete(oldest)
    this.#good.add(id)
  }
}

const idOf = (where: string, hash: Buffer) => `${where} ${hash.toString('base64')}`
