import type { Page } from '@loquat/sdk'
import {
  type InfiniteData,
  type UseInfiniteQueryResult,
  useInfiniteQuery,
} from '@tanstack/react-query'

/** Query parameters that select a page of a list. Empty for the first page. */
export interface PageParams {
  cursor?: string
  page?: number
}

/** A list that loads page by page as the operator scrolls. */
export interface Records<T> {
  rows: T[]
  /** How many records the list has, as far as the server counted them. */
  total: number | undefined
  more: boolean
  /** How many pages are loaded. */
  pages: number
  isPending: boolean
  isLoadingMore: boolean
  error: unknown
  loadMore: () => void
  retry: () => unknown
}

/** Turns the result of `useInfiniteQuery` into a list. */
export function recordsOf<T>(
  list: UseInfiniteQueryResult<InfiniteData<{ data: T[] }>>,
): Omit<Records<T>, 'total'> {
  const pages = list.data?.pages ?? []
  return {
    rows: pages.flatMap(({ data }) => data),
    more: list.hasNextPage,
    pages: pages.length,
    isPending: list.isPending,
    isLoadingMore: list.isFetchingNextPage,
    error: list.error,
    // The table calls this whenever its end is visible. After a failure, only the retry button loads more.
    loadMore: () => {
      if (list.hasNextPage && !list.isFetchingNextPage && !list.isFetchNextPageError)
        void list.fetchNextPage()
    },
    retry: list.isFetchNextPageError ? list.fetchNextPage : list.refetch,
  }
}

/** Whether two keys belong to the same list and differ only in the filters, the object at the end. */
function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  const lists = [one, other].map((key) => JSON.stringify(key.slice(0, -1)))
  return typeof one.at(-1) === 'object' && typeof other.at(-1) === 'object' && lists[0] === lists[1]
}

/** Loads a list of the API. The key contains everything that the result depends on, with the filters as an object at the end. */
export function useRecords<T>(
  queryKey: unknown[],
  read: (page: PageParams) => Promise<Page<T>>,
  enabled = true,
): Records<T> {
  const list = useInfiniteQuery({
    queryKey,
    enabled,
    queryFn: ({ pageParam }) => read(pageParam),
    initialPageParam: {} as PageParams,
    getNextPageParam: ({ meta }, _pages, { cursor }): PageParams | undefined => {
      if (meta.cursor?.next !== undefined) return { cursor: meta.cursor.next }
      const { current_page: page, total_pages: last } = meta.pagination
      return cursor === undefined && page < last ? { page: page + 1 } : undefined
    },
    // While the operator types, keep showing the previous results of this list, but never those of another list.
    placeholderData: (before, query) =>
      query && isSameList(query.queryKey, queryKey) ? before : undefined,
  })
  const records = recordsOf(list)
  return {
    ...records,
    total: list.data?.pages[0]?.meta.pagination.total,
    isPending: records.isPending && enabled,
  }
}

/** A list that is all there. */
export const wholeList = <T>(rows: T[]): Records<T> => ({
  ...{ rows, total: rows.length, more: false, pages: 1, isPending: false, isLoadingMore: false },
  ...{ error: null, loadMore: () => undefined, retry: () => undefined },
})
