import { timingSafeEqual } from 'node:crypto'
import { type AppRules, compileRules } from '../core/access/rules.ts'
import type { KeyScope, ServedApp } from '../core/actor.ts'
import { type Settings, settingsInForce } from '../core/settings.ts'
import type { Deps } from '../deps.ts'
import { EVERYTHING, type Revocation } from '../platform/cells/revocations.ts'
import { HashCache } from './hash-cache.ts'
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

/** What a process knows of an app that it serves. */
export interface AppState {
  /** The settings that differ from the defaults. */
  settings: Settings
  /** What the app's roles may do. */
  rules: AppRules
  /** Whether a group has permissions of scopes. */
  scoped: boolean
  /** Whether the operator of the installation has suspended it. */
  suspended: boolean
  /** The version of its rules of moderation; undefined if none is enabled. */
  moderation: string | undefined
  /** Whether users have sanctions that haven't ended. */
  sanctioned: boolean
}

/** Beyond this number of keys or tokens, the oldest are read again at their next use. */
const CACHED = 50_000
const HASHES = 20_000

/** API keys, auth tokens, settings and rules of apps, read once and kept until they are revoked. */
export class Credentials {
  readonly #deps: Pick<Deps, 'secrets' | 'revocations'>
  readonly #hashes: HashCache
  readonly #keys = new Map<string, KnownKey>()
  readonly #users = new Map<string, KnownUser>()
  readonly #apps = new Map<number, AppState>()
  /** Changes with each revocation. A lookup that began before one may have read what was revoked. */
  #revoked = 0

  constructor(deps: Pick<Deps, 'secrets' | 'revocations'>) {
    this.#deps = deps
    this.#hashes = new HashCache(deps.secrets, HASHES)
    deps.revocations.listen((revoked) => this.#forget(revoked))
  }

  hashOf(value: string): Buffer {
    return this.#hashes.hash(value)
  }

  /** The API key with this value; undefined if the app has none. */
  key(app: ServedApp, value: string): Promise<KnownKey | undefined> {
    // Anything else can't be an API key and isn't worth a statement.
    if (!/^[0-9a-f]{40}$/.test(value)) return Promise.resolve(undefined)
    const { no: appNo, cell } = app
    return this.#find(app, this.#keys, value, async (hash) => {
      const row = await findKey.maybeOne(cell.db, { appNo, keyHash: hash })
      return row && { hash: row.key_hash, scope: row.scope }
    })
  }

  /** The auth token's user; undefined if the token isn't valid. */
  user(app: ServedApp, token: string): Promise<KnownUser | undefined> {
    const { no: appNo, cell } = app
    return this.#find(app, this.#users, token, async (hash) => {
      const row = await findTokenUser.maybeOne(cell.db, { appNo, tokenHash: hash })
      return row && { hash: row.token_hash, uid: row.uid }
    })
  }

  /** An app's settings and rules; none if the app isn't served. */
  async app({ no: appNo, cell }: ServedApp): Promise<AppState | undefined> {
    const known = this.#deps.revocations.trusted(cell) ? this.#apps.get(appNo) : undefined
    if (known) return known
    const revoked = this.#revoked
    const row = await findServedSettings.maybeOne(cell.db, { appNo })
    const state = row && {
      ...{ settings: settingsInForce(row), scoped: row.scoped, suspended: row.suspended },
      rules: compileRules(row.rules ?? []),
      moderation: row.moderation ?? undefined,
      sanctioned: row.sanctioned,
    }
    if (state && revoked === this.#revoked) this.#apps.set(appNo, state)
    else this.#apps.delete(appNo)
    return state
  }

  async #find<T extends { hash: Buffer }>(
    { no: appNo, cell }: ServedApp,
    cache: Map<string, T>,
    value: string,
    read: (hash: Buffer) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const hash = this.hashOf(value)
    const id = cacheKey(appNo, hash.toString('hex'))
    const known = this.#deps.revocations.trusted(cell) ? cache.get(id) : undefined
    if (known && timingSafeEqual(known.hash, hash)) return known
    const revoked = this.#revoked
    const found = await read(hash)
    cache.delete(id)
    if (!found || !timingSafeEqual(found.hash, hash)) return undefined
    if (revoked === this.#revoked) {
      const [oldest] = cache.size < CACHED ? [] : cache.keys()
      if (oldest !== undefined) cache.delete(oldest)
      cache.set(id, found)
    }
    return found
  }

  #forget(revoked: Revocation | typeof EVERYTHING): void {
    this.#revoked++
    if (revoked === EVERYTHING) {
      this.#keys.clear()
      this.#users.clear()
      this.#apps.clear()
    } else if (revoked.kind === 'apikey') this.#keys.delete(cacheKey(revoked.appNo, revoked.id))
    else if (revoked.kind === 'token') this.#users.delete(cacheKey(revoked.appNo, revoked.id))
    else if (revoked.kind === 'app') this.#apps.delete(revoked.appNo)
  }
}

const cacheKey = (appNo: number, hash: string) => `${appNo}:${hash}`
