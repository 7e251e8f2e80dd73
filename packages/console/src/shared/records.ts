import type { Page } from '@loquat/sdk'
import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from '@tanstack/react-query'
import { useEffect } from 'react'

/** What leads to a page of a list: nothing for the first. */
export interface Place {
  cursor?: string
  page?: number
}

/** A list that is read page by page, as far as somebody looks. */
export interface Records<T> {
  rows: T[]
  /** How many there are in all, and whether counting ended there. */
  total: number | undefined
  more: boolean
  /** How often it was read on. */
  pages: number
  isPending: boolean
  isReading: boolean
  error: unknown
  readMore: () => void
  retry: () => unknown
}

/** What `useInfiniteQuery` gives, as a list. */
export function recordsOf<T>(
  list: UseInfiniteQueryResult<InfiniteData<{ data: T[] }>>,
): Omit<Records<T>, 'total'> {
  const pages = list.data?.pages ?? []
  return {
    rows: pages.flatMap(({ data }) => data),
    more: list.hasNextPage,
    pages: pages.length,
    isPending: list.isPending,
    isReading: list.isFetchingNextPage,
    error: list.error,
    // What comes into sight asks for more: after a failure, only people do.
    readMore: () => {
      if (list.hasNextPage && !list.isFetchingNextPage && !list.isFetchNextPageError)
        void list.fetchNextPage()
    },
    retry: list.isFetchNextPageError ? list.fetchNextPage : list.refetch,
  }
}

/** Pages that are read in a row while they have no rows. */
const PATIENCE = 5

/** Keys of one list that differ by what is searched for alone: an object at the end. */
function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  const places = [one, other].map((key) => JSON.stringify(key.slice(0, -1)))
  return (
    typeof one.at(-1) === 'object' && typeof other.at(-1) === 'object' && places[0] === places[1]
  )
}

/**
 * Reads a list of the interface. The key holds everything that the answer depends on; filters as an object, which stands last.
 */
export function useRecords<T>(
  queryKey: unknown[],
  read: (place: Place) => Promise<Page<T>>,
  enabled = true,
): Records<T> {
  const list = useInfiniteQuery({
    queryKey,
    enabled,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: {} as Place,
    getNextPageParam: ({ meta }, _pages, { cursor }): Place | undefined => {
      if (meta.cursor?.next !== undefined) return { cursor: meta.cursor.next }
      const { current_page: page, total_pages: last } = meta.pagination
      return cursor === undefined && page < last ? { page: page + 1 } : undefined
    },
    // While somebody types, what was found before stays until there is something else: of this list, never of another.
    placeholderData: (before, query) =>
      query && isSameList(query.queryKey, queryKey) ? before : undefined,
  })
  const records = recordsOf(list)
  // A filter may find nothing among as many as one request looks at: there can be more behind them.
  const seeks =
    records.more && records.rows.length === 0 && !list.error && records.pages % PATIENCE !== 0
  const { isFetching, fetchNextPage } = list
  useEffect(() => {
    if (seeks && !isFetching) void fetchNextPage()
  }, [seeks, isFetching, fetchNextPage])
  return {
    ...records,
    total: list.data?.pages[0]?.meta.pagination.total,
    isPending: (records.isPending && enabled) || seeks,
  }
}
