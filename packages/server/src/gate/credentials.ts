import { timingSafeEqual } from 'node:crypto'
import type { KeyScope, ServedApp } from '../core/actor.ts'
import type { Settings } from '../core/settings.ts'
import type { Deps } from '../deps.ts'
import { EVERYTHING, type Revocation } from '../platform/cells/revocations.ts'
import { findKey, findServedSettings, findTokenUser } from './queries.ts'

export interface KnownKey {
  hash: Buffer
  scope: KeyScope
}

export interface KnownUser {
  /** Hash of the auth token. */
  hash: Buffer
  uid: string
}

/** API keys and settings of apps, read once and kept until they are revoked. */
export class Credentials {
  readonly #deps: Pick<Deps, 'secrets' | 'revocations'>
  readonly #keys = new Map<string, KnownKey>()
  readonly #settings = new Map<number, Settings>()

  constructor(deps: Pick<Deps, 'secrets' | 'revocations'>) {
    this.#deps = deps
    deps.revocations.listen((revoked) => this.#forget(revoked))
  }

  hashOf(value: string): Buffer {
    return this.#deps.secrets.hash(value)
  }

  /** The API key with this value; undefined if the app has none. */
  async key({ no: appNo, cell }: ServedApp, value: string): Promise<KnownKey | undefined> {
    // Anything else can't be an API key and isn't worth a statement.
    if (!/^[0-9a-f]{40}$/.test(value)) return undefined
    const hash = this.hashOf(value)
    const id = cacheKey(appNo, hash.toString('hex'))
    const trusted = this.#deps.revocations.trusted(cell)
    const known = trusted ? this.#keys.get(id) : undefined
    if (known && timingSafeEqual(known.hash, hash)) return known
    const row = await findKey.maybeOne(cell.db, { appNo, keyHash: hash })
    if (!row || !timingSafeEqual(row.key_hash, hash)) {
      this.#keys.delete(id)
      return undefined
    }
    const key = { hash, scope: row.scope }
    this.#keys.set(id, key)
    return key
  }

  /** The auth token's user. Read on each request, so that a revoked token is rejected at once. */
  async user({ no: appNo, cell }: ServedApp, token: string): Promise<KnownUser | undefined> {
    const hash = this.hashOf(token)
    const row = await findTokenUser.maybeOne(cell.db, { appNo, tokenHash: hash })
    return row && timingSafeEqual(row.token_hash, hash) ? { hash, uid: row.uid } : undefined
  }

  /** An app's settings that differ from the defaults; none if the app isn't served. */
  async settings({ no: appNo, cell }: ServedApp): Promise<Settings | undefined> {
    const known = this.#deps.revocations.trusted(cell) ? this.#settings.get(appNo) : undefined
    if (known) return known
    const row = await findServedSettings.maybeOne(cell.db, { appNo })
    if (row) this.#settings.set(appNo, row.settings)
    else this.#settings.delete(appNo)
    return row?.settings
  }

  #forget(revoked: Revocation | typeof EVERYTHING): void {
    if (revoked === EVERYTHING) {
      this.#keys.clear()
      this.#settings.clear()
    } else if (revoked.kind === 'apikey') this.#keys.delete(cacheKey(revoked.appNo, revoked.id))
    else if (revoked.kind === 'app') this.#settings.delete(revoked.appNo)
  }
}

const cacheKey = (appNo: number, hash: string) => `${appNo}:${hash}`
