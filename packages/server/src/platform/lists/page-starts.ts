import { createHash } from 'node:crypto'
import type { Cache } from '../cache/cache.ts'

const SECONDS = 60

/** The sort key of a row in its list. A page begins after one. */
export type PageKey = readonly (string | number)[]

/**
 * Remembers the start of the next page, so that reading a list page by page costs the same for each page. For any
 * other page, after a long wait, or if Redis is down, the rows before the page have to be counted.
 */
export class PageStarts {
  readonly #cache: Cache

  constructor(cache: Cache) {
    this.#cache = cache
  }

  /** `list` identifies the list: everything that determines its content, such as app, caller, filters and page size. */
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
