import type { PageMeta } from './operations.gen.ts'

/** One page of a list. */
export interface Page<T> {
  data: T[]
  meta: PageMeta
}

/** What leads from one page to the next. */
interface Place {
  page?: number
  cursor?: string
}

/** All records of a list, read page by page as they are asked for. */
export async function* everyRecord<T>(
  read: (place: Place) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  let place: Place | undefined = {}
  while (place) {
    const page: Page<T> = await read(place)
    yield* page.data
    place = following(place, page.meta)
  }
}

/** A cursor where the list offers one: it neither skips nor repeats when records come and go. */
function following({ cursor }: Place, meta: PageMeta): Place | undefined {
  if (meta.cursor?.next !== undefined) return { cursor: meta.cursor.next }
  const { current_page: page, total_pages: last } = meta.pagination
  return cursor === undefined && page < last ? { page: page + 1 } : undefined
}
