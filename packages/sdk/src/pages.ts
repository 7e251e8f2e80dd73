/** The part of the generated `Page` that the iterators read. */
interface NumberedPage<T> {
  data: T[]
  meta: {
    pagination: { current_page: number; total_pages: number }
    cursor?: { next?: string }
  }
}

/** The query parameters that select a page. */
interface PageParams {
  page?: number
  cursor?: string
}

/** Iterates over all records of a list and fetches pages as needed. */
export async function* everyRecord<T>(
  read: (params: PageParams) => Promise<NumberedPage<T>>,
): AsyncGenerator<T, void, undefined> {
  let params: PageParams | undefined = {}
  while (params) {
    const page: NumberedPage<T> = await read(params)
    yield* page.data
    params = nextParams(params, page)
  }
}

/** The same for lists whose pages say how to get the next one: query parameters, or the value of a single one. */
export async function* everyFollowing<T>(
  read: (params: object) => Promise<{ data: T[]; meta: { next?: object | number | string } }>,
  field = '',
): AsyncGenerator<T, void, undefined> {
  let params: object | undefined = {}
  while (params) {
    const { data, meta }: Awaited<ReturnType<typeof read>> = await read(params)
    yield* data
    const { next } = meta
    params = next === undefined || typeof next === 'object' ? next : { [field]: next }
  }
}

/**
 * Selects the next page. Prefers the cursor, which neither skips nor repeats records when others are added or removed. A list
 * that started in the middle has fewer pages than its total suggests.
 */
function nextParams<T>(
  { cursor }: PageParams,
  { data, meta }: NumberedPage<T>,
): PageParams | undefined {
  if (meta.cursor?.next !== undefined) return { cursor: meta.cursor.next }
  if (meta.cursor || data.length === 0) return undefined
  const { current_page: page, total_pages: last } = meta.pagination
  return cursor === undefined && page < last ? { page: page + 1 } : undefined
}
