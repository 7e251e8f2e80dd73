import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { Deps } from '../deps.ts'
import { Limiter } from '../platform/cache/limiter.ts'
import type { App, Directory } from '../platform/cells/directory.ts'
import { fail } from '../platform/http/fail.ts'
import { networkOf } from '../platform/net/network.ts'
import { addLimitHeaders } from './headers.ts'

/**
 * Credentials known to be valid. Beyond this number the oldest are forgotten, and are known again
 * after their next use.
 */
const REMEMBERED = 20_000

/** Unknown app ids per minute from one network. */
const UNKNOWN_APPS = 600

/** Beyond its limit an address waits so long for each refusal, and at random up to twice as long. */
const REFUSED_MS = 500
/** Refusals that may wait in this process. */
const WAITING = 1_000

/** One attempt to authenticate. */
interface Attempt {
  /** What the credential is for: an app, or the management API. */
  where: string
  /** Failures per minute from one network. */
  limit: number
  from: Origin
}

/** Where an attempt comes from. */
export interface Origin {
  address: string
  /** To tell the client its limit; a WebSocket has none. */
  reply?: FastifyReply
}

/**
 * Unknown credentials cost a statement each and count for no app and no user. So they are counted
 * by network address and, beyond a limit, no longer looked up. Credentials that this process knows
 * to be valid are always accepted, so that users who share an address with an attacker aren't
 * locked out.
 *
 * Refusals beyond the limit wait a moment. Callers who ignore `Retry-After` would come back at once
 * and all together, and everybody else's requests would wait behind a hundred of theirs.
 */
export class Failures {
  readonly #limiter: Limiter
  readonly #good = new Set<string>()
  #waiting = 0

  constructor({ cache }: Pick<Deps, 'cache'>) {
    this.#limiter = new Limiter(cache)
  }

  /** The result of `find` for a credential. `hashOf` is only called if needed. */
  async find<T extends { hash: Buffer }>(
    attempt: Attempt,
    hashOf: () => Buffer,
    find: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { where } = attempt
    const isGood = () => this.#good.has(idOf(where, hashOf()))
    const found = await this.#count(attempt, isGood, find)
    if (found) this.#remember(idOf(where, found.hash))
    return found
  }

  /** The app with this id. Unknown ids cost a statement each too, in the directory, which all apps share. */
  findApp(directory: Directory, appId: string, from: Origin): App | Promise<App | undefined> {
    const attempt = { where: 'apps', limit: UNKNOWN_APPS, from }
    const find = async () => directory.find(appId)
    return directory.known(appId) ?? this.#count(attempt, () => false, find)
  }

  async #count<T>(
    { where, limit, from: { address, reply } }: Attempt,
    isGood: () => boolean,
    find: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const key = `${where}:failed:${networkOf(address)}`
    const reached = this.#limiter.reached(key, limit)
    if (reached && !isGood()) {
      if (reply) addLimitHeaders(reply, 'failed', reached)
      await this.#wait()
      const devMessage = 'This address sent too many unknown credentials or app ids.'
      throw fail('ERR_TOO_MANY_REQUESTS', { limit }, { devMessage })
    }
    const found = await find()
    if (!found) await this.#limiter.take(key, limit)
    return found
  }

  async #wait(): Promise<void> {
    if (this.#waiting >= WAITING) return
    this.#waiting++
    await sleep(REFUSED_MS * (1 + Math.random()))
    this.#waiting--
  }

  #remember(id: string): void {
    if (this.#good.has(id)) return
    const [oldest] = this.#good.size < REMEMBERED ? [] : this.#good
    if (oldest !== undefined) this.#good.delete(oldest)
    this.#good.add(id)
  }
}

const idOf = (where: string, hash: Buffer) => `${where} ${hash.toString('base64')}`
