/** What a page tells about the pages after it: the part of the generated `Page` that the iterators read. */
interface NumberedPage<T> {
  data: T[]
  meta: {
    pagination: { current_page: number; total_pages: number }
    cursor?: { next?: string }
  }
}

/** What leads from one page to the next. */
interface Place {
  page?: number
  cursor?: string
}

/** All records of a list, read page by page as they are asked for. */
export async function* everyRecord<T>(
  read: (place: Place) => Promise<NumberedPage<T>>,
): AsyncGenerator<T, void, undefined> {
  let place: Place | undefined = {}
  while (place) {
    const page: NumberedPage<T> = await read(place)
    yield* page.data
    place = following(place, page)
  }
}

/** The same, where each page says what to ask for next: fields of the query, or the value of one. */
export async function* everyFollowing<T>(
  read: (place: object) => Promise<{ data: T[]; meta: { next?: object | number } }>,
  field = '',
): AsyncGenerator<T, void, undefined> {
  let place: object | undefined = {}
  while (place) {
    const { data, meta }: Awaited<ReturnType<typeof read>> = await read(place)
    yield* data
    place = typeof meta.next === 'number' ? { [field]: meta.next } : meta.next
  }
}

/**
 * A cursor where the list offers one: it neither skips nor repeats when records come and go. A list that begins
 * somewhere inside ends before as many pages as its total makes.
 */
function following<T>({ cursor }: Place, { data, meta }: NumberedPage<T>): Place | undefined {
  if (meta.cursor?.next !== undefined) return { cursor: meta.cursor.next }
  if (meta.cursor || data.length === 0) return undefined
  const { current_page: page, total_pages: last } = meta.pagination
  return cursor === undefined && page < last ? { page: page + 1 } : undefined
}
