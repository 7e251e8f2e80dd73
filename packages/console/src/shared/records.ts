import type { Page } from '@loquat/sdk'
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'

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
  isPending: boolean
  isReading: boolean
  error: unknown
  readMore: () => void
  retry: () => unknown
}

/** Reads a list of the interface. The key holds everything that the answer depends on. */
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
    // While somebody types, what was found before stays until there is something else.
    placeholderData: keepPreviousData,
  })
  return {
    rows: list.data?.pages.flatMap(({ data }) => data) ?? [],
    total: list.data?.pages[0]?.meta.pagination.total,
    more: list.hasNextPage,
    isPending: list.isPending && enabled,
    isReading: list.isFetchingNextPage,
    error: list.error,
    readMore: () => {
      if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage()
    },
    retry: list.refetch,
  }
}
