import { hash, randomBytes } from 'node:crypto'
import type { Secrets } from '../platform/secrets/secrets.ts'

/**
 * Remembers the keyed hashes of credentials: computing one takes ten times as long as a plain hash. It decides nothing
 * about a credential, so nothing in it can be out of date.
 *
 * Entries are found by a plain hash of the credential and of bytes that only this process has. So memory contains no
 * credential, and nobody can choose values whose lookups take long.
 */
export class HashCache {
  readonly #secrets: Pick<Secrets, 'hash'>
  readonly #most: number
  readonly #salt = randomBytes(32).toString('hex')
  /** Once `most` hashes are in the first map, it replaces the second one. */
  #recent = new Map<string, Buffer>()
  #older = new Map<string, Buffer>()

  constructor(secrets: Pick<Secrets, 'hash'>, most: number) {
    this.#secrets = secrets
    this.#most = most
  }

  /** The same as `Secrets.hash`. Callers don't change the bytes. */
  hash(value: string): Buffer {
    const id = hash('sha256', this.#salt + value, 'base64')
    const recent = this.#recent.get(id)
    if (recent) return recent
    const found = this.#older.get(id) ?? this.#secrets.hash(value)
    if (this.#recent.size >= this.#most) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(id, found)
    return found
  }
}
