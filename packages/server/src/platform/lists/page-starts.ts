import { createHash } from 'node:crypto'
import type { Cache } from '../cache/cache.ts'

const SECONDS = 60

/** The key of a row in the order of its list; a page begins after one. */
export type PageKey = readonly (string | number)[]

/**
 * Remembers where the next page of a crawl begins, so that page after page costs the same. Whoever
 * asks for another page, waits too long or finds Redis away pays for counting from the top.
 */
export class PageStarts {
  readonly #cache: Cache

  constructor(cache: Cache) {
    this.#cache = cache
  }

  /** `list` holds all that decides what the list holds: app, caller, filters, size. */
  async find(list: unknown, page: number): Promise<PageKey | undefined> {
    const text = await this.#cache.get(keyOf(list, page)).catch(() => undefined)
    return text === undefined ? undefined : (JSON.parse(text) as PageKey)
  }

  async remember(list: unknown, page: number, after: PageKey): Promise<void> {
    await this.#cache.set(keyOf(list, page), JSON.stringify(after), SECONDS).catch(() => {})
  }
}

function keyOf(list: unknown, page: number): string {
  const digest = createHash('sha256').update(JSON.stringify(list)).digest('base64url')
  return `page:${digest}:${page}`
}
