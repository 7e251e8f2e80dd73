import { createHash } from 'node:crypto'
import type { Cache } from '../cache/cache.ts'
import { Semaphore } from '../semaphore.ts'
import type { Count } from './count.ts'
import type { PageKey } from './keyset.ts'

const SECONDS = 60

/**
 * Remembers the start of the next page, so that reading a list page by page costs the same for each page. For any
 * other page, after a long wait, or if Redis is down, the rows before the page have to be counted. Of lists that are too
 * long to be counted, it also remembers that they are, and where they end.
 */
export class PageStarts {
  readonly #cache: Cache
  readonly #jumps = new Map<string | number, { semaphore: Semaphore; users: number }>()

  constructor(cache: Cache) {
    this.#cache = cache
  }

  /** `list` identifies the list: everything that determines its content, such as app, caller, filters and page size. */
  find(list: unknown, page: number): Promise<PageKey | undefined> {
    return this.#get<PageKey>(keyOf(list, page))
  }

  remember(list: unknown, page: number, after: PageKey): Promise<void> {
    return this.#set(keyOf(list, page), after)
  }

  /** Runs the jumps of an owner of lists one after the other, because each reads all rows before its page. */
  async jump<T>(owner: string | number, act: () => Promise<T>): Promise<T> {
    const jumps = this.#jumps.get(owner) ?? { semaphore: new Semaphore(1), users: 0 }
    this.#jumps.set(owner, jumps)
    jumps.users++
    try {
      return await jumps.semaphore.run(act)
    } finally {
      if (--jumps.users === 0) this.#jumps.delete(owner)
    }
  }

  /** The capped count of a list. */
  findCount(list: unknown): Promise<Count | undefined> {
    return this.#get<Count>(keyOf(list, 'count'))
  }

  rememberCount(list: unknown, count: Count): Promise<void> {
    return this.#set(keyOf(list, 'count'), count)
  }

  /** The number of rows of a list that is too long to be counted, known since its last page was read. */
  findEnd(list: unknown): Promise<number | undefined> {
    return this.#get<number>(keyOf(list, 'end'))
  }

  rememberEnd(list: unknown, rows: number): Promise<void> {
    return this.#set(keyOf(list, 'end'), rows)
  }

  async #get<T>(key: string): Promise<T | undefined> {
    const text = await this.#cache.get(key).catch(() => undefined)
    return text === undefined ? undefined : JSON.parse(text)
  }

  async #set(key: string, value: unknown): Promise<void> {
    await this.#cache.set(key, JSON.stringify(value), SECONDS).catch(() => {})
  }
}

function keyOf(list: unknown, page: number | 'count' | 'end'): string {
  const digest = createHash('sha256').update(JSON.stringify(list)).digest('base64url')
  return `page:${digest}:${page}`
}
